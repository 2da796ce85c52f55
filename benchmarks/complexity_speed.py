"""`complexity` against the matrix products that it cannot avoid, its growth with the rows, and its memory.

The floor of Mahalanobis distances of n rows to c classes in d columns: a scatter X_cᵀX_c of each class, and a product
of all rows with the inverse factor of each class, n·c·d² multiplications, by plain NumPy and the same BLAS. Factors
are triangular, which halves the multiplications for those who use it: the stricter floor. Gaussian classes of uneven
size. Goals: at most 2 x the floor; seconds grow as rows^1.05 at most; ten times the rows, in chunks, in the same
memory («all at once» shows that the gauge sees what is held). Few rows are ruled by fixed costs, so that the growth of
the last two sizes tells more than that of all. Seconds are processor seconds on one thread, unless --threads says
otherwise, so that a busy machine does not matter.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import timing
from scipy.linalg import blas
from threadpoolctl import threadpool_limits

from classay.data.geometry.moments import Geometry
from classay.data.rows import complexity

GOAL, EXPONENT, MEMORY = 2.0, 1.05, 1.1
CHUNK = 10_000


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/complexity_speed.py --rows 50000 --columns 384 --classes 41")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--columns", type=int, default=384)
    parser.add_argument("--classes", type=int, default=41)
    parser.add_argument("--repeats", type=int, default=3, help="turns of each way")
    parser.add_argument(
        "--grow", type=int, nargs="+", default=[5_000, 10_000, 20_000, 40_000, 80_000, 160_000], help="rows"
    )
    parser.add_argument("--grow-columns", type=int, default=48)
    parser.add_argument("--grow-classes", type=int, default=10)
    parser.add_argument("--chunks", type=int, default=10, help=f"of {CHUNK} rows, and ten times as many")
    parser.add_argument("--threads", type=int, default=1, help="of BLAS; more than one: seconds on the wall are taken")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(**json.loads(options.child))
        return
    if options.quick:
        options.rows, options.columns, options.classes, options.repeats = 1_500, 16, 5, 1
        options.grow, options.grow_columns, options.chunks = [500, 1_000, 2_000], 8, 1
    print(f"{timing.machine()}, {options.threads} BLAS threads")
    threadpool_limits(options.threads)
    against_floor(options)
    growth(options)
    memory(options)


def made(rows: int, columns: int, classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian classes, the largest about four times as large as the smallest, each with a covariance of its own."""
    rng = np.random.default_rng(seed)
    share = np.linspace(1, 4, classes)
    y = rng.choice(classes, rows, p=share / share.sum())
    X = rng.standard_normal((rows, columns))
    # Columns follow their neighbours, more or less closely by class.
    X[:, 1:] += np.linspace(0, 0.8, classes)[y, None] * X[:, :-1]
    X += 0.3 * rng.standard_normal((classes, columns))[y]
    return X, y


def floor(X: np.ndarray, y: np.ndarray, factors: list[np.ndarray], triangular: bool = False) -> None:
    """The products: a scatter for each class, and all rows times the inverse factor of each."""
    for code in range(len(factors)):
        rows = X[y == code]
        rows.T @ rows
    for factor in factors:
        if triangular:
            blas.dtrmm(1.0, factor, X.T, lower=0, trans_a=1)
        else:
            X @ factor


def against_floor(options) -> None:
    X, y = made(options.rows, options.columns, options.classes)
    rng = np.random.default_rng(1)
    factors = [
        np.asfortranarray(np.triu(rng.standard_normal((options.columns, options.columns))))
        for _ in range(options.classes)
    ]
    ways = {
        "floor": lambda: floor(X, y, factors),
        "stricter floor": lambda: floor(X, y, factors, triangular=True),
        "the paper's (no folds, τ = 1)": lambda: complexity(X, y, "mahalanobis", cross_fit=False, temperature=1),
        "cross-fitted, τ fitted": lambda: complexity(X, y, "mahalanobis"),
    }
    turns = timing.Turns(ways, options.repeats, clock=clock(options))
    rows = [
        {
            "Mahalanobis": name,
            "seconds": turns.median(name),
            "times the floor": turns.ratio(name, "floor"),
            "range": turns.spread(name, "floor"),
            "goal": "" if "floor" in name else f"≤ {GOAL:g}",
            "times the stricter": turns.ratio(name, "stricter floor"),
        }
        for name in ways
    ]
    timing.show(rows, f"{options.rows} x {options.columns} in {options.classes} classes of {sizes(y)} rows")


