"""The tables of a comparison: built in ``collection``, formatted, written to files."""
