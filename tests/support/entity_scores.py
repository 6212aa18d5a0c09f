"""How good the entity finder is: precision and recall against hand-labelled messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class EntityScore:
    """Counts over a set of messages, and the shares that follow from them.

    >>> score = entity_score([["boston", "fbi"], []], [["boston"], ["oslo"]])
    >>> score.precision, score.recall, score.f1
    (0.5, 0.5, 0.5)
    """

    found: int
    labelled: int
    right: int

    @property
    def precision(self) -> float:
        """The share of what was found that is labelled; 0 where nothing was found."""
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """The share of what is labelled that was found; 0 where nothing is labelled."""
        return self.right / self.labelled if self.labelled else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.found + self.labelled
        return 2 * self.right / both if both else 0.0


def entity_score(found: Iterable[Sequence[str]], labelled: Iterable[Sequence[str]]) -> EntityScore:
    """Compare two lists of entities per message; one counts only when it is exactly the same."""
    pairs = [(set(ours), set(theirs)) for ours, theirs in zip(found, labelled, strict=True)]
    return EntityScore(
        found=sum(len(ours) for ours, _ in pairs),
        labelled=sum(len(theirs) for _, theirs in pairs),
        right=sum(len(ours & theirs) for ours, theirs in pairs),
    )
