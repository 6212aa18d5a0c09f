"""Numbers about predictions: accuracy, macro-F1, uncertainty against error."""
