"""Long-tail recognition methods in the multi-view frame."""
