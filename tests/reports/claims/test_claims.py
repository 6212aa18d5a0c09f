"""The paper's claims, tested by invented evidence: each verdict can come out either way."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from eventide.errors import BadSetting
from eventide.experiments import Results, RunRecord, Variant, read_experiment_data
from eventide.experiments.jobs import ExperimentPlan
from eventide.experiments.run_log import Figures, Outcome, Seconds, Sizes, ValidationFigures
from eventide.losses.settings import LossSettings
from eventide.reports.claims import CLAIMS
from eventide.reports.claims.claim import POINTS, Finding, Link, Region, overall, verdict
from eventide.reports.claims.evidence import UCL_EC, Evidence, drifting, probe
from eventide.reports.claims.findings import Examined, Report, examine
from eventide.reports.claims.hard_classes import correlations
from eventide.reports.claims.uncertain_classes import most
from eventide.reports.claims.verdict_page import page
from eventide.reports.figures.class_uncertainty import ClassUncertainty
from eventide.reports.figures.drift_curves import Drift, Drifts
from eventide.reports.figures.similarity_histograms import Likeness, Similarities
from eventide.reports.figures.trained_runs import Runs
from eventide.scoring.bootstrap import Interval
from eventide.scoring.class_groups import GROUPS, class_groups

TRUTH = [0] * 100 + [1] * 100 + [2] * 100


def outcome(right, epoch):
    """A run that is right on the given number of messages of each of three classes."""
    predicted = [t if place % 100 < right[t] else 9 for place, t in enumerate(TRUTH)]
    return Outcome(
        seconds=Seconds(prepare=1.0, fit=2.0, epoch=epoch, predict=0.25, processor=epoch),
        epochs=4, best_epoch=3, validation=ValidationFigures(),
        test=Figures(
            accuracy=sum(right) / 300, macro_f1=sum(right) / 300, nmi=0.5, ami=0.5, ari=0.5,
            auroc=None, uncertainty_right=None, uncertainty_wrong=None,
        ),
        classes=3, messages=Sizes(train=500, validation=60, test=300), tested="abc",
        truth=TRUTH, predicted=predicted, uncertainty=[0.5] * 300,
    )  # fmt: skip


def evidence(rights, probes=None, epochs=None, missing=None, seeds=2):
    """Evidence of variants that are right as often in every seed."""
    runs = {}
    for name, right in rights.items():
        right = right if isinstance(right, tuple) else (right,) * 3
        times = (epochs or {}).get(name, [0.5] * seeds)
        runs[name] = tuple(
            RunRecord(
                key=f"{name}{seed}", variant=name, method="ucl", note="", dataset="d",
                fingerprint="f", seed=seed, split="random", protocol="transductive", encoder="e",
                entities="rules", preset="paper", views={}, settings={}, versions={}, threads=1,
                finished_at="now", outcome=outcome(right, times[seed]), error=None,
            )
            for seed in range(seeds)
        )  # fmt: skip
    plan = ExperimentPlan("d", "f", "random", "transductive", "e", "rules", "paper")
    results = Results(
        Path("runs.jsonl"), plan, tuple(Variant(n, n) for n in rights), (0, 1), runs, ()
    )
    return Evidence(results, probes or {}, missing or {})


def assessed(name, found):
    claim = CLAIMS.load(name)
    return Finding(name, claim.says, claim.rule, tuple(claim.assess(found)))


def verdicts(finding):
    return [link.verdict for link in finding.links]


intervals = st.lists(st.floats(-1, 1), min_size=3, max_size=3).map(
    lambda three: Interval(sorted(three)[1], min(three), max(three))
)


@given(intervals, st.floats(-1, 1))
def test_an_order_and_its_opposite_are_never_both_confirmed(found, edge):
    turned = Interval(-found.value, -found.high, -found.low)
    here, there = verdict(found, Region(edge)), verdict(turned, Region(-edge))
    assert {"confirmed": "not confirmed", "not confirmed": "confirmed"}.get(here, here) == there


def test_a_region_with_two_ends():
    region = Region(-0.02, 0.02)
    found = [Interval(0, -0.01, 0.01), Interval(0.1, 0.03, 0.2), Interval(0, -0.03, 0.01)]
    assert [verdict(each, region) for each in found] == ["confirmed", "not confirmed", "undecided"]
    assert verdict(Interval(-1, -2, -0.5), region) == "not confirmed"


def test_a_claim_without_a_link_is_undecided():
    assert overall([]) == "undecided"


def test_orders_are_judged_link_by_link():
    finding = assessed("order", evidence({"ucl-ec": 90, "ucl": 70, "psc": 80}))
    assert verdicts(finding) == ["confirmed", "not confirmed"]
    assert finding.verdict == "not confirmed"
    assert finding.links[0].difference.value == pytest.approx(0.2)
    assert "ACC 90.00" in finding.links[0].measured
    close = assessed("order", evidence({"ucl-ec": 90, "ucl": 90, "psc": 80}))
    assert verdicts(close) == ["undecided", "confirmed"]
    assert close.verdict == "undecided"


@pytest.mark.parametrize(
    ("name", "rights"),
    [
        ("margins", {"psc+m": 50, "psc+dm+euc": 65, "ucl": 80, "psc-ec+m": 55, "psc-ec+dm+euc": 70,
                     "ucl-ec": 85}),
        ("margins-printed", {"psc+m": 50, "psc+dm": 65, "ucl": 80, "psc-ec+m": 55, "psc-ec+dm": 70,
                             "ucl-ec": 85}),
        ("calibration", {"ucl": 80, "ucl-without-euc": 60, "ucl-ec": 80, "ucl-ec-without-euc": 60}),
        ("balance", {"ucl+cb": 80, "ucl": 60, "ucl-ec+cb": 80, "ucl-ec": 60}),
        ("weakest", {"ce": 50, "cb-focal": 70, "ldam-drw": 70, "hybrid-psc": 70, "bcl": 70,
                     "dro-lt": 70, "tsc": 70, "ucl": 70, "ucl-ec": 70}),
        ("hybrid-psc", {"ce": 50, "hybrid-psc": 70}),
        ("lambda1", {"ucl-ec, calibration_weight=1": 90, "ucl-ec, calibration_weight=10": 50}),
        ("lambda3", {"ucl-ec, agreement_weight=0.01": 90, "ucl-ec, agreement_weight=0.5": 90,
                     "ucl-ec, agreement_weight=100": 90}),
    ],
)  # fmt: skip
def test_claims_of_accuracy(name, rights):
    assert {each.name for each in CLAIMS.load(name).variants} == set(rights)
    assert assessed(name, evidence(rights)).verdict == "confirmed"
    if name != "lambda3":
        turned = dict(zip(rights, [100 - right for right in rights.values()], strict=True))
        assert assessed(name, evidence(turned)).verdict == "not confirmed"
    first, *others = rights
    without = assessed(
        name, evidence({each: rights[each] for each in others}, missing={first: "ill"})
    )
    assert without.verdict == "undecided"
    assert f"{first}: ill" in [link.measured for link in without.links if link.difference is None]


def test_lambda3_matters_where_the_accuracy_moves():
    names = [each.name for each in CLAIMS.load("lambda3").variants]
    finding = assessed("lambda3", evidence(dict(zip(names, (90, 90, 50), strict=True))))
    assert verdicts(finding) == ["confirmed", "not confirmed"]


def table(uncertainty, counts, train, test, classes="abcdefghij"):
    order = np.argsort(-np.array(uncertainty), kind="stable")
    pick = lambda values: tuple(values[place] for place in order)  # noqa: E731
    return ClassUncertainty(
        "d",
        "ucl-ec",
        0,
        pick(classes),
        pick(counts),
        pick(uncertainty),
        pick(train),
        pick(test),
        (),
    )


def test_uncertainty_against_size():
    rising = [each / 10 for each in range(10)]
    counts = [50, 10, 70, 20, 90, 30, 80, 40, 100, 60]
    found = {s: table(rising, counts, rising, rising) for s in (0, 1)}
    finding = assessed("errors", Evidence(probes={"class-uncertainty": found}))
    assert verdicts(finding) == ["confirmed", "confirmed"]
    rank = spearmanr(1 / np.array(counts), rising).statistic
    assert finding.links[0].difference.value == pytest.approx(1 - rank)
    assert f"uncertainty +1.00, 1/n {rank:+.2f}" in finding.links[0].measured
    # Errors that follow the size refute the claim.
    by_size = [1 / count for count in counts]
    found = {0: table(rising, counts, rising, by_size)}
    assert (
        verdicts(assessed("errors", Evidence(probes={"class-uncertainty": found})))[1]
        == "not confirmed"
    )


def test_without_errors_nothing_is_predicted():
    rising = [each / 10 for each in range(10)]
    counts = list(range(10, 110, 10))
    found = {0: table(rising, counts, [0.0] * 10, [None] * 8 + [0.1, 0.2])}
    finding = assessed("errors", Evidence(probes={"class-uncertainty": found}))
    assert verdicts(finding) == ["undecided", "undecided"]
    assert "same for all classes" in finding.links[0].measured
    assert "fewer than 3 classes" in finding.links[1].measured
    rare = {0: table(rising, counts, [0.0] * 9 + [1.0], [0.0] * 9 + [1.0])}
    link = assessed("errors", Evidence(probes={"class-uncertainty": rare})).links[0]
    assert link.difference is not None  # one class that errs still stands in most draws


def test_rank_correlations_are_scipys():
    generator = np.random.default_rng(3)
    one, other, error = generator.integers(0, 5, (3, 2, 9)).astype(float)
    chosen = generator.integers(0, 9, (4, 9))
    found = correlations(one, other, error, chosen)
    for values, means in zip((one, other), found, strict=True):
        expected = [
            np.mean([spearmanr(values[s][draw], error[s][draw]).statistic for s in (0, 1)])
            for draw in chosen
        ]
        np.testing.assert_allclose(means, expected)


GROUPING = class_groups([0, 1, 2], [0.1, 0.3, 0.5])


def test_the_uncertain_group_gains_most():
    probes = {"groups": {0: GROUPING, 1: GROUPING}}
    most_uncertain = evidence({"ce": (80, 80, 40), "ucl-ec": (82, 84, 80)}, probes)
    finding = assessed("gains", most_uncertain)
    assert [link.compared for link in finding.links] == [
        "gain of uncertain > 0", "gain of uncertain > of certain", "gain of uncertain > of middle",
    ]  # fmt: skip
    assert finding.verdict == "confirmed"
    assert finding.links[1].difference.value == pytest.approx(0.40 - 0.02)
    other = evidence({"ce": (40, 80, 80), "ucl-ec": (80, 82, 90)}, probes)
    assert verdicts(assessed("gains", other)) == ["confirmed", "not confirmed", "confirmed"]


def test_groups_that_are_empty():
    equal = class_groups([0, 1, 2], [0.2, 0.2, 0.2])
    found = evidence({"ce": 50, "ucl-ec": 80}, {"groups": {0: equal}})
    (link,) = assessed("gains", found).links
    assert (link.verdict, link.measured) == (
        "undecided",
        "no test message is of an uncertain class",
    )
    no_middle = class_groups([0, 1, 2], [0.2, 0.2, 0.5])
    found = evidence({"ce": (50, 50, 50), "ucl-ec": (51, 51, 99)}, {"groups": {0: no_middle}})
    assert [link.compared for link in assessed("gains", found).links] == [
        "gain of uncertain > 0", "gain of uncertain > of certain",
    ]  # fmt: skip
    alone = {"certain": np.zeros(0), "middle": np.zeros(0), "uncertain": np.ones(50)}
    assert [link.verdict for link in most([alone], "gain", link.unit, "")] == [
        "confirmed",
        "undecided",
    ]


def test_a_handful_of_uncertain_messages_says_nothing():
    few = {"certain": np.zeros(50), "middle": np.zeros(50), "uncertain": np.ones(4)}
    (link,) = most([few, few], "gain", POINTS, "")
    assert (link.verdict, link.measured[:23]) == ("undecided", "only 8 messages of 2 se")


def likeness(method, inter):
    generator = np.random.default_rng(0)
    for group, value in zip(GROUPS, inter, strict=True):
        values = tuple(value + 0.01 * generator.standard_normal(40))
        yield Likeness(method, group, 1, values, values)


@pytest.mark.parametrize(("after", "expected"), [((0.4, 0.4, 0.1), "confirmed"), ((0.0, 0.4, 0.2), "not confirmed")])  # fmt: skip
def test_the_inter_class_similarity_falls(after, expected):
    each = (*likeness("ce", (0.5, 0.5, 0.5)), *likeness("ucl-ec", after))
    found = Similarities("d", 0, "entity", ("ce", "ucl-ec"), each)
    finding = assessed("similarity", Evidence(probes={"similarity": {0: found}}))
    assert finding.verdict == expected
    assert finding.links[0].difference.value == pytest.approx(0.5 - after[2], abs=1e-9)


def drifts(epochs=(0.1,), **moves):
    """Drifts by kind of prototypes; the last half of the batches is the second half."""
    return Drifts(
        "d",
        0,
        tuple(Drift(k, k, 2, moved, epochs, len(moved) // 2) for k, moved in moves.items()),
    )


def test_drift_of_prototypes():
    learned, centroids = (0.02, 0.03) * 20, (0.0, 0.01) * 20
    each = drifts(learned=learned, unit=learned, centroids=centroids)
    finding = assessed("drift", Evidence(probes={"drift": {0: each, 1: each}}))
    assert [link.compared for link in finding.links] == [
        "drift of learned > of centroids",
        "drift of unit > of centroids",
    ]
    assert finding.verdict == "confirmed"
    assert finding.links[0].difference.value == pytest.approx(0.02)
    turned = {0: drifts(learned=centroids, unit=learned, centroids=learned)}
    assert assessed("drift", Evidence(probes={"drift": turned})).verdict == "not confirmed"
    empty = {0: drifts((), learned=(), unit=(), centroids=())}
    nothing = assessed("drift", Evidence(probes={"drift": empty}))
    assert "no two batches" in nothing.links[0].measured


def test_drift_is_judged_where_training_has_settled():
    """Learned prototypes that jump at first and then stand still do not drift."""
    early, late = (0.5,) * 40 + (0.0, 0.001) * 20, (0.0,) * 40 + (0.01, 0.02) * 20
    found = {0: drifts(learned=early, centroids=late)}
    finding = assessed("drift", Evidence(probes={"drift": found}))
    assert finding.links[0].verdict == "not confirmed"
    assert finding.links[0].difference.value == pytest.approx(0.0005 - 0.015)
    assert "whole training 2.50e-01 against 7.50e-03" in finding.links[0].measured


def test_a_prototype_source_that_this_version_lacks(monkeypatch):
    found = {0: drifts(learned=(0.1,) * 8, centroids=(0.0,) * 8)}
    for module in ("evidence", "prototype_drift"):
        monkeypatch.setattr(f"eventide.reports.claims.{module}.PROTOTYPES", ["learned"])
    link = assessed("drift", Evidence(probes={"drift": found})).links[1]
    assert (link.verdict, link.difference) == ("undecided", None)
    assert link.measured == "not in this version: prototypes 'unit'"
    assert [each.name for each in drifting()] == ["ucl/learned", "ucl-ec"]


@pytest.mark.parametrize(
    ("ours", "expected"),
    [((1.05, 1.10), "confirmed"), ((0.9, 0.95), "not confirmed"), ((0.9, 1.1), "undecided"),
     ((1.5, 2.0), "not confirmed")],
)  # fmt: skip
def test_seconds_per_epoch(ours, expected):
    found = evidence({"ucl-ec": 50, "ucl": 50}, epochs={"ucl-ec": ours, "ucl": (1.0, 1.0)})
    finding = assessed("cost", found)
    assert finding.verdict == expected
    assert finding.links[0].difference.value == pytest.approx(sum(ours) / 2 - 1)


def test_one_seed_gives_no_range_of_times():
    found = evidence({"ucl-ec": 50, "ucl": 50}, seeds=1)
    assert "one seed" in assessed("cost", found).links[0].measured


def test_runs_without_processor_times_say_so():
    found = evidence({"ucl-ec": 50, "ucl": 50}, epochs={"ucl-ec": (None, None)})
    assert "kept by a version" in assessed("cost", found).links[0].measured


@pytest.mark.parametrize("name", CLAIMS.names())
def test_without_evidence_every_claim_is_undecided(name):
    finding = assessed(name, Evidence())
    assert finding.verdict == "undecided"
    assert all(link.measured.startswith("nothing was measured") for link in finding.links)


def test_the_page_says_everything():
    finding = assessed("order", evidence({"ucl-ec": 90, "ucl": 70, "psc": 80}))
    nothing = Finding("x", "Says | so.", "r", (Link("a < b", None, "no run"),))
    better = assessed("order", evidence({"ucl-ec": 90, "ucl": 80, "psc": 50}))
    parts = (
        Examined(
            "paper", "", "random", "transductive", "e", LossSettings(), (finding, nothing), ("n",),
            "commit abc",
        ),
        Examined(
            "default", "scarce-10", "random", "inductive", "f", LossSettings(temperature=0.5),
            (better, nothing), (), "commit def",
        ),
    )  # fmt: skip
    report = Report("d", 300, 3, (0, 1), {"a.b": 1}, parts)
    text = page(report)
    assert "## paper, random: 0 confirmed, 1 not confirmed, 1 undecided" in text
    assert "## default, scarce-10: 1 confirmed, 0 not confirmed, 1 undecided" in text
    assert "| claim | paper, random | default, scarce-10 | the paper says |" in text
    assert "| order | not confirmed | confirmed |" in text
    assert "- seeds: 0, 1" in text
    assert "- code: commit abc, commit def" in text
    assert (
        "in the largest | inductive | f | 1 confirmed, 0 not confirmed, 1 undecided | commit def |"
        in text
    )
    assert "| order | ucl-ec > ucl | +20.00 points (" in text
    assert "`a.b=1`" in text
    assert "Says \\| so." in text
    assert "| x | a &lt; b | - | undecided | no run |" in text
    assert "| 7 | 0.1 | 1 | +1.4 | +2.8 | +5.5 |" in text
    assert "| 3 | 0.1 | 0.5 |" in text  # the classes of the data, the temperature in use
    data = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    first, second = data["conditions"]
    assert [each["verdict"] for each in first["findings"]] == ["not confirmed", "undecided"]
    assert first["findings"][0]["links"][0]["verdict"] == "confirmed"
    assert (second["name"], second["loss"]["temperature"]) == ("default, scarce-10", 0.5)


QUICK = {"training.epochs": 2, "training.batch_size": 64, "network.head_hidden": 16}
OPTIONS = {"split": "stored", "encoder": "tfidf-svd:16", "workers": 1}


def test_probes_share_what_they_train(small_sample, monkeypatch):
    from eventide.methods.trained import TrainedMethod

    fitted = []
    fit = TrainedMethod.fit
    monkeypatch.setattr(
        TrainedMethod, "fit", lambda self, *rest: (fitted.append(type(self)), fit(self, *rest))[1]
    )
    runs = Runs.of(small_sample, changes=QUICK, **OPTIONS)
    found, failed = probe(runs, ["similarity", "groups", "drift", "class-uncertainty"])
    assert not failed
    assert len(fitted) == len(drifting()) + 1  # ucl, ucl-ec, unit prototypes if there are, ce
    alone, _ = probe(runs, ["groups"])
    assert alone["groups"][0] == found["groups"][0]  # watching a training changes nothing in it
    assert len(fitted) == len(drifting()) + 2


def test_a_probe_that_fails_leaves_its_claim_undecided(small_sample, tmp_path, monkeypatch):
    def broken(runs):
        raise ValueError("broken")

    monkeypatch.setattr("eventide.reports.figures.drift_curves.measure", broken)
    runs = Runs.of(small_sample, kept=tmp_path, changes=QUICK, **OPTIONS)
    (examined,) = examine([runs], ["drift"]).conditions
    assert examined.findings[0].verdict == "undecided"
    assert "ValueError: broken" in examined.findings[0].links[0].measured
    assert not (tmp_path / "runs.jsonl").exists()


@pytest.mark.parametrize(
    "change", [{"changes": {"training.epoch": 1}}, {"seeds": ()}, {"preset": "best"}]
)
def test_what_nothing_can_be_tested_with_is_refused(small_sample, change):
    with pytest.raises(BadSetting):
        examine([Runs.of(small_sample, **OPTIONS | change)], ["drift"])


def test_probes_of_messages_outside_the_graph(small_sample):
    """An inductive split has the same probes: new messages are looked up in the memory."""
    runs = Runs(
        read_experiment_data(small_sample),
        changes=QUICK,
        **OPTIONS | {"split": "chronological"},
    )
    assert runs.protocol == "inductive"
    found, failed = probe(runs, ["similarity", "groups", "class-uncertainty"])
    assert not failed
    both = found["similarity"][0]
    assert sum(len(each.inter) for each in both.likeness if each.method == "ce") > 0
    run = runs.fitted(UCL_EC)
    vectors = run.embeddings("test", "entity")
    assert vectors.shape[0] == len(run.messages("test"))
    messages = run.messages("test").with_columns(event=pl.lit(None, pl.String))
    inference = run.fitted.inference
    assert (inference.match(messages).rows < 0).all()
    alone = inference.prepare(messages[[3]], inference.match(messages[[3]]).keys)
    runner = run.fitted.method.runner
    expected = runner.evaluate_new(runner.look_up(alone))["entity"].embeddings.double().numpy()
    np.testing.assert_allclose(vectors[3], (expected / np.linalg.norm(expected))[0], atol=1e-5)


def test_a_regime_is_handed_on(small_sample, monkeypatch):
    """What compares and what splits are told of the regime and test the same messages."""
    told = []
    monkeypatch.setattr(
        "eventide.reports.figures.trained_runs.compare", lambda *_, **options: told.append(options)
    )
    data = read_experiment_data(small_sample)
    Runs(data, **OPTIONS).compared(())
    scarce = Runs(data, **OPTIONS, regime="scarce-10", protocol="inductive")
    scarce.compared(())
    assert (told[0]["regime"], told[0]["protocol"]) == ("", "transductive")
    assert (told[1]["regime"], told[1]["protocol"]) == ("scarce-10", "inductive")
    locked = set(data.messages.filter(pl.Series(data.lock.mask))["id"])
    split = scarce.messages()
    assert set(split.filter(pl.col("split") == "test")["id"]) == locked
