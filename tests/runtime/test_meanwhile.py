"""What is done meanwhile: as often as asked, and not any more once the block has ended."""

from itertools import repeat
from threading import active_count

import pytest

from eventide.runtime.meanwhile import meanwhile
from processes import until


def test_work_is_done_until_the_block_ends():
    done, threads = [], active_count()
    with meanwhile(lambda: done.append(1), repeat(0.001), "test"):
        until(lambda: len(done) > 3)
    ended = len(done)
    assert active_count() == threads
    assert len(done) == ended


def test_no_more_pauses_no_more_work():
    done = []
    with meanwhile(lambda: done.append(1), [0.0, 0.0], "test"):
        until(lambda: len(done) == 2)
    assert len(done) == 2


def test_an_error_inside_ends_it_too():
    threads = active_count()
    with pytest.raises(ValueError, match="inside"), meanwhile(list, repeat(0.001), "test"):
        raise ValueError("inside")
    assert active_count() == threads
