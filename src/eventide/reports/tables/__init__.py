"""The tables of a comparison, one file each, drawn for people, papers and programs."""

from eventide.reports.tables.collection import collect
from eventide.reports.tables.table import Table

__all__ = ["Table", "collect"]
