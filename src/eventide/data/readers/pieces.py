"""Reads a file in pieces of limited size that end at line ends; finds lines in them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import islice
from typing import IO

import numpy as np

STEP = 2**16


def pieces_of(stream: IO[bytes], size: int) -> Iterator[bytes]:
    r"""Yield pieces of about ``size`` bytes; a longer line makes a longer piece.

    >>> import io
    >>> list(pieces_of(io.BytesIO(b"a\nbb\nccccccc\nd"), 4))
    [b'a\nbb\n', b'ccccccc\n', b'd']
    """
    while block := stream.read(size):
        yield block if block.endswith(b"\n") else block + stream.readline()


def line_count(piece: bytes) -> int:
    r"""Count the lines of a piece, including a last one without newline.

    >>> line_count(b"a\nb"), line_count(b"a\nb\n")
    (2, 2)
    """
    ends = sum(int(np.count_nonzero(step)) for step in _newlines(piece))
    return ends + (not piece.endswith(b"\n"))


def line_ends(piece: bytes) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    r"""Return the end of each line of a piece.

    >>> line_ends(b"a\nbb\nc").tolist(), line_ends(b"a\n").tolist()
    ([1, 4, 6], [1])
    """
    steps = [np.flatnonzero(step) + at * STEP for at, step in enumerate(_newlines(piece))]
    last = [] if piece.endswith(b"\n") else [np.array([len(piece)])]
    return np.concatenate(steps + last)


def _newlines(piece: bytes) -> Iterator[np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    # Steps that fit the processor's cache are several times as fast as bytes.count.
    content = np.frombuffer(piece, np.uint8)
    for at in range(0, len(content), STEP):
        yield content[at : at + STEP] == ord("\n")


def first_lines(piece: bytes, count: int) -> list[bytes]:
    r"""Return the first lines of a piece without scanning the rest.

    >>> first_lines(b"a\nb\nc", 2), first_lines(b"a", 2)
    ([b'a', b'b'], [b'a'])
    """
    return [line.rstrip(b"\n") for line in islice(io.BytesIO(piece), count)]
