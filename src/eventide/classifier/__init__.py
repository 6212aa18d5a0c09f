"""The facade over everything: fit, predict, opinions, save and load."""

from eventide.classifier.facade import EventClassifier
from eventide.classifier.files import load_model

__all__ = ["EventClassifier", "load_model"]
