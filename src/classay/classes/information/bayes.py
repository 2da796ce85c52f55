"""`Curve.bayes_bound`: a lower bound on the accuracy of the best possible classifier, for random classes."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import cumulative_simpson
from scipy.optimize import brentq

from ... import expect
from ...arrays import Floats
from ...intervals import Estimate, share_around
from ..curve.curve import Curve, expect_curve
from ..curve.jackknife import paired_error
from .channel import mean_of_curve

METHODS = ("guaranteed", "jackknife", "fixed_classes")
GUARANTEED = "lower bound, guaranteed for any number of classes and rows"
ASYMPTOTIC = "lower bound, jackknife over classes, for many classes"
FIXED = "lower bound for these classes, guaranteed for any number of rows"


def bayes_bound(curve: Curve, k: int | None, alpha: float, method: str, tried: int) -> Estimate:
    """Bound the average Bayes accuracy with k classes from below; see `Curve.bayes_bound`."""
    expect.one_of(method, "method", METHODS)
    level = 1 - expect.fraction(alpha, "alpha")
    alpha_each = alpha / expect.whole(tried, "tried", at_least=1)
    size, rows = set_size(curve, k), rows_by_class(curve)
    accuracy, achieved = curve.at(size).value, achieved_accuracy(curve, size)
    if method == "jackknife":
        return Estimate(accuracy, _jackknife_bound(curve, size, rows, alpha_each), 1.0, level, ASYMPTOTIC)
    if method == "guaranteed":
        return Estimate(accuracy, lower_bound(achieved, math.log(alpha), size, rows, tried), 1.0, level, GUARANTEED)
    if size != rows.size:
        raise expect.InputError(f'method="fixed_classes" is for all {rows.size} classes, and `k` is {size}. Drop `k`.')
    low = max(lower_bound_fixed_classes(achieved, math.log(alpha_each), rows), 1 / size)
    return Estimate(accuracy, low, 1.0, level, FIXED)


def set_size(curve: Curve, k: int | None) -> int:
    """The number of classes in a set, by default all; an error if no bound holds for the curve."""
    if why := unbounded(expect_curve(curve)):
        raise expect.InputError(why)
    return curve.n_classes if k is None else expect.whole(k, "k", at_least=2)


def rows_by_class(curve: Curve) -> NDArray[np.int64]:
    """(K,): the number of test rows of each class."""
    return np.bincount(curve.ranks.truth, minlength=curve.n_classes).astype(np.int64)


def achieved_accuracy(curve: Curve, k: int) -> float:
    """The accuracy over sets of k classes, every class without test rows counted as always wrong: a lower limit."""
    rows = rows_by_class(curve)
    return curve.at(k).value * np.count_nonzero(rows) / rows.size


def unbounded(curve: Curve) -> str:
    """Why no bound holds for a curve; empty if bounds hold."""
    if curve.ties == "right":
        return 'The curve counts ties as right, which no classifier can reach. Make it with ties="random" or "wrong".'
    if curve.ranks.prior is not None:
        return "The curve weights classes by a prior; bounds hold for classes of equal weight. Make it without `prior`."
    return ""


def _jackknife_bound(curve: Curve, k: int, rows: NDArray[np.int64], alpha: float) -> float:
    """Student's lower limit on the logit scale."""
    accuracy, least = curve.at(k).value, 1 / k
    if curve.n_classes < 3:
        raise expect.InputError('method="jackknife" needs at least 3 classes; the curve has 2. Use "guaranteed".')
    if accuracy <= least:
        return least
    if accuracy >= 1:
        # No error, no spread: what K classes without an error exclude.
        return max(alpha ** (1 / np.count_nonzero(rows)), least)
    error = paired_error(curve.ranks, mean_of_curve(np.array([k]), np.ones(1)), curve.ties)
    if not math.isfinite(error):
        return least
    # A one-sided limit is an end of the two-sided interval at twice the level.
    both = share_around(accuracy, error, max(1 - 2 * alpha, 1e-9), draws=curve.ranks.n_groups)
    return max(both.low, least)


