"""A report in words: a summary that a manager understands, and what every number means."""

from __future__ import annotations

import numpy as np

from eventide.reports.html.class_rows import ClassRow
from eventide.reports.html.markup import Html, element
from eventide.reports.html.review import ReviewRule
from eventide.reports.html.subject import ReportSubject

MEANINGS: dict[str, str] = {
    "Event": "What a message is about. The model knows the events it was trained on, and puts "
    "every message into one of them; a message about anything else lands in one of them too, "
    "mostly with a high doubt.",
    "Recall": "Of the messages that truly are about an event, the share that the model put "
    "there. A low recall means that messages of the event are missed.",
    "Precision": "Of the messages that the model put into an event, the share that truly "
    "belongs there. A low precision means that the event collects messages of others.",
    "Doubt": "The model's own estimate of how likely it is that the assigned event is wrong, "
    "from 0 (sure) to 1. It is calibrated on validation messages where there were enough: of "
    "messages with a doubt of 0.1, about one in ten should be wrong. Sort by it to decide what "
    "a person reads first.",
    "Accuracy and macro-F1": "Accuracy is the share of all messages that are in the right "
    "event; large events dominate it. Macro-F1 first takes recall and precision of each event "
    "together and then averages over events, so that a small event counts as much as a large "
    "one.",
    "Confusion matrix": "A row is the true event, a column the assigned one. What lies on the "
    "diagonal is right; a dark cell beside it is a pair of events that the model mistakes for "
    "each other. Shares are of the row.",
    "Reliability": "Messages are grouped by the probability that the model stated. On the "
    "dashed line it keeps what it promises; below it, it is too sure of itself, above it, too "
    "modest. Larger points stand for more messages; a small point says little.",
    "Risk and coverage": "Let the model decide alone where its doubt is smallest, and people "
    "the rest. To the right the model decides more messages; the height is the share of errors "
    "among them. The diamond is the chosen threshold.",
    "Map": "Each point is a message. Messages that the model takes for alike lie close "
    "together. The axes have no unit, and distances between far groups mean little. Drawn by "
    "t-SNE of the network's embeddings, the same picture every time.",
    "Keywords": "Words that occur in an event's messages more often than in all others, each "
    "counted once per message. They describe, they do not decide: the model reads more than "
    "words.",
}
"""A paragraph for each number and picture."""


def meanings(names: list[str]) -> Html:
    """Write the paragraphs of some numbers."""
    return element(
        "dl",
        (element("div", element("dt", name), element("dd", MEANINGS[name])) for name in names),
        class_="meanings",
    )


def many(count: int, one: str, more: str | None = None) -> str:
    """Put a number before its noun.

    >>> many(1, "message"), many(1200, "message"), many(2, "is", "are")
    ('1 message', '1,200 messages', '2 are')
    """
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def summary(subject: ReportSubject, rows: list[ClassRow], rule: ReviewRule) -> list[str]:
    """Say in a few sentences what the report is about, how good the model is, and what is left."""
    told = [_about(subject)]
    if subject.measured is not None:
        told += _measured(subject, rows, rule)
    else:
        told += _unmeasured(subject, rows, rule)
    return told


def _about(subject: ReportSubject) -> str:
    model = subject.model
    learned = int((model.labels_ >= 0).sum())
    known = f"The model tells {many(subject.classes, 'event')} apart and learned from "
    known += f"{many(learned, 'labelled message')}."
    if subject.own:
        return known
    about = f"{many(len(subject), 'message')} of {subject.name}{_span(subject)}"
    return f"{known} This report is about {about}."


def _span(subject: ReportSubject) -> str:
    days = subject.days
    if days is None:
        return ""
    first, last = np.nanmin(days), np.nanmax(days)
    return f", of {first}" if first == last else f", from {first} to {last}"


def _measured(subject: ReportSubject, rows: list[ClassRow], rule: ReviewRule) -> list[str]:
    measured = subject.measured
    assert measured is not None
    right = int((~measured.wrong).sum())
    caution = (
        " These messages helped to choose the model, so that new ones will do a little worse."
        if measured.flattered
        else " None of these messages taught the model."
    )
    told = [
        f"Of {measured.what} it put {right:,} ({right / len(measured):.1%}) into the right event."
        f"{caution}"
    ]
    coverage, risk = measured.kept(rule)
    if 0 < coverage < 1:
        told.append(
            f"If people read only the messages with a doubt of {rule.threshold:.2g} or more, the "
            f"model decides {coverage:.0%} by itself, and {_errors(risk)} of these are wrong."
        )
    weak = [each for each in rows if each.recall is not None and each.recall < 1 and each.known]
    if weak:
        worst = weak[0]
        named = f", most often taken for {worst.confused}" if worst.confused else ""
        told.append(
            f"The weakest event is {worst.event}: {worst.recall:.0%} of its "
            f"{many(worst.messages, 'message')} are recognised{named}."
        )
    elif right == len(measured):
        told.append("No event has a wrong message here; with more messages some will.")
    return told


def _unmeasured(subject: ReportSubject, rows: list[ClassRow], rule: ReviewRule) -> list[str]:
    fresh = subject.fresh
    total = int(fresh.sum())
    seen = [each for each in rows if each.messages]
    largest = [f"{each.event} ({each.messages / total:.0%})" for each in seen[:3]]
    told = [
        f"They are about {many(len(seen), 'event')}; the largest "
        f"{'is' if len(largest) == 1 else 'are'} {_listed(largest)}."
    ]
    if subject.own:
        told = ["There are no labelled messages here that the model was not trained on."]
    doubtful = int(rule.to_read(subject.doubt[fresh]).sum())
    told.append(
        f"{many(doubtful, 'message')} ({doubtful / total:.0%}) have a doubt of "
        f"{rule.threshold:.2g} or more: a person should read these."
        if doubtful
        else f"No message has a doubt of {rule.threshold:.2g} or more."
    )
    return told


def _errors(risk: float) -> str:
    return "none" if risk == 0 else f"{risk:.1%}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
