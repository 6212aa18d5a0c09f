"""How regimes, their test messages and their runs are named in titles and notes."""

from __future__ import annotations

from eventide.errors import InputError
from eventide.experiments.regime_results import RegimeResults
from eventide.experiments.regimes import Regime
from eventide.experiments.regimes import regime as regime_called
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


def known_regime(name: str) -> Regime | None:
    """Return a regime by its name; None for one of another version, as an old log may hold.

    >>> known_regime("random").in_turn, known_regime("by-moonlight")
    (False, None)
    """
    try:
        return regime_called(name)
    except InputError:
        return None


def in_turn(results: RegimeResults) -> list[str]:
    """Name the regimes whose runs are events left out in turn."""
    return [name for name in results.parts if (found := known_regime(name)) and found.in_turn]


def titled_regimes(title: str, results: RegimeResults) -> str:
    """Say on what the figures were measured, so that a table can stand alone."""
    return f"{title}: {dataset(results)}, {described_messages(results)}, {seeds(results)}"


def dataset(results: RegimeResults) -> str:
    """Name the dataset, which all regimes share."""
    return next(iter(results.parts.values())).plan.dataset


def described_messages(results: RegimeResults) -> str:
    """Say whether locked messages were tested, or kept away for tuning."""
    if results.tuning:
        return "test messages (tuning: locked messages left out)"
    return f"locked test messages ({results.lock})" if results.lock else "test messages"


def seeds(results: RegimeResults) -> str:
    """Count the seeds, a range where regimes differ; events that are left out in turn are none."""
    turns = in_turn(results)
    counts = [len(each.seeds) for name, each in results.parts.items() if name not in turns]
    return counted_range(counts, "seed") if counts else "each event left out in turn"


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
    turns = in_turn(results)
    if turns:
        notes.append(
            f"In {', '.join(map(short_title, turns))} each event is left out in turn: deviations "
            "are over events"
        )
    fewest = min(
        (
            len(part.outcomes(each.name))
            for name, part in results.parts.items()
            if name not in turns
            for each in part.variants
        ),
        default=ENOUGH_RUNS,
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
