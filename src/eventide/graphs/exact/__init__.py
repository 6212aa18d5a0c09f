"""Exact neighbourhood averages without edges (SPEED.md). Start in ``bucket_index``."""
