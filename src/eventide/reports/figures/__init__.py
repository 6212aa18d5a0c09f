"""The paper's figures and two of doubt: one file each, values that can be printed and a drawing.

A new figure is one module with a `Recipe`, one line here, and a test.
"""

from __future__ import annotations

from eventide.registry import Registry

FIGURES = Registry("figure", plugins="eventide.figures")

_HERE = __name__
FIGURES.add(
    "class-uncertainty",
    f"{_HERE}.class_uncertainty:FIGURE",
    "class uncertainty, error rate, 1/n and sqrt(1/n), with rank correlations",
)
FIGURES.add("class-sizes", f"{_HERE}.class_sizes:FIGURE", "messages per event")
FIGURES.add(
    "groups", f"{_HERE}.group_bars:FIGURE", "ACC and F1 of certain, middle and uncertain classes"
)
FIGURES.add("tsne", f"{_HERE}.tsne:FIGURE", "t-SNE of eight events in one view, by method")
FIGURES.add(
    "similarity",
    f"{_HERE}.similarity_histograms:FIGURE",
    "cosine within and between events, by method and group",
)
FIGURES.add(
    "right-wrong", f"{_HERE}.right_wrong:FIGURE", "uncertainty of right and wrong predictions"
)
FIGURES.add(
    "reliability",
    f"{_HERE}.reliability_curves:FIGURE",
    "probabilities against how often they are right, before and after calibration",
)
FIGURES.add(
    "risk-coverage",
    f"{_HERE}.risk_coverage_curves:FIGURE",
    "errors among the messages kept, by doubt and by vacuity",
)
FIGURES.add(
    "sensitivity", f"{_HERE}.sensitivity:FIGURE", "ACC and F1 over the weights of the loss terms"
)
FIGURES.add(
    "drift", f"{_HERE}.drift_curves:FIGURE", "how far prototypes move, learned and centroids"
)
FIGURES.add("architecture", f"{_HERE}.architecture:FIGURE", "the method as a diagram")
