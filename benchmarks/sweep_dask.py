"""A forest sweep on two local Dask workers against as many of loky's, warm, in one run.

The cluster is started here, on loopback, with one thread a worker. Both ways begin with workers that have imported
what they need and have none of the data. Goal: at most 1.3 times.
"""

from __future__ import annotations

import numpy as np
import timing
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import classay
from classay.engine import dask
from classay.tables.read import read_table

GOAL = 1.3
SEED = 0


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/sweep_dask.py --subsets 20 --refits 2 --repeats 3")
    parser.add_argument("--data", help="a table for classay.tables.read, of numbers only; default: made, ROWS x 14")
    parser.add_argument("--rows", type=int, default=12_000)
    parser.add_argument("--subsets", type=int, default=20, help="K")
    parser.add_argument("--refits", type=int, default=2, help="R")
    parser.add_argument("--size", type=float, default=0.15, help="share of the training part in a subset")
    parser.add_argument("--trees", type=int, default=100, help="values of n_estimators: 1, 6, 11, … up to this")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3, help="turns of each way")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.subsets, options.refits, options.trees, options.repeats = 1_500, 4, 1, 21, 1

    if options.data:
        table = read_table(options.data)
        X, y = table.X.to_numpy(float), np.unique(table.y, return_inverse=True)[1]
    else:
        X, y = make_classification(options.rows, 14, n_informative=8, flip_y=0.05, random_state=SEED)
    values = range(1, options.trees + 1, 5)
    print(timing.machine())
    print(
        f"{X.shape[0]} x {X.shape[1]}; {options.subsets} subsets x {options.refits} refits x {len(values)} values; "
        f"{options.workers} workers"
    )

    def sweep(executor, subsets: int) -> np.ndarray:
        swept = classay.sweep(
            RandomForestClassifier(),
            X,
            y,
            param_name="n_estimators",
            param_range=values,
            scheme=classay.Subsets(subsets, size=options.size),
            repeats=options.refits,
            random_state=SEED,
            executor=executor,
        )
        return np.stack([swept.records[value].labels for value in values])

    from distributed import LocalCluster

    few = 2 * options.workers
    with (
        LocalCluster(
            n_workers=options.workers, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=None
        ) as local,
        dask.connect(local.scheduler_address) as executor,
    ):
        ways = {"loky": options.workers, "dask": executor}
        turns = timing.Turns(
            {name: lambda way=way: sweep(way, options.subsets) for name, way in ways.items()},
            options.repeats,
            {name: lambda way=way: sweep(way, few) for name, way in ways.items()},
        )
    same = np.array_equal(turns.results["loky"][0], turns.results["dask"][0])
    row = {
        "loky s": turns.median("loky"),
        "dask s": turns.median("dask"),
        "ratio": turns.ratio("dask", "loky"),
        "range": turns.spread("dask", "loky"),
        "goal": f"<= {GOAL}",
        "same": "yes" if same else "no",
    }
    timing.show([row])
    print("`same` says whether both ways gave the same labels. `range` is over turns.")


if __name__ == "__main__":
    main()
