"""paper/deviations.md names every setting in which a run may differ from the printed paper."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import torch

from eventide.losses.reduction import class_balanced_weights
from eventide.methods.tuned import tuning_record
from eventide.reports.claims.margin_effect import margin_effect
from eventide.settings import descriptions, preset, resolve
from tex import ROOT

PAGE = (ROOT / "paper" / "deviations.md").read_text(encoding="utf-8")


def values(changes: dict[str, Any]) -> dict[str, Any]:
    """Every setting by its dotted name."""
    tree = resolve(changes).model_dump(mode="json")
    return {f"{group}.{leaf}": v for group, part in tree.items() for leaf, v in part.items()}


def differing() -> dict[str, tuple[Any, Any]]:
    """What the preset `default` changes, with the paper's value and its own."""
    paper, default = values(preset("paper")), values(preset("default"))
    return {name: (paper[name], default[name]) for name in paper if paper[name] != default[name]}


def named(page: str) -> set[str]:
    """All that looks like a setting, in backticks and perhaps with a value: `group.name=value`."""
    groups = "|".join(sorted({name.partition(".")[0] for name in descriptions()}))
    return set(re.findall(rf"`((?:{groups})\.\w+)[`=]", page))


def told(page: str, name: str, *both: Any) -> bool:
    """Whether one row of a table names a setting and these values of it, all in backticks."""
    words = [f"`{name}`", *(f"`{_written(each)}`" for each in both)]
    rows = [line for line in page.splitlines() if line.startswith("|")]
    return any(all(word in row for word in words) for row in rows)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@pytest.mark.parametrize("name", differing())
def test_what_the_default_changes_is_on_the_page(name):
    both = differing()[name]
    assert told(PAGE, name, *both), f"a row with `{name}` and both values {both} is missing"


def test_what_tuning_chose_is_on_the_page():
    """Nothing is chosen as long as there is no file of tuned settings."""
    methods = tuning_record()["methods"].values()
    chosen = {name for each in methods for name in each.get("chosen", {})}
    missing = sorted(name for name in chosen if f"`{name}`" not in PAGE)
    assert not missing, f"paper/deviations.md does not name {missing}"


def test_the_paper_values_beside_what_tuning_may_change():
    table = PAGE.partition("What tuning may change")[2].partition("\n## ")[0]
    paper = values(preset("paper"))
    assert len(named(table)) > 10
    assert [name for name in sorted(named(table)) if not told(table, name, paper[name])] == []


def test_a_missing_row_or_value_is_noticed():
    page = "| `a.b` | `1` | `null` |\n`c.d` `2`\n| `c.d` | `1` |\n"
    assert told(page, "a.b", 1, None)
    assert not told(page, "a.b", 1, 2)
    assert not told(page, "a.c", 1)
    assert not told(page, "c.d", 2)  # a sentence is no row


def test_every_setting_that_the_page_names_exists():
    found = named(PAGE)
    assert len(found) > 30
    assert sorted(found - set(descriptions())) == []


def test_the_share_of_the_error_under_class_balance():
    """The training sizes of CrisisLexT_7: 50 messages less than each event has."""
    counts = torch.tensor([950, 494, 247, 123, 61, 30, 15])
    share = float((class_balanced_weights(counts) * counts).sum() / counts.sum())
    assert f"sum_c n_c w_c / n is {share:.2f} on CrisisLexT_7" in PAGE
    even = class_balanced_weights(counts, scale="messages")
    assert float((even * counts).sum() / counts.sum()) == pytest.approx(1.0)


def test_the_figures_of_the_margins():
    by_classes = [f"{100 * margin_effect(classes):.1f} %" for classes in (7, 28, 100)]
    sharp = f"{100 * margin_effect(7, temperature=0.1):.0f} %"
    row = next(line for line in PAGE.splitlines() if line.startswith("| margins |"))
    assert all(each in row for each in (*by_classes, sharp))
