"""Temporal attention, the encoder shared by the views, evidence heads, the multi-view network."""
