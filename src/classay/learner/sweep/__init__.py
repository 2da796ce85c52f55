"""How do all measures depend on a setting of the learner?

Read `sweep` (the verb), `result` (what it returns), `best_value` (which values are as good as the best), `correlations`
(several data sets side by side), `presets` (the paper's ranges), `values` (ranges as the command takes them), then
`store` (what is kept on disk, so that a stopped sweep goes on). Which settings share fits is decided in
`fitting/groups`.
"""

from .best_value import SweepComparison
from .result import Sweep
from .sweep import sweep

__all__ = ["Sweep", "SweepComparison", "sweep"]
