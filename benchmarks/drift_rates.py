"""How often a drift monitor raises an alarm: when nothing changes, when the concept does, when only the rows do.

Streams are drawn from a process whose truth is known: five columns uniform on [0, 1], label 1 where x0 + 0.7·x1 exceeds
0.85, up to noise; for a regressor the target is x0 + 0.7·x1 itself, with normal or heavy-tailed (Student's t with 1.5
degrees of freedom) noise. Each stream has a fresh reference, then batches without change, then batches with one:

- concept, small, large: the boundary turns from x1 to x2 by a third, or altogether; columns are as before;
- rows, mild, strong: the columns that matter shift (Beta distributed), the boundary stays. An alarm is then false.

Each cell has three shares of batches: with the verdict "concept moved"; with "rows moved"; and, to compare, with an old
concept whose accuracy or error alone, checked by the same means, is worse than usual. Goals: alarms without change at
most at the stated rate of 5 %, changes of the concept found at least as often as by that check, and "concept moved" in
at most 10 % of batches of which only the rows moved.
"""

from __future__ import annotations

import warnings

import numpy as np
import timing
from sklearn.base import is_regressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from classay import DriftMonitor
from classay.engine import work

LEARNERS = {
    "tree, depth 4": DecisionTreeClassifier(max_depth=4),
    "tree": DecisionTreeClassifier(),
    "logistic regression": LogisticRegression(),
    "forest of 20": RandomForestClassifier(n_estimators=20),
    "ridge": Ridge(),
    "regression tree, depth 4": DecisionTreeRegressor(max_depth=4),
}
CHANGES = {
    "concept, small": {"turn": 1 / 3},
    "concept, large": {"turn": 1.0},
    "rows, mild": {"shift": 2.0},
    "rows, strong": {"shift": 4.0},
}
QUIET = 3
"""Batches without change in each stream."""


def draw(rng, n, kind, turn=0.0, shift=1.0):
    """`kind`: labels, or numbers with normal or heavy noise."""
    X = rng.uniform(size=(n, 5))
    X[:, :2] = rng.beta(shift, 1, size=(n, 2))
    noise = rng.standard_t(1.5, size=n) if kind == "heavy" else rng.normal(size=n)
    score = X[:, 0] + 0.7 * ((1 - turn) * X[:, 1] + turn * X[:, 2]) + 0.2 * noise
    return X, score > 0.85 if kind == "labels" else score


def stream(settings, seed):
    """What came of each batch without change, and of one batch under each change."""
    learner, size, ratio, probes, rate, noise, changes = settings
    kind = noise if is_regressor(learner) else "labels"
    rng = np.random.default_rng([seed, size, ratio])
    monitor = DriftMonitor(learner, probes=probes, false_alarm_rate=rate, random_state=seed, executor=1)
    monitor.fit(*draw(rng, size * ratio, kind), batch_size=size)
    state = monitor._state

    def check(update):
        verdict = update.verdict
        return (
            verdict == "concept moved",
            verdict == "rows moved",
            update.p_metric <= rate,
            verdict == "learner unsteady",
        )

    found = {"none": [check(monitor.update(*draw(rng, size, kind))) for _ in range(QUIET)]}
    before = state.last, list(state.updates)
    for name in changes:
        found[name] = [check(monitor.update(*draw(rng, size, kind, **CHANGES[name])))]
        # Each change comes after the same quiet batches.
        state.last, state.updates = before[0], list(before[1])
    return found


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/drift_rates.py --streams 100 --learners 'logistic regression'")
    parser.add_argument("--streams", type=int, default=200, help="streams of each cell")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100], help="rows of a batch")
    parser.add_argument("--ratios", type=int, nargs="+", default=[5, 20], help="batches in the reference")
    parser.add_argument(
        "--learners", nargs="+", default=["tree, depth 4", "logistic regression"], choices=list(LEARNERS)
    )
    parser.add_argument("--probes", nargs="+", default=["uniform", "data"], help="how probes are drawn")
    parser.add_argument("--rate", type=float, default=0.05, help="stated false-alarm rate")
    parser.add_argument("--noise", choices=["normal", "heavy"], default="normal", help="of the target of regressors")
    parser.add_argument("--workers", type=int, help="local workers; default: one a core")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    streams = 4 if options.quick else options.streams
    print(timing.machine(), flush=True)
    rows = []
    for learner in options.learners:
        for size in options.sizes:
            for ratio in options.ratios:
                for probes in options.probes:
                    settings = (LEARNERS[learner], size, ratio, probes, options.rate, options.noise, tuple(CHANGES))
                    outcome = work.run(stream, range(streams), shared=settings, executor=options.workers)
                    cell = {"learner": learner, "batch": size, "reference": f"{ratio}x", "probes": probes}
                    rows.append(cell | summary(list(outcome.results.values())))
                    print(" ".join(str(value) for value in rows[-1].values()), flush=True)
    timing.show(rows, f"Share of batches with an alarm at a stated rate of {options.rate:g}")


def summary(streams):
    shares = {
        name: np.array([each for stream in streams for each in stream[name]], dtype=float).mean(axis=0)
        for name in ("none", *CHANGES)
    }
    cells = {name: "/".join(f"{share:.3f}" for share in each[:3]) for name, each in shares.items()}
    return cells | {"unsteady": f"{shares['none'][3]:.2f}"}


if __name__ == "__main__":
    main()
