"""Neighbours drawn by chance, for the baselines that sample: sampler, edge blocks, similarity."""
