"""`complexity` against problexity, which tells how hard a whole data set is: seconds, and how they grow with the rows.

The two answer different questions: problexity gives 22 figures of a data set (Lorena et al., 2019), `complexity` one
figure for every row, the baseline accuracy and the suspects. problexity compares all pairs of rows, so it is measured
on few rows of digits first, and on all of them only with --full. Goals: faster; growth of at most rows^1.05.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
import sources
import timing
from threadpoolctl import threadpool_limits

from classay.data.rows import complexity


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/against_problexity.py --rows 200 400 800")
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 400, 800], help="of digits")
    parser.add_argument("--full", action="store_true", help="all 1,797 rows, too")
    options = parser.parse_args()
    if options.quick:
        options.rows = [100, 150]
    try:
        import problexity
    except ImportError:
        sys.exit("problexity is not installed, so there is nothing to compare with. Run `pip install problexity`.")
    warnings.simplefilter("ignore")
    threadpool_limits(1)
    print(timing.machine(), flush=True)
    digits = sources.load("digits", None)
    shuffled = np.random.default_rng(0).permutation(len(digits.y))
    complexity(digits.X[:200], digits.y[:200])  # imports
    rows = []
    for n in options.rows + [len(digits.y)] * options.full:
        X, y = digits.X[shuffled[:n]], digits.y[shuffled[:n]]

        def theirs(X=X, y=y):
            calculator = problexity.ComplexityCalculator(multiclass_strategy="ova")
            return calculator.fit(X, y).score()

        ways = {"problexity": theirs, "auto": lambda X=X, y=y: complexity(X, y)}
        turns = timing.Turns(ways, 1, clock=time.process_time)
        rows.append(
            {
                "rows": n,
                "problexity s": turns.median("problexity"),
                "complexity s": turns.median("auto"),
                "times faster": turns.ratio("problexity", "auto"),
                "goal": "> 1",
            }
        )
        timing.show(rows[-1:])
    timing.show(rows, "digits, processor seconds on one thread")
    for way in ("problexity s", "complexity s"):
        exponent = np.polyfit(np.log([row["rows"] for row in rows]), np.log([row[way] for row in rows]), 1)[0]
        print(f"{way[:-2]} grows as rows^{exponent:.2f} here")


if __name__ == "__main__":
    main()
