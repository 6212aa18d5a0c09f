"""Message graphs: views, exact neighbourhoods without edges, memory, sampled graphs, purity."""
