"""The facade over everything: fit, predict, opinions, evaluate, save and load."""

from eventide.classifier.evaluation import EvaluationReport, evaluate_model
from eventide.classifier.facade import EventClassifier
from eventide.classifier.files import load_model

__all__ = ["EvaluationReport", "EventClassifier", "evaluate_model", "load_model"]
