"""Reports in a real browser: quiet, offline, readable by everyone, and deaf to hostile texts."""

import polars as pl
import pytest

from eventide.reports.html.model_report import model_report

SERIOUS = ("serious", "critical")


@pytest.fixture(scope="module")
def labelled(model, small_sample, tmp_path_factory):
    """The report of a labelled file."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    return model_report(model, small_sample, name="sample.parquet").save(path)


@pytest.fixture(scope="module")
def hostile(hostile_model, hostile_messages, tmp_path_factory):
    """The report of messages that try to be obeyed."""
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    name = "<script>window.pwned=1</script>.csv"
    return model_report(hostile_model, hostile_messages, name=name).save(path)


def check_accessible(page):
    """No violation that axe calls serious or critical."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page).response["violations"]
    told = [(each["id"], each["nodes"][0]["html"][:200]) for each in found
            if each["impact"] in SERIOUS]  # fmt: skip
    assert told == []


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_a_report_is_quiet_offline_and_accessible(open_page, labelled, width, scheme):
    opened = open_page(labelled, width, scheme)
    opened.check_quiet(labelled)
    page = opened.page
    assert page.evaluate("document.documentElement.scrollWidth") == width
    drawn = page.eval_on_selector_all(".chart", "all => all.map(e => !!e.querySelector('svg'))")
    assert len(drawn) == 6
    assert all(drawn)
    check_accessible(page)


@pytest.mark.parametrize(("width", "scheme"), [(1440, "dark"), (390, "light")])
def test_hostile_texts_show_as_text(open_page, hostile, hostile_messages, width, scheme):
    opened = open_page(hostile, width, scheme)
    page = opened.page
    for each in page.query_selector_all("details"):
        each.evaluate("e => { e.open = true; }")
    chart = page.locator("#chart-map")
    chart.scroll_into_view_if_needed()
    for mark in chart.locator("svg path").all()[:40:8]:  # tooltips hold texts, too
        mark.dispatch_event("mousemove")
        mark.hover(force=True, timeout=2000)
    page.wait_for_timeout(150)
    assert page.evaluate("window.pwned") is None
    assert page.evaluate("document.scripts.length") == 3
    assert page.evaluate("document.querySelectorAll('img, iframe, object, embed, b b').length") == 0
    shown = page.evaluate("document.body.innerText")
    assert "<script>window.pwned = 1</script>" in shown
    assert "onerror" in shown
    assert "\\u202e" in shown  # a direction mark is written, not obeyed
    assert not any(mark in shown for mark in "\u202e\u2066\x1b\u200b")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    opened.check_quiet(hostile)
    check_accessible(page)


def test_keys_reach_everything_and_tables_sort(open_page, labelled):
    page = open_page(labelled).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    head = page.locator("#events th button", has_text="training messages")
    head.focus()
    page.keyboard.press("Enter")
    assert page.locator("#events th[aria-sort=descending]").count() == 1
    cells = page.locator("#events td[data-name='training messages']")
    sizes = [int(each.replace(",", "")) for each in cells.all_inner_texts()]
    assert sizes == sorted(sizes, reverse=True)
    page.keyboard.press("Enter")
    sizes = [int(each.replace(",", "")) for each in cells.all_inner_texts()]
    assert sizes == sorted(sizes)
    fold = page.locator("details summary").first
    fold.focus()
    page.keyboard.press("Enter")
    assert page.locator("details[open]").count() == 1


def test_it_prints_in_the_dark_on_white(open_page, labelled, tmp_path):
    """Whoever reads in the dark prints with light charts, and goes on reading in the dark."""
    opened = open_page(labelled, 1440, "dark")
    page = opened.page
    before = page.locator("#chart-risk text").first.get_attribute("fill")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#chart-risk text").first.get_attribute("fill") in ("#444", "#000")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("#chart-risk text").first.get_attribute("fill") == before
    assert len(page.pdf(path=tmp_path / "report.pdf")) > 50_000
    opened.check_quiet(labelled)


def test_unlabelled_messages_and_a_notebook_frame(open_page, model, small_sample, tmp_path):
    fresh = small_sample.filter(pl.col("split") == "test").drop("event", "split")
    fresh = fresh.with_columns(id=pl.col("id") + "-new")
    report = model_report(model, fresh, name="today.jsonl")
    cell = tmp_path / "cell.html"
    cell.write_text(f"<!doctype html><title>x</title>{report._repr_html_()}", encoding="utf-8")
    path = report.save(tmp_path / "today.html")
    opened = open_page(path)
    opened.check_quiet(path)
    titles = opened.page.locator("h2").all_inner_texts()
    assert {"When", "Map of messages", "Most telling messages"} <= set(titles)
    assert "What is taken for what" not in titles
    page = opened.context.new_page()
    page.goto(cell.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator(".chart svg").first.wait_for(state="visible")  # drawn after the page has loaded
    assert frame.locator("h1").inner_text() == "Events in today.jsonl"
