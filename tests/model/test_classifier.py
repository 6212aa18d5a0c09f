"""The public class: scikit-learn manners, protocols, bad input."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import eventide
from eventide.corpus import messages as reading
from eventide.data import read
from eventide.errors import BadSetting, EventideError, EventideWarning, InputError, RejectedRows
from eventide.model import EventClassifier

QUICK = {"training__epochs": 4, "training__batch_size": 64, "encoder": "tfidf-svd:32"}
LINEAR = {"method": "lr-encoder", "encoder": "tfidf-svd:16"}


@pytest.fixture(scope="module")
def fitted(small_sample):
    return EventClassifier(**QUICK).fit(small_sample)


@pytest.fixture(scope="module")
def inductive(small_sample):
    return EventClassifier(protocol="inductive", **QUICK).fit(small_sample)


def part(frame, name):
    return frame.filter(pl.col("split") == name)


def test_opinions_have_the_promised_columns_in_order(fitted, small_sample):
    test = part(small_sample, "test")
    opinions = fitted.opinions(test)
    assert opinions["id"].to_list() == test["id"].to_list()
    assert opinions.columns == [
        "id", "event", "probability", "doubt", "verdict", "novelty", "reason", "belief", "vacuity",
        "uncertainty", "dissonance", "conflict", "next_event", "next_belief",
        "uncertainty_hashtag", "event_hashtag", "neighbours_hashtag",
        "uncertainty_entity", "event_entity", "neighbours_entity",
        "uncertainty_user", "event_user", "neighbours_user",
    ]  # fmt: skip
    numbers = opinions.select(pl.selectors.float())
    assert np.isfinite(numbers.to_numpy()).all()
    assert ((numbers.to_numpy() >= 0) & (numbers.to_numpy() <= 1)).all()
    assert (opinions["event"] != opinions["next_event"]).all()
    assert (opinions["belief"] >= opinions["next_belief"]).all()


def test_probabilities_sum_to_one_and_agree_with_predict(fitted, small_sample):
    test = part(small_sample, "test")
    probability = fitted.predict_proba(test)
    np.testing.assert_allclose(probability.sum(axis=1), 1, atol=1e-9)
    certain = fitted.opinions(test)["uncertainty"].to_numpy() < 1
    chosen = fitted.classes_[probability.argmax(axis=1)]
    assert (chosen == fitted.predict(test))[certain].all()


def test_a_pandas_frame_gives_a_pandas_frame(fitted, small_sample):
    frame = part(small_sample, "test").select("id", "text", "created_at", "event").to_pandas()
    opinions = fitted.opinions(frame)
    assert isinstance(opinions, pd.DataFrame)
    assert opinions["id"].tolist() == frame["id"].tolist()


def test_a_stored_message_is_scored_as_the_stored_node(fitted, small_sample):
    test = part(small_sample, "test")
    rows = fitted.remembered_rows(fitted.intake(test).messages)
    assert (rows >= 0).all()
    alone, together = fitted.opinions(test[3]), fitted.opinions(test)
    assert alone["uncertainty"][0] == pytest.approx(together["uncertainty"][3], abs=1e-6)


def test_an_edited_message_is_judged_as_a_new_one_and_counted(fitted, small_sample):
    """Row 24: a known id with another text does not make predict refuse the others."""
    test = part(small_sample, "test").head(5)
    edited = test.with_columns(
        text=pl.when(pl.int_range(pl.len()) == 1).then(pl.lit("something else")).otherwise("text")
    )
    with pytest.warns(EventideWarning, match=rf"1 of 5 messages.*'{test['id'][1]}'"):
        events = fitted.predict_proba(edited)
    as_new = fitted.predict_proba(edited[1], as_new=True)
    np.testing.assert_allclose(events[1], as_new[0], atol=1e-6)
    others = [0, 2, 3, 4]
    np.testing.assert_allclose(events[others], fitted.predict_proba(test[others]), atol=1e-6)
    with pytest.warns(EventideWarning, match="another text"):
        assert fitted.opinions(edited)["id"].to_list() == test["id"].to_list()


def test_an_inductive_answer_does_not_depend_on_the_batch(inductive, small_sample):
    test = part(small_sample, "test")
    assert (inductive.remembered_rows(inductive.intake(test).messages) < 0).all()
    together = inductive.predict_proba(test)
    for row in range(0, len(test), 7):
        np.testing.assert_allclose(inductive.predict_proba(test[row])[0], together[row], atol=1e-6)


def test_an_inductive_model_remembers_training_messages_only(inductive, small_sample):
    assert len(inductive.memory_) == len(part(small_sample, "train"))


def test_without_a_split_a_tenth_is_held_out_and_said_so(small_sample):
    model = EventClassifier(**QUICK).fit(small_sample.drop("split"))
    assert any("held out" in note for note in model.notes_)


def test_unlabelled_messages_are_in_the_graph_but_not_in_the_loss(small_sample):
    half = pl.int_range(pl.len()) % 2 == 0
    event = pl.when(half & (pl.col("split") == "train")).then(None).otherwise("event")
    frame = small_sample.with_columns(event.alias("event"))
    model = EventClassifier(**QUICK).fit(frame)
    assert len(model.memory_) == len(frame)
    assert (model.labels_ >= 0).sum() < (small_sample["split"] == "train").sum()


def test_parameters_as_in_scikit_learn(small_sample):
    model = EventClassifier(method="ucl", training__epochs=3)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert twin.set_params(seed=4, training__epochs=2).get_params()["seed"] == 4
    assert twin.settings().training.epochs == 2
    with pytest.raises(BadSetting, match=r"training\.epoch'"):
        model.set_params(training__epoch=3)


def test_grid_search_over_a_frame(small_sample):
    frame = small_sample.drop("split", "event").to_pandas()
    search = GridSearchCV(
        EventClassifier(**(QUICK | {"training__epochs": 2})),
        {"training__learning_rate": [1e-3, 1e-2]},
        cv=2,
        error_score="raise",
    )
    search.fit(frame, small_sample["event"].to_numpy())
    assert search.best_params_["training__learning_rate"] in (1e-3, 1e-2)


def test_unfitted_use_says_so(small_sample):
    with pytest.raises(NotFittedError):
        EventClassifier().predict(small_sample)


def test_the_public_surface():
    assert eventide.EventClassifier is EventClassifier
    assert callable(eventide.load)
    assert eventide.__version__


def constant_event(frame):
    return frame.with_columns(event=pl.lit("only"))


def no_event(frame):
    return frame.with_columns(event=pl.lit(None, dtype=pl.String))


@pytest.mark.parametrize("change", [constant_event, no_event])
def test_fewer_than_two_events_cannot_be_learned(small_sample, change):
    with pytest.raises(InputError, match="at least two events"):
        EventClassifier(**QUICK).fit(change(small_sample))


def test_a_class_of_one_message_is_learned(small_sample):
    lone = small_sample.head(1).with_columns(
        id=pl.lit("lone"), event=pl.lit("lone"), split=pl.lit("train"), text=pl.lit("lonely words")
    )
    model = EventClassifier(**QUICK).fit(pl.concat([small_sample, lone]))
    assert "lone" in model.classes_
    assert np.isfinite(model.predict_proba(small_sample)).all()


def test_an_unseen_label_in_evaluation_counts_as_wrong(fitted, small_sample):
    test = part(small_sample, "test").with_columns(event=pl.lit("never seen"))
    assert fitted.score(test) == 0


def test_all_views_empty_still_learns_from_the_text_alone(small_sample):
    empty = pl.lit([], dtype=pl.List(pl.String))
    frame = small_sample.with_columns(hashtags=empty, mentions=empty, urls=empty, entities=empty)
    model = EventClassifier(**QUICK).fit(frame)
    opinions = model.opinions(frame)
    assert (opinions["neighbours_entity"] == 0).all()
    assert np.isfinite(model.predict_proba(frame)).all()


def vectors(frame, width, seed=0):
    values = np.random.default_rng(seed).normal(size=(len(frame), width)).astype(np.float32)
    return frame.with_columns(pl.Series("vector", values.tolist(), dtype=pl.List(pl.Float32)))


def test_vectors_with_nan_are_an_error_that_names_the_row(small_sample):
    frame = vectors(small_sample, 4)
    broken = frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 5)
        .then(pl.lit([1.0, float("nan"), 0.0, 0.0], dtype=pl.List(pl.Float32)))
        .otherwise("vector")
        .alias("vector")
    )
    model = EventClassifier(**(QUICK | {"encoder": "precomputed"}))
    with pytest.raises(EventideError):
        model.fit(broken, y=small_sample["event"].to_list())
    model.fit(frame)
    with pytest.raises(EventideError, match=r"[Nn]a[Nn]|finite"):
        model.predict(broken.with_columns(id=pl.col("id") + "-new"))


def test_vectors_of_another_width_at_predict_are_an_error(small_sample):
    model = EventClassifier(**(QUICK | {"encoder": "precomputed"})).fit(vectors(small_sample, 4))
    other = vectors(small_sample, 5).with_columns(id=pl.col("id") + "-new")
    with pytest.raises(EventideError, match=r"width|5"):
        model.predict(other)


def test_an_unknown_protocol_method_or_preset_is_named(small_sample):
    with pytest.raises(BadSetting, match="protocol"):
        EventClassifier(protocol="magic").fit(small_sample)
    with pytest.raises(InputError, match="method"):
        EventClassifier(method="magic").fit(small_sample)
    with pytest.raises(BadSetting, match="preset"):
        EventClassifier(preset="magic").fit(small_sample)


def test_the_index_of_known_ids_follows_the_memory(fitted, small_sample):
    frame = fitted.intake(small_sample.head(3)).messages
    whole = fitted.memory_
    try:
        assert fitted.remembered_rows(frame).tolist() == [0, 1, 2]
        fitted.memory_ = whole.take(np.array([2, 0]))
        assert fitted.remembered_rows(frame).tolist() == [1, -1, 0]
    finally:
        fitted.memory_ = whole


def test_one_message_alone_as_dict_or_frame_gets_the_answer_it_gets_among_many(
    inductive, small_sample
):
    new = small_sample.with_columns(pl.col("id") + "-new").head(60)
    among = inductive.opinions(new)
    for row in range(0, 60, 7):
        message = new[row].drop("event", "split").to_dicts()[0]
        for alone in (inductive.opinions([message]), inductive.opinions(new[row])):
            assert alone.schema == among.schema
            for name, kind in among.schema.items():
                got, wanted = alone[name].item(), among[name][row]
                assert got == (pytest.approx(wanted, abs=1e-6) if kind.is_float() else wanted)


def with_bad_rows(frame, every):
    return frame.with_columns(text=pl.when(pl.int_range(pl.len()) % every > 0).then("text"))


def test_fit_tells_and_keeps_the_rows_it_cannot_use(small_sample):
    """Row 2: a warning that counts and names causes, and the rows in rejected_."""
    bad = with_bad_rows(small_sample, 5)
    with pytest.warns(EventideWarning, match=r"rows read from[\s\S]*the text is empty") as told:
        model = EventClassifier(**LINEAR).fit(bad)
    assert told[0].filename == __file__
    assert len(model.rejected_) == -(-len(bad) // 5)
    assert model.rejected_.columns == ["row", "column", "reason", "value"]
    assert len(model.memory_) == len(bad) - len(model.rejected_)
    with pytest.warns(EventideWarning, match="the text is empty"):
        model.score(with_bad_rows(small_sample, 3))
    assert len(model.rejected_) == -(-len(bad) // 3)
    assert len(EventClassifier(**LINEAR).fit(small_sample).rejected_) == 0


def test_more_than_half_rejected_is_an_error_unless_allowed(small_sample):
    """Row 2: and where all rows fail, the error names the cause, not missing labels."""
    text = pl.when(pl.int_range(pl.len()) % 5 == 0).then("text")
    bad = small_sample.with_columns(text=text)
    with pytest.raises(RejectedRows, match="the text is empty"):
        EventClassifier(**LINEAR).fit(bad)
    with pytest.warns(EventideWarning, match="the text is empty"):
        model = EventClassifier(**LINEAR).fit(bad, allow_rejected=True)
    assert len(model.rejected_) > len(bad) / 2
    for ask in (model.score, model.evaluate):
        with pytest.raises(RejectedRows, match="the text is empty"):
            ask(bad)
    with pytest.raises(RejectedRows, match="the text is empty"):
        EventClassifier(**LINEAR).fit(bad.with_columns(text=pl.lit("")), allow_rejected=True)


def test_an_intake_was_told_of_already(small_sample):
    """Row 2: the command line reads, tells and hands over an intake: no second warning."""
    intake = read(with_bad_rows(small_sample, 5))
    model = EventClassifier(**LINEAR).fit(intake)
    assert len(model.rejected_) == len(intake.rejected)
    events = model.predict(intake)
    assert len(events) == len(intake.messages) == len(model.opinions(intake))
    assert model.score(intake) == model.score(intake.messages)
    assert model.evaluate(intake).rejected == len(intake.rejected)
    y = intake.messages["event"]
    assert (EventClassifier(**LINEAR).fit(intake, y).predict(intake) == events).all()
    none = read(small_sample.with_columns(text=pl.lit("")))
    with pytest.raises(RejectedRows):
        EventClassifier(**LINEAR).fit(none)


def test_labels_and_answers_stay_with_their_rows(small_sample):
    """Row 2: y and predict need every row; the error names rows and a way on."""
    bad = with_bad_rows(small_sample, 100)
    with pytest.raises(RejectedRows, match=r"its label in y[\s\S]*rows 1, 101, 201"):
        EventClassifier(**LINEAR).fit(bad, small_sample["event"])
    model = EventClassifier(**LINEAR).fit(small_sample)
    for ask in (model.predict, model.predict_proba, model.opinions):
        with pytest.raises(RejectedRows, match=r"rows 1, 101, 201[\s\S]*eventide\.read"):
            ask(bad)
    with pytest.raises(RejectedRows, match="weight"):
        model.score(bad, sample_weight=np.ones(len(bad)))


@pytest.mark.parametrize(
    ("views", "says"),
    [
        (["hashtags"], "views cannot be"),
        ("hashtags", "views cannot be"),
        ({}, "views cannot be"),
        ({"a": []}, "no list of columns"),
        ({"a": None}, "no list of columns"),
        ({"a": [1]}, "no list of names"),
        ({"a": [""]}, "no list of names"),
        ({1: ["hashtags"]}, "cannot be called"),
        ({"a": ["event"]}, "the labels, which are to be learned"),
        ({"a": ["split"]}, "holds no elements"),
    ],
    ids=str,
)
def test_views_that_are_none(views, says):
    """Row 16: and a view of the labels would give the answer away."""
    with pytest.raises(BadSetting, match=says):
        EventClassifier(views=views).fit("no such file")


def test_a_column_alone_is_one_column(small_sample):
    """Row 16: views={"a": "hashtags"} is the column hashtags, not its letters."""
    one = EventClassifier(**QUICK, views={"a": "hashtags"}).fit(small_sample)
    assert one.featuriser_.views[0].columns == ("hashtags",)
    assert one.list_columns() == ["hashtags"]
    assert (one.opinions(small_sample)["neighbours_a"] > 0).any()


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ({"method": "ucl-ce"}, "did you mean 'ucl-ec'"),
        ({"preset": "defualt"}, "did you mean 'default'"),
        ({"protocol": "inductiv"}, "did you mean 'inductive'"),
        ({"entities": "rule"}, "did you mean 'rules'"),
        ({"encoder": "wordlama"}, "did you mean 'wordllama'"),
        ({"encoder": "tfidf-svd:many"}, "whole number"),
        ({"training__epoch": 3}, r"did you mean 'training\.epochs'"),
        ({"metod": "ucl"}, "did you mean 'method'"),
        ({"columns": ["event"]}, "map our names"),
        ({"method": ["ucl"]}, "give its name"),
    ],
    ids=str,
)
def test_a_typo_is_an_error_with_a_suggestion_before_anything_is_read(wrong, hint):
    """Row 16."""
    with pytest.raises(InputError, match=hint):
        EventClassifier(**wrong).fit("no such file")


def test_the_caller_gets_the_callers_kind_of_frame(fitted, small_sample):
    """Row 25: pandas in, pandas out with the same index; Arrow in, Arrow out; else polars."""
    test = part(small_sample, "test").select("id", "text", "created_at")
    wanted = fitted.opinions(test)
    pandas = test.to_pandas().set_index(np.arange(len(test)) * 3 + 7)
    found = fitted.opinions(pandas)
    assert found.index.tolist() == pandas.index.tolist()
    assert found["event"].tolist() == wanted["event"].to_list()
    assert fitted.opinions(test.lazy()).equals(wanted)
    assert fitted.opinions(read(test)).equals(wanted)


def test_a_table_of_arrow_comes_back_as_one(fitted, small_sample, monkeypatch):
    """Row 25."""
    test = part(small_sample, "test").select("id", "text", "created_at")
    table, plain = test.to_arrow(), reading.read
    # what is an Arrow table is for the reader to know: here it gets the frame behind it
    monkeypatch.setattr(
        reading,
        "read",
        lambda given, **options: plain(test if given is table else given, **options),
    )
    found = fitted.opinions(table)
    assert type(found).__module__.startswith("pyarrow")
    assert pl.from_arrow(found).equals(fitted.opinions(test))


def test_a_source_is_read_once_and_untouched(small_sample, monkeypatch):
    """Row 25: a generator can be gone through once, so nothing may look into it before."""
    seen, plain = [], reading.read

    def reading_once(given, **options):
        if given is source:
            seen.append(given)
            given = list(given)
        return plain(given, **options)

    monkeypatch.setattr(reading, "read", reading_once)
    model = EventClassifier(**QUICK)
    asked = [
        model.fit, model.predict, model.predict_proba, model.opinions, model.score, model.evaluate,
        model.explain,
    ]  # fmt: skip
    for ask in asked:
        source = (message for message in small_sample.to_dicts())
        seen.clear()
        ask(source)
        assert len(seen) == 1
        assert next(source, None) is None


def test_many_threads_index_a_memory_together(fitted, small_sample):
    """Row 1: a fitted or loaded model is safe to ask from several threads."""
    frame = fitted.intake(small_sample).messages
    wanted = np.arange(len(frame))
    for _ in range(3):
        fitted.__dict__.pop("_inference", None)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: fitted.remembered_rows(frame), range(16)))
        assert all((rows == wanted).all() for rows in found)


def test_changed_parameters_do_not_change_a_fitted_model(small_sample):
    model = EventClassifier(**QUICK).fit(small_sample)
    before = model.predict_proba(small_sample)
    model.set_params(views={"place": ["places"]}, training__epochs=9)
    np.testing.assert_array_equal(model.predict_proba(small_sample), before)
