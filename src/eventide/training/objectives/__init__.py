"""What the loop minimises: loss terms, a batch sampler and a reader of outputs."""
