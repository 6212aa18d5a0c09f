"""Pictures of every screen of the desk, taken in Chromium.

    python docs/desk/screenshots.py                        # those of the docs: 1440 and 390 wide
    python docs/desk/screenshots.py --out /tmp/screens --widths 1440,768,390 --themes light,dark

A model learns the built-in sample without one event; the service then gets the sample's test
messages and those of the event that it does not know, so that there is a candidate to see. It needs
Chromium and the packages of the tests (`pip install -e '.[dev]'`).
"""

from __future__ import annotations

import argparse
import io
import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

UNKNOWN = "river-cup-final"
SCREENS = ("stream", "review", "events", "map", "trust", "message")
HEIGHTS = {1440: 1000, 768: 1024, 390: 844}
COLOURS = 192


def ask(address: str, path: str, body: Any = None) -> Any:
    """Send a request to the service."""
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address + path, content, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


def train(folder: Path) -> tuple[Path, list[dict[str, Any]]]:
    """Train without one event; return the model and the messages to send, as they came."""
    from eventide.data.sample import sample
    from eventide.model import EventClassifier

    model, messages = folder / "model", sample()
    known = messages.filter(pl.col("event") != UNKNOWN)
    known.write_parquet(folder / "known.parquet")
    EventClassifier().fit(known).save(model, keep_text=True)
    sent = messages.filter((pl.col("split") == "test") | (pl.col("event") == UNKNOWN))
    return model, [
        {
            "id": row["id"].replace("sample", "post"),
            "text": row["text"],
            "created_at": row["created_at"].strftime("%Y-%m-%dT%H:%M:%SZ"),
            "user": row["user"],
        }
        for row in sent.sort("created_at").iter_rows(named=True)
    ]


def fill(address: str, messages: list[dict[str, Any]]) -> str:
    """Send messages, review some, wait for candidates; return a message worth looking at."""
    for start in range(0, len(messages), 200):
        ask(address, "/v1/messages", messages[start : start + 200])
    for _ in range(240):
        found = ask(address, "/v1/candidates")
        if found["candidates"] and not found["waiting"]:
            break
        time.sleep(0.5)
    queue = ask(address, "/v1/review?limit=40")["messages"]
    for message in queue[10:22]:
        ask(address, f"/v1/review/{quote(message['id'])}", {"action": "accept"})

    def neighbours(message: dict[str, Any]) -> int:
        return sum(view["neighbours"] > 2 for view in message["opinion"]["views"].values())

    return str(max(queue[:10], key=neighbours)["id"])


def small(picture: bytes) -> bytes:
    """Reduce the colours of a picture."""
    from PIL import Image

    kept = io.BytesIO()
    found = Image.open(io.BytesIO(picture)).convert("RGB")
    found.quantize(COLOURS, dither=Image.Dither.NONE).save(kept, "PNG", optimize=True)
    return kept.getvalue()


def take(address: str, message: str, out: Path, widths: list[int], themes: list[str]) -> None:
    """Open every screen and keep a picture; the first theme has no name in the file's."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as player:
        browser = player.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for theme in themes:
            for width in widths:
                size = {"width": width, "height": HEIGHTS.get(width, 900)}
                context = browser.new_context(viewport=size, color_scheme=theme)
                page = context.new_page()
                for screen in SCREENS:
                    rest = f"/{quote(message, safe='')}" if screen == "message" else ""
                    page.goto(f"{address}/#/{screen}{rest}")
                    page.locator("main .card").first.wait_for()
                    page.wait_for_function("() => !document.querySelector('main .skeleton')")
                    page.wait_for_timeout(300)
                    name = f"{screen}-{width}" + ("" if theme == themes[0] else f"-{theme}")
                    if screen != "stream":  # the whole screen, with its bars where they belong
                        height = page.evaluate("document.documentElement.scrollHeight")
                        page.set_viewport_size({"width": width, "height": height})
                    picture = page.screenshot()
                    page.set_viewport_size(size)
                    (out / f"{name}.png").write_bytes(small(picture))
                    page.goto("about:blank")
                context.close()
        browser.close()


def main() -> None:
    """Train, start the service, take pictures, stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    parser.add_argument("--widths", default="1440,390")
    parser.add_argument("--themes", default="light")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        model, messages = train(Path(folder))
        words = ["serve", str(model), "--store", f"{folder}/desk.sqlite", "--port", "0"]
        process = subprocess.Popen(
            [sys.executable, "-m", "eventide", *words, "--held-out", f"{folder}/known.parquet"],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout is not None
            address = process.stdout.readline().split()[-1].rstrip("/")
            message = fill(address, messages)
            widths = [int(each) for each in given.widths.split(",")]
            take(address, message, given.out, widths, given.themes.split(","))
        finally:
            process.terminate()
            process.wait(30)
    sys.stdout.write("".join(f"{file}\n" for file in sorted(given.out.glob("*.png"))))


if __name__ == "__main__":
    main()
