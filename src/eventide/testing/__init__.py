"""Invariants that every registered method must pass."""
