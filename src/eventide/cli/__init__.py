"""The command line: one verb per file, each a thin call of a plain function."""
