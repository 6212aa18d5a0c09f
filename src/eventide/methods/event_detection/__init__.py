"""Baselines of social event detection that the paper compares itself with."""
