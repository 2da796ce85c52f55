"""What a pilot with few classes forecasts for many, and what comes: refitted on the pilot's classes alone.

For every data set and learner, k1 classes are drawn, the learner is fitted on their training rows alone, and the
accuracy with k2 classes is forecast from its scores of their test rows; the truth is the same learner fitted on all k2
classes. Accuracies are means over classes. Covered: how often the 95 % interval has the truth. For nearest means
(marginal) the refit changes nothing; for a network it does, which the theory does not know.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import sources
import timing
from extrapolation import images_and_texts
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from classay import Ranks, accuracy_curve, extrapolate
from classay.data.text import embed
from classay.estimators.scores import scores_of
from classay.intervals import Estimate

LEARNERS = {
    "LDA": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    "naive Bayes": GaussianNB(var_smoothing=1e-2),
    "logistic": LogisticRegression(max_iter=200),
    "forest": RandomForestClassifier(100, random_state=0),
    "MLP": MLPClassifier((128,), max_iter=60, random_state=0),
}
SETTINGS = {
    "omniglot": (("nearest mean",), (100,)),
    "hwu64": (("nearest mean", "LDA"), (16, 32)),
    "banking": (("nearest mean", "LDA"), (19, 38)),
    "letters": (tuple(LEARNERS), (8, 13)),
}


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/more_classes.py --data DIR")
    parser.add_argument("--data", type=Path, help="folder with images/, tabular/ and text/", required=True)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--sets", nargs="+", default=list(SETTINGS))
    options = parser.parse_args()
    if options.quick:
        options.draws, options.sets = 2, ["letters"]
    sources.quietly()
    threadpool_limits(1)
    print(timing.machine(), flush=True)
    for name in options.sets:
        ways, firsts = SETTINGS[name]
        parts = hwu64(options.data) if name == "hwu64" else images_and_texts(name, options.data)
        classes = np.unique(parts[1])
        for way in ways:
            truth = float(ranks(way, parts, classes).evidence().accuracy([classes.size])[0])
            for k1 in firsts:
                found = [forecast(way, parts, classes, k1, draw) for draw in range(options.draws)]
                values = np.array([estimate.value for estimate in found])
                held = np.mean([estimate.low <= truth <= estimate.high for estimate in found])
                print(
                    f"{name:9} {way:13} {k1:4} -> {classes.size:5} forecast {np.nanmean(values):.3f} true {truth:.3f} "
                    f"RMSE {np.sqrt(np.nanmean((values - truth) ** 2)):.3f} covered {held:4.0%} "
                    f"identified {np.mean(np.isfinite(values)):4.0%}",
                    flush=True,
                )


def forecast(way: str, parts: tuple, classes: np.ndarray, k1: int, draw: int) -> Estimate:
    """The forecast for all classes from k1 of them."""
    chosen = np.random.default_rng([11, k1, draw]).choice(classes, k1, replace=False)
    return extrapolate(accuracy_curve(ranks(way, parts, np.sort(chosen))), classes.size)


def ranks(way: str, parts: tuple, classes: np.ndarray) -> Ranks:
    """Ranks of a learner fitted on the training rows of these classes."""
    X, y, X_test, y_test = parts
    train, test = np.isin(y, classes), np.isin(y_test, classes)
    X, y, X_test, y_test = X[train], y[train], X_test[test], y_test[test]
    if way == "nearest mean":
        centres = np.stack([X[y == each].mean(axis=0) for each in classes])
        centres /= np.linalg.norm(centres, axis=1, keepdims=True)
        scores = X_test @ centres.T
    else:
        scores = scores_of(clone(LEARNERS[way]).fit(X, y), X_test)
    return Ranks.from_scores(scores, np.searchsorted(classes, y_test))


def hwu64(data: Path) -> tuple:
    frame = pd.read_csv(data / "text" / "hwu64.csv.gz", keep_default_na=False)
    X, y = np.asarray(embed(frame["text"].tolist()), dtype=float), frame["label"].to_numpy()
    train = (frame["split"] == "train").to_numpy()
    return X[train], y[train], X[~train], y[~train]


if __name__ == "__main__":
    main()
