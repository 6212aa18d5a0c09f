"""The card that goes with every model: what it is, what it saw, how to use it, what to beware."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eventide.safe_text import safe

CARD = """\
# An Eventide model

It assigns one of {classes} events to a social message, with an opinion: doubt, belief, and
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
- Doubt is the probability that an event is wrong; uncertainty is lack of evidence (vacuity).
- {calibration}.
- The model knows only the events below; a message about anything else is assigned to one of them.
- {privacy}

## Events

| event | training messages |
|---|---|
{events}
"""
HASHED = (
    "Ids, texts, authors and elements are stored as salted hashes, none in clear. {salt} Vectors, "
    "hidden states, times and labels of the remembered messages are stored as they are."
)
SALT_WITHIN = (
    "The salt lies in `manifest.json` beside them: whoever has this directory can test whether a "
    "name, tag or text they know is in it. It is pseudonymous, not anonymous; guard it as you "
    "guard the messages, or train with `--salt-file`."
)
SALT_APART = (
    "The salt is kept apart (`--salt-file`): without that file nobody can test whether a name they "
    "know is in it, and nobody can use the model."
)
UNCALIBRATED = "Probabilities are not calibrated: read doubt as an order"
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
        calibration=facts.get("calibration", UNCALIBRATED),
        privacy=_privacy(facts),
        events="\n".join(f"| {_cell(event)} | {count:,} |" for event, count in events),
    )


def _privacy(facts: Mapping[str, Any]) -> str:
    if facts["keeps_text"]:
        return OPEN
    return HASHED.format(salt=SALT_WITHIN if facts["salt"] is not None else SALT_APART)


def _figure(value: float | None) -> str:
    return "not measured: no validation messages" if value is None else f"{value:.4f}"


def _cell(event: object) -> str:
    """Keep a table a table whatever an event is called."""
    return safe(event).replace("|", "\\|")
