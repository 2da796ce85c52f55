"""Our encoder of mixed columns against skrub's `TableVectorizer`: time, accuracy after it, sameness, leaks, weight.

Both are fitted on the training folds of five, inside a Pipeline, before three learners: logistic regression and 5-NN
after scaling, and a forest. Missing numbers are left to a median after skrub, which keeps them. Besides each table as
it is, one with a tenth of its cells missing. Time is fit and transform of all rows, as a median of turns. Goal: the
same accuracy within a percent on every table, in less time, without new dependencies.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from importlib.metadata import distribution, requires
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import timing
from packaging.requirements import Requirement
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from classay.estimators.encoder import encoded
from classay.tables.read import read_table

SEED, FOLDS = 0, 5
OPENML = (183, 1461, 40975, 1471, 6, 44, 40498, 31, 1590)
"""abalone, bank-marketing, car, eeg-eye-state, letter, spambase, wine-quality-white, credit-g, adult"""
LEARNERS = {
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
    "5-NN": lambda: make_pipeline(StandardScaler(), KNeighborsClassifier(5)),
    "forest": lambda: RandomForestClassifier(50, random_state=SEED),
}


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/encoders.py --data ../shared/data/tabular")
    parser.add_argument("--data", type=Path, help="a folder of tables, target last; default: nine tables of OpenML")
    parser.add_argument("--rows", type=int, default=5_000, help="the most rows of a table")
    parser.add_argument("--repeats", type=int, default=3, help="turns of each way")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.repeats = 300, 1
    has_skrub = importlib.util.find_spec("skrub") is not None
    if not has_skrub:
        print("skrub is not installed, so only classay is measured. Run `pip install skrub` to compare.\n")
    sources = [f"openml:{number}" for number in OPENML] if options.data is None else sorted(options.data.iterdir())
    if not sources:
        sys.exit(f"{options.data} has no files.")
    print(timing.machine(), flush=True)
    rows = []
    for source in sources[:2] if options.quick else sources:
        table = read_table(source)
        rng = np.random.default_rng(SEED)
        chosen = np.sort(rng.permutation(len(table.y))[: options.rows])
        X, y = table.X.iloc[chosen].reset_index(drop=True), table.y.iloc[chosen].to_numpy()
        holes = X.mask(rng.random(X.shape) < 0.1)
        for name, frame in ((table.name, X), (f"{table.name}, holes", holes)):
            rows += [{"table": name, **each} for each in compared(frame, y, options.repeats, has_skrub)]
            print(pd.DataFrame(rows[-(1 + has_skrub) :]).to_string(index=False, header=len(rows) <= 2), flush=True)
    print("\nMeans:\n", pd.DataFrame(rows).groupby("encoder").mean(numeric_only=True).round(4).to_string())
    if has_skrub:
        weight()


def compared(X: pd.DataFrame, y: Any, repeats: int, has_skrub: bool) -> list[dict[str, Any]]:
    """One row of figures for each encoder."""
    makers = {"classay": lambda learner: encoded(learner, X)}
    if has_skrub:
        makers["skrub"] = after_skrub
    encoders = {name: make("passthrough") for name, make in makers.items()}
    ways = {name: (lambda one=one: values(one, X)) for name, one in encoders.items()}
    turns = timing.Turns(ways, repeats)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    found = []
    for name, make in makers.items():
        scores = {}
        for called, learner in LEARNERS.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # classes with few rows, and logistic regressions that end early
                scores[called] = cross_val_score(make(learner()), X, y, cv=folds, error_score="raise").mean()
        found.append(
            {
                "encoder": name,
                "columns": turns.results[name][0].shape[1],
                "seconds": turns.median(name),
                **scores,
                "same twice": repeats < 2 or np.array_equal(turns.results[name][0], turns.results[name][1]),
                "no leak": keeps_to_training_rows(encoders[name], X),
            }
        )
    return found


def after_skrub(learner: Any) -> Any:
    from skrub import TableVectorizer

    return make_pipeline(TableVectorizer(), SimpleImputer(strategy="median", keep_empty_features=True), learner)


def values(encoder: Any, X: pd.DataFrame) -> Any:
    """The rows as numbers; a table that needs nothing as it is."""
    if isinstance(encoder, str):
        return X.to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(clone(encoder).fit_transform(X))


def keeps_to_training_rows(encoder: Any, X: pd.DataFrame) -> bool:
    """Whether a row is encoded the same with and without the other test rows."""
    if isinstance(encoder, str):
        return True
    half = len(X) // 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(encoder).fit(X.iloc[:half])
        together = np.asarray(fitted.transform(X.iloc[half:]))
        alone = np.asarray(fitted.transform(X.iloc[half : half + 20]))
    return np.array_equal(together[: len(alone)], alone)


def weight() -> None:
    """Packages, and their megabytes, that skrub would add to an installation of classay."""
    ours, theirs = packages_of("classay"), packages_of("skrub")
    sizes = {name: megabytes(name) for name in sorted(theirs - ours)}
    print(f"\nskrub adds {len(sizes)} packages, {sum(sizes.values()):.0f} MB:")
    print(", ".join(f"{name} {size:.1f}" for name, size in sizes.items()))


def packages_of(name: str, known: frozenset[str] = frozenset()) -> frozenset[str]:
    """A package and all that it requires, as far as they are installed."""
    if name.lower() in known:
        return known
    known |= {name.lower()}
    for line in requires(name) or ():
        needed = Requirement(line)
        wanted = needed.marker is None or needed.marker.evaluate({"extra": ""})
        try:
            known = packages_of(needed.name, known) if wanted else known
        except ImportError:  # not installed
            continue
    return known


def megabytes(name: str) -> float:
    files = [Path(str(each.locate())) for each in distribution(name).files or ()]
    return sum(file.stat().st_size for file in files if file.exists()) / 1e6


if __name__ == "__main__":
    main()
