"""TAM's margins against plain loops."""

import math

import pytest
import torch

from eventide.losses.topology_margins import class_sharpness, topology_margins

LABELS = [0, 1, 0, 2, 1, 0]
CLASSES = 4  # the last one has no message


def shares(seed=0):
    generator = torch.Generator().manual_seed(seed)
    made = torch.rand(len(LABELS), CLASSES, generator=generator, dtype=torch.float64)
    made[3] = torch.tensor([0.0, 0.0, 1.0, 0.0])  # nobody around but itself
    return made / made.sum(dim=1, keepdim=True)


def jensen_shannon(one, other):
    total = 0.0
    for p, q in zip(one, other, strict=True):
        total += p * math.log(p / ((p + q) / 2)) / 2 + q * math.log(q / ((p + q) / 2)) / 2
    return total


def oracle(around):
    members = {c: [row for row, y in zip(around, LABELS, strict=True) if y == c] for c in range(4)}
    means = [
        [max(sum(r[k] for r in members[c]) / max(len(members[c]), 1), 1e-6) for k in range(4)]
        for c in range(4)
    ]
    margins = []
    for y, given in zip(LABELS, around, strict=True):
        row = [max(each, 1e-6) for each in given]
        made = []
        for c in range(4):
            if c == y:
                made.append(0.0)
                continue
            connectivity = min(1.0, row[y] / means[y][y] * means[y][c] / row[c])
            pair = max(jensen_shannon(means[y], means[c]), 1e-6)
            own, other = jensen_shannon(row, means[y]), jensen_shannon(row, means[c])
            distribution = (own**2 + pair**2 - other**2) / (2 * pair**2)
            made.append(2.5 * math.log(connectivity) - 0.5 * distribution)
        margins.append(made)
    return margins


@pytest.mark.parametrize("seed", range(3))
def test_margins_are_those_of_plain_loops(seed):
    around = shares(seed)
    found = topology_margins(around, torch.tensor(LABELS), CLASSES)
    expected = torch.tensor(oracle(around.tolist()), dtype=torch.float64)
    torch.testing.assert_close(found, expected)


def test_a_message_like_its_class_has_no_connectivity_margin():
    """All neighbourhoods of a class alike: only J(M_y, M_c)^2 - J(D, M_c)^2 = 0 is left."""
    around = torch.tensor([[0.8, 0.2], [0.8, 0.2], [0.3, 0.7]], dtype=torch.float64)
    found = topology_margins(around, torch.tensor([0, 0, 1]), 2)
    torch.testing.assert_close(found, torch.zeros(3, 2, dtype=torch.float64))


def test_rare_classes_are_read_with_less_sharpness():
    found = class_sharpness(torch.tensor([90, 9, 1])).tolist()
    assert found == pytest.approx([1.2, 1.2 * (1 - 0.4 * 0.81), 1.2 * (1 - 0.4 * 0.89)])
