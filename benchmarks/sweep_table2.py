"""The eight sweeps of the paper's Table 2 on EEG: fits that values share against a fit for every value.

Both on the same number of workers, in turns, with the same subsets, refits and seeds, and few holdouts, so that fits
are what is timed. What a path answers exactly is compared bit for bit; what it answers in distribution, by the largest
difference of accuracy at a value, in standard errors over refits. Linear SVC and SVC have a path only where they stop
before the last value. As in the authors' runs, logistic regression and both SVC have a fixed random state, so that one
refit a subset tells all, and the forest along its depth has 10 trees.

DIR needs tabular/eeg_eye_state.csv.gz. Goal: in all at least 8 times faster.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import sources
import timing
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import classay

SWEEPS = {
    "neighbours": (KNeighborsClassifier(), "n_neighbors", range(1, 201, 5)),
    "tree depth": (DecisionTreeClassifier(), "max_depth", range(1, 71, 5)),
    "linear SVC": (LinearSVC(random_state=0), "max_iter", range(1, 1001, 50)),
    "SVC": (SVC(random_state=0), "max_iter", range(1, 1001, 50)),
    "logistic regression": (LogisticRegression(random_state=0), "max_iter", range(1, 201, 10)),
    "forest depth": (RandomForestClassifier(10), "max_depth", range(1, 71, 5)),
    "forest size": (RandomForestClassifier(), "n_estimators", range(1, 201, 5)),
    "AdaBoost": (AdaBoostClassifier(), "n_estimators", range(1, 101, 5)),
}
GOAL = 8.0


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/sweep_table2.py --data DIR")
    parser.add_argument("--data", type=Path, metavar="DIR", help="the folder described above")
    parser.add_argument("--sweep", action="append", choices=SWEEPS, help="only this one; may be given again")
    parser.add_argument("--subsets", type=int, default=20)
    parser.add_argument("--refits", type=int, default=5)
    parser.add_argument("--every", type=int, default=1, help="every so manieth value only")
    parser.add_argument("--rows", type=int, help="at most so many rows")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=1, help="turns")
    options = parser.parse_args()
    if options.quick:
        options.subsets, options.refits, options.every, options.rows = 3, 2, 5, 2000
    try:
        rows = sources.load("eeg", options.data, options.rows)
    except FileNotFoundError as problem:
        sys.exit(f"Skipped: {problem}")
    print(timing.machine())
    warnings.simplefilter("ignore")
    found = [measured(name, rows, options) for name in options.sweep or SWEEPS]
    timing.show(found, "Seconds for a sweep, and how many times faster when values share fits")
    shared, apart = (sum(row[way] for row in found) for way in ("shared", "apart"))
    print(f"\nIn all: {apart:.1f} s apart, {shared:.1f} s shared, {apart / shared:.1f} times faster (goal {GOAL:g}).")


def measured(name: str, rows: sources.Rows, options) -> dict[str, object]:
    learner, parameter, values = SWEEPS[name]
    values = list(values)[:: options.every]

    def swept(share: bool) -> classay.results.Sweep:
        return classay.sweep(
            learner, rows.X, rows.y, parameter, values, classay.Subsets(options.subsets), options.refits,
            executor=options.workers, share_paths=share, holdouts=5,
        )  # fmt: skip

    ways = {"shared": lambda: swept(True), "apart": lambda: swept(False)}
    # Workers are started and have imported scikit-learn before the clock starts.
    warm = lambda: classay.sweep(  # noqa: E731
        DecisionTreeClassifier(), rows.X[:300], rows.y[:300], "max_depth", [1, 2], classay.Subsets(4), 1,
        executor=options.workers,
    )  # fmt: skip
    turns = timing.Turns(ways, options.repeats, {"shared": warm})
    one, other = (turns.results[way][0] for way in ("shared", "apart"))
    row = {
        "sweep": name,
        "values": len(values),
        "path": ", ".join(sorted({use.kind for use in one.paths})),
        "shared": turns.median("shared"),
        "apart": turns.median("apart"),
        "times": turns.ratio("apart", "shared"),
        "of fits alone": seconds_of(other) / seconds_of(one),
        "equal": agreement(one, other),
    }
    print(f"{name}: {row['times']:.1f} times", file=sys.stderr, flush=True)
    return row


def seconds_of(found: classay.results.Sweep) -> float:
    """Seconds that fits and predictions took in workers, without what is around them."""
    return sum(float(np.nansum(each.seconds)) for each in found.records.values())


def agreement(one: classay.results.Sweep, other: classay.results.Sweep) -> str:
    """Whether all labels are the same; if not, the largest difference in accuracy, in errors."""
    same = [np.array_equal(one.records[value].labels, other.records[value].labels) for value in one.values]
    if all(same):
        return "bit for bit"
    frames = [each.to_frame().query("metric == 'test_accuracy'").set_index("value") for each in (one, other)]
    # Both have the same subsets and points, so that only the dice differ: over refits of a subset.
    dice = pd.Series(
        {value: np.mean([each.records[value].test_accuracy.std(axis=1, ddof=1).mean() for each in (one, other)])
         / np.sqrt(one.records[value].labels.shape[0] * one.records[value].labels.shape[1] / 2)
         for value in one.values}
    )  # fmt: skip
    apart = (frames[0].estimate - frames[1].estimate).abs() / dice.reindex(frames[0].index).clip(lower=1e-12)
    return f"{apart.max():.1f} errors at most"


if __name__ == "__main__":
    main()
