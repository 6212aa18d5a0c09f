"""What to check first, and why: the few things in a report that somebody should act on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eventide.reports.html.class_rows import ClassRow
from eventide.reports.html.markup import Html, element
from eventide.reports.html.report_words import many
from eventide.reports.html.review import ReviewRule
from eventide.reports.html.subject import ReportSubject

SURE = 0.05
"""A message that is wrong with less doubt than this may have a wrong label."""
FEW = 10
"""An event with fewer training messages is hardly learned."""
LOW = 0.8
"""A recall below this is worth a look."""
OFF = 0.05
"""A calibration error above this is worth a word."""


@dataclass(frozen=True)
class Check:
    """One thing to do, the reason for it, and where to look."""

    what: str
    why: str
    anchor: str | None = None


def first_checks(subject: ReportSubject, rows: list[ClassRow], rule: ReviewRule) -> list[Check]:
    """Collect what to check, the most useful first."""
    found = [*_doubtful(subject, rule)]
    if subject.measured is not None:
        found += [*_sure_mistakes(subject), *_weak_events(rows), *_unknown(rows)]
        found += _promises(subject)
    found += [*_lonely(subject), *_small(rows)]
    return found or [
        Check(
            "Nothing stands out.",
            "No message is doubtful and no event is weak. Try messages of another day.",
        )
    ]


def checks_html(checks: list[Check]) -> Html:
    """Write them as numbered points."""
    return element(
        "ol",
        (
            element(
                "li",
                element("strong", each.what),
                element(
                    "p",
                    each.why,
                    " " if each.anchor else None,
                    element("a", "Show", href=f"#{each.anchor}",
                            aria_label=f"Show: {each.what}") if each.anchor else None,
                ),
            )
            for each in checks
        ),
        class_="check",
    )  # fmt: skip


def _doubtful(subject: ReportSubject, rule: ReviewRule) -> list[Check]:
    fresh = subject.fresh
    count = int(rule.to_read(subject.doubt[fresh]).sum())
    if not count:
        return []
    return [
        Check(
            f"Read {'the doubtful message' if count == 1 else f'the {count:,} doubtful messages'}.",
            f"Their doubt is {rule.threshold:.2g} or more ({rule.source}), so that most errors are "
            "among them.",
            "doubtful" if subject.texts is not None else None,
        )
    ]


def _sure_mistakes(subject: ReportSubject) -> list[Check]:
    measured = subject.measured
    assert measured is not None
    count = int((measured.wrong & (measured.doubt < SURE)).sum())
    if not count:
        return []
    return [
        Check(
            f"Check the labels of {many(count, 'message')}.",
            f"The model was sure (doubt below {SURE:g}) and disagrees with the label: either it is "
            "fooled, or the label is wrong.",
            "mistakes" if measured.rows is not None and subject.texts is not None else None,
        )
    ]


def _weak_events(rows: list[ClassRow]) -> list[Check]:
    weak = [each for each in rows if each.known and each.recall is not None and each.recall < LOW]
    return [
        Check(
            f"Look at the event {each.event}.",
            f"Only {each.recall:.0%} of its {many(each.messages, 'message')} are recognised"
            + (f"; {each.confused_messages:,} went to {each.confused}" if each.confused else "")
            + (
                f". It has {many(each.training, 'training message')}: more would help."
                if each.training < FEW
                else ". Compare the two events' labels and examples."
            ),
            "events",
        )
        for each in weak[:3]
    ]


def _unknown(rows: list[ClassRow]) -> list[Check]:
    strange = [each for each in rows if not each.known and each.messages]
    if not strange:
        return []
    names = ", ".join(each.event for each in strange[:3])
    return [
        Check(
            f"Teach the model {many(len(strange), 'more event', 'more events')}.",
            f"The messages have labels that it does not know ({names}): all of these count as "
            "wrong.",
            "events",
        )
    ]


def _promises(subject: ReportSubject) -> list[Check]:
    measured = subject.measured
    assert measured is not None
    stated, right = float((1 - measured.doubt).mean()), float((~measured.wrong).mean())
    if measured.calibration_error < OFF or len(measured) < 50:
        return []
    how = "too sure of itself" if stated > right else "too modest"
    return [
        Check(
            f"Take the stated probabilities with care: the model is {how}.",
            f"On average it states {stated:.0%}, and {right:.0%} are right.",
            "trust",
        )
    ]


def _lonely(subject: ReportSubject) -> list[Check]:
    """Messages that share nothing with what the model remembers rest on their words alone."""
    views = subject.prediction.views
    fresh = subject.fresh
    if not views or subject.own:
        return []
    alone = np.all([each.neighbours[fresh] == 0 for each in views.values()], axis=0)
    share = float(alone.mean())
    if share < 0.2:
        return []
    return [
        Check(
            f"Expect less of {share:.0%} of the messages.",
            "They share no hashtag, link, name or author with any message that the model "
            "remembers, so that only their words speak for an event.",
        )
    ]


def _small(rows: list[ClassRow]) -> list[Check]:
    small = [each for each in rows if each.known and each.training < FEW]
    if not small:
        return []
    names = ", ".join(f"{each.event} ({each.training})" for each in small[:4])
    return [
        Check(
            f"Label more messages of {many(len(small), 'small event')}.",
            f"Fewer than {FEW} training messages each: {names}"
            + (", ..." if len(small) > 4 else "")
            + ". What the model says of them is a guess.",
            "events",
        )
    ]
