"""The word lists hold neutral classes, and nothing from the events that methods are measured on."""

import re
from importlib.resources import files

import polars as pl
import pytest

from eventide.data.datasets.crisislex import EVENTS, T6, labelled
from eventide.data.published_lock import hashed_ids, published_locks
from eventide.features.elements import with_elements
from eventide.features.entities.word_lists import (
    _inflected,
    common_words,
    known_names,
    roles,
    stop_words,
)

WORDS = files("eventide.features.entities").joinpath("words")
NEUTRAL = """
australia brazil colorado costa guatemala italy manila oklahoma rica russia singapore spain texas
venezuela la ny
"""
"""Words of the events' names that are in a whole class: states, capitals, large cities."""

LOCAL = """
bohol bopha boston_marathon boulder bow_river brisbane bundaberg calgary cebu chelyabinsk clutha
compostela edmonton fort_collins galicia haiyan high_river lac-mégantic lax leyte long_island
luzon marathon_bombing metro-north metro_manila metro_north mindanao moore national_guard
new_south_wales newman nenshi nsw olbia queensland quebec québec rana_plaza redford rockhampton
salvation_army santa_maria saskatchewan savar spuyten_duyvil staten_island tacloban toowoomba
tsarnaev dzhokhar tamerlan visayas waco waldo_canyon emilia_romagna denver watertown
"""
"""Persons, storms, places and bodies of these events, in and around the collections."""


def of_event_names() -> set[str]:
    """The words of the events' names that are neither ordinary nor members of a neutral class."""
    folders = [event for events in EVENTS.values() for event in events]
    words = {word for folder in folders for word in folder.casefold().split("_")[1:]}
    return words - common_words() - {*NEUTRAL.split()}


def test_no_name_of_an_event_is_listed():
    names = {word.replace("_", " ") for word in LOCAL.split()} | of_event_names()
    assert {"boston", "alberta", "queensland", "yolanda", "pablo", "sandy", "savar"} <= names
    assert names & known_names() == set()
    assert {name for name in known_names() if set(name.split()) & of_event_names()} == set()


def test_no_list_of_ordinary_words_holds_one():
    names = {word for word in LOCAL.split() if "_" not in word} | of_event_names()
    ordinary = common_words() | stop_words() | frozenset().union(*roles().values())
    assert names & ordinary == set()
    assert {"fertilizer", "bomb"} & ordinary == {"bomb"}


def classes() -> dict[str, set[str]]:
    """The names under each heading."""
    found: dict[str, set[str]] = {}
    heading = ""
    for line in WORDS.joinpath("names.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            heading = line.removeprefix("# ")
        else:
            found.setdefault(heading, set()).update(line.split())
    return found


@pytest.mark.parametrize(
    ("heading", "size"),
    [
        ("member and observer states", 190),
        ("capitals", 185),
        ("cities of more than five million", 80),
        ("states of the United States", 46),
        ("countries of the United Kingdom", 4),
    ],
)
def test_classes_of_places_are_whole(heading, size):
    (names,) = [names for title, names in classes().items() if title.startswith(heading)]
    assert len(names) >= size


def test_names_of_events_are_still_read_where_they_look_like_names():
    texts = ["Water rises in Calgary #PrayForAlberta #bostonbombing", "praying for boston"]
    found = with_elements(pl.DataFrame({"text": texts}))["entities"].to_list()
    assert found == [["calgary", "alberta", "boston"], []]


def test_words_read_in_the_collection_are_of_unlocked_messages(crisislex):
    """No word is listed because of a locked message: each stands in one that may be chosen on."""
    tweets = pl.concat(labelled(crisislex, T6, event) for event in EVENTS[T6])
    locked = published_locks()[0].locked
    opened = [
        text
        for text, hashed in zip(tweets["text"], hashed_ids(tweets["id"]), strict=True)
        if hashed not in locked
    ]
    assert len(opened) < len(tweets)
    said = {word for text in opened for word in re.findall(r"[\w'-]+", text.casefold())}
    lines = WORDS.joinpath("common.txt").read_text(encoding="utf-8").splitlines()
    start = next(at for at, line in enumerate(lines) if "frequent first words" in line)
    words = lines[start + 2].split()
    assert len(words) > 100
    assert [word for word in words if not _inflected(word) & said] == []
