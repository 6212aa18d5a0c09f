"""Exact time-weighted averages over all neighbours without storing edges (design: SPEED.md).

Start with ``eventide.graphs.neighbourhood`` (training) and ``eventide.graphs.memory`` (new
messages), which use these modules. Read them in this order:

1. ``subsets``: element sets (profiles), their subsets, and the signs of inclusion-exclusion.
2. ``bucket_index``: the arrays that say which bucket sums and single messages a message reads.
3. ``index_building``: builds the bucket index of a set of messages.
4. ``gather_schedule``: turns the bucket index into an order of reads for some messages.
5. ``products``: products of sparse and dense matrices, with gradients.
6. ``attention``: the softmax over time distances, the weighted reads, and their gradients.
7. ``kept_sums``: bucket sums that are kept between training steps.
8. ``shared_states``: states that several training steps read, and the gradients they leave.
9. ``lookup``: new messages that read a memory, in batches.
10. ``small_batch_lookup``: the same for a few messages, with less fixed cost.
"""
