"""When messages are few: whole columns have a fixed cost that a handful never earns back."""

FEW = 32
"""Up to this many messages are handled one by one, and by one thread (benchmarks/assigning.py)."""
