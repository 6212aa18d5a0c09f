"""Drawing alone: invented values of 7 and of 100 classes, empty groups, files, and style."""

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import rcParams

from eventide.errors import OutputError
from eventide.experiments.results import Spread
from eventide.reports.figures import (
    architecture,
    class_sizes,
    class_uncertainty,
    right_wrong,
    sensitivity,
    style,
    tsne,
)
from eventide.reports.figures import group_bars as groups
from eventide.reports.figures import similarity_histograms as similarity
from eventide.scoring.class_groups import GROUPS
from tree import ROOT


def texts(figure):
    figure.draw_without_rendering()
    return [each.get_text() for each in figure.findobj(matplotlib.text.Text)]


def uncertain(classes):
    draw = np.random.default_rng(0)
    return class_uncertainty.ClassUncertainty(
        data="invented",
        method="ucl-ec",
        seed=0,
        classes=tuple(f"event {number}" for number in range(classes)),
        counts=tuple(draw.integers(1, 900, classes).tolist()),
        uncertainty=tuple(np.sort(draw.random(classes))[::-1].tolist()),
        training_error=tuple(draw.random(classes).tolist()),
        test_error=(None, *draw.random(classes - 1).tolist()),
        correlations=(
            class_uncertainty.Correlation("uncertainty", "training", None, None),
            class_uncertainty.Correlation("uncertainty", "test", 0.5, 0.25),
        ),
    )


@pytest.mark.parametrize("classes", [7, 100])
def test_class_figures_hold_few_and_many_classes(classes):
    shown = texts(class_uncertainty.draw(uncertain(classes)))
    assert any("training undefined, test +0.50" in text for text in shown)
    assert ("event 0" in shown) == (classes == 7)
    counts = tuple(range(classes, 0, -1))
    sizes = class_sizes.ClassSizes(
        "invented", 0, tuple(map(str, range(classes))), counts, counts, counts
    )
    shown = texts(class_sizes.draw(sizes))
    assert any(f"{classes} events" in text for text in shown)
    assert sizes.imbalance == classes


def test_an_empty_group_keeps_its_place():
    result = [
        groups.MethodInGroup(method, group, spread, spread)
        for group, spread in zip(
            GROUPS, (Spread.of([0.9, 0.8]), None, Spread.of([0.5, 0.7])), strict=True
        )
        for method in ("ce", "ucl-ec")
    ]
    values = groups.GroupResults(
        "invented", (0, 1), ("ce", "ucl-ec"),
        {"certain": (6, 5), "middle": (0, 0), "uncertain": (1, 2)},
        {"certain": (180, 150), "middle": (0, 0), "uncertain": (30, 60)},
        ((0.3, 0.6), (0.3, 0.6)), tuple(result),
    )  # fmt: skip
    shown = texts(groups.draw(values))
    assert shown.count("empty") == 2
    assert "certain\n5–6 classes\n150–180 messages" in shown
    assert "middle\nno classes" in shown
    assert "85.00 ± 7.07" in "\n".join(values.lines())


def test_similarity_without_an_uncertain_group():
    found = tuple(
        similarity.Likeness("ce", group, 2 if own else 0, own, own)
        for group, own in zip(GROUPS, ((0.5, 0.6), (0.1,), ()), strict=True)
    )
    values = similarity.Similarities("invented", 0, "entity", ("ce",), found)
    assert texts(similarity.draw(values)).count("empty") == 1
    assert found[2].means == (None, None)


