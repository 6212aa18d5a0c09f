"""Candidate events: messages judged new, grouped by words, elements, vectors and time.

Grouping is incremental. A message first looks for a candidate that is there; what finds none is
clustered together with the messages that are still alone, and clusters become candidates of their
own. Candidates that have grown alike are merged; the older id stays.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.arrays import unit_rows
from eventide.errors import InputError
from eventide.features.entities.word_lists import stop_words

Vectors = NDArray[np.float32]
OPEN, ACCEPTED, DISMISSED = "open", "accepted", "dismissed"
WIDTH = 1024
"""Places that words and elements are hashed to."""
WORDS = 0.7
"""Share of the hashed words in the likeness of two messages; the rest is the encoder's."""
JOIN, GROUP, MERGE = 0.18, 0.12, 0.45
"""Least cosine to join a candidate, to be grouped, and of two candidates to be merged."""
FEWEST = 3
"""Messages of a candidate, at least."""
WINDOW = 14.0
"""Days between a message and a candidate that it joins, at most."""
TOGETHER = 3_000
"""Messages that are clustered at a time."""
KEYWORDS, EXAMPLES = 6, 3
_WORD = re.compile(r"\w{3,}")
_LINK = re.compile(r"https?://\S+")


@dataclass(frozen=True)
class Candidate:
    """A candidate event under a stable ``id``; ``purity`` is an estimate.

    It is the share of its messages that are nearer to it than to any other candidate, and near
    enough to have joined it. ``merged`` are the ids of candidates that went into it.
    """

    id: str
    name: str
    state: str = OPEN
    keywords: list[str] = field(default_factory=list)
    first: str | None = None
    last: str | None = None
    volume: int = 0
    examples: list[str] = field(default_factory=list)
    purity: float = 1.0
    merged: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)


MEMBERS: dict[str, pl.DataType | type[pl.DataType]] = {
    "id": pl.String,
    "text": pl.String,
    "created_at": pl.Datetime("ms", "UTC"),
    "user": pl.String,
    "candidate": pl.String,
}


