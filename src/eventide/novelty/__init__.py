"""Is a message about an event that the model has never seen? Signals, detector, candidates."""
