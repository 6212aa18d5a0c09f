"""Messages in: schema, readers, validation, splits, long tails, datasets, the built-in sample."""
