"""How well entropies are told from few refits, where the truth is known: five ways in which subsets may behave.

K subsets label 5 points of 2 classes, 32 labelings in all, R times each. P_D is uniform in all five, so that the true
expressivity is 5 bits. Goals: |mean error| of capacity at most .1 bits at R = 10 and .25 at R = 5; 95 % intervals that
cover. The table has the mean error of the plain estimate and of ours, the root mean square error of ours, and for each
interval how often it covers and its mean width.
"""

from __future__ import annotations

import numpy as np
import timing
from scipy.special import digamma

from classay.intervals import Estimate, difference
from classay.learner import entropy
from classay.learner.counts import count

POINTS = 5
LABELINGS = 2**POINTS
ERRORS = {10: 0.1, 5: 0.25}


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/entropy_benchmark.py --simulations 200 --refits 10 5")
    parser.add_argument("--subsets", type=int, default=100, help="K")
    parser.add_argument("--refits", type=int, nargs="+", default=[10, 5], help="R, one or more")
    parser.add_argument("--simulations", type=int, default=200)
    options = parser.parse_args()
    if options.quick:
        options.simulations = 3
    print(timing.machine())
    print(f"{options.subsets} subsets, {LABELINGS} labelings, {options.simulations} simulations")
    for refits in options.refits:
        rows = [simulate(name, refits, options) for name in WORLDS]
        goal = f"; goal for ours: {ERRORS[refits]}" if refits in ERRORS else ""
        timing.show(rows, f"R = {refits}: error in capacity, bits{goal}; coverage and mean width of 95 % intervals")


def uniform(rng: np.random.Generator, subsets: int) -> tuple[np.ndarray, float]:
    return np.full((subsets, LABELINGS), 1 / LABELINGS), float(POINTS)


def fixed(rng: np.random.Generator, subsets: int) -> tuple[np.ndarray, float]:
    return np.eye(LABELINGS)[rng.integers(LABELINGS, size=subsets)], 0.0


def half(rng: np.random.Generator, subsets: int) -> tuple[np.ndarray, float]:
    shares = 0.5 * np.eye(LABELINGS)[rng.integers(LABELINGS, size=subsets)] + 0.5 / LABELINGS
    return shares, bits(shares[0])


def dirichlet(rng: np.random.Generator, subsets: int) -> tuple[np.ndarray, float]:
    within = (digamma(0.3 * LABELINGS + 1) - digamma(1.3)) / np.log(2)
    return rng.dirichlet(np.full(LABELINGS, 0.3), subsets), float(within)


def flips(rng: np.random.Generator, subsets: int) -> tuple[np.ndarray, float]:
    base = rng.integers(LABELINGS, size=subsets)
    apart = np.array([number.bit_count() for number in range(LABELINGS)])[base[:, None] ^ np.arange(LABELINGS)]
    return 0.1**apart * 0.9 ** (POINTS - apart), POINTS * bits(np.array([0.1, 0.9]))


# What the subsets do -> (shares of the labelings in each subset (K, 32), true mean entropy within subsets).
WORLDS = {
    "uniform guess": uniform,
    "fixed random labeling": fixed,
    "half mass on one": half,
    "Dirichlet(.3)": dirichlet,
    "10 % label flips": flips,
}


def bits(p: np.ndarray) -> float:
    return float(-(p * np.log2(p)).sum())


def simulate(name: str, refits: int, options) -> dict[str, object]:
    """One row of the table."""
    truth = {}
    found: dict[str, list[Estimate]] = {"stochasticity": [], "expressivity": [], "capacity": []}
    plain = []
    for number in range(options.simulations):
        rng = np.random.default_rng([list(WORLDS).index(name), refits, number])
        shares, within = WORLDS[name](rng, options.subsets)
        truth = {"stochasticity": within, "expressivity": float(POINTS), "capacity": POINTS - within}
        # Inverse sampling of all refits of all subsets at once.
        steps = np.cumsum(shares, axis=1)[:, None, :-1]
        answers = (rng.random((options.subsets, refits, 1)) > steps).sum(axis=2)
        counts = count(answers[None])
        plain.append(float(entropy.plugin_overall(counts).mean() - entropy.plugin_within(counts).mean()))
        for figure, estimate in zip(found, estimates(counts)):
            found[figure].append(estimate)
    values = np.array([estimate.value for estimate in found["capacity"]])
    row: dict[str, object] = {
        "subsets": f"{name} ({truth['capacity']:.2f})",
        "plain": f"{np.mean(plain) - truth['capacity']:+.2f}",
        "ours": f"{values.mean() - truth['capacity']:+.3f}",
        "rmse": float(np.sqrt(np.mean((values - truth["capacity"]) ** 2))),
    }
    for figure, several in found.items():
        # A thousandth of a bit for rounding at the ends of the possible range.
        covers = [each.low - 1e-3 <= truth[figure] <= each.high + 1e-3 for each in several]
        row[figure] = f"{np.mean(covers):.0%} ({np.mean([each.high - each.low for each in several]):.2f})"
    return row


def estimates(counts) -> tuple[Estimate, Estimate, Estimate]:
    """Stochasticity, expressivity and capacity, as `orientation` puts them together."""
    overall = entropy.overall(counts, POINTS)
    within = entropy.within(counts, POINTS)
    value = min(within.value, overall.value)
    within = Estimate(value, min(within.low, value), min(within.high, overall.high))
    capacity = difference(overall, within)
    return within, overall, Estimate(capacity.value, max(capacity.low, 0.0), min(capacity.high, POINTS))


if __name__ == "__main__":
    main()
