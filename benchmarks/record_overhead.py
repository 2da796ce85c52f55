"""What recording costs beside bare fit-and-predict of the same refits on as many warm workers.

The bare loop gives each worker the data and all row numbers before the clock starts; the record sends them, varies
seeds, catches warnings and errors, and keeps training accuracy and seconds. Two bare loops are run: one predicts the
test part only, one its training rows as well, as the record does. Goal: at most 1.15 times. A record that keeps labels
only is run as well: what scores cost beside it.
"""

from __future__ import annotations

import numpy as np
import timing
from bare import Bare
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import classay
from classay.tables.read import read_table

LEARNERS = {
    "tree": DecisionTreeClassifier(),
    "forest": RandomForestClassifier(n_estimators=50),
    "logistic": LogisticRegression(max_iter=200),
    "neighbours": KNeighborsClassifier(),
    "boosting": HistGradientBoostingClassifier(max_iter=30),
}
GOAL = 1.15
SEED = 0


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/record_overhead.py --subsets 40 --refits 5 --repeats 5")
    parser.add_argument("--data", help="a table for classay.tables.read, of numbers only; default: made, ROWS x 14")
    parser.add_argument("--rows", type=int, default=12_000)
    parser.add_argument("--subsets", type=int, default=40, help="K")
    parser.add_argument("--refits", type=int, default=5, help="R")
    parser.add_argument("--size", type=float, default=0.15, help="share of the training part in a subset")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5, help="turns of each way")
    parser.add_argument("--learner", choices=LEARNERS, action="append", help="default: all")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.subsets, options.refits, options.repeats = 1_500, 4, 2, 2

    if options.data:
        table = read_table(options.data)
        X, y = table.X.to_numpy(float), np.unique(table.y, return_inverse=True)[1]
    else:
        X, y = make_classification(options.rows, 14, n_informative=8, flip_y=0.05, random_state=SEED)
    X = StandardScaler().fit_transform(X)
    print(timing.machine())
    print(
        f"{X.shape[0]} x {X.shape[1]}; {options.subsets} subsets x {options.refits} refits; {options.workers} workers"
    )
    chosen = options.learner or list(LEARNERS)
    timing.show([row for name in chosen for row in compare(name, X, y, options)])
    print("`same` says whether both ways gave the same labels. `range` is over turns.")


def compare(name: str, X: np.ndarray, y: np.ndarray, options) -> list[dict[str, object]]:
    learner = LEARNERS[name]

    def record(subsets: int, scores: bool | str = "auto") -> classay.Labelings:
        scheme = classay.Subsets(subsets, size=options.size)
        return classay.record(
            learner, X, y, scheme, repeats=options.refits, random_state=SEED, executor=options.workers, scores=scores
        )

    bare = Bare(learner, X, y, record(options.subsets), SEED, options.workers)
    few = min(2 * options.workers, options.subsets)
    ways = {
        "test": lambda: bare.run(False),
        "record": lambda: record(options.subsets),
        "labels only": lambda: record(options.subsets, scores=False).labels,
        "test + own": lambda: bare.run(True),
    }
    warm = {
        "test": lambda: bare.run(False, few),
        "record": lambda: record(few),
        "labels only": lambda: record(few, scores=False).labels,
        "test + own": lambda: bare.run(True, few),
    }
    try:
        turns = timing.Turns(ways, options.repeats, warm)
    finally:
        bare.close()
    labels = turns.results["record"][0].labels
    return [
        {
            "learner": name,
            "beside": way,
            "beside s": turns.median(way),
            "record s": turns.median("record"),
            "ratio": turns.ratio("record", way),
            "range": turns.spread("record", way),
            "goal": f"<= {GOAL}",
            "same": "yes" if np.array_equal(labels, turns.results[way][0]) else "no",
        }
        for way in ("test", "test + own", "labels only")
    ]


if __name__ == "__main__":
    main()