# How far chance can lift a measured accuracy above the average Bayes accuracy. Pure functions, for any sample size.
#
# K classes are drawn at random, a classifier f is made, and it predicts independent test rows. Let A be the accuracy
# over all label sets of k of the classes (k = K: the plain accuracy), BA(S) the accuracy of the best possible
# classifier on the set S and m = E BA(S) = ABA_k, the target. Rows and classes are handled in one step, by the moment
# generating function; no level has to be split between the two.
#
# 1. *Sets.* A is an average, over the orders of the classes, of means of B = ⌊K/k⌋ disjoint sets. By Jensen's
# inequality    E e^(λA) is at most that of one order (Hoeffding, 1963).
# 2. *Rows.* Given classes and classifier, the rows of a set are independent, between 0 and 1, with mean GA(f) ≤ BA(S):
#    E e^(n·log(1+x)·A) ≤ (1 + x·GA)^n ≤ (1 + x·BA)^n ≤ (1 + xm)^n·e^(θ(BA−m)), θ = nx/(1+xm), by the tangent.
# 3. *Classes.* BA(S) of disjoint sets are independent, and log E e^(θ(BA−m)) ≤ Ψ_m(θ), the smallest of the following.
#
# So log P(A ≥ a) ≤ B·{n·log(1+xm) − n·a·log(1+x) + Ψ_m(θ)} for every x > 0. The m at which the smallest of these is log
# α is a lower confidence bound. Every x gives a valid bound on this probability, and so does the minimum over any grid.
#
# *T classifiers* on the same classes and rows: BA(S) is the same for all. M the highest A, 0 < η ≤ 1: given the classes
# E e^(ηλM) ≤ (E e^(λM))^η ≤ (T·max E e^(λA))^η, so log P(M ≥ a) ≤ η·log T + B·{η·n·log(1+xm) − η·n·a·log(1+x) +
# Ψ_m(ηθ)}: η = 1 is Bonferroni's, a small η with a large x pays for the rows alone.
#
# Ψ is the smallest of four. Write Z = k·BA = ∫ max p_i, a function of k independent classes, s = θ/k:
#
# - replacing one class moves Z by at most 1: s²k/8 (McDiarmid);
# - Z is self-bounding: km·(e^s − 1 − s) (Boucheron, Lugosi & Massart, 2000);
# - the error E = k − Z loses between 0 and 1 if a class is left out, and in all, over the classes,
#   k − ∫(max − second) = E + ∫second ≤ 2E. Their modified logarithmic Sobolev inequality then gives, for H(s) =
#   log E e^(−sE), (s + 2φ(s))·H' ≤ H with φ(s) = e^s − s − 1, and so H ≤ −k(1−m)·g(s), where log g is the integral of
#   1/(u + 2φ(u)) with g(s)/s → 1 at 0. For accuracies near 1 this is by far the best;
# - BA lies between 1/k and 1: the two-point distribution on these with mean m (for k = 2).


_GRID = np.geomspace(1e-4, 1e4, 600)
"""Values of x, relative to what a normal deviation would need."""
_POWERS = np.geomspace(1.0, 1e-3, 16)[:, None]
"""Values of η."""


def lower_bound(accuracy: float, log_alpha: float, k: int, rows: NDArray[np.integer], tried: int = 1) -> float:
    """The lowest average Bayes accuracy with k classes at which such an accuracy has a probability above α.

    accuracy : mean over all sets of k classes; a class without rows counted as always wrong
    log_alpha : log of the level
    rows : (K,) test rows of each class
    tried : of how many classifiers this is the highest accuracy
    """
    design = SampleDesign(k, rows, tried=tried)
    least = 1 / k
    if accuracy <= least or design.log_tail(least, accuracy) > log_alpha:
        return least
    # Up to the accuracy itself the tail rises from below α to 1.
    return float(brentq(lambda m: design.log_tail(m, accuracy) - log_alpha, least, accuracy, xtol=1e-12))