def growth(options) -> None:
    X, y = made(max(options.grow), options.grow_columns, options.grow_classes)
    ways = {
        f"{distance}, {n}": (lambda n=n, distance=distance: complexity(X[:n], y[:n], distance))
        for distance in ("mahalanobis", "auto")
        for n in options.grow
    }
    complexity(X[:200], y[:200])  # imports
    turns = timing.Turns(ways, options.repeats, clock=clock(options))
    rows = []
    for distance in ("mahalanobis", "auto"):
        seconds = [turns.median(f"{distance}, {n}") for n in options.grow]
        exponent = float(np.polyfit(np.log(options.grow), np.log(seconds), 1)[0])
        late = float(np.log(seconds[-1] / seconds[-2]) / np.log(options.grow[-1] / options.grow[-2]))
        rows.append({"distance": distance, **{str(n): each for n, each in zip(options.grow, seconds)}})
        rows[-1] |= {"exponent": exponent, "of the last two": late, "goal": f"≤ {EXPONENT:g}"}
    timing.show(rows, f"Seconds by rows, {options.grow_columns} columns, {options.grow_classes} classes, cross-fitted")


def memory(options) -> None:
    whats = ("geometry in chunks", "and complexity by it", "all at once, no chunks")
    rows = []
    for chunks in (options.chunks, 10 * options.chunks):
        for what in whats:
            asked = {"chunks": chunks, "columns": options.grow_columns, "classes": options.grow_classes, "what": what}
            command = [sys.executable, __file__, "--child", json.dumps(asked)]
            told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            rows.append({"rows": chunks * CHUNK, "what": what, **told})
    for row, first in zip(rows, rows[: len(whats)] * 2):
        row["times the first"] = row["peak MB"] / first["peak MB"]
        row["goal"] = "" if row is first or row["what"] == whats[-1] else f"≤ {MEMORY:g}"
    timing.show(rows, f"Chunks of {CHUNK} rows x {options.grow_columns}, a process each, with all that it imports")


def child(chunks: int, columns: int, classes: int, what: str) -> None:
    """Pass over chunks that are made one at a time, twice if rows are measured, and tell the peak of memory."""
    geometry, mean = Geometry(), 0.0
    begin = time.perf_counter()
    if what.startswith("all at once"):
        parts = [made(CHUNK, columns, classes, number) for number in range(chunks)]
        geometry.partial_fit(*(np.concatenate(part) for part in zip(*parts)))
        chunks = 0
    for number in range(chunks):
        geometry.partial_fit(*made(CHUNK, columns, classes, number))
    for number in range(chunks if what.startswith("and complexity") else 0):
        X, y = made(CHUNK, columns, classes, number)
        mean += complexity(geometry, X_eval=X, y_eval=y, distance="mahalanobis", temperature=1).values.mean() / chunks
    print(json.dumps({"seconds": time.perf_counter() - begin, "peak MB": peak()}))


def peak() -> float:
    """Most MB that this process has held. Where there is no /proc, what it began with may be its parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())[0]) / 2**10
    # Linux hands a parent's peak down to its children here, which would hide all that is smaller.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def clock(options):
    return time.process_time if options.threads == 1 else time.perf_counter


def sizes(y: np.ndarray) -> str:
    counts = np.bincount(y)
    return f"{counts.min()} to {counts.max()}"


if __name__ == "__main__":
    main()
