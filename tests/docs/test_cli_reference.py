"""The page of the command line is written from the command line."""

import importlib.util

from eventide.cli.main import app
from tree import ROOT

HOOK = ROOT / "docs" / "cli_reference.py"


def test_every_verb_has_its_options_and_an_example():
    """Row 28: the reference of the command line is generated."""
    spec = importlib.util.spec_from_file_location("cli_reference", HOOK)
    assert spec is not None
    assert spec.loader is not None
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    page = hook.reference()
    for command in app.registered_commands:
        assert f"## `eventide {command.name}`" in page
    assert "--out" in page
    assert "```console\neventide train messages.jsonl --out model" in page
