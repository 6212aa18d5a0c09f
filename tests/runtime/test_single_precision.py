"""Products of our own processes are quicker where nothing is rounded; a host is left alone."""

import numpy as np
import pytest
import torch

from eventide.graphs.incidence import Incidence
from eventide.graphs.neighbourhood import BucketedNeighbourhood
from eventide.model import EventClassifier
from eventide.runtime import own_process, single_precision
from eventide.runtime.single_precision import QUICK, USUAL, quick_products, small_products

wide = pytest.mark.skipif(
    torch.backends.cpu.get_cpu_capability() != single_precision.WIDE, reason="needs AVX-512"
)


@pytest.fixture
def our_process(monkeypatch):
    monkeypatch.setattr(own_process, "_own", True)


def test_a_program_that_uses_us_keeps_its_choice(monkeypatch, small_sample):
    """The precision is one for the whole process."""
    monkeypatch.setattr(own_process, "_own", False)
    chosen = []
    monkeypatch.setattr(torch, "set_float32_matmul_precision", chosen.append)
    EventClassifier(encoder="tfidf-svd:8", training__epochs=1).fit(small_sample)
    assert chosen == []


@wide
def test_training_in_our_process_asks_for_quick_products(our_process, monkeypatch, small_sample):
    chosen, choose = [], torch.set_float32_matmul_precision
    monkeypatch.setattr(
        torch, "set_float32_matmul_precision", lambda each: (chosen.append(each), choose(each))
    )
    EventClassifier(encoder="tfidf-svd:8", training__epochs=1).fit(small_sample)
    assert chosen[0] == QUICK


def test_the_choice_is_taken_back(our_process):
    usual = torch.get_float32_matmul_precision()
    with pytest.raises(RuntimeError), quick_products():
        raise RuntimeError
    assert torch.get_float32_matmul_precision() == usual


@wide
def test_small_products_are_not_quick(our_process):
    with quick_products():
        with small_products():
            assert torch.get_float32_matmul_precision() == USUAL
        assert torch.get_float32_matmul_precision() == QUICK


def test_small_products_leave_the_choice_of_a_host(monkeypatch):
    monkeypatch.setattr(own_process, "_own", False)
    usual = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(QUICK)
    try:
        with small_products():
            assert torch.get_float32_matmul_precision() == QUICK
    finally:
        torch.set_float32_matmul_precision(usual)


@wide
def test_many_small_blocks_do_not_wait_for_preparation(our_process):
    """oneDNN prepares every shape anew: averages of graphs have ever other ones."""
    asked = {}

    def spied(name, choose):
        def product(*factors, **options):
            asked.setdefault(name, set()).add(torch.get_float32_matmul_precision())
            return choose(*factors, **options)

        return product

    messages = [["a"]] * 600
    around = BucketedNeighbourhood(Incidence.of(messages), [at % 100 for at in range(600)])
    values = torch.randn(600, 32, requires_grad=True)
    with pytest.MonkeyPatch.context() as patch, quick_products():
        patch.setattr(torch.Tensor, "__matmul__", spied("sums", torch.Tensor.__matmul__))
        patch.setattr(torch, "mm", spied("rates", torch.mm))
        around.average(values, torch.rand(600, requires_grad=True)).sum().backward()
        shared = around.share(values, np.arange(600))
        source = torch.zeros((), requires_grad=True)
        _, average = shared.read(np.arange(600), source)
        average(torch.rand(600, requires_grad=True))
    assert asked == {"sums": {USUAL}, "rates": {USUAL}}


@wide
def test_no_product_is_quick_where_factors_are_rounded(our_process, monkeypatch):
    monkeypatch.setattr(single_precision, "_rounds", lambda: True)
    usual = torch.get_float32_matmul_precision()
    with quick_products():
        assert torch.get_float32_matmul_precision() == usual


@wide
def test_rounding_to_half_precision_is_noticed(monkeypatch):
    """As units for tiles of matrices do."""
    product = torch.Tensor.__matmul__
    assert not single_precision._rounds()
    rounded = lambda a, b: product(a.bfloat16(), b.bfloat16()).float()  # noqa: E731
    monkeypatch.setattr(torch.Tensor, "__matmul__", rounded)
    assert single_precision._rounds()


@pytest.mark.parametrize("shape", [(300, 512, 256), (64, 64, 64), (7, 3, 5)])
def test_quick_products_are_as_precise(our_process, shape):
    rows, inner, columns = shape
    random = torch.Generator().manual_seed(0)
    one = torch.randn(rows, inner, generator=random)
    other = torch.randn(inner, columns, generator=random)
    exact = one.double() @ other.double()
    with quick_products():
        for product in (one @ other, torch.addmm(torch.zeros(columns), one, other)):
            assert (product - exact).abs().max() < 1e-6 * inner
