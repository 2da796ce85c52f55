"""Has the process changed, or only the learner? And should a new batch replace what was learned before?

Read `monitor` (`DriftMonitor`), `verdict` (what it reports of a batch), `calibration` (how far refits of an unchanged
process disagree), `shift` (whether rows are unlike the reference), then `memory` (`MemorizingClassifier`, which keeps a
concept until a new one is shown to be better).
"""

from .memory import MemorizingClassifier
from .monitor import DriftMonitor
from .verdict import Drift, Update

__all__ = ["Drift", "DriftMonitor", "MemorizingClassifier", "Update"]
