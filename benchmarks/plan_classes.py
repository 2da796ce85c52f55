"""Does `Curve.plan` foresee how many classes are needed? Plan from a few classes, then take as many as planned.

A pilot of k1 classes (nearest mean, cosine) plans for k classes: half the interval is to be `width`. Then as many
classes as planned, other ones, are drawn with the same rows of each, and half of their actual interval is measured.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import sources
import timing
from class_claims import save
from extrapolation import images_and_texts
from more_classes import hwu64, ranks
from threadpoolctl import threadpool_limits

from classay import accuracy_curve, extrapolate

SETTINGS = {
    "omniglot": ((60, 40, 0.05), (60, 300, 0.05), (100, 1000, 0.03)),
    "hwu64": ((20, 15, 0.05), (30, 30, 0.05), (20, 60, 0.08)),
}


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/plan_classes.py --data DIR")
    parser.add_argument("--data", type=Path, help="folder with images/ and text/", required=True)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--seed", type=int, default=41)
    parser.add_argument("-o", "--output", type=Path, help="JSON file of results")
    options = parser.parse_args()
    found = []
    sources.quietly()
    threadpool_limits(1)
    print(timing.machine(), flush=True)
    for name, settings in SETTINGS.items():
        parts = hwu64(options.data) if name == "hwu64" else images_and_texts(name, options.data)
        classes = np.unique(parts[1])
        for pilot, k, width in settings:
            rows = []
            for draw in range(2 if options.quick else options.draws):
                rng = np.random.default_rng([options.seed, pilot, k, draw])
                first = accuracy_curve(ranks("nearest mean", parts, np.sort(rng.choice(classes, pilot, replace=False))))
                plan = first.plan(k, width)
                wanted = int(np.exp(np.interp(np.log(plan.rows_now), np.log(plan.rows), np.log(plan.classes))))
                taken = min(wanted, classes.size)
                chosen = np.sort(rng.choice(classes, taken, replace=False))
                later = extrapolate(accuracy_curve(ranks("nearest mean", parts, chosen)), k)
                rows.append((plan.half, wanted, taken, (later.high - later.low) / 2))
            table = np.array(rows)
            low, middle, high = np.quantile(table[:, 3], [0.1, 0.5, 0.9])
            found.append(
                {
                    "data": name,
                    "pilot": pilot,
                    "k": k,
                    "promised": width,
                    "draws": len(rows),
                    "now": float(table[:, 0].mean()),
                    "classes planned, median": float(np.median(table[:, 1])),
                    "half after, median": float(middle),
                    "half after, 10 %": float(low),
                    "half after, 90 %": float(high),
                    "kept": float((table[:, 3] <= width).mean()),
                    "kept within a fifth": float((table[:, 3] <= 1.2 * width).mean()),
                }
            )
            print(
                f"{name:9} {pilot:4} classes, k {k:5}: now ± {table[:, 0].mean():.3f}; ± {width:g} planned with "
                f"{np.median(table[:, 1]):.0f} classes [{table[:, 1].min():.0f}, {table[:, 1].max():.0f}], taken "
                f"{np.median(table[:, 2]):.0f}: ± {np.median(table[:, 3]):.3f} "
                f"[{table[:, 3].min():.3f}, {table[:, 3].max():.3f}]",
                flush=True,
            )
    timing.show(found, "planned and kept")
    if options.output:
        save(options.output, "plan", found)


if __name__ == "__main__":
    main()
