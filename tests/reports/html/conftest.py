"""A small model, hostile messages, and a real browser without network."""

import shutil

import polars as pl
import pytest

from eventide.model import EventClassifier

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--no-first-run"]  # fmt: skip
HOSTILE = (
    "<script>window.pwned = 1</script>",
    "</script><script>window.pwned = 1</script>",
    '"><img src=x onerror="window.pwned = 1">',
    "<svg onload=window.pwned=1> javascript:window.pwned=1",
    "&lt;script&gt; {a|b} {b}: {c} ${1} %s",
    "abc \u202egnirts sdrawkcab\u202c \u2066isolated \x1b[31mred \u200b end",
    "w" * 10_000,
    "<!-- <script> --> ]]> \u2028 line",
)


def small_model(messages):
    model = EventClassifier(encoder="tfidf-svd:8", training__epochs=2, training__batch_size=64)
    return model.fit(messages)


@pytest.fixture(scope="session")
def model(small_sample):
    """A model of five events, hardly trained."""
    return small_model(small_sample)


@pytest.fixture(scope="session")
def hostile_messages(small_sample):
    """Messages whose texts, ids and events try everything that a page could obey."""
    cycle = pl.int_range(pl.len()) % len(HOSTILE)
    bad = cycle.replace_strict(dict(enumerate(HOSTILE)), return_dtype=pl.String)
    few = small_sample.filter(pl.int_range(pl.len()).over("event", "split") < 16)
    return few.with_columns(
        text=bad + " " + pl.col("text"),
        id=pl.col("id") + "<b>",
        event=pl.col("event") + "<img src=x onerror=window.pwned=1>{b}",
        user=pl.lit("<i>u</i>"),
    )


@pytest.fixture(scope="session")
def hostile_model(hostile_messages):
    return small_model(hostile_messages)


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium; each test opens contexts of its own, all offline."""
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no chromium on this machine")
    with sync.sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=CHROMIUM, args=SWITCHES, timeout=120_000
        )
        yield opened
        opened.close()


class Opened:
    """A page in the browser, with everything that went wrong and every request."""

    def __init__(self, browser, path, width, scheme="light"):
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
        )
        self.page = self.context.new_page()
        self.problems, self.requests = [], []
        self.page.on("console", lambda said: self.problems.append((said.type, said.text)))
        self.page.on("pageerror", lambda error: self.problems.append(("error", str(error))))
        self.page.on("request", lambda asked: self.requests.append(asked.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector(".chart svg")
        self.page.wait_for_timeout(400)  # the charts' first animation

    def check_quiet(self, path):
        assert self.problems == []
        assert self.requests == [path.as_uri()]

    def close(self):
        self.context.close()


@pytest.fixture
def open_page(browser):
    """Open a file at a width; closed when the test ends."""
    opened = []

    def open_it(path, width=1440, scheme="light"):
        opened.append(Opened(browser, path, width, scheme))
        return opened[-1]

    yield open_it
    for each in opened:
        each.close()
