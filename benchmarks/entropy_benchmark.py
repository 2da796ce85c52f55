"""Error of capacity, and coverage and width of the intervals, in thirteen worlds whose entropies are known.

On five the estimator was made; they say how subsets behave on five points of two classes. On eight others, of ten
points, it is judged: several holdouts move together, few subsets deviate, or points vary on their own. The worlds are
those of the tests. Goals: |mean error| of capacity at most .1 bits with 10 refits and .25 with 5; 95 % intervals that
cover.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import timing

import classay

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))
from worlds import JUDGES, NAMES, predictions, true_figures


def main() -> None:
    arguments = timing.parser(__doc__, "python benchmarks/entropy_benchmark.py --simulations 200")
    arguments.add_argument("--simulations", type=int, default=200, help="runs of each world (default 200)")
    arguments.add_argument("--subsets", type=int, default=100, help="subsets in each run (default 100)")
    arguments.add_argument("--refits", type=int, nargs="+", default=[10, 5], help="refits a subset (default 10 5)")
    options = arguments.parse_args()
    runs = 5 if options.quick else options.simulations
    print(timing.machine())
    for refits in options.refits:
        for names, role in ((NAMES, "made on"), (JUDGES, "judged on")):
            rows = [simulate(name, options.subsets, refits, runs) for name in names]
            title = f"Capacity in bits, {options.subsets} subsets x {refits} refits, {runs} runs of each world"
            timing.show(rows, f"{title} that the estimator was {role}")


def simulate(name: str, subsets: int, refits: int, runs: int) -> dict[str, object]:
    plain, errors, held, widths = [], [], np.zeros(3), np.zeros(3)
    overall, capacity, within, _ = true_figures(name)
    truths = (within, overall, capacity)
    for seed in range(runs):
        labels = predictions(name, subsets, refits, seed)
        labelings = classay.Labelings.from_arrays(labels, np.ones(labels.shape[2], dtype=int), classes=[0, 1])
        o = classay.orientation(labelings, 5, 1 if name in NAMES else 20, random_state=seed)
        plain.append(o.per_holdout["capacity"].mean() - capacity)
        errors.append(o.capacity.value - capacity)
        for place, (estimate, truth) in enumerate(zip((o.stochasticity, o.expressivity, o.capacity), truths)):
            held[place] += estimate.low - 1e-6 <= truth <= estimate.high + 1e-6
            widths[place] += estimate.high - estimate.low
    shares, mean_widths = held / runs, widths / runs
    return {
        "world": name,
        "true capacity": f"{truths[2]:.2f}",
        "plain error": f"{np.mean(plain):+.2f}",
        "error": f"{np.mean(errors):+.3f}",
        "RMSE": f"{np.sqrt(np.mean(np.square(errors))):.3f}",
        "held: stochasticity": f"{shares[0]:.1%}",
        "expressivity": f"{shares[1]:.1%}",
        "capacity": f"{shares[2]:.1%}",
        "width of capacity": f"{mean_widths[2]:.2f}",
    }


if __name__ == "__main__":
    main()
