"""Chapters 3 to 5 of Zheng's thesis on Gaussian channels, where the truth is known.

Our copy of the thesis is a draft: sections 3.5, 4.5 and 5.5 (examples) are empty, so there are no published figures to
compare with. This shows what the chapters state. Chapter 3: accuracy with k classes is an integral of one distribution,
that of U (figure 3.2), also for k that was not observed. Chapter 4: C_k(I), the most accuracy that I nats allow with k
classes, is above what any channel reaches. Chapter 5: in high dimension accuracy is π̄_k(√(2I)), whatever the channel.

A stimulus x of d standard normal coordinates is answered by y = x + noise; I = d/2·log(1 + 1/noise²).
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import timing
from scipy.optimize import brentq

import classay
from classay.classes.information.channel import least_information, mean_top


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/thesis.py --charts DIR")
    parser.add_argument("--rows", type=int, default=20_000, help="answers for the true accuracies (default 20,000)")
    parser.add_argument("--observed", type=int, default=200, help="classes seen in chapter 3 (default 200)")
    parser.add_argument("--charts", type=Path, help="folder for figure 3.2 and the curve behind it, as SVG")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.observed = 500, 40
    print(timing.machine())
    chapter_3(options.observed, options.rows, options.charts)
    chapter_4(options.rows)
    chapter_5(options.rows)


def noise_of(nats: float, dimensions: int) -> float:
    return 1 / math.sqrt(math.expm1(2 * nats / dimensions))


def true_accuracies(nats: float, dimensions: int, sizes: list[int], rows: int, seed: int = 0) -> np.ndarray:
    """Average accuracy of the best classifier with k random stimuli: E[P(a random stimulus is farther)^(k−1)].

    Given an answer y, the squared distance of a random stimulus is noncentral chi-squared.
    """
    from scipy.stats import ncx2

    rng = np.random.default_rng([seed, dimensions, round(1000 * nats)])
    stimuli = rng.normal(size=(rows, dimensions))
    error = noise_of(nats, dimensions) * rng.normal(size=stimuli.shape)
    answers = stimuli + error
    farther = ncx2.sf((error**2).sum(axis=1), dimensions, (answers**2).sum(axis=1))
    return np.array([np.mean(farther ** (k - 1)) for k in sizes])


def chapter_3(observed: int, rows: int, charts: Path | None, nats: float = 3.0, dimensions: int = 10) -> None:
    rng = np.random.default_rng(1)
    stimuli, y = rng.normal(size=(observed, dimensions)), np.repeat(np.arange(observed), 5)
    answers = stimuli[y] + noise_of(nats, dimensions) * rng.normal(size=(y.size, dimensions))
    ranks = classay.Ranks.from_scores(answers @ stimuli.T - (stimuli**2).sum(axis=1) / 2, y, marginal=True)
    curve = classay.accuracy_curve(ranks)
    u = curve.u_distribution()
    sizes = [2, 10, observed, 5 * observed, 50 * observed]
    truth = true_accuracies(nats, dimensions, sizes, rows)
    found = [u.accuracy(k) for k in sizes]
    timing.show(
        [
            {"k": k, "from U": each.value, "low": each.low, "high": each.high, "truth": true}
            for k, each, true in zip(sizes, found, truth)
        ],
        f"Chapter 3: accuracy as an integral of the distribution of U; {observed} classes observed",
    )
    if charts is not None:
        charts.mkdir(parents=True, exist_ok=True)
        u.plot().save(str(charts / "figure_3_2.svg"))
        curve.plot().save(str(charts / "curve.svg"))


def most_accuracy(nats: float, k: int) -> float:
    """The most accuracy that information allows: the inverse of `least_information`."""
    return float(brentq(lambda accuracy: float(least_information(accuracy, k)) - nats, 1 / k, 1 - 1e-12))


def chapter_4(rows: int) -> None:
    table = []
    for nats in (0.5, 1.0, 3.0):
        for k in (2, 10, 100):
            reached = {f"d = {d}": true_accuracies(nats, d, [k], rows)[0] for d in (1, 10, 100)}
            table.append({"nats": nats, "k": k, "C_k": most_accuracy(nats, k), **reached})
    timing.show(table, "Chapter 4: the most accuracy that information allows, and what Gaussian channels reach")


def chapter_5(rows: int) -> None:
    sizes = [2, 10, 100, 1000]
    table = []
    for nats in (0.5, 3.0, 6.0):
        limit = mean_top(math.sqrt(2 * nats), sizes)
        for d in (1, 3, 10, 30, 100, 1000):
            gaps = true_accuracies(nats, d, sizes, rows) - limit
            table.append({"nats": nats, "d": d, **{f"k = {k}": gap for k, gap in zip(sizes, gaps)}})
        table.append({"nats": nats, "d": "limit", **{f"k = {k}": each for k, each in zip(sizes, limit)}})
    timing.show(table, "Chapter 5: accuracy of the best classifier minus π̄_k(√(2I)), by dimension; last the limit")


if __name__ == "__main__":
    main()
