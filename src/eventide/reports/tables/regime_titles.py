"""How regimes, their test messages and their runs are named in titles and notes."""

from __future__ import annotations

from eventide.experiments.regime_results import RegimeResults
from eventide.scoring.significance import ENOUGH_RUNS

SHORT = {
    "chronological": "chrono",
    "weak-vectors": "weak",
    "corrupted-view": "corrupt",
    "label-noise": "noise",
    "unseen-event": "unseen",
    "duplicate-aware": "dedup",
}
"""What a regime's name begins with, and what stands in its place above a column."""


def short_title(regime: str) -> str:
    """Return the title of a regime's column, short enough for many of them side by side.

    >>> [short_title(name) for name in ("random", "chronological-gap-7", "corrupted-view-50")]
    ['random', 'chrono-gap-7', 'corrupt-50']
    """
    for long, short in SHORT.items():
        if regime == long or regime.startswith(f"{long}-"):
            return short + regime.removeprefix(long)
    return regime


def titled_regimes(title: str, results: RegimeResults) -> str:
    """Say on what the figures were measured, so that a table can stand alone."""
    return f"{title}: {dataset(results)}, {tested_on(results)}, {seeds(results)}"


def dataset(results: RegimeResults) -> str:
    """Name the dataset, which all regimes share."""
    return next(iter(results.parts.values())).plan.dataset


def tested_on(results: RegimeResults) -> str:
    """Say whether locked messages were tested, or kept away for tuning."""
    named = f" ({results.lock})" if results.lock else ""
    if results.tuning:
        return f"tuning: locked messages left out{named}"
    return f"locked test messages{named}" if results.lock else "test messages"


def seeds(results: RegimeResults) -> str:
    """Count the seeds; a range where regimes differ.

    The seeds of a regime are those of its runs.
    """
    return counted_range([len(each.seeds) for each in results.parts.values()], "seed")


def counted_range(counts: list[int], noun: str) -> str:
    """Count things, with a range where the counts differ.

    >>> counted_range([3, 3], "seed"), counted_range([1], "seed"), counted_range([2, 5], "seed")
    ('3 seeds', '1 seed', '2 to 5 seeds')
    """
    low, high = min(counts), max(counts)
    number = str(low) if low == high else f"{low} to {high}"
    return f"{number} {noun}{'' if number == '1' else 's'}"


def shared_notes(results: RegimeResults) -> list[str]:
    """Say what a reader of any table of these results must know."""
    names = {name: short_title(name) for name in results.parts}
    notes = []
    renamed = [f"{short} is {name}" for name, short in names.items() if short != name]
    if renamed:
        notes.append(f"Columns: {', '.join(renamed)}")
    notes.append(f"Vectors: {_encoders(results)}")
    fewest = min(
        len(part.outcomes(each.name)) for part in results.parts.values() for each in part.variants
    )
    if fewest < ENOUGH_RUNS:
        notes.append(f"Too few runs: {fewest} where the paper has {ENOUGH_RUNS}")
    for each in results.variants:
        told = dict.fromkeys(part.note(each.name) for part in results.parts.values())
        notes += [f"{each.name}: {note.rstrip('.')}" for note in told if note]
    return notes


def _encoders(results: RegimeResults) -> str:
    """Name the encoder, and the regimes that have another one.

    >>> from types import SimpleNamespace as Fake
    >>> parts = {"random": "wordllama", "weak-vectors": "tfidf-svd:8"}
    >>> _encoders(Fake(parts={n: Fake(plan=Fake(encoder=e)) for n, e in parts.items()}))
    'wordllama, in weak tfidf-svd:8'
    """
    of = {name: part.plan.encoder for name, part in results.parts.items()}
    usual = max(of.values(), key=list(of.values()).count)
    other = [f"in {short_title(name)} {each}" for name, each in of.items() if each != usual]
    return ", ".join([usual, *other])
