"""`record` and `stability` against stable-cart's `bootstrap_instability`: the same number of refits, on the same split.

Both fit N bootstrap samples of the training part and compare them on the test part, which is `probes="data"` here.
stable-cart's `pairwise_mean` is the expected disagreement of two refits, so it should be 1 − stability: to rounding
when fed with its own predictions, and within the errors of both when each draws its own. stable-cart also fits the
whole training part once; a record also labels the rows of each fit, and can be asked other things later. Its standard
error is over refits alone; that of stability includes the points. Goals: faster on two cores; the same figure.
"""

from __future__ import annotations

import math
import sys
import time

import numpy as np
import timing
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import classay
from classay.splits import split_by_share
from classay.tables.read import read_table

SEED, TEST_SIZE = 0, 0.2
LEARNERS = {
    "tree": DecisionTreeClassifier(random_state=0),
    "logistic regression": LogisticRegression(max_iter=300),
    "forest of 20": RandomForestClassifier(20, random_state=0),
}


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/against_stable_cart.py --refits 50 --repeats 3")
    parser.add_argument("--data", help="a table for classay.tables.read, of numbers only; default: made, ROWS x 14")
    parser.add_argument("--rows", type=int, default=4_000)
    parser.add_argument("--refits", type=int, default=50, help="N bootstrap fits")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3, help="turns of each way")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.refits, options.repeats = 500, 6, 1
    try:
        import stable_cart
    except ImportError:
        sys.exit("stable-cart is not installed, so there is nothing to compare with. Run `pip install stable-cart`.")

    if options.data:
        table = read_table(options.data)
        X, y = table.X.to_numpy(float), np.unique(table.y, return_inverse=True)[1]
    else:
        X, y = make_classification(options.rows, 14, n_informative=8, flip_y=0.05, random_state=SEED)
    print(f"{timing.machine()}, stable-cart {stable_cart.__version__}")
    print(f"{X.shape[0]} x {X.shape[1]}; {options.refits} refits", flush=True)
    speed, figures = [], []
    for name, learner in LEARNERS.items():
        both = take_turns(learner, X, y, options)
        speed += [
            {
                "learner": name,
                "record on": way,
                "stable-cart": turns.median("stable-cart"),
                "record and stability": turns.median("record"),
                "times faster": turns.ratio("stable-cart", "record"),
                "range": turns.spread("stable-cart", "record"),
            }
            for way, turns in both.items()
        ]
        theirs, ours = (next(iter(both.values())).results[way][0] for way in ("stable-cart", "record"))
        error = math.hypot(theirs["pairwise_standard_error"], ours.standard_error)
        figures.append(
            {
                "learner": name,
                "1 - pairwise_mean": 1 - theirs["pairwise_mean"],
                "stability": ours.stability.value,
                "apart, in errors of both": abs(1 - theirs["pairwise_mean"] - ours.stability.value) / error,
                "its predictions, in our hands: apart": same_predictions(learner, X, y, options),
                "its error": theirs["pairwise_standard_error"],
                "our error": ours.standard_error,
            }
        )
    timing.show(speed, "Median of turns; goal: faster on two cores, which other work on the machine takes away")
    timing.show(figures, "The same figure; the bootstraps differ, so they agree up to chance")


def parts(X, y):
    train, test = split_by_share(y, TEST_SIZE, SEED)
    return X[train], y[train], X[test]


def take_turns(learner, X, y, options) -> dict[str, timing.Turns]:
    from sklearn.base import clone
    from stable_cart import bootstrap_instability

    def theirs(refits=options.refits):
        asked = {"task": "categorical", "n_bootstrap": refits, "random_state": SEED}
        return bootstrap_instability(lambda: clone(learner), *parts(X, y), **asked)

    def ours(workers, refits=options.refits):
        scheme = classay.Subsets(refits, size=1.0, replace=True)
        labelings = classay.record(learner, X, y, scheme, 1, TEST_SIZE, random_state=SEED, executor=workers)
        return classay.stability(labelings)

    shared = {"stable-cart": theirs, "record": lambda: ours(options.workers)}
    warm = {"record": lambda: ours(options.workers, 2 * options.workers)}
    alone = {"stable-cart": theirs, "record": lambda: ours(1)}
    return {
        f"{options.workers} workers, seconds": timing.Turns(shared, options.repeats, warm),
        "1 worker, processor seconds": timing.Turns(alone, options.repeats, clock=time.process_time),
    }


def same_predictions(learner, X, y, options) -> float:
    """How far apart the two figures are on stable-cart's own predictions."""
    from sklearn.base import clone
    from stable_cart import bootstrap_predictions

    asked = {"task": "categorical", "n_bootstrap": min(options.refits, 20), "random_state": SEED}
    raw = bootstrap_predictions(lambda: clone(learner), *parts(X, y), **asked)
    labelings = classay.Labelings.from_arrays(raw["bootstrap"], raw["original"])
    return abs(1 - float(np.mean(raw["pairwise"])) - classay.stability(labelings).stability.value)


if __name__ == "__main__":
    main()
