"""A report on 20,000 rows and 8 learners: whether it keeps to its budget, how large the page is, and where time goes.

The time to first paint is told by a browser: open the page, and ask performance.getEntriesByType("paint") for it.
Goals: a page under 5 MB, and no more than about 1.3 times the budget on a machine with nothing else to do.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import timing
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.naive_bayes import GaussianNB

import classay
from classay.report.run.learners import default_learners


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/report_size.py --budget 2m --out /tmp/large.html")
    parser.add_argument("--budget", default="2m")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--out", type=Path, default=Path("large.html"), help="where to write the page")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.budget = 2000, "10s"
    print(timing.machine())
    X, y = make_classification(options.rows, 20, n_informative=10, n_classes=5, random_state=0)
    learners = default_learners() | {
        "bayes": GaussianNB(),
        "discriminant": LinearDiscriminantAnalysis(),
        "extra trees": ExtraTreesClassifier(50),
        "boosting": HistGradientBoostingClassifier(max_iter=50),
    }
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assay = classay.characterize(learners, X, y, budget=options.budget, name="made")
    measured = time.perf_counter() - begin
    page = assay.save(options.out)
    saved = time.perf_counter() - begin - measured
    print(
        f"{options.rows} x 20, {len(learners)} learners, budget {options.budget}: {measured:.0f} s, page {saved:.1f} s"
    )
    print(f"{page}: {page.stat().st_size / 1e6:.1f} MB (goal: under 5)")
    print(assay.report.settings["fitted"])
    for name, seconds in sorted(assay.report.settings["stages"].items(), key=lambda item: -item[1])[:6]:
        print(f"  {seconds:6.1f} s  {name}")


if __name__ == "__main__":
    main()
