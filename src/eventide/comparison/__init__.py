"""Many runs side by side: methods, seeds and splits, in worker processes, kept as they end.

>>> from eventide.comparison import choose
>>> [each.name for each in choose("ucl,ucl-ec+cb").contestants]
['ucl', 'ucl-ec+cb']
"""

from eventide.comparison.contestant import Contestant
from eventide.comparison.engine import Step, compare
from eventide.comparison.groups import Choice, choose
from eventide.comparison.material import Material, read_material
from eventide.comparison.results import Results
from eventide.comparison.rows import Run

__all__ = [
    "Choice",
    "Contestant",
    "Material",
    "Results",
    "Run",
    "Step",
    "choose",
    "compare",
    "read_material",
]
