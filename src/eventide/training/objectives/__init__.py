"""What the loop minimises: loss terms x batch sampler x reader of outputs."""