@dataclass
class Candidates:
    """All candidates, their messages (``candidate`` is null of those still alone) and vectors."""

    candidates: list[Candidate]
    messages: pl.DataFrame
    vectors: Vectors
    frequency: NDArray[np.int64]
    seen: int = 0
    made: int = 0

    @classmethod
    def none(cls) -> Candidates:
        """Return an empty collection."""
        empty = np.zeros((0, 0), dtype=np.float32)
        frame = pl.DataFrame(schema=MEMBERS)
        return cls([], frame, empty, np.zeros(WIDTH, dtype=np.int64))

    def find(self, name: str) -> Candidate:
        """Return the candidate with this id, or the one that it was merged into."""
        for each in self.candidates:
            if name == each.id or name in each.merged:
                return each
        known = ", ".join(each.id for each in self.candidates[:10]) or "none"
        raise InputError(f"no candidate {name!r}", next_step=f"give one of: {known}")

    def decide(self, name: str, state: str, event: str | None = None) -> Candidate:
        """Accept a candidate as an event, or dismiss it as off-topic."""
        found = self.find(name)
        decided = replace(found, state=state, name=event or found.name)
        self.candidates = [decided if each is found else each for each in self.candidates]
        return decided

    def labelled(self) -> pl.DataFrame:
        """Return the messages of accepted candidates with their event, ready to be learned."""
        events = {each.id: each.name for each in self.candidates if each.state == ACCEPTED}
        kept = self.messages.filter(pl.col("candidate").is_in(list(events)))
        event = pl.col("candidate").replace_strict(events, return_dtype=pl.String)
        return kept.with_columns(event=event).drop("candidate")

    def dismissed(self) -> pl.DataFrame:
        """Return the messages of dismissed candidates, which ``update`` can learn from."""
        gone = [each.id for each in self.candidates if each.state == DISMISSED]
        return self.messages.filter(pl.col("candidate").is_in(gone)).drop("candidate")

    def add(
        self,
        frame: pl.DataFrame,
        features: Vectors,
        new: NDArray[np.bool_],
        perhaps: NDArray[np.bool_] | None = None,
    ) -> None:
        """Take messages in; those judged ``new`` [n] join candidates or become some.

        ``frame`` has id, text, created_at, user, and perhaps hashtags and entities. The others say
        which words are common; of them, those that are ``perhaps`` new [n] join a candidate that
        they are like, and else are left out.
        """
        self._add(frame, features, new)
        if perhaps is not None and (perhaps & ~new).any() and self.candidates:
            rows = np.flatnonzero(perhaps & ~new)
            alone = self._alone_ids()
            self._add(frame[rows], features[rows], np.ones(len(rows), dtype=bool), grouping=False)
            self._leave_out(self._alone_ids() - alone)
        self._describe()

    def _alone_ids(self) -> set[str]:
        return set(self.messages.filter(pl.col("candidate").is_null())["id"].to_list())

    def _leave_out(self, ids: set[str]) -> None:
        kept = ~self.messages["id"].is_in(list(ids)).to_numpy()
        self.messages, self.vectors = self.messages.filter(pl.Series(kept)), self.vectors[kept]

    def _add(
        self,
        frame: pl.DataFrame,
        features: Vectors,
        new: NDArray[np.bool_],
        *,
        grouping: bool = True,
    ) -> None:
        known = set(self.messages["id"].to_list())
        fresh = ~frame["id"].is_in(list(known)).to_numpy()
        words = [_words(row) for row in frame.filter(pl.Series(fresh)).iter_rows(named=True)]
        if grouping:  # the others were counted before
            for each in words:
                self.frequency[_places(each)] += 1
            self.seen += len(words)
        joining = new[fresh]
        if joining.any():
            rows = frame.filter(pl.Series(fresh)).filter(pl.Series(joining))
            said = [each for each, wanted in zip(words, joining, strict=True) if wanted]
            own = self._vectors(said, features[fresh][joining])
            alone = pl.lit(None, dtype=pl.String).alias("candidate")
            added = rows.select(*[pl.col(n).cast(MEMBERS[n]) for n in list(MEMBERS)[:-1]], alone)
            self.messages = pl.concat([self.messages, added])
            self.vectors = np.concatenate([self.vectors.reshape(-1, own.shape[1]), own])
            self._join()
            if grouping:
                self._group()
                self._merge()

    def _vectors(self, words: Sequence[Sequence[str]], features: Vectors) -> Vectors:
        rarity = np.log((1 + self.seen) / (1 + self.frequency)).clip(0) + 0.1
        hashed = np.zeros((len(words), WIDTH), dtype=np.float32)
        for row, each in enumerate(words):
            places = _places(each)
            hashed[row, places] = rarity[places]
        return self.joined_vectors(hashed, features)

    @staticmethod
    def joined_vectors(hashed: Vectors, features: Vectors) -> Vectors:
        """Put hashed words [n, `WIDTH`] and the encoder's vectors of messages side by side."""
        parts = [
            np.sqrt(WORDS) * unit_rows(hashed),
            np.sqrt(1 - WORDS) * unit_rows(features.astype(np.float32)),
        ]
        return unit_rows(np.concatenate(parts, axis=1).astype(np.float32))

    def _days(self) -> NDArray[np.float64]:
        """Return the time of each message in days; all at once where there are no times."""
        stamps = self.messages["created_at"].dt.timestamp("ms").fill_null(0).to_numpy()
        return np.asarray(stamps / 86_400_000.0)

    def _members(self) -> dict[str, NDArray[np.int64]]:
        found = self.messages["candidate"].to_numpy()
        return {each.id: np.flatnonzero(found == each.id) for each in self.candidates}

    def _centroids(self, members: dict[str, NDArray[np.int64]]) -> Vectors:
        return unit_rows(np.stack([self.vectors[rows].mean(axis=0) for rows in members.values()]))

    def _assign(self, rows: NDArray[np.int64], names: Sequence[str]) -> None:
        column = self.messages["candidate"].to_list()
        for row, name in zip(rows.tolist(), names, strict=True):
            column[row] = name
        self.messages = self.messages.with_columns(pl.Series("candidate", column, dtype=pl.String))

    def _alone(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.messages["candidate"].is_null().to_numpy())

    def _join(self) -> None:
        """Let messages join the candidate that they are most like, if it is of their days."""
        alone, members = self._alone(), self._members()
        if not len(alone) or not members:
            return
        days = self._days()
        cosines = self.vectors[alone] @ self._centroids(members).T
        for at, rows in enumerate(members.values()):
            early, late = days[rows].min() - WINDOW, days[rows].max() + WINDOW
            cosines[(days[alone] < early) | (days[alone] > late), at] = -1
        best = cosines.argmax(axis=1)
        near = cosines[np.arange(len(alone)), best] >= JOIN
        names = list(members)
        self._assign(alone[near], [names[each] for each in best[near]])

    def _group(self) -> None:
        """Cluster the messages that are alone; clusters become candidates."""
        from sklearn.cluster import AgglomerativeClustering

        days, alone = self._days(), self._alone()
        if not len(alone):
            return
        latest = days[alone].max()
        alone = alone[days[alone] >= latest - WINDOW]
        alone = alone[np.argsort(days[alone], kind="stable")]
        for start in range(0, len(alone), TOGETHER):
            rows = alone[start : start + TOGETHER]
            if len(rows) < FEWEST:
                continue
            distance = 1 - self.vectors[rows] @ self.vectors[rows].T
            clusters = AgglomerativeClustering(
                n_clusters=None,
                metric="precomputed",
                linkage="average",
                distance_threshold=1 - GROUP,
            ).fit_predict(np.clip(distance, 0, 2))
            for cluster in range(clusters.max() + 1):
                found = rows[clusters == cluster]
                if len(found) >= FEWEST:
                    self.made += 1
                    made = Candidate(f"c{self.made:04d}", "")
                    self.candidates.append(made)
                    self._assign(found, [made.id] * len(found))

    def _merge(self) -> None:
        """Merge candidates that have grown alike in the same days; the older id stays."""
        while len(self.candidates) > 1:
            members, days = self._members(), self._days()
            centroids = self._centroids(members)
            cosines = np.triu(centroids @ centroids.T, k=1)
            spans = [(days[rows].min(), days[rows].max()) for rows in members.values()]
            early = np.array([span[0] for span in spans])
            late = np.array([span[1] for span in spans])
            apart = np.maximum(early[:, None] - late, early - late[:, None]) > WINDOW
            decided = np.array([each.state != OPEN for each in self.candidates])
            cosines[apart | (decided[:, None] & decided)] = -1
            first, second = np.unravel_index(int(cosines.argmax()), cosines.shape)
            if cosines[first, second] < MERGE:
                return
            if decided[second]:  # what a person decided stays
                first, second = second, first
            kept, gone = self.candidates[first], self.candidates[second]
            self._assign(members[gone.id], [kept.id] * len(members[gone.id]))
            merged = replace(kept, merged=[*kept.merged, gone.id, *gone.merged])
            self.candidates = [
                merged if each is kept else each for each in self.candidates if each is not gone
            ]

    def _describe(self) -> None:
        """Write down what each candidate is about."""
        members = self._members()
        if not members:
            return
        cosines = self.vectors @ self._centroids(members).T
        described = []
        for at, (each, rows) in enumerate(zip(self.candidates, members.values(), strict=True)):
            own = cosines[rows]
            near = (own.argmax(axis=1) == at) & (own[:, at] >= min(JOIN, GROUP))
            texts = [self.messages["text"][int(row)] for row in rows]
            times = self.messages["created_at"][rows.tolist()].drop_nulls()
            keywords = self._keywords(texts)
            typical = rows[np.argsort(-own[:, at], kind="stable")]
            examples = list(dict.fromkeys(self.messages["text"][int(row)] for row in typical))
            described.append(
                replace(
                    each,
                    name=each.name if each.state != OPEN else "-".join(keywords[:3]) or each.id,
                    keywords=keywords,
                    first=str(times.min()) if len(times) else None,
                    last=str(times.max()) if len(times) else None,
                    volume=len(rows),
                    examples=examples[:EXAMPLES],
                    purity=float(near.mean()),
                )
            )
        self.candidates = described

    def _keywords(self, texts: Sequence[str]) -> list[str]:
        """Return the words that are frequent here and rare elsewhere."""
        counts = Counter(word for text in texts for word in set(plain_words(text)))
        rarity = np.log((1 + self.seen) / (1 + self.frequency)).clip(0) + 0.1
        worth = {word: count * rarity[_place(word)] for word, count in counts.items() if count > 1}
        return sorted(worth, key=lambda word: (-worth[word], word))[:KEYWORDS]


def plain_words(text: str) -> list[str]:
    """Return the words of a text that say something, in small letters.

    >>> plain_words("The flood in Calgary! http://t.co/x #yycflood")
    ['flood', 'calgary', 'yycflood']
    """
    found = _WORD.findall(_LINK.sub(" ", text).lower())
    return [word for word in found if word not in stop_words() and not word.isdecimal()]


def _words(row: dict[str, Any]) -> list[str]:
    elements = [*(row.get("hashtags") or ()), *(row.get("entities") or ())]
    return [*plain_words(row["text"]), *(str(each).lower() for each in elements)]


def _place(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass")) % WIDTH


def _places(words: Sequence[str]) -> NDArray[np.int64]:
    return np.unique(np.array([_place(word) for word in words], dtype=np.int64))
