"""The card that goes with every model: what it is, what it saw, how to use it, what to beware."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CARD = """\
# An Eventide model

It assigns one of {classes} events to a social message, with an opinion: belief, uncertainty, and
what each view ({views}) said.

| | |
|---|---|
| method | `{method}`, preset `{preset}`, seed {seed} |
| encoder | `{encoder}` |
| protocol | {protocol} |
| messages in memory | {messages:,} |
| best epoch | {epoch} of {epochs} run |
| validation accuracy | {accuracy} |
| validation macro-F1 | {f1} |
| written by | eventide {eventide} |

Validation figures chose the epoch, so they flatter the model: measure on messages it has not seen
(`eventide evaluate`).

## Use

    eventide assign MODEL NEW_MESSAGES.jsonl

    import eventide
    opinions = eventide.load("MODEL").opinions("NEW_MESSAGES.jsonl")

## Beware
- Uncertainty is lack of evidence (vacuity), not a probability of error.
- The model knows only the events below; a message about anything else is assigned to one of them.
- {privacy}

## Events

| event | training messages |
|---|---|
{events}
"""
PRIVATE = (
    "Ids, texts, authors and elements are stored as salted hashes; nothing is readable in clear."
)
OPEN = "Text, ids and names of the remembered messages are stored in clear (`--keep-text`)."


def model_card(facts: Mapping[str, Any]) -> str:
    """Write the card from the facts of a model's manifest."""
    parameters, history = facts["parameters"], facts["history"]
    best = history[facts["best_epoch"] - 1]
    events = sorted(facts["class_counts"].items(), key=lambda pair: -pair[1])
    return CARD.format(
        classes=len(facts["classes"]),
        views=", ".join(facts["views"]),
        method=parameters["method"],
        preset=parameters["preset"],
        seed=parameters["seed"],
        encoder=parameters["encoder"],
        protocol=parameters["protocol"],
        messages=facts["messages"],
        epoch=facts["best_epoch"],
        epochs=len(history),
        accuracy=_figure(best.get("validation_accuracy")),
        f1=_figure(best.get("validation_f1")),
        eventide=facts["eventide"],
        privacy=OPEN if facts["keeps_text"] else PRIVATE,
        events="\n".join(f"| {_cell(event)} | {count:,} |" for event, count in events),
    )


def _figure(value: float | None) -> str:
    return "none: there were no validation messages" if value is None else f"{value:.4f}"


def _cell(text: str) -> str:
    """Keep a table a table whatever an event is called."""
    return " ".join(text.replace("|", "\\|").split())
