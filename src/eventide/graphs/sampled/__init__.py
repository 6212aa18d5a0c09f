"""Sampled graphs with explicit edges, for the methods that weight single edges."""
