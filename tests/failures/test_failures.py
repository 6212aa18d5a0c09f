"""What went wrong in use, and more of the kind: each ends in a typed error, a count, or a right result."""

import pytest

from bench import QUICK, Bench
from cases_known import CASES as KNOWN
from cases_more import CASES as MORE


@pytest.fixture(scope="module")
def finished(small_sample, tmp_path_factory):
    """A small model, trained once."""
    from typer.testing import CliRunner

    from eventide.cli.main import app

    folder = tmp_path_factory.mktemp("failures")
    few = small_sample.filter(
        small_sample["event"].is_in(small_sample["event"].unique().sort()[:3].to_list())
    )
    few.write_parquet(folder / "messages.parquet")
    words = ["train", folder / "messages.parquet", "--out", folder / "model", "--keep-text", *QUICK]
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return few, folder / "model"


@pytest.fixture
def bench(finished, tmp_path, monkeypatch):
    messages, model = finished
    return Bench(tmp_path, messages, model, monkeypatch)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("case", KNOWN.values(), ids=KNOWN)
def test_what_went_wrong_in_use(case, bench):
    case(bench)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("case", MORE.values(), ids=MORE)
def test_more_of_the_kind(case, bench):
    case(bench)


def test_the_lists_are_whole():
    assert [int(name[1:3]) for name in KNOWN] == list(range(1, 50))
    assert len(MORE) >= 50
