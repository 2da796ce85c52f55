"""What do the scores of refits say: how good they are, how calibrated, and how they move when a learner is refitted?

Read `metrics` (the verb: every usual metric with its interval and its spread over refits), then `scorers` (scikit-learn
computes them), `row_blocks` (intervals for any metric), `reliability` (calibration) and `threshold` (decisions).
"""

from .metrics import Metrics, RefitSpread, metrics

__all__ = ["Metrics", "RefitSpread", "metrics"]
