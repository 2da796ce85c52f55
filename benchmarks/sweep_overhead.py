"""What a sweep costs beside its fits: idle workers, files of the store, and going on after a crash.

A forest along `n_estimators` on made-up rows. Idle share: 1 − seconds that fits took in workers / (workers x seconds of
the whole sweep), measured with warm workers, without a store and with one. Resume: the seconds of the same call
when all parts but the last are in the store, less those of the last fit, over the seconds of the whole run.
Goals: idle under 10 % at 100 subsets, resuming under 2 %.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import timing
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import classay
from classay.engine.store import Chunks
from classay.learner.fitting import checkpoints
from classay.learner.sweep.sweep import _measured as measured


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/sweep_overhead.py --subsets 100")
    parser.add_argument("--subsets", type=int, default=100)
    parser.add_argument("--refits", type=int, default=5)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--rows", type=int, default=8000)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    if options.quick:
        options.subsets, options.refits, options.trees, options.rows = 10, 2, 10, 1000
    print(timing.machine())
    X, y = make_classification(options.rows, 14, n_informative=8, random_state=0)
    values = list(range(1, options.trees + 1, 5))

    def swept(store: Path | None = None, subsets: int = options.subsets) -> classay.results.Sweep:
        return classay.sweep(
            RandomForestClassifier(), X, y, "n_estimators", values, classay.Subsets(subsets), options.refits,
            executor=options.workers, store=store,
        )  # fmt: skip

    swept(subsets=4)  # workers start and import
    folder = Path(tempfile.mkdtemp())
    try:
        rows = []
        for name, store in (("without a store", None), ("with a store", folder / "first")):
            begin = time.perf_counter()
            found = swept(store)
            whole = time.perf_counter() - begin
            fits = sum(float(np.nansum(one.seconds)) for one in found.records.values())
            rows.append({"": name, "seconds": whole, "in fits": fits, "idle": 1 - fits / (options.workers * whole)})
        timing.show(rows, "Share of the workers' time that is not fits, measuring included (goal: idle under 0.1)")
        resumed, run = resume(folder, swept, rows[1]["seconds"], options.workers)
        print(f"\nGoing on when all but one part is there: {resumed:.2f} s, {resumed / run:.2%} of the run (goal 2 %).")
    finally:
        shutil.rmtree(folder)


def resume(folder: Path, swept, run: float, workers: int) -> tuple[float, float]:
    """Seconds of a call that finds all parts but one, less that part's fits and what the measures take."""
    kept = Chunks.remove
    Chunks.remove = lambda self: None
    try:
        swept(folder / "second")
    finally:
        Chunks.remove = kept
    for path in (folder / "second").glob("*.classay"):
        path.unlink()
    *_, last = sorted((folder / "second" / "unfinished").glob("*/[!.]*.classay"))
    last.unlink()
    begin = time.perf_counter()
    found = swept(folder / "second")
    again = time.perf_counter() - begin
    begin = time.perf_counter()
    measured(found.records, (5, 100, 0, 0.95), workers)  # as the call itself measures
    measures = time.perf_counter() - begin
    _, refits = checkpoints.place_of(last.stem)
    fits = sum(float(np.nansum(one.seconds[-1, list(refits)])) for one in found.records.values())
    return again - measures - fits, run


if __name__ == "__main__":
    main()
