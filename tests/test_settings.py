"""Settings: names of today and of before, values as a command line gives them."""

import pytest

from eventide.errors import BadSetting, EventideWarning
from eventide.settings import RENAMED, Settings, descriptions, resolve


@pytest.mark.parametrize(
    ("given", "expected"),
    [("[8, 8]", (8, 8)), ("[16]", (16,)), ((4, 4), (4, 4)), ([4], (4,))],
)
def test_a_list_can_be_given_as_json(given, expected):
    assert resolve({"network.layers": given}).network.layers == expected


@pytest.mark.parametrize(
    "given",
    ["scl:0.1,k-positive:2", " scl : 0.1 , k-positive:2 ", '{"scl": 0.1, "k-positive": 2}',
     {"scl": 0.1, "k-positive": "2"}],
)  # fmt: skip
def test_a_mapping_can_be_given_as_pairs_as_json_or_as_it_is(given):
    terms = resolve({"loss.extra_terms": given}).loss.extra_terms
    assert terms == {"scl": 0.1, "k-positive": 2.0}
    assert Settings.model_validate_json(
        resolve({"loss.extra_terms": given}).model_dump_json()
    ) == resolve({"loss.extra_terms": given})


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("network.layers", "[8, ", r"network\.layers"),
        ("loss.extra_terms", "scl", r"loss\.extra_terms"),
        ("loss.extra_terms", "scl:-1", "greater than 0"),
        ("loss.margin", "uncertain", "did you mean 'uncertainty'"),
        ("loss.prototypes", "centroid", "did you mean 'centroids'"),
        ("loss.calibration", "eux", "did you mean 'euc'"),
        ("loss.fusion", "dempster's", "did you mean 'dempster'"),
    ],
)
def test_a_bad_value_is_refused_with_what_may_have_been_meant(name, value, said):
    with pytest.raises(BadSetting, match=said):
        resolve({name: value})


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_an_earlier_name_works_and_is_told(old, new):
    assert new in descriptions()
    assert old not in descriptions()
    value = {"network.fading": "none"}.get(old, 0.5)
    with pytest.warns(EventideWarning, match=f"{old} is called {new} now"):
        assert resolve({old: value}) == resolve({new: value})
