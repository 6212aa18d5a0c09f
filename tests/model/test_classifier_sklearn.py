"""Row 26: scikit-learn's manners, and its own checks where they apply."""

import warnings
from datetime import UTC, datetime
from hashlib import blake2b

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

import eventide
from eventide.errors import BadSetting, InputError
from eventide.model import EventClassifier

QUICK = {"method": "lr-encoder", "encoder": "tfidf-svd:16"}


class OnNumbers(EventClassifier):
    """Rows of numbers as messages, so that checks made for matrices apply: they are the vectors."""

    def __init__(self, method="lr-encoder", encoder="precomputed", seed=0, **overrides):
        super().__init__(method=method, encoder=encoder, seed=seed, **overrides)

    @classmethod
    def _parameter_names(cls):
        return ["method", "encoder", "seed"]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.one_d_array = True, False
        tags.input_tags.string, tags.target_tags.required = False, True
        return tags

    def fit(self, numbers, y=None):
        numbers = validate_data(self, numbers, dtype=np.float64)
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        return super().fit(as_messages(numbers), y)

    def intake(self, numbers, y=None, **options):
        if not isinstance(numbers, pl.DataFrame):
            self._check_fitted()
            numbers = as_messages(validate_data(self, numbers, reset=False, dtype=np.float64))
        return super().intake(numbers, y, **options)


def as_messages(numbers):
    """The same row has the same id wherever it stands; its second appearance has another."""
    seen = {}
    ids = []
    for row in np.ascontiguousarray(numbers):
        name = blake2b(row.tobytes(), digest_size=8).hexdigest()
        seen[name] = seen.get(name, 0) + 1
        ids.append(f"{name}-{seen[name]}")
    return pl.DataFrame(
        {
            "id": ids,
            "text": ["a row"] * len(ids),
            "created_at": [datetime(2024, 1, 1, tzinfo=UTC)] * len(ids),
            "vector": pl.Series(numbers.tolist(), dtype=pl.List(pl.Float32)),
        }
    )


CANNOT_APPLY = {
    "check_do_not_raise_errors_in_init_or_set_params": "set_params refuses a bad value at once, "
    "and then changes nothing: a typo is found before anything is read",
    "check_classifiers_one_label": "one event is nothing to learn: an error says so",
    "check_fit2d_1sample": "the error for one message speaks of events, not of n_samples",
}


with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "Estimator OnNumbers does not inherit")  # it need not
    all_checks = parametrize_with_checks(
        [OnNumbers()], expected_failed_checks=lambda _: CANNOT_APPLY
    )


@all_checks
def test_checks_of_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks bring warnings of their own
        check(estimator)


def test_messages_are_no_matrix_and_the_tags_say_so():
    with pytest.warns(match="Can't test estimator"):
        checks = list(estimator_checks_generator(EventClassifier()))
    assert len(checks) == 1  # all others bring a matrix
    for estimator, check in checks:
        check(estimator)


@pytest.fixture(scope="module")
def frame(small_sample):
    return small_sample.drop("split", "event").to_pandas()


@pytest.fixture(scope="module")
def events(small_sample):
    return small_sample["event"].to_numpy()


@pytest.fixture(scope="module")
def numbers(events):
    """Labels whose order as text is not their order as numbers."""
    return np.unique(events, return_inverse=True)[1] * 7 + 5


KINDS = {
    "list of int": (list, np.int64),
    "int32": (lambda y: y.astype(np.int32), np.int32),
    "uint64": (lambda y: y.astype(np.uint64), np.uint64),
    "whole floats": (lambda y: y.astype(float), np.float64),
    "pandas": (pd.Series, np.int64),
    "pandas Int64": (lambda y: pd.Series(y, dtype="Int64"), np.int64),
    "categories": (lambda y: pd.Categorical(y), np.int64),
    "polars": (pl.Series, np.int64),
    "objects": (lambda y: y.astype(object), np.int64),
    "bool": (lambda y: y > 20, np.bool_),
    "a column": (lambda y: y.reshape(-1, 1), np.int64),
}


