"""Seconds for a million predictions: the record, the comparison, the judges and the repeats.

python benchmarks/predictions_speed.py
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

import classay
from classay import characterize


def timed(name: str, work):
    begin = time.perf_counter()
    result = work()
    print(f"{name}: {time.perf_counter() - begin:.1f} s", flush=True)
    return result


def main() -> None:
    rng = np.random.default_rng(0)
    n = 200_000
    truth = rng.integers(5, size=n)
    parts = []
    for run in range(5):  # 200,000 items x 5 runs
        said = np.where(rng.random(n) < 0.1, rng.integers(5, size=n), truth)
        parts.append(pd.DataFrame({"id": np.arange(n), "run": run, "pred": said, "label": truth}))
    table = pd.concat(parts, ignore_index=True)
    table["age"] = np.tile(rng.integers(18, 90, n), 5)
    roles = {"truth": "label", "item": "id", "run": "run"}
    record = timed("from_frame, 10^6 predictions", lambda: classay.Labelings.from_frame(table, **roles))
    timed("stability", lambda: classay.stability(record))
    timed("judges", lambda: classay.judges(record))
    timed("repeats_needed", lambda: classay.judges(record).repeats_needed())
    timed("report on predictions", lambda: characterize(record))
    one = rng.integers(5, size=10**6)
    old = classay.Labelings.from_arrays([np.where(rng.random(10**6) < 0.1, 0, one)], one)
    new = classay.Labelings.from_arrays([np.where(rng.random(10**6) < 0.1, 1, one)], one)
    timed("compare, 10^6 items", lambda: classay.compare(old, new))
    rows = pd.DataFrame({"age": rng.integers(18, 90, 10**6), "job": rng.choice(list("abcd"), 10**6)})
    timed("compare with a table of 2 columns", lambda: classay.compare(old, new, rows))


if __name__ == "__main__":
    main()
