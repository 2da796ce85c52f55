"""`Ranks` against one read of the scores, the time of the whole curve after that, and memory when rows are streamed.

The floor is `np.sum` of the same matrix, in single precision. «Counting» is of classes lower and tied; «with z» takes
the mean and spread of the other classes in the same pass, and looks for NaN; «with groups» is all of
`Ranks.from_scores`, which counts the first rows of every class by group, 20,000 rows or so however many there are. All
on one thread; processor seconds, so that a busy machine matters less. Goals: counting at most 2.2 x the floor; the
curve for every k with its band within 0.15 s; no more memory for more rows, but for the 20 bytes that are kept of a
row, and as many while they are put end to end. A million rows of 10,000 classes are 40 GB of scores: chunks of them
are made, counted and forgotten, and what grows is printed by row.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import timing
from threadpoolctl import threadpool_limits

import classay
from classay.classes.ranks.counts import RowCounter, blocks

GOAL, SECONDS, BYTES = 2.2, 0.15, 60


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/ranks_speed.py --rows 50000 --classes 5000")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--classes", type=int, default=5_000)
    parser.add_argument("--repeats", type=int, default=5, help="turns of each way")
    parser.add_argument("--stream-classes", type=int, default=10_000)
    parser.add_argument("--chunk", type=int, default=500, help="rows streamed at a time")
    parser.add_argument("--stream", type=int, nargs="+", default=[10_000, 100_000, 200_000, 300_000], help="rows")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    threadpool_limits(1)
    if options.child:
        child(**json.loads(options.child))
        return
    if options.quick:
        options.rows, options.classes, options.repeats = 500, 200, 2
        options.stream_classes, options.chunk, options.stream = 100, 100, [200, 400]
    print(f"{timing.machine()}, 1 thread")
    speed(options)
    memory(options)


def made(rows: int, classes: int, seed: int = 0, out: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Scores of which the true one is higher by 2.5 standard deviations."""
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((rows, classes), dtype=np.float32, out=out)
    y = rng.integers(classes, size=rows)
    scores[np.arange(rows), y] += 2.5
    return scores, y


def counted(scores: np.ndarray, y: np.ndarray, statistics: bool) -> None:
    counter = RowCounter(scores.shape[1], statistics)
    for part, block in blocks(scores):
        counter.count(block, y[part])


def speed(options) -> None:
    scores, y = made(options.rows, options.classes)
    ways = {
        "np.sum, the floor": lambda: np.sum(scores),
        "counting": lambda: counted(scores, y, False),
        "with z": lambda: counted(scores, y, True),
        "with groups: Ranks.from_scores": lambda: classay.Ranks.from_scores(scores, y),
    }
    turns = timing.Turns(ways, options.repeats, clock=time.process_time)
    floor = next(iter(ways))
    rows = [
        {
            "what": name,
            "seconds": turns.median(name),
            "times the floor": turns.ratio(name, floor),
            "range": turns.spread(name, floor),
            "goal": f"≤ {GOAL:g}" if name == "counting" else "",
        }
        for name in ways
    ]
    timing.show(rows, f"{options.rows} x {options.classes} of single precision, {scores.nbytes / 1e9:.2f} GB")
    print(f"Groups are counted of {turns.results[list(ways)[-1]][-1].detail.size} rows.")
    ranks = turns.results[list(ways)[-1]][-1]
    ways = {
        "accuracy for every k": lambda: ranks.evidence().accuracy(),
        "and its band over classes": lambda: classay.accuracy_curve(ranks),
    }
    turns = timing.Turns(ways, options.repeats + 2, clock=time.process_time)
    rows = [
        {
            "what": name,
            "seconds": turns.median(name),
            "least": min(turns.seconds[name]),
            "most": max(turns.seconds[name]),
            "goal": f"≤ {SECONDS:g}" if name.startswith("and") else "",
        }
        for name in ways
    ]
    timing.show(rows, f"From the record to the curve, k = 1, …, {options.classes}")


def memory(options) -> None:
    rows = []
    for n in options.stream:
        asked = {"rows": n, "classes": options.stream_classes, "chunk": options.chunk}
        command = [sys.executable, __file__, "--child", json.dumps(asked)]
        told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        rows.append({"rows": n, "scores GB": n * options.stream_classes * 4 / 1e9, **told})
    for row, before in zip(rows[1:], rows):
        row["bytes a row more"] = (row["peak MB"] - before["peak MB"]) * 2**20 / (row["rows"] - before["rows"])
        row["goal"] = f"≤ {BYTES}" if before["rows"] * 2 >= row["rows"] else "(details fill up)"
    timing.show(rows, f"Chunks of {options.chunk} rows x {options.stream_classes} classes, a process each")
    last = rows[-1]
    more = (1_000_000 - last["rows"]) * BYTES / 2**20
    print(f"A million rows at {BYTES} bytes a row more than the last: {last['peak MB'] + more:.0f} MB.")


def child(rows: int, classes: int, chunk: int) -> None:
    """Stream chunks that are made one at a time, and tell the peak of memory and the time without making them."""
    room, making = np.empty((chunk, classes), dtype=np.float32), 0.0

    def chunks():
        nonlocal making
        for number in range(rows // chunk):
            begin = time.process_time()
            part = made(chunk, classes, number, room)
            making += time.process_time() - begin
            yield part

    begin = time.process_time()
    ranks = classay.Ranks.from_chunks(chunks(), np.arange(classes))
    seconds = time.process_time() - begin - making
    status = Path("/proc/self/status").read_text()
    peak = int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 2**10
    print(json.dumps({"rows in detail": int(ranks.detail.size), "seconds": seconds, "peak MB": peak}))


if __name__ == "__main__":
    main()