def lower_bound_fixed_classes(accuracy: float, log_alpha: float, rows: NDArray[np.integer]) -> float:
    """The same for the accuracy of this classifier on these classes: only the rows are random."""
    design = SampleDesign(rows.size, rows, classes_drawn=False)
    if accuracy <= 0 or design.log_tail(1e-12, accuracy) > log_alpha:  # too few rows to exclude anything
        return 0.0
    return float(brentq(lambda m: design.log_tail(m, accuracy) - log_alpha, 1e-12, accuracy, xtol=1e-12))


class SampleDesign:
    """How many classes and rows an accuracy is based on."""

    def __init__(self, k: int, rows: NDArray[np.integer], classes_drawn: bool = True, tried: int = 1):
        """`rows` of each class; `classes_drawn=False` takes the classes as fixed."""
        self.k, self.blocks, self.classes_drawn, self.tried = k, rows.size // k, classes_drawn, tried
        tested = np.sort(rows[rows > 0])
        # Rows of a class have weight 1/(k·n_i), n_i their number. Scaled by the fewest they lie between 0 and 1; a set
        # has at most as many as the k largest classes, and more rows of the same sum can only vary more.
        self.n = int(tested[-k:].sum())
        self.evenness = min(k * int(tested[0]) / self.n, 1.0)
        # Σ of squared weights in a set, for Hoeffding's inequality: better if the classes differ much in rows.
        self.spread = float((1 / tested[: self.blocks * k]).sum()) / (self.blocks * k * k)

    def log_tail(self, m: float, accuracy: float) -> float:
        """Bound on log P(A ≥ accuracy) if the average Bayes accuracy is m."""
        if accuracy <= m:
            return 0.0
        class_share = 1 / self.k if self.classes_drawn else 0.0
        n, evenness = self.n, self.evenness
        # 4·gap/(1 + …) is what two normal deviations would need; the grid extends far to both sides.
        x = _GRID * 4 * (accuracy - m) / (1 + n * class_share)
        scaled, power = n * evenness, _POWERS if self.tried > 1 else _POWERS[:1]
        chernoff = power * (n * np.log1p(evenness * m * x) - scaled * accuracy * np.log1p(x))
        chernoff += self._class_term(power * (scaled * x / (1 + evenness * m * x)), m)
        slope = _GRID * 4 * (accuracy - m) / (self.spread + class_share)
        hoeffding = slope**2 * self.spread / (8 * power) + self._class_term(slope, m) - slope * (accuracy - m)
        for_all = power * math.log(self.tried)
        return min(float((for_all + self.blocks * np.minimum(chernoff, hoeffding)).min()), 0.0)

    def _class_term(self, theta: Floats, m: float) -> Floats:
        """Ψ_m(θ)."""
        if not self.classes_drawn:
            return np.zeros_like(theta)
        k, s = self.k, theta / self.k
        with np.errstate(over="ignore", divide="ignore"):
            swapped = theta**2 / (8 * k)
            bounding = k * m * (np.expm1(s) - s)
            from_errors = k * (1 - m) * (s - error_exponent(s))
            at_one = min(max((m - 1 / k) / (1 - 1 / k), 0.0), 1.0)
            two_points = np.logaddexp(np.log(at_one) + theta * (1 - m), np.log(1 - at_one) - theta * (m - 1 / k))
        least: Floats = np.minimum(np.minimum(swapped, bounding), np.minimum(from_errors, two_points))
        return least


def error_exponent(s: Floats) -> Floats:
    """g(s) = s·exp(−∫₀ˢ (1/u − 1/(u + 2φ(u))) du): about s − s² near 0, .6208 at infinity; concave."""
    places, values = _exponent_table()
    return np.interp(s, places, values)  # chords lie below a concave curve: conservative


@cache
def _exponent_table() -> tuple[Floats, Floats]:
    places = np.linspace(0.0, 40.0, 8001)
    u = places[1:]
    doubled = 2 * (np.expm1(u) - u)
    lost = cumulative_simpson(np.concatenate([[1.0], doubled / (u * (u + doubled))]), dx=places[1], initial=0.0)
    return places, places * np.exp(-lost)
