"""Records of learners of which it is known where they err."""

import numpy as np

from classay import Labelings


def erring(seed, flips, refits=3):
    """A learner that errs on each point with its own probability."""
    rng = np.random.default_rng(seed)
    truth = np.arange(len(flips)) % 2
    wrong = rng.random((50, refits, len(flips))) < flips
    return Labelings.from_arrays(np.where(wrong, 1 - truth, truth), truth)
