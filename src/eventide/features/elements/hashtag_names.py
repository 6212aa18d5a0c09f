"""Split a hashtag into words and keep those that name something: #PrayForBoston is about boston."""

from __future__ import annotations

import re

from eventide.features.elements import vocabulary

_HUMP = re.compile(r"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d{4})")
_CASELESS = re.compile(r"^[^A-Za-zÀ-ɏͰ-ϿЀ-ԯ]+$")
# What events add to a place name, in tags without humps: #prayforboston, #keralafloods, #熊本地震.
_AROUND = re.compile(
    r"^(?:pray(?:ers)?for|helpfor|standwith|jesuis|fuerza|força|forza)?"
    r"(?P<name>\w{2,}?)"
    r"(?P<event>floods?|flooding|(?:earth)?quake|fires?|wildfires?|bombings?|explosion|attacks?|strong"
    r"|shooting|crash|tornado|marathon|blast)?$"
)
_CASELESS_EVENT = re.compile(
    r"^(?:زلزال_?|انفجار_?|فيضانات_?)|(?:大?地震|爆炸|台風|颱風|台风|暴雨|洪水|水災|豪雨|火災|火灾|भूकंप|बाढ़)$"
)


def names_in_hashtag(tag: str) -> list[str]:
    """The names in one hashtag as written in the text (with its capitals, without "#").

    >>> [names_in_hashtag(tag) for tag in ("PrayForBoston", "QueenslandFloods", "MH370")]
    [['boston'], ['queensland'], ['mh370']]
    >>> [names_in_hashtag(tag) for tag in ("keralafloods", "ThrowbackThursday", "熊本地震")]
    [['kerala'], [], ['熊本']]
    """
    if _CASELESS.match(tag):
        return [
            word
            for word in _CASELESS_EVENT.sub("", tag).split("_")
            if len(word) > 1 and not word.isdigit()
        ]
    glued = tag.replace("_", "").casefold()
    if glued in vocabulary.glued_names():
        return [vocabulary.glued_names()[glued]]
    around = _AROUND.match(tag.casefold())
    if (
        around
        and around["event"]
        and not _HUMP.search(tag[around.start("name") : around.end("name")])
    ):
        return [] if _plain(around["name"]) else [around["name"]]
    words = [word for part in tag.split("_") for word in _HUMP.split(part) if word]
    if len(words) == 1:
        name = _single(words[0])
        return [name] if name else []
    return _runs(words)


def _single(word: str) -> str | None:
    key = word.casefold()
    if _plain(key) or key.isdigit():
        return None
    if any(letter.isdigit() for letter in key):
        return key if re.fullmatch(r"[a-z]{1,3}\d{1,4}", key) else None
    around = _AROUND.match(key)
    if around and around["name"] != key and len(around["name"]) > 3 and not _plain(around["name"]):
        return around["name"]  # #prayforboston
    return key if word[0].isupper() and not word.isupper() else None


def _runs(words: list[str]) -> list[str]:
    names: list[str] = []
    run: list[str] = []
    for word in [*words, ""]:
        key = word.casefold()
        if word and word[0].isupper() and not _plain(key):
            run.append(key)
            continue
        if run and len("".join(run)) > 2:
            names.append(" ".join(run))
        run = []
    return names


def _plain(key: str) -> bool:
    return key in vocabulary.stop_words() or key in vocabulary.common_words()
