"""The small print of a report: notes on the data, and how the model came about."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import numpy as np

import eventide
from eventide.features.encoders import encoder_name
from eventide.reports.html.chart import listed, plain_table, scrolling
from eventide.reports.html.markup import Html, element, joined
from eventide.reports.html.report_words import many
from eventide.reports.html.subject import ReportSubject

PACKAGES = ("torch", "numpy", "polars", "scikit-learn")


def quality_notes(subject: ReportSubject) -> list[str]:
    """Say what is particular about the data, for whoever must trust the figures."""
    found = [*subject.notes]
    intake = subject.intake
    if intake is not None:
        bad = len(intake.rejected)
        if bad:
            reasons = intake.reasons().head(3).iter_rows(named=True)
            told = "; ".join(f"{each['reason']} ({each['rows']:,})" for each in reasons)
            found.append(f"{bad:,} of {intake.rows_in:,} rows could not be used: {told}.")
        copies = len(intake.messages) - intake.messages["text"].n_unique()
        if copies:
            share = copies / len(intake.messages)
            found.append(
                f"{many(copies, 'message')} ({share:.0%}) repeat the text of another one, such as "
                "retweets: figures count each of them."
            )
        missing = intake.messages["created_at"].null_count()
        if missing:
            found.append(f"{many(missing, 'message')} have no time.")
        found += intake.notes
    learned = int((subject.trained).sum())
    if learned and not subject.own:
        found.append(
            f"{learned:,} of {len(subject):,} messages taught the model: they are in the timeline "
            "by their label, and in no figure of quality."
        )
    measured = subject.measured
    if measured is not None and measured.flattered:
        found.append("Validation messages chose the epoch and the calibration: they flatter.")
    found += _alone(subject)
    sizes = subject.training_sizes()
    if len(sizes) and sizes.min() > 0 and sizes.max() >= 10 * sizes.min():
        found.append(
            f"The largest event has {sizes.max() / sizes.min():.0f} times as many training "
            f"messages as the smallest ({sizes.max():,} and {sizes.min():,}): accuracy hides small "
            "events, macro-F1 does not."
        )
    found += [f"From training: {each}" for each in subject.model.notes_]
    return list(dict.fromkeys(found))


def _alone(subject: ReportSubject) -> list[str]:
    fresh = subject.fresh
    return [
        f"View {name}: {share:.0%} of the messages share nothing with a remembered message."
        for name, each in subject.prediction.views.items()
        if (share := float((each.neighbours[fresh] == 0).mean())) >= 0.5
    ]


def notes_html(notes: list[str]) -> Html:
    """Write the notes, or that there are none."""
    return listed(notes, class_="notes") if notes else element("p", "Nothing particular.")


def settings_html(subject: ReportSubject) -> Html:
    """Write how the model came about, and every setting behind a fold."""
    model = subject.model
    best = model.history_[model.best_epoch_ - 1] if model.history_ else {}
    rows = [
        ("method", model.method),
        ("encoder", encoder_name(model.encoder)),
        ("preset", model.preset),
        ("protocol", model.protocol),
        ("views", ", ".join(each.name for each in model.featuriser_.views)),
        ("seed", str(model.seed)),
        ("messages in memory", f"{len(model.memory_):,}"),
        ("training messages", f"{int((model.labels_ >= 0).sum()):,}"),
        ("epoch kept", f"{model.best_epoch_} of {len(model.history_)}"),
        *(
            [("validation accuracy", f"{best['validation_accuracy']:.4f}")]
            if "validation_accuracy" in best
            else []
        ),
        ("eventide", eventide.__version__),
        ("Python", platform.python_version()),
        *((name, _version(name)) for name in PACKAGES),
    ]
    settings = [
        (f"{group}.{name}", str(value))
        for group, values in model.settings_.model_dump(mode="json").items()
        for name, value in (values.items() if isinstance(values, dict) else ())
    ]
    return joined(
        scrolling(
            plain_table(("fact", "value"), rows, class_="facts-table"),
            "Facts of the model",
            tall=True,
        ),
        element(
            "details",
            element("summary", f"All {len(settings)} settings"),
            scrolling(plain_table(("setting", "value"), settings), "All settings"),
        ),
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def date_span(subject: ReportSubject) -> str:
    """Return the first and last day of the messages."""
    if subject.days is None:
        return "no times"
    first, last = np.nanmin(subject.days), np.nanmax(subject.days)
    return str(first) if first == last else f"{first} – {last}"
