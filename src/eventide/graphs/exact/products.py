"""Products of sparse and dense matrices, with gradients."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from eventide.graphs.incidence import Ints
from eventide.runtime.quiet import quiet


def empty(rows: int, like: Tensor) -> Tensor:
    """Allocate ``rows`` rows of the width and type of ``like``, uninitialised.

    On the CPU numpy allocates: it asks for huge pages and torch does not, and page faults on small
    pages would cost more than most products.

    >>> empty(3, torch.zeros(1, 2)).shape
    torch.Size([3, 2])
    """
    size = rows, *like.shape[1:]
    if like.device.type != "cpu" or like.dtype not in _NUMPY:
        return like.new_empty(size)
    return torch.from_numpy(np.empty(size, dtype=_NUMPY[like.dtype]))


_NUMPY = {torch.float32: np.float32, torch.float64: np.float64}


class Pattern:
    """Positions of the entries of a compressed sparse matrix; the values come with each product.

    >>> pattern = Pattern(torch.tensor([0, 2, 3]), torch.tensor([0, 1, 1]), columns=2)
    >>> pattern.times(torch.tensor([1.0, 2.0, 3.0]), torch.eye(2)).tolist()
    [[1.0, 2.0], [0.0, 3.0]]
    """

    def __init__(self, pointers: Tensor, columns_of: Tensor, columns: int) -> None:
        # 32-bit indices halve the memory traffic of the kernel
        narrow = torch.int32 if max(len(columns_of), columns) < 2**31 else torch.int64
        self.pointers = pointers.to(narrow)
        self.columns_of = columns_of.to(narrow)
        self.shape = (len(pointers) - 1, columns)
        self._transposed: tuple[Pattern, Tensor] | None = None

    def times(
        self, values: Tensor, dense: Tensor, out: Tensor | None = None, *, add: bool = False
    ) -> Tensor:
        """The matrix with these ``values`` as entries times ``dense`` [columns, width].

        Written into ``out`` if given, added to what is there with ``add``.
        """
        if out is None:
            out = empty(self.shape[0], dense)
        if len(values) == 0 or out.numel() == 0:
            return out if add else out.zero_()
        # in target: the plain product would fill and copy the result first
        matrix = _sparse(self.pointers, self.columns_of, values, self.shape)
        # some of the columns of a larger matrix are read, and written, where they are
        dense = dense if dense.stride(1) == 1 else dense.contiguous()
        return out.addmm_(matrix, dense, beta=1 if add else 0)

    def times_both(
        self, values: Tensor, others: Tensor, dense: Tensor, out: Tensor, *, add: bool
    ) -> None:
        """As ``times`` with ``values`` and with ``others``, into the rows of ``out`` by turns.

        The second finds in the cache what the first has read.
        """
        if len(values) == 0 or out.numel() == 0:
            if not add:
                out.zero_()
            return
        ends = self.pointers.long()
        lengths = ends.diff().repeat_interleave(2)
        pointers = torch.cat([ends[:1], lengths.cumsum(0)])
        # entry k of a row is at its start + k, once in ``values`` and once in ``others``
        starts = ends[:-1].repeat_interleave(2) - pointers[:-1]
        starts[1::2] += len(values)
        entries = torch.arange(2 * len(values), device=values.device)
        entries += starts.repeat_interleave(lengths, output_size=len(entries))
        both = Pattern(pointers, self.columns_of.repeat(2).index_select(0, entries), self.shape[1])
        both.times(torch.cat([values, others]).index_select(0, entries), dense, out, add=add)

    @property
    def entries(self) -> int:
        """Number of entries of the matrix."""
        return len(self.columns_of)

    def transposed_times(self, values: Tensor, dense: Tensor, out: Tensor, *, add: bool) -> None:
        """The transposed matrix times ``dense`` into ``out`` [columns, width], as in ``times``."""
        transposed, order = self._transpose()
        transposed.times(values.index_select(0, order), dense, out, add=add)

    def dots(self, left: Tensor, right: Tensor, out: Tensor) -> None:
        """Write left[row] . right[column] of every entry into ``out``."""
        if len(out) and left.shape[1]:
            columns, ones = self.columns_of, torch.ones_like(out)
            if not right.is_contiguous():  # the product would copy all of it
                used, columns = torch.unique(columns, return_inverse=True)
                columns, right = columns.to(self.columns_of.dtype), right.index_select(0, used)
            matrix = _sparse(self.pointers, columns, ones, (self.shape[0], len(right)))
            out.copy_(torch.sparse.sampled_addmm(matrix, left, right.T, beta=0).values())
        else:
            out.zero_()

    def _transpose(self) -> tuple[Pattern, Tensor]:
        """The transposed pattern, and the order of the values in it."""
        if self._transposed is None:
            order = torch.argsort(self.columns_of, stable=True)
            lengths = torch.bincount(self.columns_of, minlength=self.shape[1])
            pointers = torch.zeros(self.shape[1] + 1, dtype=torch.int64, device=lengths.device)
            torch.cumsum(lengths, 0, out=pointers[1:])
            row_of = torch.repeat_interleave(
                torch.arange(self.shape[0], device=lengths.device),
                self.pointers.diff().long(),
                output_size=len(order),
            )
            narrow = self.columns_of.dtype  # kept as long as the pattern is
            self._transposed = Pattern(pointers, row_of[order], self.shape[0]), order.to(narrow)
        return self._transposed


def _sparse(pointers: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    _silence_beta_warning()
    return torch.sparse_csr_tensor(pointers, columns, values, size=shape, check_invariants=False)


@cache
def _silence_beta_warning() -> None:
    """Suppress torch's warning that compressed tensors are in beta, shown once per process."""
    with quiet(UserWarning):
        torch.eye(1).to_sparse_csr()


