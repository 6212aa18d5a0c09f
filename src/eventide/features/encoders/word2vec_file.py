"""``word2vec:<file>``: the mean of word vectors read from a KeyedVectors file."""

from __future__ import annotations

import gzip
import io
import zlib
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from eventide.errors import MissingDependency, UnreadableSource
from eventide.features.encoders.pooling import count_matrix, row_means
from eventide.features.encoders.text_encoder import State, TextEncoder, Vectors, file_fingerprint
from eventide.features.encoders.tokens import Lexicon, Scan, spelling_keys
from eventide.storage import expanded

MOST_WORDS, WIDEST, LONGEST_WORD = 50_000_000, 65_536, 1_000
_LONGEST_NUMBER = 40


class Header(NamedTuple):
    """The first line of the file."""

    words: int
    width: int


def read_keyed_vectors(path: Path) -> tuple[list[str], Vectors]:
    """Return the words of a file, in its order, and their vectors ``[words, width]``."""
    if not path.is_file():
        raise MissingDependency(
            "the file of word vectors is missing",
            where=str(path),
            next_step="give the path of a word2vec file (text or binary, .gz or not)",
        )
    header, body = _content(path)
    reader = _read_text if _is_text(body, header.width) else _read_binary
    words, table = reader(body, header, path)
    if not np.isfinite(table).all():
        row = int(np.argmin(np.isfinite(table).all(axis=1)))
        raise _damaged(path, f"the vector of word {row + 1} ({words[row]!r}) is not finite")
    return words, table


def _content(path: Path) -> tuple[Header, bytes]:
    try:
        with path.open("rb") as plain:
            zipped = plain.read(2) == b"\x1f\x8b"
        with gzip.open(path) if zipped else path.open("rb") as file:
            header = _header(file.readline(100), path)
            # a zipped file can unpack to anything: read no more than the header can stand for
            widest_row = LONGEST_WORD + 2 + header.width * _LONGEST_NUMBER
            return header, file.read(header.words * widest_row)
    except (OSError, EOFError, zlib.error) as error:
        raise _damaged(path, f"it cannot be read: {error}") from error


def _header(line: bytes, path: Path) -> Header:
    parts = line.split()
    if len(parts) != 2 or not all(part.isdigit() and len(part) < 10 for part in parts):
        raise _damaged(path, "its first line is not '<number of words> <width>'")
    header = Header(int(parts[0]), int(parts[1]))
    if not (1 <= header.words <= MOST_WORDS and 1 <= header.width <= WIDEST):
        raise _damaged(path, f"{header.words} words of width {header.width} are out of range")
    return header


def _is_text(body: bytes, width: int) -> bool:
    line = body[: LONGEST_WORD + (width + 1) * _LONGEST_NUMBER].split(b"\n", 1)[0]
    parts = line.split()
    try:
        numbers = [float(part) for part in parts[1:]]
    except ValueError:
        return False
    return len(numbers) == width


def _read_text(body: bytes, header: Header, path: Path) -> tuple[list[str], Vectors]:
    import polars as pl

    # the original tool ends its lines with a space
    lines = body.replace(b"\r\n", b"\n").replace(b" \n", b"\n").rstrip()
    numbers = {f"n{column}": pl.Float32 for column in range(header.width)}
    try:
        frame = pl.read_csv(
            io.BytesIO(lines),
            separator=" ",
            has_header=False,
            quote_char=None,
            schema={"word": pl.String, **numbers},
            encoding="utf8-lossy",
        )
    except pl.exceptions.PolarsError as error:
        raise _damaged(path, str(error).splitlines()[0]) from error
    if len(frame) != header.words:
        raise _damaged(path, f"it states {header.words} words and has {len(frame)}")
    if any(frame.null_count().row(0)[1:]):
        raise _damaged(path, f"a line has fewer than {header.width} numbers")
    table = frame.select(list(numbers)).to_numpy()
    return frame["word"].fill_null("").to_list(), np.ascontiguousarray(table)


def _read_binary(body: bytes, header: Header, path: Path) -> tuple[list[str], Vectors]:
    size = 4 * header.width
    words: list[str] = []
    starts = np.zeros(header.words, dtype=np.int64)
    at = 0
    for row in range(header.words):  # a word's end is known only when the one before it is
        end = body.find(b" ", at, at + LONGEST_WORD + 1)
        if end < 0 or end + 1 + size > len(body):
            raise _damaged(path, f"it ends or goes astray at word {row + 1} of {header.words}")
        words.append(body[at:end].lstrip(b"\n").decode("utf-8", errors="replace"))
        starts[row] = end + 1
        at = end + 1 + size
    if body[at:].strip():
        raise _damaged(path, f"there is more in it than the {header.words} words it states")
    content = np.frombuffer(body, dtype=np.uint8)
    table = np.empty((header.words, header.width), dtype=np.float32)
    for first in range(0, header.words, 8192):
        block = starts[first : first + 8192]
        picked = content[block[:, None] + np.arange(size)]
        table[first : first + len(block)] = picked.view("<f4")
    return words, table


def _damaged(path: Path, why: str) -> UnreadableSource:
    return UnreadableSource(
        f"this is not a file of word vectors: {why}",
        where=str(path),
        next_step="give a word2vec file (KeyedVectors, text or binary), .gz or not",
    )


class WordVectors:
    """Words by key and their vectors: the mean over a text's known words."""

    def __init__(self, lexicon: Lexicon, table: Vectors) -> None:
        self.lexicon = lexicon
        self.table = table

    def means(self, texts: list[str]) -> Vectors:
        """Return the mean vector of every text; no known word gives the zero vector."""
        rows, keys = Scan(texts).words()
        shape = (len(texts), len(self.lexicon))
        return row_means(count_matrix(rows, self.lexicon.columns(keys), shape), self.table)


class Word2VecFile(TextEncoder):
    """Mean of the file's vectors over the words of a message, whatever their case.

    Spellings that differ in case share the vector of the first one in the file: files are sorted by
    frequency. Phrases (``New_York``) match only where the text is written so.
    """

    def __init__(self, path: str) -> None:
        super().__init__(f"word2vec:{path}")
        self._path = expanded(path)

    @property
    def width(self) -> int:
        """The width the file states."""
        return int(self._words.table.shape[1])

    def vectors(self, texts: list[str]) -> Vectors:
        """Average the vectors of the words that the file knows."""
        return self._words.means(texts)

    def state(self) -> State:
        """The checksum of the file: the vectors themselves stay where they are."""
        return State({}, {"width": self.width, "sha256": self._sha256})

    @cached_property
    def _sha256(self) -> str:
        return file_fingerprint(self._path)

    @cached_property
    def _words(self) -> WordVectors:
        words, table = read_keyed_vectors(self._path)
        keys, first = np.unique(spelling_keys(words), return_index=True)
        return WordVectors(Lexicon(keys), table[first])
