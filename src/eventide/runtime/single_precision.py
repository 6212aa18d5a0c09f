"""Products of matrices in single precision, by the quicker of the two libraries that torch has.

torch hands them to MKL, which uses half of the width of AVX-512 on processors that are not Intel's.
oneDNN uses all of it. torch asks oneDNN where products may be rounded further ("medium"), but only
units for tiles of matrices (AMX) round them; whether they do is tried out.

oneDNN prepares every new shape, which takes longer than a small product: small products of ever
other shapes are MKL's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from eventide.runtime.own_process import is_own

WIDE = "AVX512"
QUICK = "medium"
USUAL = "highest"


@contextmanager
def quick_products() -> Iterator[None]:
    """Inside, large products are quicker where the processor allows it, and as precise.

    Nothing happens in a process that is not ours: the choice is one for the whole process.

    >>> with quick_products():
    ...     sum(range(3))
    3
    """
    import torch  # not at the top: commands that train nothing need no torch

    if not is_own() or torch.backends.cpu.get_cpu_capability() != WIDE:
        yield
        return
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(QUICK)
    if _rounds():
        torch.set_float32_matmul_precision(before)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


@contextmanager
def small_products() -> Iterator[None]:
    """Inside, products are as they are outside of ``quick_products``.

    >>> with quick_products(), small_products():
    ...     sum(range(3))
    3
    """
    import torch

    now = torch.get_float32_matmul_precision()
    if not is_own() or now != QUICK:
        yield
        return
    torch.set_float32_matmul_precision(USUAL)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(now)


def _rounds() -> bool:
    """Say whether the last bits of single-precision factors are lost."""
    import torch

    lasting = 1 + 2.0**-20
    product = torch.full((64, 64), lasting) @ torch.eye(64)
    return bool((product != lasting).any())
