"""Accuracy, or cost, with 2, 3, …, K classes, averaged over all label sets of each size.

Read `curve` first (`accuracy_curve` and its intervals). `resample` recomputes figures without some classes: standard
errors of this and the other folders. `learner_curve` fits a learner for its curve, with `retrain` (refits on random
label sets) for comparison. `risk` is the curve of expected cost.
"""

from .curve import accuracy_curve
from .learner_curve import curve_of_learner
from .risk import risk_curve

__all__ = ["accuracy_curve", "curve_of_learner", "risk_curve"]
