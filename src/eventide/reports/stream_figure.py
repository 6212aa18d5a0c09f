"""The figure of the stream benchmark: accuracy over all messages so far, day by day."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from eventide.experiments.stream import StreamResult
from eventide.storage import atomic_file


def draw_stream(results: Sequence[StreamResult], path: Path) -> None:
    """Draw accuracy against messages, and against labels spent, to a PNG, PDF or SVG file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, sharey=True)
    for each in results:
        messages = np.cumsum([day.messages for day in each.days])
        accuracy = np.cumsum([day.right for day in each.days]) / np.maximum(messages, 1)
        left.plot(messages, accuracy, label=each.name, linewidth=1.5)
        right.plot(np.cumsum([day.labels for day in each.days]), accuracy, linewidth=1.5)
    left.set_xlabel("messages of the stream")
    right.set_xlabel("labels bought")
    left.set_ylabel("share of all messages so far that are right")
    title = "Messages in order of time, assigned before any of the day's labels is bought.\n"
    title += "Until an event has its first label, “new” is the right answer."
    figure.suptitle(title, fontsize=10)
    figure.legend(loc="outside lower center", ncols=4, fontsize=8)
    with atomic_file(path, "the figure") as temporary:
        figure.savefig(temporary, format=path.suffix.lstrip(".").lower(), dpi=150)