@settings(deadline=None)
@given(st.integers(2, 30), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_mean_cosines_agree_with_all_pairs(messages, classes, seed):
    draw = np.random.default_rng(seed)
    unit = draw.normal(size=(messages, 4))
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    truth = draw.integers(0, classes, messages)
    intra, inter = similarity.mean_cosines(unit, truth)
    for row in range(messages):
        same = [unit[row] @ unit[k] for k in range(messages) if k != row and truth[k] == truth[row]]
        other = [unit[row] @ unit[k] for k in range(messages) if truth[k] != truth[row]]
        for value, pairs in ((intra[row], same), (inter[row], other)):
            assert value == pytest.approx(np.mean(pairs), abs=1e-9) if pairs else np.isnan(value)


def test_right_and_wrong_with_nothing_wrong():
    values = right_wrong.RightsWrongs(
        "invented", 0, (right_wrong.RightWrong("ucl-ec", (0.1, 0.2), (), None),)
    )
    assert any("2 right, none wrong" in text for text in texts(right_wrong.draw(values)))
    assert "AUROC of uncertainty against error undefined" in values.lines()[-1]


def rights_and_wrongs():
    """Two methods, one surer than the other, so that their histograms differ in height."""
    draw = np.random.default_rng(0)
    each = (
        right_wrong.RightWrong(name, tuple(draw.beta(1, sure, 200)), tuple(draw.beta(2, 5, 9)), 0.8)
        for name, sure in (("ce", 60), ("ucl-ec+cb", 4))
    )
    return right_wrong.RightsWrongs("invented", 0, tuple(each))


def likenesses():
    """Means close together and far apart, at the edges and in the middle."""
    means = {"ce": (0.7, 0.0), "hybrid-psc": (0.9, 0.85), "bcl": (1.0, 1.0), "ucl-ec": (0.8, -0.3)}
    draw = np.random.default_rng(0)
    found = tuple(
        similarity.Likeness(method, group, 3, *(
            tuple(np.clip(draw.normal(mean, 0.05, 40), -1, 1)) for mean in pair
        ))
        for method, pair in means.items()
        for group in GROUPS
    )  # fmt: skip
    return similarity.Similarities("invented", 0, "entity", tuple(means), found)


def test_the_legend_of_right_and_wrong_hides_no_bar_and_panels_share_a_scale():
    """Row 29: the legend stood on the tallest bars, and each panel had a scale of its own."""
    figure = right_wrong.draw(rights_and_wrongs())
    assert all(axes.get_legend() is None for axes in figure.axes)
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    figure.draw_without_rendering()
    legend = figure.legends[0].get_window_extent()
    assert not any(legend.overlaps(axes.get_window_extent()) for axes in figure.axes)
    assert [each.get_text() for each in figure.legends[0].get_texts()] == [
        "right", "wrong", "median",
    ]  # fmt: skip


def test_the_labels_of_similarity_stand_clear_of_the_bars():
    """Row 29: a mean's label lay on a bar."""
    figure = similarity.draw(likenesses())
    figure.draw_without_rendering()
    methods = 4
    assert len({axes.get_ylim() for axes in figure.axes[:methods]}) == 1
    for axes in figure.axes[:methods]:
        labels = [each.get_window_extent() for each in axes.texts]
        assert len(labels) == 2
        assert not labels[0].overlaps(labels[1])
        assert all(label.y0 >= axes.get_window_extent().y1 for label in labels)
    assert not any(axes.texts for axes in figure.axes[methods:])


def long_names(count):
    """Events with long names, the last ones too small to be split."""
    classes = tuple(f"a-rather-long-name-of-event-{number}" for number in range(count))
    sizes = tuple(900 // (number + 1) for number in range(count))
    return class_sizes.ClassSizes(
        "a-data-set-with-a-long-name",
        0,
        classes,
        sizes,
        (20,) * (count - 1) + (0,),
        (0,) * count,
        1,
    )


@pytest.mark.parametrize(
    "drawn",
    [
        lambda: class_sizes.draw(long_names(12)),
        lambda: class_sizes.draw(long_names(40)),
        lambda: class_uncertainty.draw(uncertain(12)),
        lambda: right_wrong.draw(rights_and_wrongs()),
        lambda: similarity.draw(likenesses()),
        lambda: architecture.draw(architecture.diagram()),
    ],
)
def test_no_word_is_cut_off(drawn):
    """Row 29: titles and labels lie inside the figure."""
    figure = drawn()
    figure.draw_without_rendering()
    whole = figure.bbox.padded(1)
    beyond = {  # tick labels that are kept ready, and not drawn
        label
        for axes in figure.axes
        for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim()))
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        if not low <= tick.get_loc() <= high
        for label in (tick.label1, tick.label2)
    }
    for text in figure.findobj(matplotlib.text.Text):
        extent = text.get_window_extent()
        if text.get_visible() and text.get_text().strip() and text not in beyond:
            assert whole.x0 <= extent.x0, text.get_text()
            assert extent.x1 <= whole.x1, text.get_text()
            assert whole.y0 <= extent.y0, text.get_text()
            assert extent.y1 <= whole.y1, text.get_text()


def test_maps_of_an_odd_number_of_methods():
    maps = tuple(tsne.Map(name, (0.0, 1.0), (1.0, 0.0), None) for name in ("a", "b", "c"))
    values = tsne.Maps("invented", 0, "user", ("x", "y"), ("x", "y"), ("test", "train"), maps)
    assert [axes.get_visible() for axes in tsne.draw(values).axes] == [True, True, True, False]


def test_a_lambda_without_a_finished_run_leaves_a_gap():
    points = tuple(
        sensitivity.Point("ucl-ec", each.name, value, None, None)
        for each in sensitivity.WEIGHTS
        for value in each.values
    )
    own = {each.name: 1.0 for each in sensitivity.WEIGHTS}
    values = sensitivity.Sensitivity("invented", "ucl-ec", (0,), own, points, ("one",))
    texts(sensitivity.draw(values))
    assert "failed: one" in values.lines()


def test_the_diagram_names_every_step_once_and_joins_known_ones():
    diagram = architecture.diagram()
    names = [box.name for box in diagram.boxes]
    assert len(names) == len(set(names))
    joined = {end for arrow in diagram.arrows for end in (arrow.start, arrow.end)}
    assert joined == set(names)
    assert len(texts(architecture.draw(diagram))) >= len(names)


@pytest.mark.parametrize("ending", style.FORMATS)
def test_the_same_figure_gives_the_same_bytes(tmp_path, ending):
    paths = [tmp_path / f"{number}{ending}" for number in (1, 2)]
    for path in paths:
        style.save(architecture.draw(architecture.diagram()), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(OutputError, match=r"end its name with one of .png, .pdf, .svg"):
        style.save(style.blank(1), tmp_path / "figure.bmp")


def test_drawing_neither_reads_nor_changes_the_callers_style(tmp_path):
    with matplotlib.rc_context({"font.size": 40, "axes.titlesize": 40}):
        before = dict(rcParams)
        figure = class_uncertainty.draw(uncertain(7))
        style.save(figure, tmp_path / "figure.png")
        assert dict(rcParams) == before
    assert max(each.get_fontsize() for each in figure.findobj(matplotlib.text.Text)) < 20


def test_the_diagram_in_the_docs_is_what_the_command_draws(tmp_path):
    page = ROOT / "docs" / "architecture.svg"
    drawn = style.save(architecture.draw(architecture.diagram()), tmp_path / "architecture.svg")
    kept = page.read_text(encoding="utf-8")
    if f"Matplotlib v{matplotlib.__version__}" not in kept:
        pytest.skip("drawn by another version of Matplotlib")
    assert drawn.read_text(encoding="utf-8") == kept
