"""Baselines: what plain means reach, always printed beside the methods."""
