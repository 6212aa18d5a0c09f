"""Two workers against one process: the same gradients, weights and scores, half of the states."""

import numpy as np
import pytest
import torch.multiprocessing

from eventide import EventClassifier
from eventide.errors import BadSetting
from eventide.runners.runner import survives_half_precision
from eventide.runtime.share import Share, shared_by
from group_work import CASES, run, trained


@pytest.fixture(scope="module")
def two_workers(small_sample, tmp_path_factory):
    """What two workers made of each case; the first is a copy of the second where they agree."""
    folder = tmp_path_factory.mktemp("group")
    small_sample.write_parquet(folder / "messages.parquet")
    torch.multiprocessing.spawn(run, (str(folder),), nprocs=2)
    return folder


@pytest.mark.parametrize("case", list(CASES))
def test_two_workers_train_as_one_process_does(two_workers, small_sample, case):
    """Gradients to 1e-5, cross-worker pairs of the agreement term included; weights and scores."""
    first, second = (dict(np.load(two_workers / f"{case}-{rank}.npz")) for rank in range(2))
    expected = trained(case, Share(), small_sample)
    assert first.keys() == expected.keys()
    assert any(name.startswith("gradient.network") for name in expected)
    for name, value in expected.items():
        if name != "held":
            np.testing.assert_allclose(first[name], value, atol=1e-5, rtol=1e-4, err_msg=name)
            np.testing.assert_array_equal(second[name], first[name], err_msg=name)
    for held, messages in (first["held"], second["held"]):
        assert (held == 0) if case == "one-layer" else (0 < held < 0.75 * messages), held


def test_half_precision_differs_by_its_rounding_alone(two_workers, small_sample):
    if not survives_half_precision():
        pytest.skip("this processor has no products in half precision")
    first, second = (dict(np.load(two_workers / f"half-precision-{rank}.npz")) for rank in range(2))
    expected = trained("half-precision", Share(), small_sample)
    for name, value in expected.items():
        if name != "held":
            np.testing.assert_array_equal(second[name], first[name], err_msg=name)
            apart = np.linalg.norm(first[name] - value) / max(np.linalg.norm(value), 1e-6)
            assert apart < 0.05, (name, apart)


@pytest.mark.parametrize("setting", [{"training__gaps": (0,)}, {"graph__earlier_only": True}])
def test_what_several_workers_cannot_do_is_refused(small_sample, setting):
    model = EventClassifier(encoder="tfidf-svd:8", **setting)
    with shared_by(Share(0, 2)), pytest.raises(BadSetting, match="several workers"):
        model.fit(small_sample)
