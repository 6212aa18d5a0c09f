"""von Mises-Fisher distributions on the unit sphere: concentration, normaliser, expected contrast.

A class with mean direction mu and concentration kappa has the density exp(kappa mu.z) / C(kappa),
C(kappa) = (2 pi)^(p/2) I_(p/2-1)(kappa) / kappa^(p/2-1), I the modified Bessel function.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

LARGEST = 1e5
"""Where a concentration stops growing."""

DEBYE = (
    ((1, 3 / 24), (3, -5 / 24)),
    ((2, 81 / 1152), (4, -462 / 1152), (6, 385 / 1152)),
    ((3, 30375 / 414720), (5, -369603 / 414720), (7, 765765 / 414720), (9, -425425 / 414720)),
    (
        (4, 4465125 / 39813120),
        (6, -94121676 / 39813120),
        (8, 349922430 / 39813120),
        (10, -446185740 / 39813120),
        (12, 185910725 / 39813120),
    ),
)
"""Powers and coefficients of the polynomials u_1 ... u_4 of Debye's expansion (DLMF 10.41.10)."""


def log_normaliser(kappa: Tensor, width: int) -> Tensor:
    """Return log(I_v(kappa) / kappa^v) with v = width/2 - 1: log C up to a constant, in float64.

    By Debye's uniform expansion in 1/v (DLMF 10.41.3), smooth from kappa = 0 to any size. For 128
    dimensions it is exact to 1e-9; ``width`` must be at least 16. Autograd differentiates it to
    the ratio I_(v+1)(kappa) / I_v(kappa).
    """
    if width < 16:
        raise ValueError(f"the expansion needs at least 16 dimensions, got {width}")
    order = width / 2 - 1
    root = (1 + (kappa.double() / order).square()).sqrt()
    inverse = 1 / root
    series = torch.ones_like(root)
    for power, polynomial in enumerate(DEBYE, start=1):
        terms = torch.stack([factor * inverse**degree for degree, factor in polynomial])
        series = series + terms.sum(dim=0) / order**power
    constant = order * math.log(order) + 0.5 * math.log(2 * math.pi * order)
    return order * (root - torch.log1p(root)) - 0.5 * root.log() + series.log() - constant


def concentration(length: Tensor, width: int) -> Tensor:
    """Return kappa = R (p - R^2) / (1 - R^2) for mean vectors of ``length`` R, at most 1e5.

    >>> concentration(torch.tensor([0.0, 0.5, 1.0]), 4).tolist()
    [0.0, 2.5, 100000.0]
    """
    square = length.square()
    ratio = length * (width - square) / (1 - square).clamp(min=1e-12)
    return ratio.clamp(max=LARGEST)


def expected_contrast(directions: Tensor, means: Tensor, temperature: float) -> Tensor:
    """Return log E[exp(z.x / temperature)] over x of each class [B, C], in float64.

    ``directions`` z [B, p] are unit rows. ``means`` [C, p] are the classes' mean vectors, shorter
    the wider a class is spread. With kappa~ = length of (kappa mu + z / temperature) it is
    log C(kappa~) - log C(kappa): what infinitely many samples of the class would say.
    """
    wide, width = means.double(), means.shape[1]
    lengths = wide.norm(dim=1)
    kappa = concentration(lengths, width)
    scaled = wide * (kappa / lengths.clamp(min=1e-12)).unsqueeze(1)
    # |kappa mu + z/t|^2 from its three products: no [B, C, p] array is formed.
    z = directions.double() / temperature
    square = kappa.square() + 2 * z @ scaled.T + z.square().sum(dim=1, keepdim=True)
    moved = square.clamp(min=1e-12).sqrt()
    return log_normaliser(moved, width) - log_normaliser(kappa, width)
