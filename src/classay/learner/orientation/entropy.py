"""Entropies of labelings from few refits: the plain estimate, the corrected one, and the range the counts allow.

With R refits a plain (plug-in) entropy cannot exceed log2 R, and so attributes training randomness to the data. Two
corrections are made here.

*Within subsets* (stochasticity). The mean entropy over subsets does not need the entropy of any single subset. A
labeling that has probability p in a subset occurs there Binomial(R, p) times, so the histogram of those counts over all
subsets and holdouts, which is only R + 1 numbers, determines the distribution G of p over cells. It is fitted by
nonparametric maximum likelihood, EM on a grid of p stopped before it fits noise, and mean H(P_F) = |Ω| ∫ −p log2 p dG.
The interval is the range of mean H(P_F) over every G whose expected histogram stays within sampling error of the fitted
one: a linear programme. So it becomes wide where few refits cannot identify the entropy (a cell seen once may be one of
ten rare ones or of ten thousand). It is conservative: tests/long measures how often it covers the truth.

*Over subsets* (expressivity). H of the mean distribution is jackknifed over subsets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog
from scipy.stats import binom, chi2

from ... import expect, seeds
from ...arrays import AnyInts, Floats
from ...intervals import Estimate, around, bounded, crossed_standard_error, normal_quantile
from ..records.base import TRAINING, Refits

KIND = "over subsets and holdouts"
"""What intervals are over; `interval_kind` adds of which population."""
UNSOLVED = "all that is possible: the range could not be computed"
# Above this many labelings the grid cannot represent 1/|Ω|; rarer cells are beyond what refits show anyway.
MOST_CELLS = 4096
# Above this share of predictions that no second subset repeats, entropies depend on labelings that were not seen.
MOST_UNREPEATED = 0.1
# How far a mixture may move in directions that hardly change the entropy, relative to the direction that does.
SIDEWAYS = 0.7


def plugin_within(counts: Counts) -> Floats:
    """Plain H(P_F) in bits of every holdout and subset: (M, K)."""
    share = counts.count / counts.n_refits
    return counts.sum_by_subset(-share * np.log2(share))


def plugin_overall(counts: Counts) -> Floats:
    """Plain H(P_D) in bits of every holdout: (M,)."""
    everything = counts.n_subsets * counts.n_refits
    surprise = counts.sum_by_subset(-counts.count / everything * np.log2(counts.total / everything))
    return np.asarray(surprise.sum(axis=1))


def jackknife_overall(counts: Counts) -> Floats:
    """Jackknife pseudo-values of H(P_D) in bits, one per holdout and subset: (M, K).

    Their mean over subsets is H(P_D) with most of its bias removed; their spread gives its error.
    """
    n_subsets, refits = counts.n_subsets, counts.n_refits
    everything = n_subsets * refits

    def t_log_t(t: NDArray[np.integer]) -> Floats:
        return np.asarray(t * np.log2(np.maximum(t, 1)))

    # H without subset k = log2(N − R) − Σ t log2 t / (N − R), t the totals without it.
    change = counts.sum_by_subset(t_log_t(counts.total - counts.count) - t_log_t(counts.total))
    plain = plugin_overall(counts)
    whole = (math.log2(everything) - plain) * everything  # Σ t log2 t of each holdout
    rest = everything - refits
    without = math.log2(rest) - (whole[:, None] + change) / rest
    pseudo: Floats = n_subsets * plain[:, None] - (n_subsets - 1) * without
    # Where every refit predicts the same, the entropy is 0 and not a rounding error.
    return np.where(plain[:, None] > 0, pseudo, 0.0)


def overall(counts: Counts, log2_labelings: float, level: float = 0.95, kind: str = KIND) -> Estimate:
    """Expressivity: mean H(P_D) over holdouts, jackknifed, with an interval over subsets and holdouts.

    The interval is made on the scale of q, the share of subsets that deviate from the rest if H is as high as such a
    share allows: H = H2(q) + q·log2(|Ω| − 1). So it is wide where few subsets deviate, and also if none does.
    """
    pseudo = jackknife_overall(counts)
    # Labelings that occur, or may, cannot vary more than if all were equally frequent.
    value = float(np.minimum(pseudo.mean(axis=1), np.log2(counts.support)).mean())
    value = min(max(value, 0.0), log2_labelings)
    # Above a half the scale goes on in a straight line: there the slope would fall to 0.
    others = log2_labelings + math.log2(1 - 2.0**-log2_labelings)
    shares = np.linspace(0, 1, 2001) ** 3 * ((log2_labelings - 1) / others if others > 0 else 0.5)
    entropies = binary_entropy(np.minimum(shares, 0.5)) + shares * others
    share = float(np.interp(value, entropies, shares))
    slope = max(others + math.log2(max((1 - share) / share, 1)), 0.5) if share > 0 else math.inf
    deviating = over_subsets(share + (pseudo - pseudo.mean()) / slope, level, kind)
    low, high = np.interp([deviating.low, deviating.high], shares, entropies).tolist()
    # Near its top the entropy only falls, by a square: this factor is exact if subsets differ in one direction.
    z, squares = normal_quantile(level), _error_of_squares(counts)
    low -= (1 + z**2) / math.sqrt(2) * squares
    reach = around(0.0, crossed_standard_error(pseudo), level, draws=_draws(pseudo.shape)).high
    high = max(high, min(value + math.hypot(reach, z * squares), log2_labelings))
    return Estimate(value, max(min(low, value), 0.0), max(high, value), level, kind)


def _error_of_squares(counts: Counts) -> float:
    """Standard error of the term of H(P_D) that is quadratic in the deviations of subsets, in bits.

    Two subsets have the product Σ p_k p_l / P_D − 1, mean over holdouts; it is large if all of them move together.
    """
    n_subsets, everything = counts.n_subsets, counts.n_subsets * counts.n_refits
    scaled = counts.count / counts.n_refits / np.sqrt(counts.n_holdouts * counts.total / everything)
    table = sparse.csr_array((scaled, (counts.subset, counts.labeling)))
    products = (table @ table.T).toarray()[~np.eye(n_subsets, dtype=bool)] - 1
    return math.sqrt(2 * float((products**2).mean())) / (2 * math.log(2) * n_subsets)


def over_subsets(table: Floats, level: float, kind: str, least: float = 0.0, most: float = 1.0) -> Estimate:
    """The mean of a table of holdouts x subsets, of values from `least` to `most`, with its interval.

    The less holdouts deviate together, the more a subset counts for; but one more subset may deviate on all of them.
    """
    value, error, n_subsets = float(table.mean()), crossed_standard_error(table), table.shape[1]
    share, spread = (value - least) / (most - least), error / (most - least)
    units = n_subsets * (n_subsets * share * (1 - share) + 1) / ((n_subsets * spread) ** 2 + 1)
    return bounded(value, error, units, level, kind, _draws(table.shape), least, most)


def _draws(shape: tuple[int, ...]) -> int:
    """Of what an error is: holdouts or subsets, whichever are fewer; of a single holdout, only subsets vary."""
    return shape[1] if shape[0] == 1 else min(shape[:2])


def unrepeated(counts: Counts) -> float:
    """Share of predictions whose labeling occurs in only one subset: about how often another would give new ones."""
    alone = counts.count == counts.total
    return float(counts.count[alone].sum() / (counts.n_holdouts * counts.n_subsets * counts.n_refits))


def within(counts: Counts, log2_labelings: float, level: float = 0.95, kind: str = KIND) -> Estimate:
    """Stochasticity: mean H(P_F) over subsets and holdouts, with the range that the counts allow.

    One refit per subset gives no information: the value is NaN and the interval is everything possible.
    """
    if counts.n_refits == 1:
        return Estimate(math.nan, 0.0, log2_labelings, level, "unknown: one refit per subset")
    histogram, most = counts.histogram[:, :, 1:].astype(float), log2_labelings
    if unrepeated(counts) <= MOST_UNREPEATED:
        # A subset has no labelings but those of all subsets together, and hardly any of these was missed.
        most = min(math.log2(float(counts.support.mean()) + 1), log2_labelings)
    fit = _fit_mixture(histogram, counts.n_refits, most)
    low, high = _allowed(fit, histogram, most, around(0.0, 1.0, level, draws=_draws(histogram.shape)).high)
    nothing_varies = bool((counts.count == counts.n_refits).all())
    value = 0.0 if nothing_varies else min(fit.entropy, log2_labelings)
    if low is None or high is None:
        return Estimate(value, 0.0, log2_labelings, level, UNSOLVED)
    # Where few subsets vary, or none, what they have in common says little of the others.
    rare = over_subsets(plugin_within(counts), level, kind, most=log2_labelings)
    low, high = min(low, value + rare.low - rare.value, value), max(high, value + rare.high - rare.value, value)
    return Estimate(value, max(low, 0.0), min(high, log2_labelings), level, kind)


def least_within(counts: Counts, level: float = 0.95) -> float:
    """A lower limit of mean H(P_F) from how seldom two refits on a subset give the same labeling.

    An entropy is at least −log2 of the chance that two draws are equal, and so is a mean of entropies for the mean of
    chances. The chance is taken at its upper limit for as many independent pairs as one holdout has: where labelings
    hardly repeat, holdouts may all repeat or differ together, and nothing shows whether they do.
    """
    refits = counts.n_refits
    pairs = counts.n_subsets * refits * (refits - 1) / 2
    equal = float((counts.count * (counts.count - 1)).sum()) / 2 / counts.n_holdouts
    most = float(chi2.ppf(0.5 + level / 2, 2 * (equal + 1))) / 2 / pairs
    return -math.log2(min(most, 1.0))


@dataclass(frozen=True)
class _Mixture:
    """The distribution of cell probabilities: `weight` cells at each `grid` value, out of `cells` in all."""

    grid: Floats
    weight: Floats
    cells: float
    expected: Floats  # labelings expected to occur j = 1..R times in a subset

    @property
    def entropy(self) -> float:
        return float(self.weight @ p_log_p(self.grid) / (self.weight @ self.grid))

    @property
    def cells_of_mass_one(self) -> float:
        """How many cells with a probability above 0 share a total probability of 1."""
        return float(self.weight[self.grid > 0].sum() / (self.weight @ self.grid))


def p_log_p(p: Floats) -> Floats:
    return np.asarray(-p * np.log2(np.where(p > 0, p, 1)))


def binary_entropy(q: Floats) -> Floats:
    """H2(q) in bits, of each of several q."""
    return p_log_p(q) + p_log_p(1 - q)


def _fit_mixture(
    histogram: Floats, refits: int, log2_labelings: float, gain: float = 0.05, most_rounds: int = 50
) -> _Mixture:
    """Fit the distribution of cell probabilities to counts by EM, from a flat start, stopped early.

    The likelihood is concave, so the largest slope shows how far EM is from the best fit. It stops when that slope,
    times the effective number of cells seen, is below `gain`. Beyond that, it would fit noise; where counts say little,
    it stays near its start. The rule was chosen in five worlds with known entropies and judged in five others
    (benchmarks/entropy_benchmark.py), where one ten times stricter moves the mean error by at most .03 bits.
    """
    cells = min(2.0**log2_labelings, MOST_CELLS)
    grid = np.linspace(0, 1, 121) ** 3
    if cells > 200:
        grid = np.union1d(grid, np.geomspace(0.25 / cells, 1e-3, 40))
    grid = np.union1d(grid, [1 / cells])
    likelihood = binom.pmf(np.arange(refits + 1)[:, None], refits, grid)

    seen = histogram.mean(axis=(0, 1))
    # A holdout may show more labelings over its subsets than MOST_CELLS; the zero cells must stay a share.
    cells = max(cells, 2 * seen.sum())
    share = np.concatenate([[1 - seen.sum() / cells], seen / cells])
    # The counts vary more than if every subset and holdout were an independent draw, by this factor.
    independent = seen.sum() / (histogram.shape[0] * histogram.shape[1])
    effective = histogram.sum() / float(max(np.trace(_covariance(histogram)) / independent, 1.0))

    weight = np.full(grid.size, 1 / grid.size)
    for _ in range(most_rounds):
        for _ in range(100):
            weight = weight * ((share / np.maximum(likelihood @ weight, 1e-300)) @ likelihood)
        slope = (share / np.maximum(likelihood @ weight, 1e-300)) @ likelihood
        if effective * (slope.max() - 1) < gain:
            break
    return _Mixture(grid, weight, cells, cells * (likelihood @ weight)[1:])


def _covariance(histogram: Floats) -> Floats:
    """Covariance of the mean histogram when both subsets and holdouts are random: (R, R)."""
    total = np.zeros((histogram.shape[2],) * 2)
    for axis in (0, 1):
        means = histogram.mean(axis=axis)
        if len(means) > 1:
            total += np.atleast_2d(np.cov(means, rowvar=False)) / len(means)
    return total


def _allowed(
    fit: _Mixture, histogram: Floats, log2_labelings: float, reach: float
) -> tuple[float | None, float | None]:
    """Smallest and largest mean H(P_F) of any mixture whose histogram is within `reach` errors of the fitted one.

    None: no solver found it.
    """
    refits = histogram.shape[2]
    even = max(2.0**-log2_labelings, 1e-300)  # the probability of a cell if all were equal
    grid = np.union1d(fit.grid[fit.grid > 0], np.geomspace(0.01 * even, 1, 80))
    times = np.arange(1, refits + 1)
    # Mass form: a unit of probability at p is 1/p cells, each seen j times with Binomial(R, p) chance.
    per_mass = np.exp(binom.logpmf(times[:, None], refits, grid) - np.log(grid))

    bins = _bins(refits)
    histogram, per_mass, expected = histogram @ bins.T, bins @ per_mass, bins @ fit.expected
    # A labeling that was never seen may still occur once in all.
    covariance = _covariance(histogram) + np.eye(len(bins)) / (histogram.shape[0] * histogram.shape[1]) ** 2
    root = np.linalg.cholesky(covariance)
    # The first axis is the direction in which the entropy moves most per standard error, found by ridge regression
    # of −log2 p on the expected histogram; along it the box is exactly a normal interval.
    weight = np.interp(grid, fit.grid, fit.weight * fit.grid)
    weight /= weight.sum()
    gram = (per_mass * weight) @ per_mass.T + covariance
    direction = np.linalg.solve(gram, (per_mass * weight) @ -np.log2(grid))
    basis, _ = np.linalg.qr(np.column_stack([root.T @ direction, np.eye(len(bins))]))
    to_errors = basis.T @ np.linalg.inv(root)

    rows = to_errors @ per_mass
    fitted = to_errors @ (expected / (fit.weight @ fit.grid * fit.cells))
    observed = to_errors @ histogram.mean(axis=(0, 1))
    reaches = reach * np.array([1.0] + [SIDEWAYS] * (len(bins) - 1))
    limits_left = [rows, -rows]
    limits_right = [np.maximum(fitted, observed) + reaches, reaches - np.minimum(fitted, observed)]
    if log2_labelings <= math.log2(MOST_CELLS):
        limits_left.append((even / grid)[None, :])  # no more cells than there are labelings
        # The fitted mixture, scaled to mass 1, may have a few more; it must stay possible.
        limits_right.append(np.array([max(1.0, even * fit.cells_of_mass_one)]))
    left, right = np.vstack(limits_left), np.concatenate(limits_right)
    scale = np.abs(left).max(axis=1)  # errors differ by orders of magnitude, which solvers take badly
    left, right = left / scale[:, None], right / scale
    lowest, highest = (_extreme(sign * -np.log2(grid), left, right) for sign in (1, -1))
    return None if lowest is None else max(lowest, 0.0), None if highest is None else -highest


def _extreme(cost: Floats, left: Floats, right: Floats) -> float | None:
    """The least cost of a distribution within the limits; None if no solver finds it."""
    for method in ("highs", "highs-ipm", "highs-ds"):
        answer = linprog(cost, left, right, np.ones((1, cost.size)), [1.0], method=method)
        if answer.status == 0 and answer.fun is not None:
            return float(answer.fun)
    return None


def _bins(refits: int) -> Floats:
    """Sum counts 1..R into few bins, single near both ends and wider between: (bins, R) of 0 and 1."""
    half = np.unique(np.floor(np.geomspace(1, max(refits / 2, 1), 6)).astype(int))
    edges = np.union1d(half, refits + 1 - half)
    bin_of = np.searchsorted(edges, np.arange(1, refits + 1), side="right") - 1
    return np.asarray((bin_of == np.arange(len(edges))[:, None]).astype(float))


# Which labelings of a holdout occur, how often, and in which subsets: counted, never enumerated.
#
# A holdout of h points has c^h labelings, but K·R refits produce at most K·R of them. Every labeling that occurs gets a
# number; a *cell* is a labeling together with a subset in which it occurs.


def number_labelings(labels: AnyInts, holdouts: AnyInts, n_classes: int) -> NDArray[np.int64]:
    """Number the labelings of every holdout: equal numbers mean equal labels on all of its points.

    labels : (..., n) class codes; holdouts : (M, h) positions among the n points. Returns (M, ...).
    """
    points = np.moveaxis(labels, -1, 0)  # (n, ...): one gather per point of the holdout
    numbers = np.zeros((len(holdouts), *labels.shape[:-1]), dtype=np.int64)
    largest = 0
    for position in holdouts.T:
        if largest > (2**62 - n_classes) // n_classes:
            # The next digit would overflow: renumber what occurs, which is never more than the number of refits.
            numbers = np.stack([np.unique(row, return_inverse=True)[1].reshape(row.shape) for row in numbers])
            largest = int(numbers.max())
        numbers = numbers * n_classes + points[position]
        largest = largest * n_classes + n_classes - 1
    return numbers


@dataclass(frozen=True)
class Counts:
    """Counts of labelings over M holdouts, K subsets and R refits. Build it with `count`.

    Cells are sorted by holdout and labeling: `holdout`, `labeling`, `subset` and `count` of each, and `total`, how
    often its labeling occurs over all subsets of that holdout.
    """

    n_holdouts: int
    n_subsets: int
    n_refits: int
    holdout: NDArray[np.int64]
    labeling: NDArray[np.int64]
    subset: NDArray[np.int64]
    count: NDArray[np.int64]
    total: NDArray[np.int64]

    @cached_property
    def histogram(self) -> NDArray[np.int64]:
        """(M, K, R + 1): how many labelings occur exactly j times in a subset. Column 0 is left at 0."""
        shape = (self.n_holdouts, self.n_subsets, self.n_refits + 1)
        place = np.ravel_multi_index((self.holdout, self.subset, self.count), shape)
        return np.bincount(place, minlength=int(np.prod(shape))).reshape(shape)

    @cached_property
    def support(self) -> Floats:
        """(M,): how many labelings a holdout has, with those that were not seen (Chao, 1987)."""
        subsets = np.bincount(self.labeling)
        of = self.holdout[np.flatnonzero(np.diff(self.labeling, prepend=-1))]
        seen, once, twice = (
            np.bincount(of[chosen], minlength=self.n_holdouts) for chosen in (subsets > 0, subsets == 1, subsets == 2)
        )
        return np.asarray(seen + once * (once - 1) / (2 * (twice + 1)))

    def sum_by_subset(self, values: Floats) -> Floats:
        """Add up values of cells within each holdout and subset: (M, K)."""
        place = self.holdout * self.n_subsets + self.subset
        sums = np.bincount(place, weights=values, minlength=self.n_holdouts * self.n_subsets).astype(float)
        return sums.reshape(self.n_holdouts, self.n_subsets)


def count(numbers: NDArray[np.int64]) -> Counts:
    """Count the labelings in `numbers` (M, K, R), as returned by `number_labelings`."""
    n_holdouts, n_subsets, n_refits = numbers.shape
    ordered = np.sort(numbers, axis=2).ravel()
    starts_cell = np.ones(ordered.size, dtype=bool)
    starts_cell[1:] = ordered[1:] != ordered[:-1]
    starts_cell[::n_refits] = True
    first = np.flatnonzero(starts_cell)
    cell_count = np.diff(first, append=ordered.size)
    holdout, subset = np.divmod(first // n_refits, n_subsets)
    labeling = ordered[first]

    by_labeling = np.lexsort((labeling, holdout))
    holdout, labeling = holdout[by_labeling], labeling[by_labeling]
    subset, cell_count = subset[by_labeling], cell_count[by_labeling]
    starts_labeling = np.ones(holdout.size, dtype=bool)
    starts_labeling[1:] = (holdout[1:] != holdout[:-1]) | (labeling[1:] != labeling[:-1])
    group = np.cumsum(starts_labeling) - 1
    total = np.bincount(group, weights=cell_count).astype(np.int64)[group]
    return Counts(n_holdouts, n_subsets, n_refits, holdout, group, subset, cell_count, total)


# Which test points are grouped into holdouts, and what an interval over holdouts is about.


USUAL_SIZE = 5
"""Points of a holdout in the paper."""


def draw_holdouts(
    n_points: int, holdout_size: int | None, holdouts: int, random_state: int | np.random.Generator | None
) -> NDArray[np.int64]:
    """Random holdouts, (M, h), each without repetition. None: five points, or all if there are fewer."""
    size = min(USUAL_SIZE, n_points) if holdout_size is None else expect.whole(holdout_size, "holdout_size", at_least=1)
    number = expect.whole(holdouts, "holdouts", at_least=1)
    if size > n_points:
        raise expect.InputError(
            f"`holdout_size` is {size}, but there are {n_points} test points. Use a smaller holdout or a larger "
            "test part."
        )
    generator = seeds.generator(seeds.settle(random_state), "holdouts")
    # Smaller holdouts are the first points of those of five, so that figures of different sizes are of the same points.
    drawn = max(size, min(USUAL_SIZE, n_points))
    return np.stack([generator.choice(n_points, drawn, replace=False)[:size] for _ in range(number)])


def interval_kind(record: Refits) -> str:
    """What intervals over subsets and holdouts are about: these training rows, or all data like them."""
    over = "over variants and holdouts" if record.of_predictions else "over subsets and holdouts"
    return record.about_population(over, TRAINING)
