"""The classifier: fit on labelled messages, then ask for events and opinions.

It reads, splits, encodes and connects messages, hands them to a method, and turns what the method
says back into the caller's kind of frame. The work itself is done elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.corpus.corpus import Corpus, Featuriser
from eventide.corpus.messages import Messages, read_messages
from eventide.corpus.training_set import MessageCounts
from eventide.data.schema import REJECTED
from eventide.errors import InputError, warn
from eventide.graphs.views import View
from eventide.methods.method import Method, Prediction
from eventide.model.adviser import Adviser
from eventide.model.estimator import Estimator
from eventide.model.evaluation import EvaluationReport, evaluate_model
from eventide.model.fitting import fit_classifier
from eventide.model.inference import Inference, MemoryMatch
from eventide.model.label_types import Labels, class_names, labels_of
from eventide.model.notebook import PAGES, OpinionFrame, model_html
from eventide.model.novelty_scores import NoveltyModel
from eventide.model.opinion_chunks import chunked_opinions
from eventide.model.opinion_frame import ArrowKind, PandasKind, in_kind, label_weights
from eventide.model.parameters import ClassifierParameters, checked_views
from eventide.model.validation_ids import ValidationIds
from eventide.model.validation_predictions import ValidationPredictions
from eventide.novelty.reference import Reference
from eventide.opinions.calibration import ProbabilityCalibration
from eventide.outputs import check_folder, reserved
from eventide.runtime.forks import check_process
from eventide.scoring.metrics import accuracy
from eventide.settings import Settings
from eventide.training.checkpoints import Row
from eventide.training.loop import Watch

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from eventide.model.explain import Explanation
    from eventide.model.thresholds import Thresholds
    from eventide.model.update import UpdateReport


class EventClassifier(ClassifierParameters, Estimator):
    """Learn which event a message is about, and how sure one can be.

    ``method`` is a name that ``eventide methods`` lists; ``encoder`` turns text into vectors: a
    name, an object with the members of `eventide.features.encoders.Encoder`, or a function from a
    list of texts to an array [texts, width]. ``views`` maps a view's name to the list columns that
    connect messages (the paper's three by default). ``protocol`` is "transductive" (all messages
    given to ``fit`` are in the graph, the paper's way) or "inductive" (training messages only;
    everything else is looked up). Any setting can be changed by its dotted name with two
    underscores: ``training__epochs=30``.

    After ``fit``: ``classes_`` in the type the labels had, ``history_`` with a row of figures per
    epoch, ``best_epoch_``, ``notes_``, and ``rejected_`` with the rows that the latest ``fit``,
    ``score`` or ``evaluate`` could not use.

    Any number of threads may ask one fitted or loaded model. A process forked from one that has
    already computed gets a ``ForkedProcess`` error: start processes by "spawn". Training beside
    other busy programs, set ``OMP_WAIT_POLICY=PASSIVE`` and ``GOMP_SPINCOUNT=600`` before torch is
    imported, as the command line does: threads that wait then soon sleep instead of spinning on.

    >>> EventClassifier(method="ucl", training__epochs=3).get_params()["training__epochs"]
    3
    """

    # What a fit leaves, and what a saved model brings back.
    settings_: Settings
    notes_: tuple[str, ...]
    counts_: MessageCounts
    classes_: NDArray[Any]
    featuriser_: Featuriser
    memory_: Corpus
    labels_: NDArray[np.int64]
    remembered_: pl.DataFrame | None
    method_: Method
    history_: list[Row]
    best_epoch_: int
    rejected_: pl.DataFrame = pl.DataFrame(schema=REJECTED)
    validated_: ValidationIds | None = None
    calibration_: ProbabilityCalibration = ProbabilityCalibration.identity()
    validation_: ValidationPredictions | None = None
    novelty_: NoveltyModel | None = None
    _inference: Inference

    def fit(
        self,
        messages: Any,
        y: Any = None,
        *,
        allow_rejected: bool = False,
        verbose: bool | int = False,
        watch: Watch = lambda _: None,
        checkpoints: Path | None = None,
        checkpoint_every: int = 1,
        resume: bool = False,
        salt_file: str | Path | None = None,
    ) -> Self:
        """Learn from messages (a frame, a path, a dataset's name, a list of dicts, an intake).

        ``y`` replaces the column ``event``; a missing label (None, NaN, blank) leaves a message
        unlabelled. Rows that cannot be used are set aside with a warning and kept in
        ``rejected_``; more than half of them is an error unless ``allow_rejected``. ``verbose``
        logs every epoch (or every n-th), ``watch`` is called with each epoch's row of figures.
        With ``checkpoints`` the run's state is kept there, and ``resume`` continues from it.
        ``salt_file`` keeps the salt of the stored hashes apart from the model; absent, it is made.
        """
        check_process()
        fit_classifier(
            self,
            messages,
            y,
            allow_rejected=allow_rejected,
            verbose=verbose,
            watch=watch,
            checkpoints=checkpoints,
            checkpoint_every=checkpoint_every,
            resume=resume,
            salt_file=salt_file,
        )
        return self

    def predict(self, messages: Any, *, as_new: bool = False) -> NDArray[Any]:
        """Return the event of each message, in the type the labels had."""
        prediction, _ = self._answer(messages, as_new)
        return self.classes_[prediction.predicted]

    def predict_proba(self, messages: Any, *, as_new: bool = False) -> NDArray[np.float64]:
        """Return the calibrated probability of each class [messages, classes], as ``classes_``."""
        prediction, _ = self._answer(messages, as_new)
        return prediction.probability

    @overload
    def opinions(
        self,
        messages: PandasKind,
        *,
        as_new: bool = ...,
        coverage: float | None = ...,
        false_alarms: float | None = ...,
    ) -> pd.DataFrame: ...
    @overload
    def opinions(
        self,
        messages: ArrowKind,
        *,
        as_new: bool = ...,
        coverage: float | None = ...,
        false_alarms: float | None = ...,
    ) -> pa.Table: ...
    @overload
    def opinions(
        self,
        messages: Any,
        *,
        as_new: bool = ...,
        coverage: float | None = ...,
        false_alarms: float | None = ...,
    ) -> pl.DataFrame: ...
    def opinions(
        self,
        messages: Any,
        *,
        as_new: bool = False,
        coverage: float | None = None,
        false_alarms: float | None = None,
    ) -> Any:
        """Return one row per message, in order, as the caller's kind of frame.

        pandas gives pandas with the same index, Arrow gives an Arrow table, everything else
        polars. Columns: id, event, probability, doubt, verdict, novelty, reason, belief,
        vacuity, uncertainty (the same as vacuity), dissonance, conflict, next_event, next_belief,
        and for every view uncertainty_, event_ and neighbours_. ``doubt`` is the calibrated
        probability that the event is wrong. With a ``coverage``, the column set has the events of
        ``predict_set``: "flood|fire".

        The verdict is "known", "review" (known, but doubtful) or "new" (about no known event), with
        its reason in words. At most ``false_alarms`` (0.05) of the messages of known events are
        called new, as measured on validation messages.
        """
        from eventide.model.set_limits import prediction_sets

        self._check_fitted()
        sets = None if coverage is None else prediction_sets(self, coverage)
        frame = self.intake(messages, strict=True).messages
        match = self.inference.match(frame).as_new() if as_new else self.match_messages(frame)
        opinions = chunked_opinions(self, frame, match, sets=sets, false_alarms=false_alarms)
        return in_kind(messages, OpinionFrame(opinions))

    def predict_set(
        self,
        messages: Any,
        coverage: float = 0.9,
        *,
        kind: str = "clustered",
        as_new: bool = False,
    ) -> list[NDArray[Any]]:
        """Return for each message the events that may be true, the assigned one first.

        The true event is in the set of at least the share ``coverage`` of new messages like the
        validation messages, from which the limits are taken; of each event or cluster of small
        events, or with kind="marginal" of all messages. No set is empty.
        """
        from eventide.model.set_limits import prediction_sets

        self._check_fitted()
        sets = prediction_sets(self, coverage, kind)
        prediction, _ = self._answer(messages, as_new)
        members = sets.members(prediction.probability, prediction.predicted)
        return [self.classes_[each] for each in members]

    def thresholds(self, accuracy: float = 0.95, messages: Any = None) -> Thresholds:
        """Find the doubt below which messages can be kept so that ``accuracy`` of them are right.

        Chosen on labelled ``messages``, or on the model's own validation predictions.
        """
        from eventide.model.thresholds import thresholds_of

        self._check_fitted()
        return thresholds_of(self, accuracy, messages)

    def score(self, messages: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy on labelled messages; an event unseen in training counts as wrong.

        So does a message without any evidence, whatever ``predict`` says of it. Each message counts
        by its ``sample_weight``. Messages the model was trained on count too: ``evaluate`` keeps
        them apart.
        """
        self._check_fitted()
        labels = None if y is None else labels_of(y)
        intake = self.intake(messages, labels, strict=sample_weight is not None)
        self.rejected_ = intake.rejected
        labelled = intake.messages["event"].is_not_null()
        if not labelled.any():
            raise InputError(
                "scoring needs labelled messages, found none",
                where=f"column event of {intake.where}",
                next_step='give y, or name the column of labels: columns={"event": NAME}',
            )
        weights = label_weights(sample_weight, labelled)
        frame = intake.messages.filter(labelled)
        prediction = self.inference.predict(frame, self.match_messages(frame))
        return accuracy(frame["event"].to_numpy(), self.names_of(prediction.scored_as), weights)

    def evaluate(
        self,
        messages: Any,
        y: Any = None,
        *,
        rows: str = "auto",
        as_new: bool = False,
        allow_rejected: bool = False,
    ) -> EvaluationReport:
        """Compare the model's events with the labels, overall and event by event.

        ``rows`` is "auto" (test rows if there are any, else messages that had no part in training,
        else those that chose the epoch), "test", "val", "train", "unseen" or "all". The report
        counts the messages that the model was trained on.
        """
        self._check_fitted()
        return evaluate_model(
            self, messages, y, rows=rows, as_new=as_new, allow_rejected=allow_rejected
        )

    def explain(
        self, messages: Any, message_id: object = None, *, strongest: int = 5
    ) -> Explanation:
        """Explain the message with this id, or the most doubtful one, view by view."""
        from eventide.model.explain import explain

        self._check_fitted()
        wanted = None if message_id is None else str(message_id)
        return explain(self, messages, wanted, strongest=strongest)

    def report(self, messages: Any = None, **options: Any) -> Any:
        """Make a page to show a colleague, of the model or of messages as it sees them.

        Labelled messages measure the model, unlabelled ones are described. A notebook shows the
        page inline; ``.save("report.html")`` writes it: one file, no network. ``options`` are those
        of `eventide.reports.html.model_report.model_report`: title, with_text, accuracy.
        """
        self._check_fitted()
        return PAGES.load("report")(self, messages, **options)

    def figure(self, name: str, messages: Any = None, *, view: str | None = None) -> Any:
        """Draw a figure of this model with matplotlib and return it; `eventide figure --list`.

        It is of labelled ``messages``, else of the model's own validation messages.
        """
        self._check_fitted()
        return PAGES.load("figure")(name, self, messages, view=view).figure

    def _repr_html_(self) -> str:
        """Return what notebooks show: a card of a fitted model, else scikit-learn's diagram."""
        return model_html(self) if self.__sklearn_is_fitted__() else super()._repr_html_()

    def forget(self, ids: Sequence[str] = (), users: Sequence[str] = ()) -> int:
        """Take messages out of the memory, by id or author, and return how many went.

        The weights, which were trained on them, stay as they are. Save the model to keep it so.
        """
        from eventide.model.forget import forget_messages

        self._check_fitted()
        return forget_messages(self, ids=ids, users=users)

    def update(
        self,
        messages: Any = None,
        y: Any = None,
        *,
        steps: int = 10,
        off_topic: Any = None,
        forget_before: datetime | str | None = None,
        allow_rejected: bool = False,
    ) -> UpdateReport:
        """Remember new messages, learn their labels and new events, let old messages go.

        Messages without an event join the memory; nothing is trained. Labelled ones (``event``, or
        ``y``), corrected labels and new events are learned in ``steps`` of fine-tuning on all
        labelled messages, so that older events are not forgotten; 0 leaves new events to a
        prototype of their messages. Events keep their names and places; new ones come last.
        What is like ``off_topic`` messages, which a person dismissed, is no longer called new.
        Messages before ``forget_before`` leave the memory. Save the model to keep it so.
        """
        from eventide.model.update import update_model

        self._check_fitted()
        return update_model(
            self,
            messages,
            y,
            steps=steps,
            off_topic=off_topic,
            forget_before=forget_before,
            allow_rejected=allow_rejected,
        )

    def save(self, path: str | Path, *, keep_text: bool = False, overwrite: bool = False) -> Path:
        """Write the model to a directory; text and names stay out unless ``keep_text``.

        An older model there is replaced, in one step, only with ``overwrite``.
        """
        from eventide.model.artefact import save_model

        self._check_fitted()
        path = check_folder(path, overwrite=overwrite)
        with reserved(path):
            return save_model(self, path, keep_text=keep_text)

    @property
    def class_names(self) -> NDArray[np.str_]:
        """The names of the classes, whatever type the labels had."""
        return class_names(self.classes_)

    def names_of(self, classes: NDArray[np.int64]) -> NDArray[np.str_]:
        """Name numbered classes; no opinion (-1) has the empty name, which no event has."""
        return np.append(self.class_names, "")[classes]

    def intake(
        self,
        messages: Any,
        y: Any = None,
        *,
        strict: bool = False,
        allow_rejected: bool = False,
        fitting: bool = False,
    ) -> Messages:
        """Read any kind of source, once; the messages have all elements filled in.

        See `eventide.corpus.messages.read_messages` for what is told of rows that cannot be used.
        """
        labels = y if y is None or isinstance(y, Labels) else labels_of(y)
        given, remembered = (self.columns, None) if fitting else (None, self.columns)
        return read_messages(
            messages,
            entities=self.entities,
            events=None if labels is None else labels.names,
            columns=given,
            remembered=remembered,
            lists=self.list_columns(fitting=fitting),
            need_lists=fitting,
            strict=strict,
            allow_rejected=allow_rejected,
        )

    @property
    def inference(self) -> Inference:
        """The fitted method beside its memory; several threads may ask at a time."""
        kept: Inference | None = self.__dict__.get("_inference")
        wanted = self.memory_, self.method_, self.calibration_
        if kept is None or any(
            one is not other
            for one, other in zip((kept.memory, kept.method, kept.calibration), wanted, strict=True)
        ):
            known, advise = self.novelty_, None
            if known is not None and known.pool is not None:
                advise = Adviser(known, self.reference)
            kept = self._inference = Inference(self.featuriser_, *wanted, advise)
        return kept

    @property
    def reference(self) -> Reference:
        """The labelled messages of the memory, which novelty is measured by."""
        kept: Reference | None = self.__dict__.get("_reference")
        if kept is None or kept.memory is not self.memory_ or kept.labels is not self.labels_:
            kept = Reference(self.memory_, self.labels_, len(self.classes_))
            self._reference = kept
        return kept

    def remembered_rows(self, frame: pl.DataFrame) -> NDArray[np.int64]:
        """Find the memory's row of each canonical message, -1 for those the model does not know."""
        return self.inference.match(frame).rows

    def _answer(self, messages: Any, as_new: bool) -> tuple[Prediction, pl.Series]:
        self._check_fitted()
        frame = self.intake(messages, strict=True).messages
        match = self.inference.match(frame).as_new() if as_new else self.match_messages(frame)
        return self.inference.predict(frame, match), frame["id"]

    def match_messages(self, frame: pl.DataFrame) -> MemoryMatch:
        """Find messages in the memory, and tell of edited ones."""
        match = self.inference.match(frame)
        edited = np.flatnonzero(match.edited)
        if len(edited):
            first = frame["id"][int(edited[0])]
            warn(
                f"{len(edited):,} of {len(frame):,} messages have an id the model knows with "
                f"another text, the first {first!r}: they are predicted as new messages"
            )
        return match

    def list_columns(self, *, fitting: bool = False) -> list[str]:
        """Name the list columns that the views read."""
        views = checked_views(self.views) if fitting else self._views()
        return [column for view in views for column in view.columns if column != "user"]

    def _views(self) -> tuple[View, ...]:
        """The views that the model was fitted with; before that, the ones it will be."""
        featuriser = self.__dict__.get("featuriser_")
        return checked_views(self.views) if featuriser is None else featuriser.views

    def _check_fitted(self) -> None:
        check_process()
        self.check_fitted()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "method_")
