"""Row 28: what a newcomer finds first."""

import re

from tree import ROOT


def test_the_readme_installs_before_anything_else():
    commands = re.findall(
        r"^```console\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )
    assert commands[0].startswith("pip install eventide\neventide demo")
    assert "make demo" in commands[1]
    assert "make test" in commands[1]


def test_the_site_has_installation_command_line_and_api_in_colour():
    site = (ROOT / "mkdocs.yml").read_text()
    for part in ("installation.md", "cli.md", "api.md", "pymdownx.highlight", "cli_reference.py"):
        assert part in site
    installation = (ROOT / "docs" / "installation.md").read_text()
    for word in ("CUDA", "docker build", "OMP_WAIT_POLICY", "pip install"):
        assert word in installation


def test_every_extra_is_explained():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    installation = (ROOT / "docs" / "installation.md").read_text()
    for extra in project["optional-dependencies"].keys() - {"dev", "docs"}:
        assert f"| `{extra}` |" in installation
