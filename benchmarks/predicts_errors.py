"""Does complexity tell which rows classifiers will get wrong that it has never seen? By distance.

h of every row by `complexity(X, y, distance)`, cross-fitted, without any classifier («shared»: with the covariance that
the classes share); then the errors of four
classifiers in `cross_val_predict` of 5 folds. The figure is the AUC of h for these errors: the chance that a row that
the classifier got wrong has a higher h than one that it got right; .5: h tells nothing. `trained` is what a trained
model makes of it: 1 − the probability that logistic regression, out of fold, gives to the label. Ranks of distances, 1
the best, are of the mean AUC over the classifiers.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd
import sources
import timing
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from classay.data.geometry.distances import BY_CLASS, DISTANCES
from classay.data.row_complexity import Complexity
from classay.data.rows import complexity

SETS = (*sources.BUNDLED, "letter", "spambase", "obesity", "car", "wine_quality", "abalone")
SINGLE = (*DISTANCES, "mahalanobis, shared", "gaussian, shared")
AUTO = {"auto": "fit", "auto for errors": "errors"}
"""The ways of `distance="auto"`, and their aim."""
WAYS = (*AUTO, *SINGLE)
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
LEARNERS = {
    "SVC": make_pipeline(StandardScaler(), SVC(random_state=0)),
    "forest": RandomForestClassifier(n_estimators=100, random_state=0),
    "boosting": HistGradientBoostingClassifier(max_iter=50, early_stopping=False, random_state=0),
    "MLP": make_pipeline(StandardScaler(), MLPClassifier((64,), max_iter=100, random_state=0)),
}


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/predicts_errors.py --data DIR --rows 3000")
    parser.add_argument("--data", type=Path, help="folder with tabular/ and text/; without it only scikit-learn's sets")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=[*SETS, *sources.FILES, *sources.TEXTS])
    parser.add_argument("--rows", type=int, default=6_000, help="rows drawn of each set at most")
    parser.add_argument("--scaled", action="store_true", help="complexity of standardised columns, too")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.sets = 300, ["iris", "wine"]
    sources.quietly()
    threadpool_limits(1)
    print(timing.machine(), flush=True)
    all_rows = []
    for name, rows in sources.available(options.sets, options.data, options.rows).items():
        kinds = {"as they are": rows.X}
        if options.scaled:
            kinds["standardised"] = StandardScaler().fit_transform(rows.X)
        measured = {
            (kind, way): measure(X, rows.y, way) for kind, X in kinds.items() for way in WAYS
        }  # before any classifier
        begin = time.perf_counter()
        trained = doubt(rows)
        for learner, fitted in LEARNERS.items():
            wrong = errors(fitted, rows)
            if wrong.all() or not wrong.any():
                print(f"{name}, {learner}: {wrong.mean():.0%} of the rows are wrong, so no AUC.")
                continue
            base = {"data": name, "classifier": learner, "errors": int(wrong.sum()), "rows": wrong.size}
            for (kind, way), result in measured.items():
                auc = float(roc_auc_score(wrong, result.values))
                chosen = named(result) if way in AUTO else way
                all_rows.append(base | {"columns": kind, "distance": way, "auc": auc, "chosen": chosen})
            auc = float(roc_auc_score(wrong, trained))
            all_rows += [base | {"columns": kind, "distance": "trained", "auc": auc, "chosen": ""} for kind in kinds]
        print(f"{name}: {len(rows.y)} x {rows.X.shape[1]}, {time.perf_counter() - begin:.0f} s", flush=True)
    found = pd.DataFrame(all_rows)
    for kind, part in found.groupby("columns", sort=False):
        tell(part, f"columns {kind}")


def measure(X: np.ndarray, y: np.ndarray, way: str) -> Complexity:
    if way in AUTO:
        return complexity(X, y, aim=AUTO[way])
    distance, _, covariance = way.partition(", ")
    return complexity(X, y, distance=distance, covariance=covariance or "auto")


def named(result: Complexity) -> str:
    """The distance that `auto` chose, as it is called in the table."""
    return result.distance + (", shared" if result.covariance == "shared" and result.distance in BY_CLASS else "")


def errors(learner, rows: sources.Rows) -> np.ndarray:
    """Which rows are wrong out of fold."""
    return cross_val_predict(learner, rows.X, rows.y, cv=FOLDS) != rows.y


def doubt(rows: sources.Rows) -> np.ndarray:
    """1 − the probability that a trained model gives to the label out of fold."""
    learner = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
    probabilities = cross_val_predict(learner, rows.X, rows.y, cv=FOLDS, method="predict_proba")
    return 1 - probabilities[np.arange(len(rows.y)), rows.y]


def tell(found: pd.DataFrame, kind: str) -> None:
    order = [*WAYS, "trained"]

    def table(by: str) -> pd.DataFrame:
        wide = found.pivot_table(index=by, columns="distance", values="auc", sort=False)
        return wide[[name for name in order if name in wide]]

    sets = table("data")
    every = sets.columns.to_list()
    ranks = sets.rank(axis=1, ascending=False)
    single = sets[list(SINGLE)].rank(axis=1, ascending=False)
    chosen = {
        f"{way} is": found[found["distance"] == way].groupby("data", sort=False)["chosen"].first() for way in AUTO
    }
    rate = found[found["distance"] == "auto"].groupby("data", sort=False)[["errors", "rows"]].sum()
    shown = sets.assign(**chosen, errors=(rate["errors"] / rate["rows"]).map("{:.0%}".format))
    timing.show(shown.reset_index(), f"AUC of h for errors, mean over classifiers; {kind}")
    timing.show(table("classifier").reset_index(), f"AUC of h for errors, mean over data sets; {kind}")
    summary = pd.DataFrame(
        {
            "mean AUC": sets.mean(),
            "lowest AUC": sets.min(),
            "mean rank": ranks.mean(),
            "rank among distances": single.mean().reindex(every).map("{:.2f}".format).replace("nan", ""),
            "best distance in": (single == 1).sum().reindex(every).map("{:.0f}".format).replace("nan", ""),
        },
        index=every,
    )
    timing.show(summary.reset_index(names="distance"), f"By distance, over {len(sets)} data sets; {kind}")


if __name__ == "__main__":
    main()
