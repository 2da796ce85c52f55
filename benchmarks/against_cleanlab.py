"""Planted label errors: `complexity` without any training against cleanlab with a trained model's probabilities.

A share of the labels is changed to another class, uniformly. Each way ranks all rows by suspicion; the figure is the
share of changed labels among as many rows at the top as were changed (precision at k). `auto` ranks by h of
`complexity(X, y)`; the other columns by that of each distance. cleanlab ranks by self-confidence
(`get_label_quality_scores`) from `cross_val_predict` of logistic regression in 5 folds, on standardised columns for
tables and on the vectors themselves for texts: what suits it best in precision and in time. How long it takes hangs on
that choice, so the other one is shown as well, «the other way», for the first seed. Goals: `auto` at least level
(within one standard error of the paired difference) in 80 % of the cells, nowhere more than .03 below, in at most a
twentieth of the time: processor seconds on one thread, so that a busy machine does not matter. Embedding texts is not
counted; both need it.

Then the lists: how many labels `wrong_labels` says are wrong, with its interval, and the precision and recall of the
rows that it lists (at most 10 % false alarms stated), from distances alone and together with the same probabilities
that cleanlab gets; beside cleanlab's `find_label_issues`. Real sets have wrong labels before any is planted, which
count as false alarms here. So a second precision, «with doubted», also counts a row if a judge out of fold contradicts
its original label *and* names the class that the list names (cleanlab: the judge contradicts it): linear SVM on tf-idf
for texts, extra trees for tables, on all rows of the set with the original labels.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import sources
import timing
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from classay.data.geometry.distances import BY_CLASS, DISTANCES
from classay.data.row_complexity import Complexity
from classay.data.rows import complexity

DATA = ("digits", "letter", "HWU64", "20 Newsgroups")
WAYS = ("auto", *DISTANCES)
LEVEL, FARTHEST, FRACTION = 0.8, 0.03, 1 / 20


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/against_cleanlab.py --data DIR --seeds 5")
    parser.add_argument("--data", type=Path, help="folder with tabular/ and text/; without it only digits")
    parser.add_argument("--sets", nargs="+", default=list(DATA), choices=[*DATA, "BANKING77"])
    parser.add_argument("--rows", type=int, default=6_000, help="rows drawn of each set")
    parser.add_argument("--shares", type=float, nargs="+", default=[0.02, 0.05, 0.1], help="labels made wrong")
    parser.add_argument("--seeds", type=int, default=5, help="draws of wrong labels")
    parser.add_argument("--auto", action="store_true", help="leave out the single distances, and cleanlab's other way")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.shares, options.seeds = 400, [0.05], 2
    try:
        import cleanlab
    except ImportError:
        sys.exit("cleanlab is not installed, so there is nothing to compare with. Run `pip install cleanlab`.")
    sources.quietly()
    threadpool_limits(1)
    print(f"{timing.machine()}, cleanlab {cleanlab.__version__}", flush=True)
    ways = ("auto",) if options.auto else WAYS
    precision, against, seconds, lists = [], [], [], []
    for name, rows in sources.available(options.sets, options.data, options.rows).items():
        judge = judged(name, options.data, options.rows)
        for share in options.shares:
            runs = [
                one(rows, share, seed, seed == 0 and not options.auto, ways, judge) for seed in range(options.seeds)
            ]
            cell = {"data": name, "wrong": f"{share:.0%}"}
            scores = {way: np.array([run[way][0] for run in runs]) for way in (*ways, "cleanlab")}
            precision.append(cell | {way: float(several.mean()) for way, several in scores.items()})
            gap = scores["auto"] - scores["cleanlab"]
            error = float(gap.std(ddof=1) / np.sqrt(gap.size)) if gap.size > 1 else float("nan")
            chosen = [run["chosen"] for run in runs]
            against.append(
                cell
                | {
                    "auto": f"{scores['auto'].mean():.3f} ± {deviation(scores['auto']):.3f}",
                    "cleanlab": f"{scores['cleanlab'].mean():.3f} ± {deviation(scores['cleanlab']):.3f}",
                    "difference": float(gap.mean()),
                    "its error": error,
                    "level": "yes" if gap.mean() >= -error else "no",
                    "auto is": ", ".join(f"{way} {chosen.count(way)}" for way in dict.fromkeys(chosen)),
                }
            )
            times = {way: float(np.median([run[way][1] for run in runs])) for way in (*ways, "cleanlab")}
            seconds.append(cell | times | {"cleanlab / auto": times["cleanlab"] / times["auto"]})
            if not options.auto:
                seconds[-1] |= {"the other way": runs[0]["other"][1], "its precision": runs[0]["other"][0]}
            lists.append(cell | {name: mean_of([run["lists"][name] for run in runs]) for name in runs[0]["lists"]})
            print(" ".join(str(value) for value in against[-1].values()), flush=True)
    timing.show(precision, "Precision at k, mean over seeds")
    timing.show(against, "auto against cleanlab, ± one standard error; level: the no more than its error below")
    timing.show(seconds, "Processor seconds on one thread, median over seeds")
    timing.show(lists, "Lists, means over seeds: precision / recall; estimated number of wrong labels [interval]")
    share = float(np.mean([row["level"] == "yes" for row in against]))
    slowest = min(row["cleanlab / auto"] for row in seconds)
    print(f"\nlevel or better in {share:.0%} of {len(against)} cells (goal: {LEVEL:.0%})")
    print(f"least difference {min(row['difference'] for row in against):+.3f} (goal: at least −{FARTHEST})")
    print(f"cleanlab's time over auto's, least: {slowest:.1f} (goal: at least {1 / FRACTION:.0f})")


def one(rows: sources.Rows, share: float, seed: int, other: bool, ways: tuple[str, ...], judge: np.ndarray) -> dict:
    """(precision at k, seconds) of every way for one draw of wrong labels, and what `auto` chose."""
    y, wrong = planted(rows.y, share, seed)
    found: dict = {}
    for way in ways:
        begin = time.process_time()
        result = complexity(rows.X, y, distance=way)
        seconds = time.process_time() - begin
        found[way] = precision_at_k(result.values, wrong), seconds
        if way == "auto":
            automatic = result
            shared = " shared" if result.covariance == "shared" and result.distance in BY_CLASS else ""
            found["chosen"] = result.distance + shared
    for way, scaled in {"cleanlab": rows.texts is None, "other": rows.texts is not None}.items():
        if way == "cleanlab" or other:
            begin = time.process_time()
            quality, probabilities = of_cleanlab(rows.X, y, scaled)
            seconds = time.process_time() - begin
            found[way] = precision_at_k(-quality, wrong), seconds
            if way == "cleanlab":
                found["lists"] = listed(automatic, probabilities, y, wrong, judge)
    return found


def judged(name: str, data: Path | None, most: int) -> np.ndarray:
    """The class that a judge, out of fold on all rows of the set, gives to each of the rows that are drawn."""
    if name in sources.TEXTS:
        frame = pd.read_csv(data / sources.TEXTS[name], keep_default_na=False)
        frame = frame[frame["text"].str.strip() != ""]
        judge = make_pipeline(TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2), LinearSVC())
        X, labels = frame["text"].to_numpy(), frame["label"].to_numpy()
    else:
        rows = sources.load(name, data)
        judge, X, labels = ExtraTreesClassifier(100, random_state=0), rows.X, rows.y
    drawn = sources.some(len(labels), most)
    predicted = cross_val_predict(judge, X, labels, cv=StratifiedKFold(5, shuffle=True, random_state=0))[drawn]
    return np.searchsorted(np.unique(labels[drawn]), predicted)


def listed(result: Complexity, probabilities: np.ndarray, y: np.ndarray, wrong: np.ndarray, judge: np.ndarray) -> dict:
    """What each way lists. `judge`: the class that a judge gives to each row."""
    from cleanlab.filter import find_label_issues

    told: dict = {"planted": float(wrong.sum())}
    for name, shares in (("distances", None), ("both", probabilities)):
        labels = result.wrong_labels(shares)
        told[f"{name}: number"] = (labels.number.value, labels.number.low, labels.number.high)
        told[f"{name}: list"] = hits(labels.listed, wrong)
        told[f"{name}: with doubted"] = hits(labels.listed, wrong | ((judge != y) & (judge == labels.likely)))[0]
        told[f"{name}: at k"] = precision_at_k(np.nan_to_num(labels.probability), wrong)
    issues = np.flatnonzero(find_label_issues(y, probabilities))
    told["cleanlab: list"] = hits(issues, wrong)
    told["cleanlab: with doubted"] = hits(issues, wrong | (judge != y))[0]
    return told


def hits(rows: np.ndarray, wrong: np.ndarray) -> tuple[float, float]:
    """Precision and recall of a list."""
    return (float(wrong[rows].mean()) if rows.size else float("nan"), float(wrong[rows].sum() / wrong.sum()))


def mean_of(several: list) -> str:
    values = np.nanmean(np.array(several, dtype=float), axis=0)
    if values.ndim == 0:
        return f"{values:.2f}" if values <= 1 else f"{values:.0f}"
    if values.size == 3:
        return "{:.0f} [{:.0f}, {:.0f}]".format(*values)
    return "{:.2f} / {:.2f}".format(*values)


def planted(y: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of which a share was changed to another class, and which."""
    rng = np.random.default_rng([seed, 11])
    wrong = np.zeros(y.size, dtype=bool)
    wrong[rng.permutation(y.size)[: round(share * y.size)]] = True
    classes = y.max() + 1
    return np.where(wrong, (y + rng.integers(1, classes, y.size)) % classes, y), wrong


def of_cleanlab(X: np.ndarray, y: np.ndarray, scaled: bool) -> tuple[np.ndarray, np.ndarray]:
    from cleanlab.rank import get_label_quality_scores

    learner = LogisticRegression(max_iter=1_000)
    learner = make_pipeline(StandardScaler(), learner) if scaled else learner
    probabilities = cross_val_predict(learner, X, y, cv=5, method="predict_proba")
    return get_label_quality_scores(y, probabilities, method="self_confidence"), probabilities


def precision_at_k(suspicion: np.ndarray, wrong: np.ndarray) -> float:
    top = np.argsort(-suspicion, kind="stable")[: wrong.sum()]
    return float(wrong[top].mean())


def deviation(values: np.ndarray) -> float:
    """Standard error of the mean."""
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else float("nan")


if __name__ == "__main__":
    main()
