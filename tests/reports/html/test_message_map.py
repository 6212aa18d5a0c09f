"""Which messages a map shows."""

import numpy as np

from eventide.reports.html.message_map import LEAST, map_rows


def test_a_sample_has_messages_of_every_event():
    event = np.repeat(np.arange(4), [10_000, 2_000, 30, 3])
    rows = map_rows(event, np.arange(len(event)), most=500)
    counts = np.bincount(event[rows], minlength=4)
    assert len(rows) == len(set(rows.tolist())) == 500
    assert counts[3] == 3
    assert counts[2] >= LEAST
    assert counts[0] > counts[1]
    assert map_rows(event, np.arange(len(event)), most=500).tolist() == rows.tolist()


def test_few_messages_are_all_shown():
    assert map_rows(np.zeros(5, int), np.array([1, 3]), most=2).tolist() == [1, 3]
