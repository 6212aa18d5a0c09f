"""A network bound to the messages it runs on: exact graphs, sampled graphs, or text alone."""
