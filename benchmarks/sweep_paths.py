"""What shared paths gain: one fit for all values of a parameter, beside one fit for each, on the same rows and seed.

Both ways fit on as many rows as a subset of the paper's EEG table has (1797 x 14) and answer for the same rows, in one
process with one thread. `same` says whether exact paths gave the labels of separate fits, for every value.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import timing
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from classay.learner.fitting import paths
from classay.tables.read import read_table

SEED = 0


@dataclass(frozen=True)
class Sweep:
    """A learner, whose random_state is free where it has one, and the values of one parameter."""

    learner: Any
    param_name: str
    values: tuple[float | None, ...]


def every_fifth(most: int) -> tuple[int, ...]:
    """1, 6, 11, … as in the paper."""
    return tuple(range(1, most + 1, 5))


SWEEPS = {
    "forest": Sweep(RandomForestClassifier(), "n_estimators", every_fifth(200)),
    "extra trees": Sweep(ExtraTreesClassifier(), "n_estimators", every_fifth(200)),
    "AdaBoost": Sweep(AdaBoostClassifier(), "n_estimators", every_fifth(200)),
    "gradient boosting": Sweep(GradientBoostingClassifier(), "n_estimators", every_fifth(100)),
    "histogram boosting": Sweep(HistGradientBoostingClassifier(), "max_iter", every_fifth(100)),
    "neighbours": Sweep(KNeighborsClassifier(), "n_neighbors", every_fifth(200)),
    "neighbours, weighted": Sweep(KNeighborsClassifier(weights="distance"), "n_neighbors", every_fifth(200)),
    "tree depth": Sweep(DecisionTreeClassifier(), "max_depth", every_fifth(70)),
    "forest depth": Sweep(RandomForestClassifier(10), "max_depth", every_fifth(70)),
    "logistic": Sweep(
        make_pipeline(StandardScaler(), LogisticRegression()), "logisticregression__max_iter", every_fifth(200)
    ),
    "logistic, raw": Sweep(LogisticRegression(), "max_iter", every_fifth(200)),
    "logistic, newton-cg": Sweep(LogisticRegression(solver="newton-cg"), "max_iter", every_fifth(200)),
    "stochastic gradient": Sweep(
        make_pipeline(StandardScaler(), SGDClassifier()), "sgdclassifier__max_iter", every_fifth(200)
    ),
    "SVC, C": Sweep(make_pipeline(StandardScaler(), SVC()), "svc__C", tuple(np.logspace(-2, 3, 20).tolist())),
    "SVC, steps": Sweep(make_pipeline(StandardScaler(), SVC()), "svc__max_iter", tuple(range(1, 1001, 50))),
    "tree depth, frozen": Sweep(DecisionTreeClassifier(random_state=SEED), "max_depth", every_fifth(70)),
}


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/sweep_paths.py --repeats 3 --sweep forest --sweep neighbours")
    parser.add_argument("--data", help="a table for classay.tables.read, of numbers only; default: made, ROWS x 14")
    parser.add_argument("--rows", type=int, default=14_980, help="of the made table")
    parser.add_argument("--size", type=float, default=0.12, help="share of the rows to fit on")
    parser.add_argument("--repeats", type=int, default=3, help="turns of each way")
    parser.add_argument("--sweep", choices=SWEEPS, action="append", help="default: all")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.repeats = 2_000, 1

    if options.data:
        table = read_table(options.data)
        X, y = table.X.to_numpy(float), np.unique(table.y, return_inverse=True)[1]
    else:
        X, y = make_classification(options.rows, 14, n_informative=8, flip_y=0.05, random_state=SEED)
    order = np.random.default_rng(SEED).permutation(len(y))
    fit, ask = np.split(order[: int(len(y) * (options.size + 0.2))], [int(len(y) * options.size)])
    print(timing.machine())
    print(f"fitted on {fit.size} x {X.shape[1]}, asked on these and {ask.size} more; seconds of the processor")
    sweeps = {name: SWEEPS[name] for name in options.sweep or SWEEPS}
    if options.quick:
        sweeps = {name: replace(sweep, values=sweep.values[:4]) for name, sweep in sweeps.items()}
    rows = [
        compare(name, sweep, X[fit], y[fit], X[np.concatenate([ask, fit])], options.repeats)
        for name, sweep in sweeps.items()
    ]
    timing.show(rows)
    print("`ratio` is separate over shared; `range` is over turns.")


def compare(name: str, sweep: Sweep, X: np.ndarray, y: np.ndarray, asked: np.ndarray, repeats: int) -> dict[str, Any]:
    """One row of the table: both ways in turn."""
    path = paths.path_for(sweep.learner, sweep.param_name, sweep.values)
    assert path is not None, f"{name} has no path"
    free = [key for key, value in sweep.learner.get_params().items() if key.endswith("random_state") and value is None]
    seeded = clone(sweep.learner).set_params(**dict.fromkeys(free, SEED))

    def separate() -> list[Any]:
        fits = (clone(seeded).set_params(**{sweep.param_name: value}) for value in sweep.values)
        return [learner.fit(X, y).predict(asked) for learner in fits]

    def shared() -> list[Any]:
        return list(path.answers(seeded, sweep.param_name, sweep.values, X, y, asked))

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few steps do not converge, and say so
        turns = timing.Turns({"separate": separate, "shared": shared}, repeats, clock=time.process_time)
    both = zip(turns.results["separate"][0], turns.results["shared"][0])
    same = "yes" if all(np.array_equal(one, other) for one, other in both) else "NO"
    return {
        "sweep": name,
        "parameter": sweep.param_name.rpartition("__")[2],
        "values": len(sweep.values),
        "path": path.KIND,
        "separate (s)": turns.median("separate"),
        "shared (s)": turns.median("shared"),
        "ratio": turns.ratio("separate", "shared"),
        "range": turns.spread("separate", "shared"),
        "same": same if path.EXACT else "in distribution",
    }


if __name__ == "__main__":
    main()
