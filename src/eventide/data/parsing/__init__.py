"""Cells, lists and times as people write them, turned into typed columns."""
