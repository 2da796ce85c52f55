"""Entropies of labelings from few refits: the plain estimate, the corrected one, and what the counts allow.

With R refits a plain (plug-in) entropy cannot exceed log2 R, and so blames on the data what was the learner's own
dice. Two corrections are made here.

*Within subsets* (stochasticity). The mean entropy over subsets needs no single subset's entropy. A labeling that has
probability p in a subset occurs there Binomial(R, p) times, so the histogram of those counts over all subsets and
holdouts, which is only R + 1 numbers, tells the distribution G of p over cells. It is fitted by nonparametric maximum
likelihood, EM on a grid of p stopped before it fits noise, and mean H(P_F) = |Ω| ∫ −p log2 p dG. The interval is the
range of mean H(P_F) over every G whose expected histogram stays within sampling error of the fitted one: a linear
programme. So it widens by itself where few refits cannot tell (a cell seen once may be one of ten rare ones or of ten
thousand). It is on the safe side: tests/long measures how often it holds the truth.

*Over subsets* (expressivity). H of the mean distribution is jackknifed over subsets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.stats import binom

from ..intervals import Estimate, around, crossed_standard_error, normal_quantile, within_limits
from .counts import Counts

Floats = NDArray[np.float64]

KIND = "over subsets and holdouts"
# Above this many labelings the grid cannot hold 1/|Ω|; rarer cells are beyond what refits show anyway.
MOST_CELLS = 4096
# How far a mixture may stray in directions that hardly move the entropy, as a share of how far in the one that does.
SIDEWAYS = 0.7


def plugin_within(counts: Counts) -> Floats:
    """Plain H(P_F) in bits of every holdout and subset: (M, K)."""
    share = counts.count / counts.n_refits
    return counts.sum_by_subset(-share * np.log2(share))


def plugin_overall(counts: Counts) -> Floats:
    """Plain H(P_D) in bits of every holdout: (M,)."""
    everything = counts.n_subsets * counts.n_refits
    surprise = counts.sum_by_subset(-counts.count / everything * np.log2(counts.total / everything))
    bits: Floats = surprise.sum(axis=1)
    return bits


def jackknife_overall(counts: Counts) -> Floats:
    """Jackknife pseudo-values of H(P_D) in bits, one a holdout and subset: (M, K).

    Their mean over subsets is H(P_D) with most of its bias removed; their spread tells its error.
    """
    n_subsets, refits = counts.n_subsets, counts.n_refits
    everything = n_subsets * refits

    def t_log_t(t: NDArray[np.integer]) -> Floats:
        values: Floats = t * np.log2(np.maximum(t, 1))
        return values

    # H without subset k = log2(N − R) − Σ t log2 t / (N − R), t the totals without it.
    change = counts.sum_by_subset(t_log_t(counts.total - counts.count) - t_log_t(counts.total))
    plain = plugin_overall(counts)
    whole = (math.log2(everything) - plain) * everything  # Σ t log2 t of each holdout
    rest = everything - refits
    without = math.log2(rest) - (whole[:, None] + change) / rest
    pseudo: Floats = n_subsets * plain[:, None] - (n_subsets - 1) * without
    return pseudo


def overall(counts: Counts, log2_labelings: float, level: float = 0.95) -> Estimate:
    """Expressivity: mean H(P_D) over holdouts, jackknifed, with an interval over subsets and holdouts."""
    pseudo = jackknife_overall(counts)
    value = float(np.minimum(pseudo.mean(axis=1), log2_labelings).mean())
    return within_limits(
        around(value, crossed_standard_error(pseudo), level, KIND, counts.n_subsets), 0.0, log2_labelings
    )


def unrepeated(counts: Counts) -> float:
    """Share of answers whose labeling occurs in one subset only: what another subset would likely answer anew."""
    alone = counts.count == counts.total
    return float(counts.count[alone].sum() / (counts.n_holdouts * counts.n_subsets * counts.n_refits))


def within(counts: Counts, log2_labelings: float, level: float = 0.95) -> Estimate:
    """Stochasticity: mean H(P_F) over subsets and holdouts, with the range that the counts allow.

    One refit a subset tells nothing: the value is NaN and the interval all that is possible.
    """
    if counts.n_refits == 1:
        return Estimate(math.nan, 0.0, log2_labelings, level, "unknown: one refit a subset")
    histogram = counts.histogram[:, :, 1:].astype(float)
    fit = _fit_mixture(histogram, counts.n_refits, log2_labelings)
    low, high = _allowed(fit, histogram, log2_labelings, normal_quantile(level))
    nothing_varies = bool((counts.count == counts.n_refits).all())
    value = 0.0 if nothing_varies else min(fit.entropy, log2_labelings)
    return Estimate(value, min(low, value), max(min(high, log2_labelings), value), level, KIND)


@dataclass(frozen=True)
class _Mixture:
    """The distribution of cell probabilities: `weight` cells at each `grid` value, out of `cells` in all."""

    grid: Floats
    weight: Floats
    cells: float
    expected: Floats  # labelings expected to occur j = 1..R times in a subset

    @property
    def entropy(self) -> float:
        return float(self.weight @ _p_log_p(self.grid) / (self.weight @ self.grid))


def _p_log_p(p: Floats) -> Floats:
    values: Floats = -p * np.log2(np.where(p > 0, p, 1))
    return values


def _fit_mixture(
    histogram: Floats, refits: int, log2_labelings: float, gain: float = 0.05, most_rounds: int = 50
) -> _Mixture:
    """Fit the distribution of cell probabilities to counts by EM, from a flat start, stopped early.

    The likelihood is concave, so the largest slope tells how far from the best fit EM is. It stops when that slope,
    times the effective number of cells seen, is below `gain`: a rule that five worlds with known entropies were best
    told by (tests/long). Further on, it would fit noise; where counts cannot tell, it stays near its start.
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
    effective = histogram.sum() / _design_effect(histogram)

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


