"""Encoding of a text file: stated by the user or by its byte order mark, else UTF-8 or a guess.

A file that is not UTF-8 is nearly always in a one-byte encoding of Western Windows or of an older
program. The guess is made once, from the whole file, and reported in a note.
"""

from __future__ import annotations

import codecs
import difflib
import io
import re
from collections.abc import Callable, Iterable, Iterator
from typing import IO, cast

import numpy as np

from eventide.errors import BadSetting

WESTERN = "cp1252"
COMMON = (
    "utf-8", "cp1252", "latin-1", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "iso-8859-15",
    "mac-roman", "cp437", "cp850", "cp1250", "cp1251", "koi8-r", "cp1253", "cp1254", "cp1255",
    "cp1256", "iso-8859-2", "shift-jis", "euc-jp", "gbk", "gb18030", "big5", "euc-kr",
)  # fmt: skip
"""Names to suggest for a misspelt encoding."""

BLOCK, PART = 2**20, 2**14
"""Bytes read at a time, and bytes of the parts that are tested for being ASCII."""
WIDE = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")

_SEQUENCE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
FIRST_HIGH = 0x80
_ASCII, _FOLLOWING = bytes(range(FIRST_HIGH)), bytes(range(FIRST_HIGH, 0xC0))
_RUN = re.compile(rb"[\x80-\xff]{3,}")
# Within words cp1252 rarely has these bytes; in DOS and old Mac encodings they are accents.
_FOREIGN_LETTER = re.compile(rb"[A-Za-z][\x80-\x84\x86-\x90\x95\x98-\x9f][a-z]")
AGAINST_SHARE = 5  # at most one byte in this many may contradict the guess


def checked_encoding(name: str | None) -> str | None:
    """Return Python's name of a text encoding; raise for an unknown name.

    >>> checked_encoding("Latin1"), checked_encoding(None)
    ('iso8859-1', None)
    """
    if name is None:
        return None
    try:
        found = codecs.lookup(name)
        "".encode(name)  # "base64" and others are codecs, but not of text
    except (LookupError, ValueError, TypeError):
        close = difflib.get_close_matches(str(name).lower(), COMMON, n=1, cutoff=0.5)
        raise BadSetting(
            f"there is no encoding {str(name)!r}",
            where="encoding (--encoding)",
            next_step=f"did you mean {close[0]}?" if close else f"for example {WESTERN} or utf-16",
        ) from None
    return "utf-8" if found.name in ("utf-8-sig", "ascii") else found.name


class TextEncoding:
    """Decoding of one text file: the ``stated`` encoding, or UTF-8 with a guess as fallback.

    ``pieces`` opens the whole file again, in pieces that end at line ends.
    """

    def __init__(self, stated: str | None, pieces: Callable[[], Iterable[bytes]]) -> None:
        self.stated = stated
        self.pieces = pieces
        self.guessed: str | None = None
        self._asked = stated is not None
        self._used = False

    def decoded(self, raw: bytes) -> str | None:
        """Decode bytes that are not UTF-8 with the guessed encoding; None if there is no guess."""
        if not self._asked:
            self._asked = True
            self.guessed = guess(self.pieces())
        if self.guessed is None:
            return None
        try:
            text = raw.decode(self.guessed)
        except UnicodeDecodeError:
            return None
        self._used = True
        return text

    def reencoded(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Yield pieces in UTF-8, once it is known that the file is in another encoding."""
        for piece in pieces:
            yield piece if self.guessed is None or piece.isascii() else self._reencoded(piece)

    def _reencoded(self, piece: bytes) -> bytes:
        parts: list[bytes] = []
        done = 0
        for at in np.flatnonzero(np.frombuffer(piece, np.uint8) >= FIRST_HIGH).tolist():
            if at < done:
                continue
            start, end = piece.rfind(b"\n", 0, at) + 1, piece.find(b"\n", at)
            end = len(piece) if end < 0 else end
            line = piece[start:end]
            text = None if _is_utf8(line) else self.decoded(line)
            parts += [piece[done:start], line if text is None else text.encode()]
            done = end
        return b"".join([*parts, piece[done:]])

    def reason(self, byte: int) -> str:
        """Return the reason for rejecting a row with this byte."""
        name = (self.stated or "UTF-8").upper()
        return f"not {name}: byte 0x{byte:02x}; name the encoding of the file"

    def notes(self) -> tuple[str, ...]:
        """Return a note on the guess, if it was used."""
        if not self._used:
            return ()
        return (
            f"not UTF-8: read as {self.guessed}, a guess; --encoding NAME (encoding=) is surer",
        )


def guess(pieces: Iterable[bytes]) -> str | None:
    r"""Guess the encoding of a file that is not UTF-8; None if it is unclear.

    >>> guess([b"caf\xe9 \x93na\xefve\x94"])
    'cp1252'
    >>> guess(["привет".encode("cp1251")]), guess(["café".encode("mac-roman") * 2 + b"s"])
    (None, None)
    """
    high = sequences = runs = foreign = 0
    for piece in pieces:
        telling = _around_high_bytes(piece)
        if _is_utf8(telling):
            sequences += len(telling.translate(None, _ASCII + _FOLLOWING))
            continue
        found = _SEQUENCE.findall(telling)
        sequences += len(found)
        high += len(telling.translate(None, _ASCII)) - sum(map(len, found))
        runs += sum(map(len, _RUN.findall(telling)))
        foreign += len(_FOREIGN_LETTER.findall(telling))
    # UTF-8 sequences are unlikely by chance: then it is UTF-8 with damaged rows.
    return WESTERN if AGAINST_SHARE * max(sequences, runs, foreign) <= high else None


def _around_high_bytes(piece: bytes) -> bytes:
    """Keep the bytes above ASCII and their neighbours; only these are evidence."""
    parts = (piece[at : at + PART] for at in range(0, len(piece), PART))
    content = np.frombuffer(b"".join(part for part in parts if not part.isascii()), np.uint8)
    high = content >= FIRST_HIGH
    kept = high.copy()
    kept[1:] |= high[:-1]
    kept[:-1] |= high[1:]
    return content[kept].tobytes()


def _is_utf8(piece: bytes) -> bool:
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return True


def recoded(stream: IO[bytes], encoding: str) -> io.BufferedReader:
    """Return a stream of another encoding as UTF-8; undecodable bytes stay as they are."""
    return io.BufferedReader(cast(io.RawIOBase, _Recoded(stream, encoding)), BLOCK)


class _Recoded(io.RawIOBase):
    def __init__(self, stream: IO[bytes], encoding: str) -> None:
        self.stream = stream
        # An undecodable byte is passed on, and its row is rejected later.
        self.errors = "surrogatepass" if encoding in WIDE else "surrogateescape"
        self.decoder = codecs.getincrementaldecoder(encoding)(self.errors)
        self.ready = b""
        self.ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        while not self.ready and not self.ended:
            block = self.stream.read(BLOCK)
            self.ended = not block
            self.ready = self.decoder.decode(block, self.ended).encode("utf-8", self.errors)
        taken = self.ready[: len(buffer)]
        self.ready = self.ready[len(taken) :]
        buffer[: len(taken)] = taken
        return len(taken)
