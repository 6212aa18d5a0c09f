"""``eventide assign``: what cannot be done is refused before anything is read."""

from __future__ import annotations

from pathlib import Path

from eventide.cli.options import one_of

VERDICTS = ("known", "review", "new")
"""Known, known but doubtful, and about no known event."""


def check_verdicts(verdict: str | None, false_alarms: float | None) -> None:
    """Refuse a verdict or a rate that there is not, before anything is read."""
    if verdict is not None:
        one_of(verdict, VERDICTS, "--verdict")
    if false_alarms is not None and not 0 < false_alarms < 1:
        from eventide.errors import BadSetting

        raise BadSetting(
            f"--false-alarms cannot be {false_alarms:g}",
            next_step="give a share above 0 and below 1, such as 0.05",
        )


def check_choices(
    threshold: float | None, keep_accuracy: float | None, coverage: float | None
) -> None:
    """Refuse choices that cannot be followed, before anything is read."""
    from eventide.errors import BadSetting
    from eventide.model.thresholds import check_accuracy
    from eventide.opinions.prediction_sets import check_coverage

    if coverage is not None:
        check_coverage(coverage)
    if keep_accuracy is None:
        return
    check_accuracy(keep_accuracy)
    if threshold is not None:
        raise BadSetting(
            "--threshold and --keep-accuracy both choose the messages to review",
            next_step="give one of them",
        )


def checked_output(
    out: Path | None, overwrite: bool, inputs: list[Path], rejected: Path | None
) -> Path | None:
    """Refuse an output that cannot be written or would destroy something, before any work."""
    if out is None:
        return None
    from eventide.errors import OutputError
    from eventide.outputs import check_file
    from eventide.reports.opinion_files import WRITERS, check_format

    target = check_file(out, overwrite=overwrite, inputs=inputs, suffixes=WRITERS)
    if rejected is not None and target.resolve() == rejected.expanduser().resolve():
        raise OutputError(
            "--out and --rejected are the same file",
            where=str(target),
            next_step="choose another name for one of them",
        )
    check_format(target)
    return target
