"""One file per method: network, losses, schedule, defaults; and the registry of methods."""

from eventide.registry import Registry

METHODS = Registry("method")
METHODS.add(
    "ucl", "eventide.methods.ucl:Ucl", "UCL: uncertainty margins, learned prototypes", "ours"
)
METHODS.add(
    "ucl-ec", "eventide.methods.ucl:UclEc", "UCL-EC: uncertainty margins, class centroids", "ours"
)

_LONG_TAIL = "eventide.methods.long_tail"
METHODS.add(
    "ce", f"{_LONG_TAIL}.cross_entropy:CrossEntropy", "cross-entropy in the same frame", "long-tail"
)

_EVENT_DETECTION = "eventide.methods.event_detection"

_YARDSTICKS = "eventide.methods.yardsticks"
