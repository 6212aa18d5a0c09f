"""Platform exports, written by hand after each platform's documentation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eventide.data import read
from eventide.data.platforms import is_platform
from eventide.data.platforms.mastodon import plain_text

TWITTER_V1: dict[str, Any] = {
    "created_at": "Sun Dec 01 12:51:01 +0000 2013",
    "id": 407124578246270976,
    "id_str": "407124578246270976",
    "full_text": "Train derails #Bronx @MTA https://t.co/a",
    "entities": {
        "hashtags": [{"text": "Bronx", "indices": [14, 20]}],
        "user_mentions": [{"screen_name": "MTA", "name": "The MTA", "id_str": "5"}],
        "urls": [{"url": "https://t.co/a", "expanded_url": "https://news.example/train"}],
    },
    "user": {"screen_name": "ann", "id_str": "7"},
    "event": "train",
}
RETWEET: dict[str, Any] = {
    "created_at": "Sun Dec 01 12:52:01 +0000 2013",
    "id": 407124830000000000,
    "id_str": "407124830000000000",
    "full_text": "RT @ann: Train derails #Br…",
    "entities": {"hashtags": [], "user_mentions": [{"screen_name": "ann"}], "urls": []},
    "user": {"screen_name": "bob"},
    "retweeted_status": TWITTER_V1,
}
STREAMED: dict[str, Any] = {
    "created_at": "Sun Dec 01 12:53:01 +0000 2013",
    "id_str": "407125080000000000",
    "text": "cut short…",
    "truncated": True,
    "extended_tweet": {
        "full_text": "the whole text #long",
        "entities": {"hashtags": [{"text": "long"}]},
    },
    "entities": {"hashtags": []},
    "user": {"screen_name": "cy"},
}
PAGE: dict[str, Any] = {
    "data": [
        {
            "id": "1500000000000000001",
            "text": "Smoke over the hills #fire",
            "author_id": "9",
            "created_at": "2022-03-05T10:00:00.000Z",
            "entities": {
                "hashtags": [{"start": 21, "end": 26, "tag": "fire"}],
                "mentions": [{"username": "cal_fire", "id": "3"}],
                "urls": [{"url": "https://t.co/x", "expanded_url": "https://fire.example/x"}],
            },
        },
        {
            "id": "1500000000000000002",
            "text": "RT @dee: Smoke over…",
            "author_id": "8",
            "created_at": "2022-03-05T10:01:00.000Z",
            "referenced_tweets": [{"type": "retweeted", "id": "1499999999999999999"}],
        },
    ],
    "includes": {
        "users": [{"id": "9", "username": "dee"}, {"id": "8", "username": "eve"}],
        "tweets": [
            {"id": "1499999999999999999", "author_id": "9", "text": "Smoke over the whole valley"}
        ],
    },
    "meta": {"result_count": 2},
}
FLATTENED: dict[str, Any] = {
    "id": "1500000000000000003",
    "text": "short",
    "note_tweet": {"text": "a long note", "entities": {"hashtags": [{"tag": "note"}]}},
    "author_id": "9",
    "author": {"username": "dee"},
    "created_at": "2022-03-05T10:02:00.000Z",
    "public_metrics": {},
}
STATUS: dict[str, Any] = {
    "id": "112233",
    "created_at": "2023-02-06T04:00:00.000Z",
    "content": '<p>Quake &amp; snow <a href="https://m.example/tags/turkey" class="mention hashtag">#<span>turkey'
    '</span></a><br>see <a href="https://news.example/q"><span class="invisible">https://</span>'
    '<span>news.example/q</span></a></p><p>stay safe</p>',
    "account": {"acct": "fay@m.example", "username": "fay"},
    "tags": [{"name": "turkey", "url": "https://m.example/tags/turkey"}],
    "mentions": [{"acct": "gil", "username": "gil", "url": "https://m.example/@gil"}],
    "card": {"url": "https://card.example/"},
}  # fmt: skip
BOOST: dict[str, Any] = {
    "id": "112234",
    "created_at": "2023-02-06T05:00:00.000Z",
    "content": "",
    "account": {"acct": "hal"},
    "reblog": STATUS,
}
TEXT = "🌊 flood! @ivy.bsky.social #alert"
RECORD: dict[str, Any] = {
    "$type": "app.bsky.feed.post",
    "text": TEXT,
    "createdAt": "2024-05-01T00:00:00.000Z",
    "facets": [
        {
            "index": {"byteStart": 12, "byteEnd": 28},
            "features": [{"$type": "app.bsky.richtext.facet#mention", "did": "did:plc:ivy"}],
        },
        {
            "index": {"byteStart": 29, "byteEnd": 35},
            "features": [{"$type": "app.bsky.richtext.facet#tag", "tag": "alert"}],
        },
        {
            "index": {"byteStart": 0, "byteEnd": 4},
            "features": [{"$type": "app.bsky.richtext.facet#link", "uri": "https://sea.example"}],
        },
    ],
}
POST: dict[str, Any] = {
    "uri": "at://did:plc:jo/app.bsky.feed.post/3k",
    "cid": "bafy",
    "author": {"did": "did:plc:jo", "handle": "jo.bsky.social"},
    "record": RECORD,
    "indexedAt": "2024-05-01T00:00:01.000Z",
}
COMMIT: dict[str, Any] = {
    "did": "did:plc:jo",
    "time_us": 1714521600000000,
    "kind": "commit",
    "commit": {
        "operation": "create",
        "collection": "app.bsky.feed.post",
        "rkey": "3k",
        "record": RECORD,
    },
}


def rows(*objects: dict[str, Any]) -> list[dict[str, Any]]:
    intake = read(list(objects))
    assert intake.rejected.is_empty(), intake.summary()
    return intake.messages.to_dicts()


def test_twitter_v1() -> None:
    tweet, retweet, streamed = rows(TWITTER_V1, RETWEET, STREAMED)
    assert (tweet["id"], tweet["user"], tweet["event"]) == ("407124578246270976", "ann", "train")
    assert tweet["created_at"].isoformat() == "2013-12-01T12:51:01+00:00"
    assert (tweet["hashtags"], tweet["mentions"]) == (["Bronx"], ["MTA"])
    assert tweet["urls"] == ["https://news.example/train"]
    assert tweet["entities"] is None
    assert retweet["text"] == "RT @ann: " + TWITTER_V1["full_text"]
    assert (retweet["user"], retweet["hashtags"], retweet["mentions"]) == (
        "bob",
        ["Bronx"],
        ["ann", "MTA"],
    )
    assert (streamed["text"], streamed["hashtags"]) == ("the whole text #long", ["long"])


def test_twitter_v2() -> None:
    tweet, retweet, flat = rows(PAGE, FLATTENED)
    assert (tweet["id"], tweet["user"], tweet["hashtags"]) == (
        "1500000000000000001",
        "dee",
        ["fire"],
    )
    assert (tweet["mentions"], tweet["urls"]) == (["cal_fire"], ["https://fire.example/x"])
    assert (retweet["user"], retweet["text"]) == ("eve", "RT @dee: Smoke over the whole valley")
    assert retweet["hashtags"] is None
    assert (flat["text"], flat["user"], flat["hashtags"]) == ("a long note", "dee", ["note"])
    assert rows({"data": PAGE["data"][0], "includes": PAGE["includes"]})[0]["user"] == "dee"


def test_mastodon() -> None:
    status, boost = rows(STATUS, BOOST)
    assert status["text"] == "Quake & snow #turkey\nsee https://news.example/q\n\nstay safe"
    assert (status["user"], status["hashtags"], status["mentions"]) == (
        "fay@m.example",
        ["turkey"],
        ["gil"],
    )
    assert status["urls"] == ["https://news.example/q", "https://card.example/"]
    assert boost["text"].startswith("RT @fay@m.example: Quake & snow")
    assert (boost["user"], boost["mentions"]) == ("hal", ["fay@m.example", "gil"])
    assert plain_text("no tags < 3") == ("no tags < 3", [])


def test_bluesky() -> None:
    for wrapped in (POST, {"post": POST}, COMMIT, {"uri": POST["uri"], "value": RECORD}):
        (post,) = rows(wrapped)
        assert post["id"] == POST["uri"]
        assert post["text"] == TEXT
        assert (post["hashtags"], post["mentions"]) == (["alert"], ["ivy.bsky.social"])
        assert post["urls"] == ["https://sea.example"]
        assert post["created_at"].isoformat() == "2024-05-01T00:00:00+00:00"
    assert [r["user"] for r in rows({"feed": [{"post": POST}]})] == ["jo.bsky.social"]
    astray = json.loads(json.dumps(POST))
    astray["record"]["facets"][0]["index"] = {"byteStart": 3, "byteEnd": 9}
    assert rows(astray)[0]["mentions"] == ["did:plc:ivy"]


EXPORTS = [TWITTER_V1, PAGE, STATUS, POST]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "pretty.json"])
@pytest.mark.parametrize("export", EXPORTS, ids=["v1", "v2", "mastodon", "bluesky"])
def test_exports_are_recognised_in_files(tmp_path: Path, export: dict[str, Any], name: str) -> None:
    (tmp_path / name).write_text(json.dumps(export, indent=2 if name == "pretty.json" else None))
    assert read(tmp_path / name).messages.to_dicts() == rows(export)


def test_platforms_can_be_mixed_with_bad_lines(tmp_path: Path) -> None:
    lines = [json.dumps(export) for export in EXPORTS]
    (tmp_path / "a.jsonl").write_text("\n".join([*lines, "{oops", json.dumps({**BOOST, "id": ""})]))
    intake = read(tmp_path / "a.jsonl")
    assert len(intake.messages) == 5
    assert intake.rejected.select("row", "column").rows() == [(5, None), (6, "id")]


def test_plain_messages_are_no_platform() -> None:
    assert not is_platform({"id": "1", "text": "a", "author_id": "3", "created_at": "2020-01-01"})
    assert not is_platform({"id": "1", "content": "a", "data": "b", "feed": "c", "record": 3})


@pytest.mark.parametrize("export", [*EXPORTS, RETWEET, FLATTENED, BOOST, COMMIT])
def test_objects_with_parts_of_other_types_raise_nothing(export: dict[str, Any]) -> None:
    for odd in (None, 3, "x", [], [3], [None], {}, {"a": 1}):
        for key in export:
            intake = read([TWITTER_V1, {**export, key: odd}])
            assert TWITTER_V1["id_str"] in intake.messages["id"]
            assert intake.rows_in == len(intake.messages) + len(intake.rejected)
