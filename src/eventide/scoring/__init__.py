"""Numbers about predictions: accuracy, macro-F1, calibration, doubt against error."""
