"""``eventide data``: the datasets Eventide can build, and the built-in sample."""

import typer

app = typer.Typer(help="List, build and sample datasets.", no_args_is_help=True)
