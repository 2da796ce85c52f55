"""Has the process changed, or only the learner? And should a new batch replace what was learned before?

Read `monitor` (`DriftMonitor`), `verdict` (what it reports of a batch), `target` (how concepts are compared: classes or
numbers), `calibration` (how far refits of an unchanged process disagree), `shift` (whether rows are unlike the
reference), `batches` (what a batch must have), then `memory` (`MemorizingClassifier`, which keeps a concept
until a new one is shown to be better) and `regression_memory` (`MemorizingRegressor`).
"""

from .memory import MemorizingClassifier
from .monitor import DriftMonitor
from .regression_memory import MemorizingRegressor
from .verdict import Drift, RegressionUpdate, Update

__all__ = ["Drift", "DriftMonitor", "MemorizingClassifier", "MemorizingRegressor", "RegressionUpdate", "Update"]