@pytest.mark.filterwarnings("ignore:A column-vector y")
@pytest.mark.parametrize(("given", "dtype"), KINDS.values(), ids=KINDS)
def test_numbers_come_back_as_numbers(frame, numbers, given, dtype, tmp_path):
    """Row 26: labels come back in the caller's type, in order, and after loading too."""
    y = given(numbers)
    model = EventClassifier(**QUICK).fit(frame, y)
    wanted = np.unique(np.ravel(np.asarray(y)))
    assert model.classes_.dtype == dtype
    assert model.classes_.tolist() == wanted.tolist()
    found = model.predict(frame)
    assert found.dtype == dtype
    assert model.score(frame, y) == pytest.approx(np.mean(np.ravel(np.asarray(y)) == found))
    assert model.score(frame, y) > 0.5
    assert model.opinions(frame)["event"].tolist() == found.tolist()
    loaded = eventide.load(model.save(tmp_path / "model"))
    assert loaded.classes_.dtype == dtype
    np.testing.assert_array_equal(loaded.predict(frame), found)
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))


@pytest.mark.parametrize(
    ("cast", "kind"),
    [
        (lambda f: f.with_columns(pl.col("event").cast(pl.Int32)), "i"),
        (lambda f: f.with_columns(pl.col("event").cast(pl.Int32)).lazy(), "i"),
        (lambda f: f.with_columns(pl.col("event").cast(pl.Int64)).rename({"event": "Label"}), "i"),
        (lambda f: f.with_columns(pl.col("event").cast(pl.Int64)).to_pandas(), "i"),
        (lambda f: f.to_pandas().astype({"event": float}), "f"),
        (lambda f: f.with_columns(pl.col("event").cast(pl.Int64)).to_dicts(), "U"),
        (lambda f: f, "U"),
        (lambda f: f.with_columns(pl.col("event") + ".5"), "U"),
        (lambda f: f.with_columns((pl.col("event") + ".5").cast(pl.Float64)), "U"),
    ],
)
def test_a_column_of_numbers_gives_numbers_and_text_gives_text(small_sample, numbers, cast, kind):
    frame = small_sample.drop("split").with_columns(
        event=pl.Series(numbers).cast(pl.String), user=pl.lit(None, dtype=pl.String)
    )
    model = EventClassifier(**QUICK).fit(cast(frame))
    assert model.classes_.dtype.kind == kind
    assert model.predict(small_sample.head(3)).dtype.kind == kind


def test_a_model_of_numbers_works_on_the_command_line(small_sample, numbers, tmp_path):
    from typer.testing import CliRunner

    from eventide.cli.main import app

    EventClassifier(**QUICK).fit(small_sample, numbers).save(tmp_path / "model")
    small_sample.with_columns(event=pl.Series(numbers)).write_parquet(tmp_path / "messages.parquet")
    for verb in ("evaluate", "assign"):
        words = [verb, str(tmp_path / "model"), str(tmp_path / "messages.parquet")]
        done = CliRunner().invoke(app, words, catch_exceptions=False)
        assert done.exit_code == 0, done.output


def test_measurements_are_no_events(frame):
    with pytest.raises(InputError, match="Unknown label type"):
        EventClassifier(**QUICK).fit(frame, np.linspace(0, 1, len(frame)))


def test_sample_weights_count_in_score(frame, events):
    """Row 26: score(sample_weight=) is the weighted accuracy."""
    model = EventClassifier(**QUICK).fit(frame, events)
    y = np.where(np.arange(len(frame)) % 3 == 0, "another", events)
    weights = np.arange(len(frame)) + 1.0
    wanted = accuracy_score(y, model.predict(frame), sample_weight=weights)
    assert model.score(frame, y, sample_weight=weights) == pytest.approx(wanted)
    assert model.score(frame, y) != pytest.approx(wanted)
    unlabelled = [None if row % 2 else label for row, label in enumerate(y)]
    wanted = accuracy_score(y[::2], model.predict(frame)[::2], sample_weight=weights[::2])
    assert model.score(frame, unlabelled, list(weights)) == pytest.approx(wanted)
    for bad in ([1.0], weights * np.nan, -weights, ["x"] * len(frame), weights * 0):
        with pytest.raises(InputError, match="weight"):
            model.score(frame, y, sample_weight=bad)


