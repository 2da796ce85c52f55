"""How do all measures depend on a setting of the learner?

Read `sweep` (the verb), `result` (what it returns), `values` (ranges as the command takes them), then `store` (what is
kept on disk, so that a stopped sweep goes on). Which settings share fits is decided in `fitting/groups`.
"""

from .result import Sweep
from .sweep import sweep

__all__ = ["Sweep", "sweep"]
