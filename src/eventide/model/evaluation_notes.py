"""What must be said of an evaluation: its protocol, and what may flatter the model."""

from __future__ import annotations

from eventide.data import Intake
from eventide.model.evaluated_rows import Standing
from eventide.model.inference import Mask


def protocol_of(standing: Standing, as_new: bool) -> str:
    """Say how the messages were predicted: as nodes of the graph, or looked up."""
    messages, remembered = len(standing.trained), int((standing.match.rows >= 0).sum())
    trained = int(standing.trained.sum())
    if as_new and remembered:
        return f"inductive (looked up as if new; {trained} of {messages} were trained on)"
    if remembered == messages:
        return "transductive (every message was in the graph during training)"
    if remembered:
        return f"mixed ({remembered} of {messages} messages were in the graph during training)"
    if standing.validated is None:
        return "inductive (no message was in the graph during training)"
    chose = int(standing.validated.sum())
    if chose:
        return f"inductive (no message was in the graph; {chose} of {messages} chose the epoch)"
    return "inductive (every message is new to the model)"


def standing_notes(standing: Standing, rows: str, *, unknown: int, as_new: bool) -> list[str]:
    """Say what may mislead about the messages that were evaluated."""
    messages, trained = len(standing.trained), int(standing.trained.sum())
    notes = []
    if trained:
        notes.append(
            f"{trained:,} of {messages:,} messages were trained on: this is no estimate for new "
            "messages"
        )
    if standing.validated is None:
        if rows != "test":
            notes.append(
                "this model does not say which messages chose its epoch (an older eventide saved "
                "it): they may be among these, and flatter it"
            )
    elif standing.validated.any():
        notes.append(
            f"{int(standing.validated.sum()):,} of {messages:,} messages are validation messages: "
            "they chose the epoch, so they flatter the model; each is calibrated by the others"
        )
    edited = int(standing.match.edited.sum())
    if edited and not as_new:
        notes.append(
            f"{edited:,} messages have an id the model knows with another text: they count as new"
        )
    if unknown:
        notes.append(
            f"{unknown} messages are of events the model does not know: all count as wrong"
        )
    return notes


def left_out(standing: Standing, mask: Mask, rows: str) -> list[str]:
    """Say which messages an evaluation of unseen ones leaves out."""
    if rows not in ("unseen", "val"):
        return []
    trained = int((standing.trained & ~mask).sum())
    chose = 0 if standing.validated is None else int((standing.validated & ~mask).sum())
    told = [f"{trained:,} messages that were trained on"] if trained else []
    told += [f"{chose:,} that chose the epoch"] if chose else []
    return [f"left out: {' and '.join(told)}"] if told else []


def rejected_rows_note(intake: Intake) -> list[str]:
    """Count the rows that could not be used."""
    bad = len(intake.rejected)
    return [f"{bad:,} of {intake.rows_in:,} rows could not be used"] if bad else []


def without_evidence(count: int) -> list[str]:
    """Count the messages without any opinion."""
    return [f"{count:,} messages have no evidence for any event: they count as wrong"] * (count > 0)
