"""How far to shrink the noise covariance, by three rules, and how close identification comes to known information.

Responses share noise: by a few common causes, or as neighbours are alike. A ridge model is fitted on some rows, and
each of 200 others is identified among those 200. "hindsight" is the best amount of all, chosen on the test rows.
The last table is of responses that tell nothing: candidates compete within a fold, or predictions of folds are pooled.
"""

from __future__ import annotations

import numpy as np
import timing

from classay.arrays import Floats
from classay.classes.identify.encoders import column_scales, ridge
from classay.classes.identify.identify import candidate_scores, identify
from classay.classes.identify.responses import AMOUNTS, NoiseCovariance, choose_covariance, shrink_covariance

CANDIDATES, COLUMNS = 200, 20
WORLDS = ((20, 100, 0.8), (60, 100, 1.2), (200, 150, 2.0), (400, 100, 3.0), (50, 800, 1.2))
"""Responses, training rows, noise."""
RULES = ("diagonal", "closed form", "likelihood", "classay", "hindsight")
ROWS = (300, 1000, 4000)


def world(kind: str, q: int, n: int, noise: float, seed: int) -> tuple[Floats, Floats]:
    """Stimuli and responses with noise that responses share: a few common causes, or neighbours that are alike."""
    rng = np.random.default_rng(seed)
    rows = n + CANDIDATES
    signal = rng.normal(size=(COLUMNS, q)) / np.sqrt(COLUMNS)
    if kind == "common causes":
        shared = rng.normal(size=(rows, 5)) @ rng.normal(size=(5, q)) + rng.normal(size=(rows, q))
    else:
        away = np.abs(np.subtract.outer(np.arange(q), np.arange(q)))
        shared = 2.2 * rng.normal(size=(rows, q)) @ np.linalg.cholesky(0.95**away).T
    stimuli = rng.normal(size=(rows, COLUMNS))
    return stimuli, stimuli @ signal + noise * shared


def closed_form(residuals: Floats) -> float:
    """Schäfer & Strimmer (2005): Σ Var(r_ij) / Σ r_ij² over pairs."""
    n = len(residuals)
    z = residuals / np.sqrt((residuals**2).mean(axis=0))
    products = z.T @ z / n
    between = (products**2).sum() - (np.diag(products) ** 2).sum()
    fourth = ((z**2).sum(axis=1) ** 2 - (z**4).sum(axis=1)).sum()
    return float(np.clip((fourth / n - between) / (n - 1) / between, AMOUNTS[-1], 1))


def likelihood(noise: NoiseCovariance, residuals: Floats) -> float:
    """Log likelihood of residuals that the covariance was not made of, up to a constant."""
    rest = noise.axes.shape[0] - noise.axes.shape[1]
    volume = -np.log(noise.weights(noise.shrinkage)).sum() + rest * np.log(noise.shrinkage)
    return -0.5 * float((noise.whiten(residuals) ** 2).sum()) - 0.5 * len(residuals) * float(
        volume + 2 * np.log(noise.scale).sum()
    )


def by_likelihood(residuals: Floats, deviations: Floats, seed: int) -> float:
    """The shrinkage of highest held-out likelihood over five folds."""
    fold = np.random.default_rng(seed).permutation(len(residuals)) % 5
    gains = [
        sum(likelihood(shrink_covariance(residuals[fold != f], deviations, a), residuals[fold == f]) for f in range(5))
        for a in AMOUNTS
    ]
    return AMOUNTS[int(np.argmax(gains))]


def identified(kind: str, q: int, n: int, noise: float, seed: int) -> list[float]:
    """Share of responses identified among all candidates with each rule, and with the best amount in hindsight."""
    stimuli, responses = world(kind, q, n, noise, seed)
    fitted = ridge(stimuli[:n], responses[:n])
    residuals, deviations = fitted.residuals, column_scales(responses[:n])[1]

    def share(made: NoiseCovariance) -> float:
        scores = candidate_scores(made, responses[n:], fitted.predict(stimuli[n:]))
        return float((scores.argmax(axis=1) == np.arange(CANDIDATES)).mean())

    return [
        share(shrink_covariance(residuals, deviations, 1.0)),
        share(shrink_covariance(residuals, deviations, closed_form(residuals))),
        share(shrink_covariance(residuals, deviations, by_likelihood(residuals, deviations, seed))),
        share(choose_covariance(responses[:n], residuals, deviations, seed)),
        max(share(shrink_covariance(residuals, deviations, amount)) for amount in AMOUNTS),
    ]


def implied(d: int, information: float, rows: int, seed: int) -> float:
    """Implied information of y = x + noise in d dimensions, fitted on so many rows."""
    rng = np.random.default_rng(seed)
    stimuli = rng.normal(size=(rows + CANDIDATES, d))
    noise = rng.normal(size=stimuli.shape) / np.sqrt(np.expm1(2 * information / d))
    return identify(stimuli, stimuli + noise, test_size=CANDIDATES).information.nats["implied"].value


def guessing(n: int, p: int, q: int, seed: int) -> tuple[float, float]:
    """Pairwise accuracy where responses tell nothing: candidates within folds, and predictions pooled over folds."""
    rng = np.random.default_rng(seed)
    stimuli, responses = rng.normal(size=(n, p)), rng.normal(size=(n, q))
    within = identify(stimuli, responses, random_state=seed).curve.accuracy[1]
    fold, told = rng.permutation(n) % 5, np.empty((n, q))
    for held in range(5):
        rows = fold == held
        told[rows] = ridge(stimuli[~rows], responses[~rows]).predict(stimuli[rows])
    away = ((responses[:, None] - told) ** 2).sum(axis=2)
    return float(within), float((away > np.diag(away)[:, None]).sum() / (n * (n - 1)))


def main() -> None:
    arguments = timing.parser(__doc__, "python benchmarks/identification.py --draws 8")
    arguments.add_argument("--draws", type=int, default=8, help="worlds of each kind (default 8)")
    options = arguments.parse_args()
    draws = 1 if options.quick else options.draws
    print(timing.machine())
    table = []
    for kind in ("common causes", "neighbours"):
        for q, n, noise in WORLDS:
            shares = np.mean([identified(kind, q, n, noise, seed) for seed in range(draws)], axis=0)
            table.append({"noise": kind, "responses": q, "rows": n, **dict(zip(RULES, shares))})
    timing.show(table, f"Share identified among {CANDIDATES} stimuli, by rule for the shrinkage, {draws} draws")
    table = []
    for d in (5, 20, 50):
        for information in (1.0, 3.0):
            found = {rows: np.mean([implied(d, information, rows, seed) for seed in range(draws)]) for rows in ROWS}
            table.append({"d": d, "truth": information} | {f"{rows} rows": value for rows, value in found.items()})
    timing.show(table, f"Implied information in nats by rows fitted, y = x + noise in d dimensions, {draws} draws")

    table = []
    for n, p, q in ((100, 5, 10), (60, 100, 8), (60, 5, 200)):
        within, pooled = np.mean([guessing(n, p, q, seed) for seed in range(5 * draws)], axis=0)
        table.append({"rows": n, "columns": p, "responses": q, "within folds": within, "pooled folds": pooled})
    timing.show(table, f"Pairwise accuracy where responses tell nothing (0.5 is right), {5 * draws} draws")


if __name__ == "__main__":
    main()
