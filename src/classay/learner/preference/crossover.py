"""Where a noisy rising curve crosses one half: a search that spends its evaluations near the crossing.

Every evaluation at a place p is a share in [0, 1] whose mean rises with p; the crossing is where that mean is 0.5. This
is stochastic root finding: bisection would go wrong at the first unlucky evaluation and never recover. Instead

1. the ends and the middle are evaluated first: a curve that is on one side at both ends does not cross;
2. exploring rounds evaluate two places each, where the curve so far (rising steps, interpolated) is a little below and
   above 0.5, until both sides are found on the way up;
3. stages evaluate two places each, fixed before they begin. The interval is Fieller's, from the results of the last
   stage alone: places chosen by some results flatter a line that is fitted to those same results.

A curve too steep for that ends in a bracket: the nearest places where the mean is significantly below and above 0.5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import isotonic_regression

from ...arrays import Floats
from ...intervals import Estimate, normal_quantile

Asked = tuple[tuple[float, int], ...]  # places, and how many evaluations of each

HALF = 0.5
TOLD = 0.995
"""Level at which one place counts as below or above. Strict, because many places are evaluated."""
LOOKS = 4
"""How often an end is evaluated, each time as often as before, until its side is known."""
FARTHEST, NEAREST = 0.2, 0.01
"""How far from 0.5, on the curve, a stage evaluates at most, because a flattening curve is not a line; and at least."""
ASIDE = 0.15
"""A stage whose means are this much farther from 0.5 than intended has missed."""
STEEP = 0.4
"""Farther from 0.5 than this, a mean is too close to 0 or 1 to show how the curve rises."""
CLEAR = 5.0
"""How many standard errors the rise between two places should be, or the interval may be unbounded."""
BRACKET = "a bracket"


@dataclass(frozen=True)
class Search:
    """What has been evaluated so far, and what to evaluate next.

    `ask()` returns what to evaluate next, as (place, how many) pairs; `tell()` takes the results, in the same order,
    and returns the search with them. `places`, `shares` and `stages` have one entry per result; stage 0 is exploring.

    >>> search = Search(budget=400, precision=0.02)
    >>> search.ask()
    ((0.5, 60), (0.0, 20), (1.0, 20))
    """

    budget: int
    precision: float
    level: float = 0.95
    places: Floats = field(default_factory=lambda: np.empty(0))
    shares: Floats = field(default_factory=lambda: np.empty(0))
    stages: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    stage: int = 0
    asked: int = 0
    looks: int = 0

    @property
    def batch(self) -> int:
        """How many evaluations one place gets in an exploring round."""
        return max(self.budget // 40, 5)

    def ask(self) -> Asked:
        """Places to evaluate next, and how often each; nothing once it is over."""
        if not self.asked:
            return (HALF, 6 * self.batch), (0.0, 2 * self.batch), (1.0, 2 * self.batch)
        left = self.budget - self.asked
        if left < 2 or self.over:
            return ()
        unclear = [end for end in (0.0, 1.0) if self.side(end) is None]
        if unclear:
            return tuple((end, min(int((self.places == end).sum()), left // len(unclear))) for end in unclear)
        return self._stage(left) if self._located else self._round(left)

    def tell(self, asked: Asked, answers: list[Floats]) -> Search:
        """The search with the results at each place. There may be fewer than requested, if some failed."""
        ends = not self.asked or all(place in (0.0, 1.0) for place, _ in asked)
        stage = self.stage + (not ends and self._located)
        places = np.repeat([place for place, _ in asked], [len(each) for each in answers])
        return replace(
            self,
            places=np.concatenate([self.places, places]),
            shares=np.concatenate([self.shares, *answers]),
            stages=np.concatenate([self.stages, np.full(places.size, stage)]),
            stage=stage,
            asked=self.asked + sum(times for _, times in asked),
            looks=self.looks + ends,
        )

    @property
    def over(self) -> bool:
        """Whether there is nothing more to find out: no crossing, or one that is known precisely enough."""
        low, high = self.side(0.0), self.side(1.0)
        if low is None or high is None:
            return self.looks >= LOOKS
        if low or not high:
            return True
        crossing = self.crossing()
        # A stage shorter than the last good one would be less precise.
        least = self._size(self.stage) if self._told(self.stage) else 4 * self.batch
        return crossing.high - crossing.low <= 2 * self.precision or self.budget - self.asked < least

    def side(self, place: float) -> bool | None:
        """Whether the mean at a place is above 0.5 (True), below it (False), or undecided (None)."""
        here = self.shares[self.places == place]
        if not here.size:
            return None
        interval = mean_share(here, TOLD)
        return True if interval.low > HALF else False if interval.high < HALF else None

    def bracket(self) -> tuple[float, float]:
        """The nearest places known to be below and above 0.5; 0 and 1 if there is none."""
        sides = {place: self.side(place) for place in np.unique(self.places).tolist()}
        above = min((place for place, side in sides.items() if side is True), default=1.0)
        below = max((place for place, side in sides.items() if side is False and place < above), default=0.0)
        return below, above

    @property
    def rises(self) -> bool:
        """Whether no place known to be below 0.5 lies beyond one known to be above."""
        _, above = self.bracket()
        return not any(self.side(place) is False for place in np.unique(self.places).tolist() if place > above)

    def curve(self) -> tuple[Floats, Floats]:
        """The places in order, and rising steps through the means there."""
        places, inverse = np.unique(self.places, return_inverse=True)
        counts = np.bincount(inverse).astype(float)
        means = np.bincount(inverse, self.shares) / counts
        return places, np.asarray(isotonic_regression(means, weights=counts).x, dtype=float)

    def crossing(self) -> Estimate:
        """Where the mean is 0.5, with an interval."""
        below, above = self.bracket()
        crossing = next((by_stage for stage in range(self.stage, 0, -1) if (by_stage := self._told(stage))), None)
        if crossing is None or not below <= crossing.value <= above:
            middle = min(max(self._where(HALF), below), above)
            return Estimate(middle, below, above, self.level, BRACKET)
        return replace(crossing, low=max(crossing.low, below), high=min(crossing.high, above))

    def _told(self, stage: int) -> Estimate | None:
        """The crossing from the results of one stage alone, if it was well placed."""
        chosen = self.stages == stage
        if stage == 0 or np.unique(self.places[chosen]).size != 2:
            return None
        low, high = np.unique(self.places[chosen]).tolist()
        below, above = (self.shares[chosen & (self.places == place)] for place in (low, high))
        if max(abs(below.mean() - HALF), abs(above.mean() - HALF)) > self._farthest() + ASIDE:
            return None
        return between(low, high, below, above, self.level)

    def _size(self, stage: int) -> int:
        return int((self.stages == stage).sum())

    @property
    def _located(self) -> bool:
        """Whether exploring is done: both neighbours of the crossing are on the way up, or it took long enough."""
        if self.stage or 2 * self.asked >= self.budget:
            return True
        _, curve = self.curve()
        return float(max(HALF - curve[curve < HALF].max(), curve[curve > HALF].min() - HALF)) <= STEEP

    def _round(self, left: int) -> Asked:
        """Two places for exploring."""
        reach = min(max(self._spread(), NEAREST), self._farthest())
        each = min(self.batch, left // 2)
        return (self._where(HALF - reach), each), (self._where(HALF + reach), each)

    def _stage(self, left: int) -> Asked:
        """Two places around the current crossing, and as many evaluations as the precision requires."""
        far, spread = self._farthest(), self._spread()
        width = self._where(HALF + far) - self._where(HALF - far)
        slope = 2 * far / max(width, self.precision / 10)
        wanted = 1.2 * (normal_quantile(self.level) * spread / (slope * self.precision)) ** 2
        if self._told(self.stage):
            count = int(min(max(wanted, 2 * self._size(self.stage)), left))
        else:  # it may miss, and then there should be enough left for another
            count = int(min(max(min(wanted, left / 3), 4 * self.batch), left))
        reach = min(max(CLEAR * spread / math.sqrt(count), NEAREST), far) / slope
        centre = self._where(HALF)
        below, above = self.bracket()
        return (max(centre - reach, below), count - count // 2), (min(centre + reach, above), count // 2)

    def _farthest(self) -> float:
        """How far from 0.5 to evaluate: at most half way to where the curve ends, on the side where it ends first."""
        _, curve = self.curve()
        return min(FARTHEST, (HALF - float(curve[0])) / 2, (float(curve[-1]) - HALF) / 2)

    def _spread(self) -> float:
        """Standard deviation of one result near the crossing; far from it, all may be equal."""
        parts = [self.shares[self.places == place] for place in np.unique(self.places)]
        near = [part for part in parts if part.size > 1 and abs(float(part.mean()) - HALF) <= STEEP]
        if not near:
            return HALF
        return math.sqrt(sum(part.var() * part.size for part in near) / sum(part.size - 1 for part in near))

    def _where(self, share: float) -> float:
        """Where the curve reaches a share, interpolated between the steps."""
        places, curve = self.curve()
        under, over = np.flatnonzero(curve < share), np.flatnonzero(curve > share)
        if not under.size or not over.size:
            return float(places[0] if not under.size else places[-1])
        a, b = under[-1], over[0]
        part = (share - curve[a]) / (curve[b] - curve[a])
        return float(places[a] + part * (places[b] - places[a]))


# Estimates from shares between 0 and 1: their mean at one place, and where a rising curve through two places is 0.5.


KIND = "over training sets and comparison points"


def mean_share(shares: Floats, level: float) -> Estimate:
    """Mean of shares in [0, 1], with Wilson's interval for the effective number of observations.

    Shares that are all 0 or 1 count as one observation each (Wilson's interval); shares that hardly differ count as
    many (nearly Student's). If all are equal, others remain possible, as rare as their absence implies.
    """
    count, mean = shares.size, float(shares.mean())
    possible, spread = mean * (1 - mean), float(shares.var(ddof=1)) if count > 1 else 0.0
    if spread <= 1e-18:
        rare = 1 - ((1 - level) / 2) ** (1 / count)
        return Estimate(mean, mean * (1 - rare), mean * (1 - rare) + rare, level, KIND)
    worth = min(max(count * possible / spread, count), 1e12)
    z = float(stats.t.ppf(0.5 + level / 2, max(count - 1, 1)))
    middle = (mean + z**2 / (2 * worth)) / (1 + z**2 / worth)
    reach = z / (1 + z**2 / worth) * math.sqrt(possible / worth + z**2 / (4 * worth**2))
    return Estimate(mean, max(middle - reach, 0.0), min(middle + reach, 1.0), level, KIND)


def between(low: float, high: float, below: Floats, above: Floats, level: float) -> Estimate | None:
    """Where a curve is 0.5 from its results at two places, with Fieller's interval; None if it does not clearly rise.

    The means are put on the scale z = Φ⁻¹(mean), on which most rising curves are nearly straight. The interval contains
    every p at which the line through the two z does not differ significantly from 0.
    """
    means, counts = np.array([below.mean(), above.mean()]), np.array([below.size, above.size])
    if counts.min() < 3 or means.min() <= 0 or means.max() >= 1 or max(np.ptp(below), np.ptp(above)) < 1e-9:
        return None  # the step between two constant results may be anywhere between them
    z = stats.norm.ppf(means)
    first, second = (np.array([below.std(ddof=1), above.std(ddof=1)]) / stats.norm.pdf(z)) ** 2 / counts
    t = float(stats.t.ppf(0.5 + level / 2, counts.sum() - 2))
    # A share x of the way the line is z0 + x·slope, its variance (1 − x)²·first + x²·second: Fieller's a·x² + 2b·x + c.
    start, slope = float(z[0]), float(z[1] - z[0])
    a, c = slope**2 - t**2 * (first + second), start**2 - t**2 * first
    b = start * slope + t**2 * first
    if slope <= 0 or a <= 0:
        return None
    root = math.sqrt(max(b * b - a * c, 0.0))
    value, least, most = (low + part * (high - low) for part in (-start / slope, (-b - root) / a, (-b + root) / a))
    return Estimate(float(value), float(least), float(most), level, KIND)
