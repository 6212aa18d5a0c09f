"""Losses on embeddings: one family of prototype losses, and plain supervised contrast."""
