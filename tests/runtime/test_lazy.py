"""Row 1: what is kept is made once, however many threads ask for it first."""

import pickle
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

from eventide.runtime.lazy import Lazy
from eventide.runtime.quiet import quiet


def test_threads_that_ask_together_share_one_value():
    """Row 1: the sums of a memory may take all memory when eight threads make them."""
    made = []

    def make():
        time.sleep(0.05)
        made.append(object())
        return made[-1]

    lazy, start = Lazy(make), threading.Barrier(8, timeout=60)

    def ask(_):
        start.wait()
        return lazy.get()

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(8)))
    assert len(made) == 1
    assert all(each is made[0] for each in found)
    lazy.drop()
    assert lazy.get() is made[1]


def test_none_is_a_value_too():
    made = []
    lazy = Lazy(lambda: made.append(1))
    assert lazy.get() is lazy.get() is None
    assert made == [1]


def test_a_copy_has_a_lock_of_its_own():
    lazy = Lazy(dict)
    with lazy._lock:
        other = pickle.loads(pickle.dumps(lazy))
        with ThreadPoolExecutor(1) as pool:  # would wait for ever for a shared lock
            assert pool.submit(other.get).result(timeout=60) == {}


def test_quiet_threads_leave_the_filters_as_they_were():
    """Row 1: Python has one list of filters for all threads."""
    before = list(warnings.filters)

    def whisper(number):
        with quiet(UserWarning):
            time.sleep(0.001 * (number % 3))
            warnings.warn("never mind", stacklevel=1)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(whisper, range(40)))
    assert warnings.filters == before
