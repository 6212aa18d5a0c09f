"""Losses on logits: one value per message."""
