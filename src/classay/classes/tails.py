"""How far chance can lift a measured accuracy above the average Bayes accuracy. Pure functions, for any sample size.

K classes are drawn at random, a classifier f is made, and independent test rows are answered. Let A be the accuracy
over all label sets of k of the classes (k = K: the plain accuracy), BA(S) the accuracy of the best possible classifier
on the set S and m = E BA(S) = ABA_k, which is asked for. Rows and classes are taken in one step, by the moment
generating function; no level has to be split between the two.

1. *Sets.* A is an average, over the orders of the classes, of means of B = ⌊K/k⌋ disjoint sets. By Jensen's inequality
   E e^(λA) is at most the mean of the like for one order (Hoeffding, 1963).
2. *Rows.* Given classes and classifier, the rows of a set are independent, between 0 and 1, with mean GA(f) ≤ BA(S):
   E e^(n·log(1+x)·A) ≤ (1 + x·GA)^n ≤ (1 + x·BA)^n ≤ (1 + xm)^n·e^(θ(BA−m)), θ = nx/(1+xm), by the tangent.
3. *Classes.* BA(S) of disjoint sets are independent, and log E e^(θ(BA−m)) ≤ Ψ_m(θ), the least of what follows.

So log P(A ≥ a) ≤ B·{n·log(1+xm) − n·a·log(1+x) + Ψ_m(θ)} for every x > 0. The m at which the least of these is log α
is a lower confidence bound. Every x gives a valid bound on this chance, and so does the least over any grid of them.

Ψ is the least of four. Write Z = k·BA = ∫ max p_i, a function of k independent classes, s = θ/k:

- replacing one class moves Z by at most 1: s²k/8 (McDiarmid);
- Z is self-bounding: km·(e^s − 1 − s) (Boucheron, Lugosi & Massart, 2000);
- the error E = k − Z loses between 0 and 1 with a class left out, and in all, over the classes,
  k − ∫(max − second) = E + ∫second ≤ 2E. Their modified logarithmic Sobolev inequality then gives, for H(s) =
  log E e^(−sE), (s + 2φ(s))·H' ≤ H with φ(s) = e^s − s − 1, and so H ≤ −k(1−m)·g(s), where log g is the integral of
  1/(u + 2φ(u)) with g(s)/s → 1 at 0. Where accuracy is near 1 this is far the best;
- BA lies between 1/k and 1: the two-point distribution on these with mean m (for k = 2).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import cumulative_simpson
from scipy.optimize import brentq

Floats = NDArray[np.float64]

_GRID = np.geomspace(1e-4, 1e4, 600)
"""Values of x, relative to what a normal deviation would ask for."""


def lower_bound(accuracy: float, log_alpha: float, k: int, rows: NDArray[np.integer]) -> float:
    """The lowest average Bayes accuracy with k classes at which such an accuracy has a chance of more than α.

    accuracy : mean over all sets of k classes; a class without rows counted as always wrong
    log_alpha : log of the level
    rows : (K,) test rows of each class
    """
    design = Design(k, rows)
    least = 1 / k
    if accuracy <= least or design.log_tail(least, accuracy) > log_alpha:
        return least
    # Up to the accuracy itself the tail rises from below α to 1.
    return float(brentq(lambda m: design.log_tail(m, accuracy) - log_alpha, least, accuracy, xtol=1e-12))


def lower_bound_here(accuracy: float, log_alpha: float, rows: NDArray[np.integer]) -> float:
    """The like for the accuracy of this classifier on these classes: only the rows are drawn."""
    design = Design(rows.size, rows, classes_drawn=False)
    if accuracy <= 0:
        return 0.0
    return float(brentq(lambda m: design.log_tail(m, accuracy) - log_alpha, 1e-12, accuracy, xtol=1e-12))


class Design:
    """How many classes and rows stand behind an accuracy."""

    def __init__(self, k: int, rows: NDArray[np.integer], classes_drawn: bool = True):
        """`rows` of each class; `classes_drawn=False` takes the classes as given."""
        self.k, self.blocks, self.classes_drawn = k, rows.size // k, classes_drawn
        tested = np.sort(rows[rows > 0])
        # Rows of a class weigh 1/(k·n_i), n_i how many it has. Scaled by the fewest they lie between 0 and 1; a set has
        # at most as many as the k largest classes, and more rows of the same sum can only vary more.
        self.n = int(tested[-k:].sum())
        self.even = min(k * int(tested[0]) / self.n, 1.0)
        # Σ of squared weights in a set, for Hoeffding's inequality: better where the classes differ much in rows.
        self.spread = float((1 / tested[: self.blocks * k]).sum()) / (self.blocks * k * k)

    def log_tail(self, m: float, accuracy: float) -> float:
        """Bound on log P(A ≥ accuracy) if the average Bayes accuracy is m."""
        if accuracy <= m:
            return 0.0
        drawn = 1 / self.k if self.classes_drawn else 0.0
        n, even = self.n, self.even
        # 4·gap/(1 + …) is what two normal deviations would ask for; the grid goes far to both sides.
        x = _GRID * 4 * (accuracy - m) / (1 + n * drawn)
        scaled = n * even
        chernoff = n * np.log1p(even * m * x) - scaled * accuracy * np.log1p(x)
        chernoff += self._classes(scaled * x / (1 + even * m * x), m)
        slope = _GRID * 4 * (accuracy - m) / (self.spread + drawn)
        hoeffding = slope**2 * self.spread / 8 + self._classes(slope, m) - slope * (accuracy - m)
        return self.blocks * float(min(chernoff.min(), hoeffding.min(), 0.0))

    def _classes(self, theta: Floats, m: float) -> Floats:
        """Ψ_m(θ)."""
        if not self.classes_drawn:
            return np.zeros_like(theta)
        k, s = self.k, theta / self.k
        with np.errstate(over="ignore"):
            swapped = theta**2 / (8 * k)
            bounding = k * m * (np.expm1(s) - s)
            from_errors = k * (1 - m) * (s - weakened(s))
            top = (m - 1 / k) / (1 - 1 / k)
            two_points = np.logaddexp(_log(top) + theta * (1 - m), _log(1 - top) - theta * (m - 1 / k))
        least: Floats = np.minimum(np.minimum(swapped, bounding), np.minimum(from_errors, two_points))
        return least


def _log(share: float) -> float:
    return math.log(share) if share > 0 else -math.inf


def weakened(s: Floats) -> Floats:
    """g(s) = s·exp(−∫₀ˢ (1/u − 1/(u + 2φ(u))) du): about s − s² near 0, .6208 at infinity; concave."""
    places, values = _table()
    return np.interp(s, places, values)  # chords lie below a concave curve: on the safe side


@cache
def _table() -> tuple[Floats, Floats]:
    places = np.linspace(0.0, 40.0, 8001)
    u = places[1:]
    doubled = 2 * (np.expm1(u) - u)
    lost = cumulative_simpson(np.concatenate([[1.0], doubled / (u * (u + doubled))]), dx=places[1], initial=0.0)
    return places, places * np.exp(-lost)
