"""Six learners on five real tables: accuracy, stability by probes, kappa and capacity, as one table in Markdown.

It answers the first open question of Turney (1995): how do distinct learning algorithms compare with respect to
stability? Every learner is fitted on both halves of M random splits of the training part. Stability is the agreement of
the two on the rows of the test part (data), on columns drawn each on its own (marginal), and on the uniform
distribution over the attribute space; kappa is that on uniform probes beyond chance. Capacity, in bits of 5, is what
another sample changes in the labels of 5 test points; it comes from `Subsets`, 15 % of the training part.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import sources
import timing
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import classay
from classay.tables.read import read_table

NAMES = ["eeg", "obesity", "wine_quality", "bank", "spambase"]
PROBES = ("data", "marginal", "uniform")
LEARNERS = {
    "tree": DecisionTreeClassifier(),
    "pruned tree": DecisionTreeClassifier(ccp_alpha=0.01),
    "forest of 50": RandomForestClassifier(50),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=200)),
    "5 nearest neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier()),
    "gradient boosting": HistGradientBoostingClassifier(max_iter=50),
}


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/stability_table.py --data DIR --store runs/stability")
    parser.add_argument("--data", type=Path, required=True, help="the folder with tabular/*.csv.gz")
    parser.add_argument("--only", choices=NAMES, action="append", help="this table alone; repeat for several")
    parser.add_argument("--rows", type=int, default=2_000, help="at most so many rows of each table, at random")
    parser.add_argument("--splits", type=int, default=25, help="M half splits")
    parser.add_argument("--probes", type=int, default=10_000)
    parser.add_argument("--subsets", type=int, default=40, help="of 15 %%, refitted five times, for capacity")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--store", type=Path, help="folder of records; what is there is not fitted again")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.splits, options.probes, options.subsets = 300, 3, 200, 4
    sources.quietly()
    print(timing.machine())
    print("| data | learner | accuracy | stability: data | marginal | uniform | kappa, uniform | capacity |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for name in options.only or NAMES:
        table = read_table(options.data / sources.FILES[name])
        rows = sources.some(len(table.y), options.rows)
        X, y = table.X.iloc[rows].reset_index(drop=True), table.y.iloc[rows].reset_index(drop=True)
        for label, learner in LEARNERS.items():
            print(line(name, label, classay.encoded(learner, X), X, y, options), flush=True)


def line(name: str, label: str, learner, X, y, options: argparse.Namespace) -> str:
    common = {"executor": options.workers, "store": options.store, "name": label}
    splits = classay.HalfSplits(options.splits)
    found = {}
    for probes in ("marginal", "uniform"):
        labelings = classay.record(learner, X, y, splits, 1, probes=probes, n_probes=options.probes, **common)
        found[probes] = classay.stability(labelings)
    # Both records have the same refits, which answered on the test part as well.
    found["data"] = classay.stability(labelings, on="test")
    orientation = classay.orientation(classay.record(learner, X, y, classay.Subsets(options.subsets), 5, **common))
    figures = [
        told(found["data"].accuracy),
        *(told(found[probes].stability) for probes in PROBES),
        told(found["uniform"].kappa),
        told(orientation.capacity, 2),
    ]
    return f"| {name} | {label} | {' | '.join(figures)} |"


def told(estimate: classay.Estimate, digits: int = 3) -> str:
    """Value and half the width of its interval."""
    half = (estimate.high - estimate.low) / 2
    text = f"{estimate.value:.{digits}f} ± {half:.{digits}f}" if np.isfinite(estimate.value) else "undefined"
    return text.replace("0.", ".")


if __name__ == "__main__":
    main()
