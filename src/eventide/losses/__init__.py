"""Losses that return one value per message; reduction is apart."""
