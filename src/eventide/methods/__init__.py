"""One file per method: network, losses, schedule, defaults; and the registry of methods."""

from eventide.registry import Registry

METHODS = Registry("method")
METHODS.add("ucl", "eventide.methods.ucl:Ucl", "UCL: uncertainty margins, learned prototypes")
METHODS.add("ucl-ec", "eventide.methods.ucl:UclEc", "UCL-EC: uncertainty margins, class centroids")
METHODS.add(
    "ce", "eventide.methods.long_tail.cross_entropy:CrossEntropy", "cross-entropy in the same frame"
)
