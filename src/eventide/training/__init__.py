"""The loop (Algorithm 1 on one screen), per-epoch class state, checkpoints."""
