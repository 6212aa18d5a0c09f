"""The facade: fit on labelled messages, then ask for events and honest opinions.

It reads, splits, encodes and connects messages, hands them to a method, and turns what the method
says back into the caller's kind of frame. The work itself is done elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError

from eventide.classifier.opinion_frame import opinion_frame
from eventide.classifier.threads import threads_for
from eventide.data import read
from eventide.errors import BadSetting, InputError
from eventide.features.elements import with_elements
from eventide.features.encoders import DEFAULT_ENCODER, encoder
from eventide.forks import check_process
from eventide.graphs.keys import KeyIndex
from eventide.graphs.views import PAPER_VIEWS, View
from eventide.methods import METHODS
from eventide.methods.base import Judgement, Method, together
from eventide.settings import Settings, preset, resolve
from eventide.training.checkpoints import Checkpoints
from eventide.training.corpus import Corpus
from eventide.training.loop import Watch
from eventide.training.study import study

PROTOCOLS = ("transductive", "inductive")
CLEAR = ("id", "text", "user")
"""What a model remembers in clear, and forgets when saved without ``keep_text``."""


class EventClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learn which event a message is about, and how sure one can be.

    ``method`` is a name that ``eventide methods`` lists; ``encoder`` turns text into vectors;
    ``views`` maps a view's name to the list columns that connect messages (the paper's three by
    default). ``protocol`` is "transductive" (all messages given to ``fit`` are in the graph, the
    paper's way) or "inductive" (training messages only; everything else is looked up). Any
    setting can be changed by its dotted name with two underscores: ``training__epochs=30``.

    Any number of threads may ask one fitted or loaded model. A process forked from one that has
    already computed gets a ``ForkedProcess`` error: start processes by "spawn". Training beside
    other busy programs, set ``OMP_WAIT_POLICY=PASSIVE`` before torch is imported, as the command
    line does: threads that wait then sleep instead of spinning.

    >>> EventClassifier(method="ucl", training__epochs=3).get_params()["training__epochs"]
    3
    """

    def __init__(
        self,
        method: str = "ucl-ec",
        encoder: str = DEFAULT_ENCODER,
        views: Mapping[str, Sequence[str]] | None = None,
        preset: str = "default",
        protocol: str = "transductive",
        entities: str = "rules",
        columns: Mapping[str, str] | None = None,
        seed: int = 0,
        **overrides: Any,
    ) -> None:
        self.method = method
        self.encoder = encoder
        self.views = views
        self.preset = preset
        self.protocol = protocol
        self.entities = entities
        self.columns = columns
        self.seed = seed
        self._overrides = dict(overrides)
        self._indexed: tuple[Corpus, KeyIndex] | None = None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return every parameter, the changed settings among them."""
        own = {name: getattr(self, name) for name in self._parameter_names()}
        return own | self._overrides

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters; unknown settings are refused."""
        for name, value in parameters.items():
            if name in self._parameter_names():
                setattr(self, name, value)
            else:
                self._overrides[name] = value
        self.settings()
        return self

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return [
            "method", "encoder", "views", "preset", "protocol", "entities", "columns", "seed",
        ]  # fmt: skip

    def settings(self) -> Settings:
        """Return the settings of this run: the paper's, the preset's, the method's, yours."""
        changes = {name.replace("__", "."): value for name, value in self._overrides.items()}
        return resolve(preset(self.preset), METHODS.load(self.method).defaults, changes)

    def fit(
        self,
        messages: Any,
        y: Sequence[Any] | None = None,
        *,
        watch: Watch = lambda _: None,
        checkpoints: Path | None = None,
        checkpoint_every: int = 1,
        resume: bool = False,
    ) -> Self:
        """Learn from messages (a frame, a path, a dataset's name or a list of dicts).

        ``y`` replaces the column ``event``. ``watch`` is called with every epoch's row of figures.
        With ``checkpoints`` the run's state is kept there, and ``resume`` continues from it.
        """
        settings = self.settings()
        if self.protocol not in PROTOCOLS:
            raise BadSetting(
                f"there is no protocol {self.protocol!r}",
                next_step=f"choose one of {', '.join(PROTOCOLS)}",
            )
        frame = self.read_messages(messages, y)
        plan = study(
            frame,
            encoder=encoder(self.encoder),
            views=self._views(),
            graph=settings.graph,
            inductive=self.protocol == "inductive",
            seed=self.seed,
        )
        self.__dict__.pop("method_", None)  # a fit that fails leaves no model, not half of one
        self.settings_, self.classes_, self.counts_ = settings, plan.classes, plan.counts
        self.preparation_, self.memory_ = plan.preparation, plan.problem.corpus
        self.labels_ = plan.problem.labels
        self.remembered_: pl.DataFrame | None = plan.remembered.select(CLEAR)
        method: Method = METHODS.load(self.method)(settings, self.seed)
        kept = None
        if checkpoints is not None:
            signature = self._signature(plan.problem.corpus)
            kept = Checkpoints(Path(checkpoints), signature, checkpoint_every, resume)
        run = method.fit(plan.problem, watch, kept)
        self.history_, self.best_epoch_ = run.history, run.best_epoch
        self.notes_, self.method_ = (*plan.notes, *run.notes), method
        return self

    def predict(self, messages: Any, *, as_new: bool = False) -> NDArray[np.str_]:
        """Return the event of each message."""
        judgement, _ = self._judge(messages, as_new)
        return self.classes_[judgement.predicted]

    def predict_proba(self, messages: Any, *, as_new: bool = False) -> NDArray[np.float64]:
        """Return the expected probability of each class [messages, classes]."""
        judgement, _ = self._judge(messages, as_new)
        return judgement.probability

    def opinions(self, messages: Any, *, as_new: bool = False) -> Any:
        """Return one row per message, in order, as the caller's kind of frame.

        Columns: id, event, belief, probability, uncertainty, conflict, next_event, next_belief,
        and for every view uncertainty_, event_ and neighbours_.
        """
        judgement, ids = self._judge(messages, as_new)
        frame = opinion_frame(ids, judgement, self.classes_)
        return frame.to_pandas() if type(messages).__module__.startswith("pandas") else frame

    def score(
        self, messages: Any, y: Sequence[Any] | None = None, sample_weight: Any = None
    ) -> float:
        """Return the accuracy on labelled messages.

        An event unseen in training counts as wrong, and so does a message without any evidence.
        """
        frame = self.read_messages(messages, y, strict=True)
        frame = frame.filter(pl.col("event").is_not_null())
        if not len(frame):
            raise InputError("scoring needs labelled messages, found none", where="column event")
        judgement, _ = self._judge(frame, as_new=False)
        right = frame["event"].to_numpy() == self.classes_[judgement.predicted]
        return float(np.mean(right & ~judgement.undecided))

    def save(self, path: str | Path, *, keep_text: bool = False) -> Path:
        """Write the model to a directory; text and names stay out unless ``keep_text``."""
        from eventide.classifier.files import save_model

        self._check_fitted()
        return save_model(self, Path(path), keep_text=keep_text)

    def _judge(self, messages: Any, as_new: bool) -> tuple[Judgement, pl.Series]:
        self._check_fitted()
        frame = self.read_messages(messages, strict=True)
        rows = np.full(len(frame), -1) if as_new else self.remembered_rows(frame)
        known, new = np.flatnonzero(rows >= 0), np.flatnonzero(rows < 0)
        parts = []
        with threads_for(len(frame)):
            if len(known):
                parts.append((known, self.method_.judge(rows[known])))
            if len(new):
                unseen = frame[new] if len(known) else frame
                parts.append((new, self.method_.judge_new(self.preparation_.prepare(unseen))))
        return together(parts), frame["id"]

    def remembered_rows(self, frame: pl.DataFrame) -> NDArray[np.int64]:
        """Find the memory's row of each canonical message, -1 for those the model does not know."""
        rows = self._index().find(self.preparation_.hashed("id", frame["id"]))
        texts = self.preparation_.hashed("text", frame["text"])
        changed = (rows >= 0) & (self.memory_.texts[rows] != texts)
        if changed.any():
            raise InputError(
                f"{int(changed.sum())} messages have an id the model knows with another text",
                where=f"the first has id {frame['id'][int(np.argmax(changed))]!r}",
                next_step="give new messages new ids, or pass as_new=True (--as-new)",
            )
        return rows

    def _index(self) -> KeyIndex:
        """Index the memory's ids, once for each memory."""
        indexed = self._indexed
        if indexed is None or indexed[0] is not self.memory_:
            indexed = self._indexed = self.memory_, KeyIndex(self.memory_.ids)
        return indexed[1]

    def read_messages(
        self, messages: Any, y: Sequence[Any] | None = None, *, strict: bool = False
    ) -> pl.DataFrame:
        """Read any kind of source into canonical messages with all elements filled in."""
        strict = strict or y is not None
        intake = read(messages, columns=self.columns, lists=self.list_columns(), strict=strict)
        frame = intake.messages
        if y is not None:
            if len(y) != len(frame):
                raise InputError(f"y has {len(y)} labels for {len(frame)} messages")
            labels = [None if label is None else str(label) for label in y]
            frame = frame.with_columns(pl.Series("event", labels, dtype=pl.String))
        return with_elements(frame, entities=self.entities)

    def list_columns(self) -> list[str]:
        """Name the list columns that the views read."""
        return [column for view in self._views() for column in view.columns if column != "user"]

    def _views(self) -> tuple[View, ...]:
        if self.views is None:
            return PAPER_VIEWS
        return tuple(View(name, tuple(columns)) for name, columns in self.views.items())

    def _signature(self, corpus: Corpus) -> dict[str, Any]:
        """Describe the run, so that a checkpoint of another one is not continued."""
        return {
            "method": self.method,
            "encoder": self.encoder,
            "protocol": self.protocol,
            "seed": self.seed,
            "settings": self.settings_.model_dump(mode="json"),
            "messages": blake2b(corpus.ids.tobytes(), digest_size=16).hexdigest(),
        }

    def _check_fitted(self) -> None:
        check_process()
        if not hasattr(self, "method_"):
            raise NotFittedError("this EventClassifier is not fitted yet; call fit(messages) first")
