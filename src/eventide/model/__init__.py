"""The public classifier: fit, predict, opinions, evaluate, save and load."""

from eventide.model.artefact import load_model
from eventide.model.classifier import EventClassifier
from eventide.model.evaluation import EvaluationReport, evaluate_model

__all__ = ["EvaluationReport", "EventClassifier", "evaluate_model", "load_model"]
