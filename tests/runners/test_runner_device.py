"""Which device a run gets."""

import pytest
import torch

from eventide.errors import BadSetting
from eventide.runners.runner import choose_device
from eventide.settings import descriptions


@pytest.mark.parametrize("name", ["mps", "mps:0"])
def test_row_17_mps_is_neither_advertised_nor_tried(name):
    assert "mps" not in descriptions()["training.device"]
    with pytest.raises(BadSetting, match="float64"):
        choose_device(name)


def test_an_unknown_device_is_told():
    assert choose_device("cpu") == torch.device("cpu")
    with pytest.raises(BadSetting, match="cannot be used"):
        choose_device("abacus")
