"""Views of one batch should agree on which messages are alike."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from eventide.tensors import unit_rows


def view_agreement(views: Sequence[Tensor]) -> Tensor:
    """Equation `eq_common`, one value per message [B]; their mean is the printed sum over B^2.

    value_i = sum over pairs of views of sum_j (sim^u_ij - sim^v_ij)^2 / B, sim the cosine.
    ``views`` holds the embeddings [B, d] of each view. With more messages than dimensions the
    B x B similarities are never formed.
    """
    directions = [unit_rows(view) for view in views]
    batch = len(directions[0])
    if len(directions) < 2:
        return directions[0].new_zeros(batch)
    if batch > sum(view.shape[1] for view in directions):
        together = torch.cat(directions, dim=1)
        values: Tensor = _Disagreement.apply(together, len(directions))  # type: ignore[no-untyped-call]
        return values
    similarity = [view @ view.T for view in directions]
    squares = [(one - other).square().sum(1) for one, other in combinations(similarity, 2)]
    return torch.stack(squares).sum(dim=0) / batch


def _mixed(views: Tensor, count: int, weights: Tensor | None = None) -> Tensor:
    """For each view u: (V - 1) * Z_u G_uu - sum over v != u of Z_v G_vu, with G_vu = Z_v^T Z_u.

    ``views`` [B, V * d] holds all Z side by side; ``weights`` [B] weigh messages inside G.
    """
    gram = views.T @ (views if weights is None else views * weights.unsqueeze(1))
    width = views.shape[1] // count
    blocks = gram.view(count, width, count, width)
    signs = torch.full((count, count), -1.0, dtype=views.dtype, device=views.device)
    signs.fill_diagonal_(count - 1.0)
    return views @ (blocks * signs[:, None, :, None]).reshape_as(gram)


class _Disagreement(torch.autograd.Function):
    """The same values from V*d x V*d products, with a gradient that reuses the forward's.

    sum_j (z^u_i.z^u_j)(z^v_i.z^v_j) = z^u_i . G_uv z^v_i, so with M = ``_mixed``:
    value_i = z_i . M_i / B, and d(sum_i g_i value_i)/dz_k = 2 (g_k M_k + M^g_k) / B where M^g
    weighs the messages by g. For equal g, as a mean over the batch gives, that is 4 g M / B.
    """

    @staticmethod
    def forward(ctx: Any, views: Tensor, count: int) -> Tensor:
        mixed = _mixed(views, count)
        ctx.save_for_backward(views, mixed)
        ctx.count = count
        # A sum of squares: below zero is rounding.
        return (views * mixed).sum(dim=1).clamp(min=0) / len(views)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, None]:
        views, mixed = ctx.saved_tensors
        (gradient,) = upstream
        if bool((gradient == gradient[0]).all()):
            return mixed * (4 * gradient[0] / len(views)), None
        weighted = _mixed(views, ctx.count, gradient)
        return 2 * (mixed * gradient.unsqueeze(1) + weighted) / len(views), None
