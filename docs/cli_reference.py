"""A hook of MkDocs: the page of the command line, written from the command line itself."""

import re

PAGE = "cli.md"


def reference() -> str:
    """Return every verb with its arguments and options as Markdown."""
    import typer
    from typer.cli import get_docs_for_click

    from eventide.cli.main import app

    command = typer.main.get_command(app)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="eventide")
    # Examples stand in paragraphs of their own: show them as commands.
    return re.sub(r"^Example: (eventide .*)$", r"```console\n\1\n```", text, flags=re.MULTILINE)


def on_files(files, config):
    """Add the page to those of the site."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, PAGE, content=reference()))
    return files