class FixedMatrix:
    """A constant integer matrix that multiplies dense values, differentiably.

    >>> matrix = FixedMatrix(scipy.sparse.csr_array(np.array([[1, 1], [0, -1]])))
    >>> values = torch.ones(2, 1, requires_grad=True)
    >>> matrix.times(values).sum().backward()
    >>> values.grad.flatten().tolist()
    [1.0, 0.0]
    """

    def __init__(self, matrix: scipy.sparse.csr_array) -> None:
        self.shape: tuple[int, int] = matrix.shape
        self._matrix = matrix
        self._ready: dict[tuple[torch.device, torch.dtype], tuple[Pattern, Tensor]] = {}
        self._ready_transposed: dict[tuple[torch.device, torch.dtype], tuple[Pattern, Tensor]] = {}

    def times(self, values: Tensor) -> Tensor:
        """``matrix @ values`` with a gradient to ``values``."""
        product: Tensor = _FixedProduct.apply(values, self)  # type: ignore[no-untyped-call]
        return product

    def plain(self, values: Tensor, out: Tensor | None = None) -> Tensor:
        """``matrix @ values`` without a gradient, written into ``out`` if given."""
        pattern, entries = self._on(values, self._ready, self._matrix)
        return pattern.times(entries, values, out)

    def add_transposed(self, values: Tensor, out: Tensor) -> Tensor:
        """Add ``matrix.T @ values`` to ``out``, without a gradient."""
        kept = self._ready_transposed
        matrix = None if (values.device, values.dtype) in kept else self._matrix.T.tocsr()
        pattern, entries = self._on(values, kept, matrix)
        return pattern.times(entries, values, out, add=True)

    @staticmethod
    def _on(
        values: Tensor, kept: dict[Any, tuple[Pattern, Tensor]], matrix: Any
    ) -> tuple[Pattern, Tensor]:
        """Pattern and entries on the device and in the type of ``values``, cached."""
        target = (values.device, values.dtype)
        if target not in kept:
            pointers, columns = (
                _tensor(part).to(values.device) for part in (matrix.indptr, matrix.indices)
            )
            entries = torch.from_numpy(matrix.data).to(values)
            kept[target] = Pattern(pointers, columns, matrix.shape[1]), entries
        return kept[target]


def _tensor(array: Ints) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array))


class _FixedProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, matrix: FixedMatrix) -> Tensor:
        ctx.matrix = matrix
        return matrix.plain(values)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        out = gradient.new_zeros(ctx.matrix.shape[1], gradient.shape[1])
        return ctx.matrix.add_transposed(gradient.contiguous(), out), None
