"""What scikit-learn asks of an estimator, answered without importing it.

scikit-learn takes longer to import than a hundred messages take to assign. Its tools (``clone``,
``GridSearchCV``, ``cross_val_score``, pipelines, tags, metadata routing, notebooks) ask an
estimator for the members below. They ask for no base class: ``isinstance(model, BaseEstimator)`` is
False, and ``check_estimator`` warns of it. What the members need of scikit-learn is imported when
they are asked for.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from copy import deepcopy
from typing import Any, Self


class Estimator(ABC):
    """A classifier of messages to scikit-learn; parameters are whatever ``get_params`` returns."""

    _estimator_type = "classifier"
    """What scikit-learn up to 1.5 asks for instead of the tags."""

    @abstractmethod
    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return every parameter as it was given."""

    @abstractmethod
    def __sklearn_is_fitted__(self) -> bool:
        """Tell ``check_is_fitted`` whether there is anything to predict with."""

    def check_fitted(self) -> None:
        """Raise scikit-learn's ``NotFittedError`` before ``fit``."""
        if not self.__sklearn_is_fitted__():
            from sklearn.exceptions import NotFittedError

            name = type(self).__name__
            raise NotFittedError(f"this {name} is not fitted yet; call fit(messages) first")

    def __sklearn_tags__(self) -> Any:
        """Say what scikit-learn may expect: messages, not a matrix; labels may be a column."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=False),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(two_d_array=False, one_d_array=True, string=True),
        )

    def get_metadata_routing(self) -> Any:
        """Return which metadata ``score`` asks for, see scikit-learn's metadata routing."""
        from sklearn.utils.metadata_routing import MetadataRequest

        kept = self.__dict__.get("_metadata_request")  # where ``clone`` looks for it, too
        if kept is not None:
            return deepcopy(kept)
        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=None)
        return request

    def set_score_request(self, *, sample_weight: bool | str | None = None) -> Self:
        """Say whether a tool of scikit-learn passes ``sample_weight`` on to ``score``."""
        request = self.get_metadata_routing()
        request.score.add_request(param="sample_weight", alias=sample_weight)
        self._metadata_request = request
        return self

    def __repr__(self) -> str:
        usual = {
            name: parameter.default
            for name, parameter in inspect.signature(type(self)).parameters.items()
        }
        changed = (
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if name not in usual or repr(value) != repr(usual[name])
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_html_(self) -> str:
        """Return the diagram that notebooks show."""
        from sklearn.utils import estimator_html_repr

        return str(estimator_html_repr(self))
