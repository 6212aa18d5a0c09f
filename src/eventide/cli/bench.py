"""``eventide bench``: checks of methods that take longer than a test may."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from eventide.cli.console import print_json, say
from eventide.cli.options import AsJson, Seed

if TYPE_CHECKING:
    from eventide.testing.checks import CheckResult

app = typer.Typer(help="Checks that take longer than a test may.", no_args_is_help=True)


@app.callback()
def bench() -> None:
    """Group the checks."""


@app.command()
def checks(
    methods: Annotated[
        str | None,
        typer.Option(metavar="NAME,NAME", help="Which methods or groups; all by default."),
    ] = None,
    epochs: Annotated[int, typer.Option(help="Epochs of each training run.", min=1)] = 3,
    seed: Seed = 3,
    as_json: AsJson = False,
) -> None:
    """Check every method on the whole sample: that it sees no test labels, for example.

    Exits with 1 if a method fails a check.

    Example: eventide bench checks --methods ucl,ce
    """
    from eventide.data.sample import sample
    from eventide.progress import track
    from eventide.testing.checks import check_method

    messages, chosen = sample(), chosen_methods(methods)
    findings = [
        finding
        for method in track(chosen, "checking methods", total=len(chosen))
        for finding in check_method(method, messages, training__epochs=epochs, seed=seed)
    ]
    if as_json:
        rows = [
            {
                "method": each.method,
                "check": each.check,
                "passed": each.passed,
                "failures": each.failures,
                "seconds": round(each.seconds, 2),
            }
            for each in findings
        ]
        print_json(rows)
    else:
        say(table(findings))
    if not all(each.passed for each in findings):
        raise typer.Exit(1)


def chosen_methods(names: str | None) -> list[str]:
    """Read a list of methods and groups; nothing given means all.

    >>> chosen_methods("baseline,ucl")
    ['lr-tfidf', 'lr-encoder', 'nearest-in-time', 'ucl']
    """
    from eventide.methods import METHODS

    if names is None:
        return METHODS.names()
    chosen: list[str] = []
    for name in (each.strip() for each in names.split(",")):
        members = [entry.name for entry in METHODS if entry.group == name]
        chosen += members or [METHODS.entry(name).name]
    return list(dict.fromkeys(chosen))


def table(findings: Sequence[CheckResult]) -> str:
    """Lay out findings: a line per method and check, failures below their check."""
    lines = []
    for each in findings:
        outcome = "passed" if each.passed else "FAILED"
        lines.append(f"{each.method:<18}{each.check:<34}{outcome}  {each.seconds:7.1f} s")
        lines += [f"    {failure}" for failure in each.failures]
    passed = sum(each.passed for each in findings)
    return "\n".join([*lines, f"{passed} of {len(findings)} checks passed"])
