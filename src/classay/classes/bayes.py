"""`bayes_accuracy_bound`: how well the best possible classifier does at least, whatever the classes drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import expect
from ..intervals import Estimate, share_around
from .curve import Curve
from .leads import mean_of_curve
from .paired import paired_error
from .tails import lower_bound

METHODS = ("guaranteed", "jackknife")
GUARANTEED = "lower bound, guaranteed for any number of classes and rows"
ASYMPTOTIC = "lower bound, jackknife over classes, for many classes"


def bayes_accuracy_bound(
    curve: Curve | None = None,
    *,
    correct: ArrayLike | None = None,
    trials: ArrayLike | None = None,
    n_classes: int | None = None,
    k: int | None = None,
    alpha: float = 0.05,
    method: str = "guaranteed",
    tried: int = 1,
) -> Estimate:
    """Tell how well the best possible classifier does at least, on average over draws of k classes.

    The classifier at hand is right less often than the best one, and both were lucky or not with their classes and
    rows. `low` is the least average Bayes accuracy ABA_k at which so good a result has a chance of more than `alpha`:
    one bound on the moment generating function over classes and rows together (see `classay.classes.tails`). `value`
    is the measured accuracy, `high` is 1: nothing is known from above.

    From 1/k, nothing learnt, to 1; higher is better. "guaranteed" holds for every sample size and any channel, and is
    therefore wide: 50 classes of 10 rows at .635 give .453, where the thesis has .12. "jackknife" takes the spread over
    classes from the data (.56 there): an approximation for many classes, and for scores that do not change when a
    class goes. Both need classes drawn at random from many and test rows apart from the training rows; they say
    nothing about a fixed label set, whose accuracy is what was measured. Of several classifiers tried on the same
    rows, state how many: the best of 10 needs `tried=10`.

    Parameters
    ----------
    curve : from `accuracy_curve`; or give counts:
    correct, trials : rows right and rows in all, for each class; or in total, if all classes have the same number
    n_classes : K, with totals
    k : classes in a set, by default all K; fewer need a curve. Choose it before you look
    alpha : how often the bound may fail
    method : "guaranteed" or "jackknife"
    tried : how many classifiers were tried (Bonferroni)

    Examples
    --------
    >>> bayes_accuracy_bound(correct=318, trials=500, n_classes=50)
    0.636 [0.454, 1]

    References
    ----------
    Zheng (2017), Information, Prediction, and Supervised Learning, Section 2.5; Boucheron, Lugosi & Massart (2000), A
    sharp concentration inequality with applications.

    """
    expect.one_of(method, "method", METHODS)
    level = 1 - expect.fraction(alpha, "alpha")
    alone = alpha / expect.whole(tried, "tried", at_least=1)
    measured = measure(curve, correct, trials, n_classes, k)
    if method == "guaranteed":
        low = lower_bound(measured.achieved, math.log(alone), measured.k, measured.rows)
        return Estimate(measured.accuracy, low, 1.0, level, GUARANTEED)
    if curve is None:
        raise expect.InputError(
            'method="jackknife" needs a curve: it leaves classes out, which totals do not allow. Pass '
            "`accuracy_curve(scores, y)`."
        )
    return Estimate(measured.accuracy, _jackknife(curve, measured, alone), 1.0, level, ASYMPTOTIC)


@dataclass(frozen=True)
class Measured:
    """An accuracy over sets of k classes, and the number of test `rows` of each of the K classes behind it."""

    accuracy: float
    k: int
    rows: NDArray[np.int64]

    @property
    def achieved(self) -> float:
        """The accuracy with every class without test rows counted as always wrong: that much was surely reached."""
        return self.accuracy * np.count_nonzero(self.rows) / self.rows.size


def measure(
    curve: Any,
    correct: ArrayLike | None = None,
    trials: ArrayLike | None = None,
    n_classes: int | None = None,
    k: int | None = None,
) -> Measured:
    """What was measured, from a curve or from counts."""
    if curve is None and correct is not None and trials is not None:
        accuracy, rows = _counted(correct, trials, n_classes)
        if k is not None and expect.whole(k, "k", at_least=2) != rows.size:
            raise expect.InputError(
                f"`k` is {k} and there are {rows.size} classes; fewer than all need a curve, since counts do not say "
                "who was mistaken for whom. Pass `accuracy_curve(scores, y)`."
            )
        return Measured(accuracy, int(rows.size), rows)
    if not isinstance(curve, Curve) or correct is not None or trials is not None or n_classes is not None:
        raise expect.InputError(
            f"`curve` is of type {type(curve).__name__}; expected is a curve from `accuracy_curve`, or else `correct` "
            "and `trials`, by class or in total with `n_classes`."
        )
    if curve.ties == "right":
        raise expect.InputError(
            'The curve counts ties as right, which no classifier can reach. Make it with ties="random" or "wrong".'
        )
    size = expect_curve(curve).n_classes if k is None else expect.whole(k, "k", at_least=2)
    rows = np.bincount(curve.ranks.truth, minlength=curve.n_classes)
    return Measured(curve.at(size).value, size, rows.astype(np.int64))


def expect_curve(curve: Any, name: str = "curve") -> Curve:
    """Return the curve if it is one, of 2 classes or more."""
    if not isinstance(curve, Curve):
        raise expect.InputError(
            f"`{name}` is of type {type(curve).__name__}; a curve from `accuracy_curve(scores, y)` is expected."
        )
    if curve.n_classes < 2:
        raise expect.InputError(f"`{name}` is of 1 class; at least 2 are needed to tell information.")
    return curve


def _counted(correct: ArrayLike, trials: ArrayLike, n_classes: int | None) -> tuple[float, NDArray[np.int64]]:
    """Accuracy and rows by class, from counts by class or in total."""
    right, rows = np.asarray(correct, dtype=float), np.asarray(trials, dtype=float)
    if right.shape != rows.shape or right.ndim > 1:
        raise expect.InputError(
            f"`correct` has shape {right.shape} and `trials` {rows.shape}; one number of each, or one for each class, "
            "is expected."
        )
    whole = (rows == np.floor(rows)).all()
    if not (whole and (rows >= 0).all() and (right >= 0).all() and (right <= rows).all() and rows.sum() >= 1):
        raise expect.InputError(
            "`trials` must be whole numbers and `correct` between 0 and `trials`: rows that were tested, and right."
        )
    if right.ndim == 1:
        if right.size < 2 or n_classes not in (None, right.size):
            raise expect.InputError(
                f"`correct` is of {right.size} classes and `n_classes` is {n_classes}; the same number, at least 2, is "
                "expected."
            )
        tested = rows > 0
        return float((right[tested] / rows[tested]).mean()), rows.astype(np.int64)
    if n_classes is None:
        raise expect.InputError("`n_classes` is missing; with totals the number of classes is expected as well.")
    size = expect.whole(n_classes, "n_classes", at_least=2)
    if rows % size:
        raise expect.InputError(
            f"{rows:g} rows of {size} classes are not the same number for each. Pass `correct` and `trials` by class."
        )
    return float(right / rows), np.full(size, int(rows) // size)


def _jackknife(curve: Curve, measured: Measured, alpha: float) -> float:
    """Student's lower limit on the logit scale."""
    accuracy, least = measured.accuracy, 1 / measured.k
    if curve.n_classes < 3:
        raise expect.InputError('method="jackknife" needs at least 3 classes; the curve has 2. Use "guaranteed".')
    if accuracy <= least:
        return least
    if accuracy >= 1:
        # No error, no spread: what K classes without an error exclude.
        return max(alpha ** (1 / np.count_nonzero(measured.rows)), least)
    error = paired_error(curve.ranks, mean_of_curve(np.array([measured.k]), np.ones(1)), curve.ties)
    if not math.isfinite(error):
        return least
    # A one-sided limit is an end of the two-sided interval at twice the level.
    both = share_around(accuracy, error, max(1 - 2 * alpha, 1e-9), draws=curve.ranks.n_groups)
    return max(both.low, least)
