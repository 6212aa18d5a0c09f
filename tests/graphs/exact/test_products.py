from __future__ import annotations

import pytest
import torch

from eventide.graphs.exact.products import Pattern

POINTERS, COLUMNS = torch.tensor([0, 2, 2, 3]), torch.tensor([3, 1, 1])
VALUES = torch.tensor([2.0, -1.0, 0.5])


@pytest.mark.parametrize("columns", [slice(0, 6), slice(2, 5), slice(5, 6)])
def test_some_columns_are_read_and_written_where_they_are(columns):
    random = torch.Generator().manual_seed(0)
    pattern = Pattern(POINTERS, COLUMNS, 4)
    whole, left = (torch.randn(rows, 6, generator=random) for rows in (4, 3))
    matrix = torch.zeros(3, 4)
    matrix[[0, 0, 2], COLUMNS] = VALUES

    out = torch.full((3, 6), 7.0)
    pattern.times(VALUES, whole[:, columns], out[:, columns])
    wanted = torch.full((3, 6), 7.0)
    wanted[:, columns] = (matrix @ whole)[:, columns]
    torch.testing.assert_close(out, wanted)

    back = torch.zeros(4, 6)
    pattern.transposed_times(VALUES, left[:, columns].contiguous(), back[:, columns], add=True)
    wanted = torch.zeros(4, 6)
    wanted[:, columns] = (matrix.T @ left)[:, columns]
    torch.testing.assert_close(back, wanted)

    dots = torch.empty(3)
    pattern.dots(left[:, columns], whole[:, columns], dots)
    torch.testing.assert_close(
        dots, (left[[0, 0, 2]] * whole[COLUMNS])[:, columns].sum(dim=1), rtol=1e-5, atol=1e-6
    )
