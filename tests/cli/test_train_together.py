"""``eventide train --engine``: what is refused before anything is started."""

import pytest

from eventide.errors import BadSetting


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--workers", 2], "--workers needs an engine"),
        (["--engine", "mpi"], "--engine cannot be 'mpi'"),
        (["--engine", "torchrun", "--object-store", 100], "are options of Ray"),
        (["--engine", "torchrun", "--method", "lr-encoder"], "cannot train lr-encoder together"),
    ],
)
def test_what_cannot_be_trained_together_is_refused(invoke, trained, tmp_path, words, said):
    done = invoke("train", trained / "messages.parquet", "--out", tmp_path / "model", *words)
    assert isinstance(done.exception, BadSetting), done.output
    assert said in str(done.exception)
    assert list(tmp_path.iterdir()) == []
