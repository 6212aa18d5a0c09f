"""Many runs side by side: methods, seeds and splits, in worker processes, kept as they end.

>>> from eventide.experiments import choose
>>> [each.name for each in choose("ucl,ucl-ec+cb").variants]
['ucl', 'ucl-ec+cb']
"""

from eventide.experiments.choice import Choice, choose
from eventide.experiments.engine import Step, compare
from eventide.experiments.prepared import ExperimentData, read_experiment_data
from eventide.experiments.results import Results
from eventide.experiments.run_log import RunRecord
from eventide.experiments.variants import Variant

__all__ = [
    "Choice",
    "ExperimentData",
    "Results",
    "RunRecord",
    "Step",
    "Variant",
    "choose",
    "compare",
    "read_experiment_data",
]
