"""The heat map of regimes: what is in it, in which order, and that it can be drawn."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from eventide.experiments.regimes import REGIMES
from eventide.reports.figures.regime_heatmap import draw, heat_map, measure
from eventide.reports.figures.style import save
from invented_regimes import invented

SHARES = {
    "random": {"ce": [0.7, 0.6], "ucl-ec+cb": [0.9, 0.8], "bert": [0.95]},
    "scarce-10": {"ce": [0.5], "ucl-ec+cb": [0.6]},
}


def test_methods_stand_in_order_of_their_mean_rank_and_ours_in_bold():
    values = measure(invented(SHARES))
    assert values.methods == ("ucl-ec+cb", "ce", "bert")
    assert values.ranks == (1.0, 2.0, None)
    assert values.ours == (True, False, False)
    assert values.accuracy[2] == (pytest.approx(95), None)
    figure = draw(values)
    labels = figure.axes[0].get_yticklabels()
    assert [label.get_text() for label in labels] == list(values.methods)
    assert [label.get_fontweight() for label in labels] == ["bold", "normal", "normal"]
    assert values.lines()[2].split() == ["bert", "-", "95.00", "-"]


def test_colours_are_points_behind_the_best_of_the_column():
    figure = heat_map(invented(SHARES))
    drawn = np.ma.filled(figure.axes[0].images[0].get_array(), np.nan)
    np.testing.assert_allclose(drawn, [[10, 0], [30, 10], [0, np.nan]], atol=1e-9)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert {"85.0", "60.0", "65.0", "50.0", "95.0"} <= set(texts)


def test_the_caption_says_what_a_stranger_must_know():
    told = heat_map(invented(SHARES)).get_supxlabel().replace("\n", " ")
    for said in ("Per cent of locked test messages (crisislex-1)", "mean over", "Hatched", "bold"):
        assert said in told
    whole = {"random": {"ce": [0.5], "bcl": [0.6]}}
    assert "Hatched" not in heat_map(invented(whole)).get_supxlabel()


@pytest.mark.parametrize(("methods", "regimes"), [(25, 8), (8, 4), (1, 1)])
def test_nothing_is_cut_off_or_overlaps(methods, regimes, tmp_path):
    names = [f"method-$x_{number}$" for number in range(methods)]
    shares = {name: {each: [0.5] for each in names} for name in list(REGIMES)[:regimes]}
    figure = heat_map(invented(shares))
    save(figure, tmp_path / "heat.svg")
    FigureCanvasAgg(figure).draw()
    box = figure.bbox
    axes = figure.axes[0]
    for text in [*axes.get_yticklabels(), *axes.get_xticklabels(), *axes.texts]:
        extent = text.get_window_extent()
        assert box.x0 <= extent.x0 <= extent.x1 <= box.x1
    rows = [label.get_window_extent() for label in axes.get_yticklabels()]
    assert all(above.y0 >= below.y1 - 1 for above, below in pairwise(rows))
    caption = figure._supxlabel.get_window_extent()
    assert caption.x1 <= box.x1
    assert caption.y1 <= axes.get_window_extent().y0