def _design_effect(histogram: Floats) -> float:
    """How many times the counts vary more than if every subset and holdout were an independent draw."""
    independent = histogram.mean(axis=(0, 1)).sum() / (histogram.shape[0] * histogram.shape[1])
    return float(max(np.trace(_covariance(histogram)) / independent, 1.0))


def _allowed(fit: _Mixture, histogram: Floats, log2_labelings: float, reach: float) -> tuple[float, float]:
    """Smallest and largest mean H(P_F) of any mixture whose histogram is within `reach` errors of the fitted one."""
    refits = histogram.shape[2]
    even = max(2.0**-log2_labelings, 1e-300)  # the probability of a cell if all were equal
    grid = np.union1d(fit.grid[fit.grid > 0], np.geomspace(0.01 * even, 1, 80))
    times = np.arange(1, refits + 1)
    # Mass form: a unit of probability at p is 1/p cells, each seen j times with Binomial(R, p) chance.
    per_mass = np.exp(binom.logpmf(times[:, None], refits, grid) - np.log(grid))

    bins = _bins(refits)
    histogram, per_mass, expected = histogram @ bins.T, bins @ per_mass, bins @ fit.expected
    # What was never seen may occur once in all.
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
        limits_right.append(np.ones(1))
    ends = []
    for sign in (1, -1):
        answer = linprog(
            sign * -np.log2(grid),
            A_ub=np.vstack(limits_left),
            b_ub=np.concatenate(limits_right),
            A_eq=np.ones((1, grid.size)),
            b_eq=[1.0],
            method="highs",
        )
        if answer.status == 0 and answer.fun is not None:
            ends.append(sign * float(answer.fun))
        else:  # the solver gave up: claim nothing
            ends.append(0.0 if sign > 0 else log2_labelings)
    return max(ends[0], 0.0), ends[1]


def _bins(refits: int) -> Floats:
    """Sum counts 1..R into few bins, single near both ends and wider between: (bins, R) of 0 and 1."""
    half = np.unique(np.floor(np.geomspace(1, max(refits / 2, 1), 6)).astype(int))
    edges = np.union1d(half, refits + 1 - half)
    bin_of = np.searchsorted(edges, np.arange(1, refits + 1), side="right") - 1
    member: Floats = (bin_of == np.arange(len(edges))[:, None]).astype(float)
    return member
