"""From messages to what a method learns from: featurised, hashed, labelled."""
