"""Which words are a name: in a run of capitalised words, in text in capitals, in a hashtag.

These are the rules for one candidate; ``rules`` finds the candidates.
"""

from __future__ import annotations

import re

from eventide.features.entities import word_lists as vocabulary


def shouted_names(words: list[str]) -> list[str]:
    """Known names, codes, and words beside "STREET", "COUNTY" or "IN"; nothing else is safe.

    >>> shouted_names("THE RED CROSS IS ON MAPLE STREET IN MOORE".split())
    ['red cross', 'maple street', 'moore']
    """
    keys = [word.strip("'’").casefold() for word in words]
    names = []
    position = 0
    while position < len(keys):
        length = _length(keys, position)
        if length:
            names.append(" ".join(keys[position : position + length]))
        position += length or 1
    return names


def _length(keys: list[str], position: int) -> int:
    """How many words the name that begins at ``position`` has; 0 where none begins."""
    for length in (3, 2, 1):
        phrase = " ".join(keys[position : position + length])
        if position + length <= len(keys) and phrase in vocabulary.known_names():
            return length
    key = keys[position]
    if any(map(str.isdigit, key)) and any(map(str.isalpha, key)):
        return 1
    if key in vocabulary.stop_words() or key in vocabulary.common_words() or len(key) < 4:
        return 0
    if position + 1 < len(keys) and keys[position + 1] in vocabulary.roles()["closers"]:
        return 2
    return int(position > 0 and keys[position - 1] in ("in", "near"))


BREAK = "‖"  # start of a sentence
PLACE_WORDS = ("in", "nach", "aus", "bei")  # what follows is a place, in German too

_POSSESSIVE = re.compile(r"(?:['’]s|s['’]|['’])$")
_ELISION = re.compile(r"^(?:l|d|j|s|c|n|m|t|qu|dell|all|nell|sull)['’]", re.IGNORECASE)
_CONTRACTION = re.compile(r"(?:n['’]t|['’](?:ll|d|ve|re|m))$", re.IGNORECASE)
_NO_NAME_ENDINGS = ("ing", "ed", "ly", "tion", "ness", "ment", "less", "ful", "able", "n't", "ever")
_ROLES = vocabulary.roles()
_NEVER_ALONE = _ROLES["titles"] | _ROLES["closers"]
_REPEATED = re.compile(r"(.)\1\1")


def names_in(candidate: str, manner: str) -> list[str]:
    """The names in one candidate.

    ``manner`` says how its message is written: "english", "german", "headline", "shout", "other".

    >>> names_in("‖ The Red Cross", "english"), names_in("‖ Missing Tom Okafor's", "english")
    (['red cross'], ['tom okafor'])
    >>> names_in(" Wasser", "german"), names_in(" in Passau", "german")
    ([], ['passau'])
    """
    at_start = candidate.startswith(BREAK)
    words = candidate[1:].strip(" \t\n'\"“‘«([").split()
    in_place = bool(words) and words[0] in PLACE_WORDS
    if in_place:
        words = words[1:]
    if words and words[-1][0].isdigit() and not words[-1].isalnum():
        words.pop()  # a score, a time or a sum: "Chelsea 2-1"
    if manner == "shout":
        return shouted_names(words)
    found = (
        _name(part, manner, at_start and position == 0, in_place)
        for position, part in _parts(words, manner, at_start)
    )
    return [name for name in found if name]


