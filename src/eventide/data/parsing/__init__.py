"""Parsing of cells, lists, dates and times into typed columns."""
