"""The same work beyond one process: worker processes, Ray, torch.distributed.

Start with ``assignment`` (many files to Parquet parts), ``distributed`` (data-parallel training),
``ray_jobs`` (comparisons) and ``shards`` (a memory in parts). Ray is imported only where it is
asked for, by ``ray_session`` and what it serves.
"""