def _parts(words: list[str], manner: str, at_start: bool) -> list[tuple[int, list[str]]]:
    """Cut a run at words that end a name, and say where each part began."""
    parts: list[tuple[int, list[str]]] = []
    part: list[str] = []
    start = 0
    last = len(words) - 1
    for position, raw in enumerate(words):
        bare = word = raw.replace(".", "")
        if "'" in raw or "’" in raw:
            bare = _POSSESSIVE.sub("", raw)
            word = "" if _CONTRACTION.search(raw) else _ELISION.sub("", bare)
        follower = words[position + 1].casefold() if position < last else ""
        inside = bool(part) and raw in _ROLES["connectors"]
        opening = at_start and position == 0
        lower_after_elision = bare != word and not word[:1].isupper()  # "L'explosion", "I'll"
        between = bool(part) and word.casefold() in _ROLES["offices"]
        if (
            between
            or lower_after_elision
            or not (
                inside
                or _may_belong(word, manner, follower, opening, bool(part))
                or f"{' '.join(part[-1:])} {word}".casefold() in vocabulary.known_names()
            )
        ):
            parts.append((start, part))
            part, start = [], position + 1
            continue
        if bare != raw and follower in _ROLES["closers"]:
            word = raw.replace("’", "'")  # "St Mary's Church" is one name
        part.append(word)
        if bare == word != raw and raw[-1] in "sS":
            parts.append((start, part))  # "Uruguay's Suarez" is two
            part, start = [], position + 1
    parts.append((start, part))
    return [(start, part) for start, part in parts if part]


def _may_belong(word: str, manner: str, follower: str, opening: bool, inside: bool) -> bool:
    key = word.casefold()
    if key in vocabulary.stop_words():
        particle = key in _ROLES["particles"] and follower and not opening
        return bool(particle) or word in ("US", "UN", "UK")
    if manner == "headline" and key in vocabulary.common_words():
        return bool(key in _ROLES["openers"] and follower) or (inside and key in _ROLES["closers"])
    return True


def _name(part: list[str], manner: str, at_start: bool, in_place: bool) -> str | None:
    words = list(part)
    known = vocabulary.known_names()
    while len(words) > 1 and words[0].casefold() in _ROLES["titles"]:
        words, at_start = words[1:], False
    while words and (
        words[-1] in _ROLES["connectors"]
        or (len(words) > 1 and words[-1].casefold() in _ROLES["happenings"])
    ):
        words.pop()
    while words and words[0] in _ROLES["connectors"]:
        words.pop(0)
    words = _without_number(words)
    name = _POSSESSIVE.sub("", " ".join(words).casefold())
    if not words or name.isdigit():
        return None
    if len(words) == 1:
        return name if _stands_alone(words[0], name, manner, at_start, in_place) else None
    rest = " ".join(words[1:]).casefold()
    if name in known:
        return name
    if words[0].casefold() in _ROLES["compass"] and rest in known:
        return rest
    if at_start and len(words) > 2 and _opens_sentence(words[0]):
        return _name(words[1:], manner, False, in_place)
    common = vocabulary.common_words()
    ordinary = all(word.casefold() in common or word in _ROLES["connectors"] for word in words)
    ordinary = ordinary and words[-1].casefold() not in _ROLES["closers"]
    return None if ordinary and (at_start or manner in ("headline", "german")) else name


def _stands_alone(word: str, name: str, manner: str, at_start: bool, in_place: bool) -> bool:
    if name in vocabulary.known_names():
        return True
    if len(name) < 2 or name in vocabulary.common_words() or name in _NEVER_ALONE:
        return False
    if _REPEATED.search(name):
        return False
    if word.isupper() or any(map(str.isdigit, word)):  # NASA, G20, A8
        return True
    if manner == "german":
        return in_place
    if at_start:
        return manner == "english" and len(name) > 3 and not name.endswith(_NO_NAME_ENDINGS)
    return True


def _opens_sentence(word: str) -> bool:
    key = word.casefold()
    return key in vocabulary.common_words() and key not in _ROLES["openers"]


def _without_number(words: list[str]) -> list[str]:
    if len(words) > 1 and words[-1].isdigit() and words[-2].casefold() not in _ROLES["numbered"]:
        return words[:-1]
    return words


_HUMP = re.compile(r"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d{4})")
_CASELESS = re.compile(r"^[^A-Za-zÀ-ɏͰ-ϿЀ-ԯ]+$")
# What events add to a place name, in tags without humps: #prayforboston, #keralafloods, #熊本地震.
_AROUND = re.compile(
    r"^(?:pray(?:ers)?for|helpfor|standwith|jesuis|fuerza|força|forza)?"
    r"(?P<name>\w{2,}?)"
    r"(?P<event>floods?|flooding|(?:earth)?quake|fires?|wildfires?|bombings?|explosion|attacks?"
    r"|shooting|crash|tornado|blast)?$"
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
