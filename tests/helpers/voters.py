"""Learners of which it is known where their preference changes over. They travel to workers by value."""

import sys

import cloudpickle
import numpy as np
from scipy import optimize, stats
from sklearn.base import BaseEstimator, ClassifierMixin

from classay.learner.preference.curve import fitted, rounds, spread

cloudpickle.register_pickle_by_value(sys.modules[__name__])


def first(X):
    return np.asarray(X)[:, 0] > 0.5


def second(X):
    return np.asarray(X)[:, 1] > 0.5


class Voter(ClassifierMixin, BaseEstimator):
    """Knows both concepts, and answers the first if more than `theta` of the rival rows are labelled by it."""

    def __init__(self, theta=0.5):
        self.theta = theta

    def fit(self, X, y):
        rival = first(X) != second(X)
        self.classes_ = np.unique(y)
        self.wins_ = (y == first(X))[rival].sum() > self.theta * rival.sum()
        return self

    def predict(self, X):
        return first(X) if self.wins_ else second(X)


class Stubborn(Voter):
    """Answers the second concept whatever it is shown."""

    def predict(self, X):
        return second(X)


class Contrary(Voter):
    """Answers the concept that has less evidence."""

    def predict(self, X):
        return second(X) if self.wins_ else first(X)


class Deaf(Voter):
    """Answers the same class always: half of the rival rows agree with each concept."""

    def predict(self, X):
        return np.ones(len(X), dtype=bool)


class Frail(Voter):
    """Fails whenever the first row is in the upper tenth of the first column."""

    def fit(self, X, y):
        if X[0, 0] > 0.9:
            raise ArithmeticError("the first row is too high")
        return super().fit(X, y)


def crossing_of_votes(theta, n_samples, rivals=0.5):
    """The p at which a `Voter` answers each concept half of the time: rival rows are binomial, and so are the votes."""
    m = np.arange(n_samples + 1)
    weight = stats.binom.pmf(m, n_samples, rivals)

    def wins(p):
        return (weight * stats.binom.sf(np.floor(theta * m + 1e-9), m, p)).sum()

    return optimize.brentq(lambda p: wins(p) - 0.5, 0, 1)


def simulated(draw, budget, level=0.95):
    """The curve of a search whose trials are drawn by `draw(p)`, an array of shares for an array of p."""
    p, shares, window = np.empty(0), np.empty(0), None
    for count in rounds(budget):
        places = spread(count, window)
        p, shares = np.concatenate([p, places]), np.concatenate([shares, draw(places)])
        window = fitted(p, shares, level, window or (0.0, 1.0)).window(budget)
    return fitted(p, shares, level, window)


class Interrupted(Voter):
    """Is interrupted, as by Ctrl-C, at a certain fit. It counts them in this process only."""

    fits = 0

    def __init__(self, theta=0.5, at=1):
        self.theta = theta
        self.at = at

    def fit(self, X, y):
        Interrupted.fits += 1
        if Interrupted.fits == self.at:
            raise KeyboardInterrupt
        return super().fit(X, y)
