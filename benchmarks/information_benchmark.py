"""Information of Gaussian channels, where it is known: what each way tells of it, over dimensions.

A stimulus x of d independent standard normal coordinates is answered by y = x + noise; I = d/2·log(1 + 1/noise²). Some
stimuli are the classes, with a few answers to each. From the scores of the best classifier: implied information, fitted
over sizes on a log scale (the default), over all sizes alike and at all classes alone; the guaranteed lower bound, and
the same formula at the measured accuracy; Fano's bound. From a nearest-mean classifier that learnt its classes from as
many other rows: implied information again. From as many fresh pairs (x, y): the estimator of Kraskov, Stögbauer and
Grassberger with 3 neighbours, and the Gaussian plug-in, which here has the right model.
"""

from __future__ import annotations

import math

import numpy as np
import timing
from scipy.spatial.distance import cdist
from scipy.special import digamma

import classay
from classay.classes.information.channel import fit_mean_top, log_spaced_sizes


def main() -> None:
    arguments = timing.parser(__doc__, "python benchmarks/information_benchmark.py --runs 5")
    arguments.add_argument("--runs", type=int, default=5, help="draws of each channel (default 5)")
    arguments.add_argument("--classes", type=int, default=100, help="stimuli that are classes (default 100)")
    arguments.add_argument("--rows", type=int, default=10, help="answers to each (default 10)")
    arguments.add_argument("--dimensions", type=int, nargs="+", default=[1, 2, 5, 10, 20, 50, 100])
    arguments.add_argument("--nats", type=float, nargs="+", default=[0.5, 2.0, 4.0, 6.0], help="true information")
    options = arguments.parse_args()
    if options.quick:
        options.runs, options.classes, options.rows, options.dimensions, options.nats = 1, 20, 2, [1, 5], [1.0]
    print(timing.machine())
    errors: dict[str, list[float]] = {}
    above = bounds = 0
    for truth in options.nats:
        rows = []
        for dimensions in options.dimensions:
            runs = [one_run(options.classes, options.rows, dimensions, truth, seed) for seed in range(options.runs)]
            mean = {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}
            rows.append({"d": dimensions, **mean, "truth": truth})
            for name in mean:
                errors.setdefault(name, []).append(abs(mean[name] / truth - 1))
            above += sum(run["bound"] > truth for run in runs)
            bounds += len(runs)
        timing.show(rows, f"{truth:g} nats; {options.classes} classes x {options.rows} rows, {options.runs} runs, mean")
    ways = ("implied", "uniform", "all alone", "nearest mean", "KSG", "plug-in")
    timing.show(
        [{"way": way, "mean": np.mean(errors[way]), "largest": np.max(errors[way])} for way in ways],
        "|mean / truth − 1| over all cells",
    )
    print(f"The guaranteed bound was above the truth in {above} of {bounds} runs (at most 5 % may be).")


def one_run(n_classes: int, n_rows: int, dimensions: int, truth: float, seed: int) -> dict[str, float]:
    rng = np.random.default_rng([seed, dimensions, round(1000 * truth)])
    noise = 1 / math.sqrt(math.expm1(2 * truth / dimensions))

    def answers(stimuli: np.ndarray) -> np.ndarray:
        return stimuli + noise * rng.normal(size=stimuli.shape)

    stimuli, y = rng.normal(size=(n_classes, dimensions)), np.repeat(np.arange(n_classes), n_rows)
    asked = answers(stimuli[y])
    means = answers(stimuli[y]).reshape(n_classes, n_rows, dimensions).mean(axis=1)
    curve, learnt = (
        classay.accuracy_curve(asked @ centres.T - (centres**2).sum(axis=1) / 2, y) for centres in (stimuli, means)
    )
    nats = classay.information(curve).nats
    fresh = rng.normal(size=(n_classes * n_rows, dimensions))
    heard = answers(fresh)
    return {
        "accuracy": float(curve.accuracy[-1]),
        "implied": fitted(curve, log_spaced_sizes(n_classes)),
        "uniform": fitted(curve, np.unique(np.linspace(2, n_classes, 60).round().astype(int))),
        "all alone": fitted(curve, np.array([n_classes])),
        "nearest mean": fitted(learnt, log_spaced_sizes(n_classes)),
        "bound": nats["bound"].low,
        "at accuracy": nats["bound"].value,
        "Fano": nats["fano"].low,
        "KSG": nearest_neighbours(fresh, heard),
        "plug-in": plug_in(fresh, heard),
    }


def fitted(curve: classay.results.Curve, sizes: np.ndarray) -> float:
    """Implied information without its interval; not identified where all is right."""
    accuracy = curve.accuracy[sizes - 1]
    return math.nan if accuracy.min() >= 1 else max(fit_mean_top(accuracy, sizes), 0.0) ** 2 / 2


def nearest_neighbours(x: np.ndarray, y: np.ndarray, k: int = 3) -> float:
    """Kraskov, Stögbauer & Grassberger (2004), first estimator: ψ(k) + ψ(n) − mean of ψ(n_x + 1) + ψ(n_y + 1).

    The distance to the k-th neighbour, in the larger of the two spaces, says how far to count in each alone.
    """
    in_x, in_y = (cdist(part, part, "chebyshev") for part in (x, y))
    for part in (in_x, in_y):
        np.fill_diagonal(part, np.inf)
    reach = np.partition(np.maximum(in_x, in_y), k - 1, axis=1)[:, k - 1 : k]
    near = [digamma((part < reach).sum(axis=1) + 1) for part in (in_x, in_y)]
    return float(digamma(k) + digamma(len(x)) - np.mean(near[0] + near[1]))


def plug_in(x: np.ndarray, y: np.ndarray) -> float:
    """½·log(|Σ_x|·|Σ_y|/|Σ|) with the covariances of the sample."""

    def log_determinant(values: np.ndarray) -> float:
        return float(np.linalg.slogdet(np.cov(values.T).reshape(values.shape[1], -1))[1])

    return (log_determinant(x) + log_determinant(y) - log_determinant(np.hstack([x, y]))) / 2


if __name__ == "__main__":
    main()
