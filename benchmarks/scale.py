"""How the cost of records and sweeps grows with subsets, refits, values, rows and workers, and what a cluster adds.

Every line doubles, or multiplies by four, one thing and leaves the others. `times` is against the line above: 2 for
what doubles means that cost is in proportion. Seconds are processor seconds of one process, but for workers, which are
compared by the clock on the wall, and so only where nothing else runs. The last table has what a cluster adds.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import timing
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import classay
from classay.engine import dask, work

SEED = 0
MOST_TREES = 20
BASE: dict[str, Any] = {"rows": 12_000, "subsets": 20, "refits": 2, "values": 5}
GROWTH: dict[str, list[int]] = {
    "subsets": [10, 20, 40],
    "refits": [1, 2, 4],
    "values": [5, 10, 20],
    "rows": [3_000, 12_000, 48_000],
}


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/scale.py --repeats 3")
    parser.add_argument("--repeats", type=int, default=3, help="turns of each way")
    parser.add_argument("--megabytes", type=int, default=100, help="size of the table that travels to a cluster")
    parser.add_argument("--what", choices=[*GROWTH, "workers", "cluster"], action="append", help="default: all")
    options = parser.parse_args()
    chosen = options.what or [*GROWTH, "workers", "cluster"]
    if options.quick:
        BASE.update(rows=1_000, subsets=4, refits=1, values=2)
        GROWTH.update(subsets=[2, 4], refits=[1, 2], values=[2, 4], rows=[500, 1_000])
        options.repeats, options.megabytes = 1, 5
    print(timing.machine())
    for kind, title in (("tree", "record of a tree"), ("sweep", "sweep of a forest, one fit for all values")):
        rows = [row for what in GROWTH if what in chosen for row in grown(kind, what, options.repeats)]
        if rows:
            timing.show(rows, f"{title}; otherwise {', '.join(f'{name} {number}' for name, number in BASE.items())}")
    if "workers" in chosen:
        timing.show(by_workers(options), "record of a forest by local workers; `in fits`: share of their time")
    if "cluster" not in chosen:
        return
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=None) as local,
        dask.connect(local.scheduler_address) as executor,
    ):
        timing.show(on_cluster(executor, options), "on two Dask workers on this machine")


def grown(kind: str, what: str, repeats: int) -> list[dict[str, Any]]:
    if kind == "tree" and what == "values":
        return []
    ways = {number: (lambda number=number: done(kind, **{**BASE, what: number})) for number in GROWTH[what]}
    few = 4  # subsets: enough for imports
    warm = {number: (lambda number=number: done(kind, **{**BASE, what: number, "subsets": few})) for number in ways}
    turns = timing.Turns(ways, repeats, warm, time.process_time)  # type: ignore[arg-type]
    found = []
    for place, number in enumerate(GROWTH[what]):
        seconds = turns.median(number)  # type: ignore[arg-type]
        before = found[place - 1]["seconds"] if place else np.nan
        found.append({"what": what, "number": number, "seconds": seconds, "times": seconds / before})
    return found


def done(kind: str, rows: int, subsets: int, refits: int, values: int) -> None:
    X, y = make_classification(rows, 14, n_informative=8, flip_y=0.05, random_state=SEED)
    settings = {"scheme": classay.Subsets(subsets), "repeats": refits, "random_state": SEED, "executor": 1}
    if kind == "tree":
        classay.record(DecisionTreeClassifier(), X, y, **settings)
    else:
        trees = np.linspace(1, MOST_TREES, values).round().astype(int).tolist()
        classay.sweep(
            RandomForestClassifier(), X, y, param_name="n_estimators", param_range=sorted(set(trees)), **settings
        )


def by_workers(options: Any) -> list[dict[str, Any]]:
    X, y = make_classification(BASE["rows"], 14, n_informative=8, flip_y=0.05, random_state=SEED)

    def record(workers: int, subsets: int) -> classay.Labelings:
        return classay.record(
            RandomForestClassifier(30), X, y, classay.Subsets(subsets), repeats=2, random_state=SEED, executor=workers
        )

    subsets = 4 if options.quick else 24
    ways: dict[Any, Any] = {number: (lambda number=number: record(number, subsets)) for number in (1, 2)}
    turns = timing.Turns(
        ways, options.repeats, {number: (lambda number=number: record(number, 4)) for number in (1, 2)}
    )
    found = []
    for number in ways:
        shares = [
            made.seconds.sum() / (number * passed) for made, passed in zip(turns.results[number], turns.seconds[number])
        ]
        found.append({"workers": number, "seconds": turns.median(number), "in fits": float(np.median(shares))})
    return found


def on_cluster(executor: Any, options: Any) -> list[dict[str, Any]]:
    count = 50 if options.quick else 500

    def nothing(_: Any, task: int) -> int:
        return task

    def memory(table: np.ndarray, task: int) -> tuple[int, float]:
        import os
        import resource

        table.sum()
        with open("/proc/self/statm") as pages:
            resident = int(pages.read().split()[1]) * resource.getpagesize()
        time.sleep(0.2)
        return os.getpid(), resident / 2**20

    work.run(nothing, range(20), executor=executor)
    begin = time.perf_counter()
    work.run(nothing, range(count), executor=executor)
    per_task = (time.perf_counter() - begin) / count
    small, large = np.zeros((10, 10)), np.ones((options.megabytes * 2**17, 1))
    before = dict(work.run(memory, range(8), shared=small, executor=executor).results.values())
    begin = time.perf_counter()
    dict(work.run(memory, range(1), shared=large, executor=executor).results.values())
    first = time.perf_counter() - begin - 0.2
    after = dict(work.run(memory, range(8), shared=large, executor=executor).results.values())
    more = [after[pid] - before[pid] for pid in after if pid in before]
    X, y = make_classification(BASE["rows"], 14, n_informative=8, random_state=SEED)
    record = classay.record(DecisionTreeClassifier(), X, y, classay.Subsets(4), repeats=2, executor=1)
    return [
        {"what": "milliseconds for a task that does nothing", "value": 1000 * per_task},
        {"what": f"seconds until {options.megabytes} MB are on the first worker", "value": first},
        {"what": f"MB that a worker grows by {options.megabytes} MB of data: least", "value": min(more)},
        {"what": "the same: most", "value": max(more)},
        {"what": "MB of a worker before", "value": max(before.values())},
        {"what": "bytes of an answer per refit and test point", "value": float(record.labels.dtype.itemsize)},
        {"what": "bytes of a task per row of its subset", "value": float(record.train_rows[0].dtype.itemsize)},
    ]


if __name__ == "__main__":
    main()