@pytest.mark.parametrize(
    "bad",
    [
        {"seed": -1},
        {"training__epochs": "many"},
        {"training__epoch": 3},
        {"protocol": "inductiv"},
        {"method": "ucl-ce"},
        {"preset": "defualt"},
        {"entities": "rule"},
        {"encoder": "wordlama"},
        {"views": ["hashtags"]},
        {"columns": "event"},
        {"metod": "ucl"},
    ],
    ids=str,
)
def test_a_bad_value_in_set_params_changes_nothing(bad):
    """Row 26: all of the values are taken, or none; row 16: and a typo is an error."""
    model = EventClassifier(training__epochs=3)
    before = model.get_params()
    with pytest.raises(InputError):
        model.set_params(training__batch_size=7, **bad)
    assert model.get_params() == before
    with pytest.raises(InputError):
        EventClassifier(**bad).fit("no such file")


def test_parameters_stay_as_they_were_given():
    views = {"tags": ("hashtags",), "users": {"mentions"}}
    model = EventClassifier(seed=np.int64(3), views=views, training__epochs=np.int64(2))
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert type(twin.seed) is np.int64
    assert model.views is views
    assert "training__epochs" in repr(model)


def test_cross_validation_grid_search_and_pipelines(frame, events, numbers):
    model = EventClassifier(**QUICK)
    assert cross_val_score(model, frame, events, cv=2).min() > 0.4
    assert cross_val_score(model, frame, numbers, cv=2, scoring="f1_macro").min() > 0.3
    probability = cross_val_predict(model, frame, numbers, cv=2, method="predict_proba")
    assert probability.shape == (len(frame), len(np.unique(numbers)))
    records = frame.to_dict("records")
    assert cross_val_score(model, records, events, cv=2).min() > 0.4
    search = GridSearchCV(model, {"encoder": ["tfidf-svd:8", "tfidf-svd:16"]}, cv=2)
    assert search.fit(frame, events).predict(frame).shape == (len(frame),)
    chained = make_pipeline(FunctionTransformer(), clone(model)).fit(frame, events)
    assert chained.score(frame, events) == model.fit(frame, events).score(frame, events)


def test_before_fit_everything_says_not_fitted(frame, tmp_path):
    model = EventClassifier()
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    asked = [model.predict, model.predict_proba, model.opinions, model.score, model.evaluate]
    for ask in [*asked, model.explain]:
        with pytest.raises(NotFittedError):
            ask(frame)
    with pytest.raises(NotFittedError):
        model.save(tmp_path / "model")
    with pytest.raises(NotFittedError):
        model.forget(ids=["1"])


def test_a_fit_that_fails_leaves_the_older_one(frame, events):
    model = EventClassifier(**QUICK).fit(frame, events)
    before = model.predict_proba(frame)
    with pytest.raises(InputError):
        model.fit(frame, ["only"] * len(frame))

    def stop(row):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(frame, np.where(events == events[0], "a", "b"), watch=stop)
    np.testing.assert_array_equal(model.predict_proba(frame), before)


@pytest.mark.parametrize("seed", [None, -1, 1.5, True, 2**70, "3", np.float64(2)])
def test_a_seed_that_is_none_is_a_bad_setting(seed, frame):
    """Row 13: what is no seed says which are."""
    with pytest.raises(BadSetting, match="the seed cannot be"):
        EventClassifier(seed=seed).fit(frame)


def test_numbers_of_numpy_are_numbers(frame, events, tmp_path):
    """Row 13: settings in NumPy's types fit, save and load; sets and tuples of columns too."""
    views = {"tags": {"urls", "hashtags"}, "users": ("mentions",)}
    odd = EventClassifier(
        "ce", "tfidf-svd:16", seed=np.int64(3), views=views, columns=None,
        training__epochs=np.int64(2), training__learning_rate=np.float32(0.5),
        loss__class_balanced=np.bool_(True),
    ).fit(frame, events)  # fmt: skip
    usual = EventClassifier(
        "ce", "tfidf-svd:16", seed=3, views={"tags": ["hashtags", "urls"], "users": "mentions"},
        training__epochs=2, training__learning_rate=0.5, loss__class_balanced=True,
    ).fit(frame, events)  # fmt: skip
    np.testing.assert_array_equal(odd.predict_proba(frame), usual.predict_proba(frame))
    loaded = eventide.load(odd.save(tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict_proba(frame), usual.predict_proba(frame))
    assert loaded.seed == 3
    assert type(loaded.get_params()["training__epochs"]) is int
    EventClassifier(**QUICK, seed=2**63 - 1).fit(frame, events)
