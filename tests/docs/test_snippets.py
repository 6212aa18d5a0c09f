"""Every Python snippet in README and docs runs, in the order it stands in."""

import re
from pathlib import Path

import pytest

from tree import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SNIPPET = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def snippets(page: Path) -> list[str]:
    return SNIPPET.findall(page.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if snippets(page)], ids=lambda page: page.name
)
def test_python_snippets_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for snippet in snippets(page):
        exec(compile(snippet, str(page), "exec"), names)


def test_every_verb_in_the_readme_exists():
    from eventide.cli.main import app

    known = {command.name for command in app.registered_commands}
    known |= {group.name for group in app.registered_groups}
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    used = set(re.findall(r"^eventide ([a-z]+)", text, re.MULTILINE))
    assert used
    assert used <= known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name}: {target}"
