"""Reading messages: schema, readers, validation, splits, long tails, data sets."""

from eventide.data.intake import Intake, read

__all__ = ["Intake", "read"]
