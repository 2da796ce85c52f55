"""How far off is the accuracy foreseen for more classes? By method, on Gaussian classes and on real ones.

A cell is a data set with its scores, k1 classes drawn at random, and k2 > k1. Every method sees the k1 classes alone
and foresees the accuracy with k2; RMSE over draws. The default is «tied» in a cell if its RMSE exceeds that of the best
method by no more than one standard error of the difference, paired over draws.

Scores of real data are those of a classifier fitted on all classes, and k1 classes are k1 of its columns: exact for
nearest means and naive Bayes, nearly for LDA; for logistic regression and MLP a classifier fitted on k1 classes would
score otherwise. Gaussians have 10 dimensions, one training and one test row a class, nearest mean; their truth is by
integration. `--sets worlds kept` adds eight made sources of classes (tests/helpers/class_worlds.py): four that were
used to choose rules, and four that were kept aside.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import sources
import timing
from scipy.stats import ncx2
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from classay.classes.extrapolate.methods import METHODS, combine
from classay.classes.ranks.ranks import Ranks
from classay.data.text import embed

sys.path.append(str(Path(__file__).parents[1] / "tests" / "helpers"))
import class_worlds

LEARNERS = {
    "lda": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    "logistic": LogisticRegression(max_iter=200),
    "mlp": MLPClassifier((128,), max_iter=60, random_state=0),
}
REAL = {
    "omniglot": (("mean", "lda", "bayes"), (50, 100, 200), 1000),
    "tiny": (("mean", "lda", "bayes", "logistic"), (20, 50, 100), 200),
    "leaves": (("mean", "lda", "bayes", "logistic", "mlp"), (10, 20, 40), 100),
    "palm": (("mean", "bayes", "logistic"), (10, 20, 40), 100),
    "letters": (("mean", "lda", "bayes", "logistic", "mlp"), (8, 13), 26),
    "clinc": (("cosine", "lda", "bayes", "logistic", "mlp"), (15, 30, 60), 150),
    "banking": (("cosine", "lda", "bayes", "logistic", "mlp"), (10, 20, 40), 77),
}
Cell = tuple[str, list[int], np.ndarray, list[Ranks]]


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/extrapolation.py --data DIR --cache DIR")
    parser.add_argument("--data", type=Path, help="folder with images/, features/, tabular/, text/; without: Gaussians")
    parser.add_argument("--cache", type=Path, help="folder for scores; default: a temporary one")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--sets", nargs="+", default=["gaussian", "zheng", *REAL])
    options = parser.parse_args()
    if options.quick:
        options.draws, options.sets = 3, ["gaussian"]
    sources.quietly()
    threadpool_limits(1)
    print(timing.machine(), flush=True)
    cache = options.cache or Path(tempfile.mkdtemp())
    cache.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, object]] = []
    for name, sizes, truth, draws in cells(options.sets, options.data, cache, options.draws):
        for method in METHODS:
            wanted = np.array(sizes, dtype=float)
            found = np.array([_found(method, draw, wanted) for draw in draws])
            rows += [
                {"cell": name, "k2": k, "true": float(truth[at]), "method": method, "errors": found[:, at] - truth[at]}
                for at, k in enumerate(sizes)
            ]
        here = pd.DataFrame([row for row in rows if row["cell"] == name])
        here["rmse"] = [float(np.sqrt(np.mean(errors**2))) for errors in here["errors"]]
        print(here.pivot(index=["cell", "k2", "true"], columns="method", values="rmse")[list(METHODS)].round(3)
              .to_string(header=len(rows) == len(METHODS) * len(sizes)), flush=True)  # fmt: skip
    summary(pd.DataFrame(rows))


def _found(name: str, draw: Ranks, sizes: np.ndarray) -> np.ndarray:
    """The forecast of a method from a record."""
    return combine([make(draw.evidence()).accuracy(sizes) for make in METHODS[name]])


def summary(table: pd.DataFrame) -> None:
    """Each method beside the best of each cell."""
    table["rmse"] = [float(np.sqrt(np.mean(errors**2))) for errors in table["errors"]]
    found = {method: {"tied": [], "ratio": []} for method in METHODS}
    for _, cell in table.groupby(["cell", "k2"]):
        cell = cell.set_index("method")
        best = cell["rmse"].idxmin()
        for method, row in cell.iterrows():
            # The RMSE's derivative in each squared error, so that draws are paired.
            share = row["errors"] ** 2 / (2 * row["rmse"] + 1e-12)
            paired = share - cell.loc[best, "errors"] ** 2 / (2 * cell.loc[best, "rmse"] + 1e-12)
            error = paired.std(ddof=1) / np.sqrt(paired.size)
            found[method]["tied"].append(row["rmse"] - cell.loc[best, "rmse"] <= error)
            found[method]["ratio"].append(row["rmse"] / max(cell.loc[best, "rmse"], 1e-12))
    print(f"\n{table.groupby(['cell', 'k2']).ngroups} cells; RMSE over that of the best method in the cell")
    for method, each in found.items():
        ratio = np.array(each["ratio"])
        rmse = table.loc[table["method"] == method, "rmse"]
        print(
            f"{method:14} tied with the best {np.mean(each['tied']):4.0%}; ratio mean {ratio.mean():5.2f}, median "
            f"{np.median(ratio):.2f}, worst {ratio.max():6.2f}, above 1.3 in {np.mean(ratio > 1.3):4.0%}; mean RMSE "
            f"{rmse.mean():.4f}, largest {rmse.max():.3f}"
        )


def cells(names: list[str], data: Path | None, cache: Path, draws: int) -> Iterator[Cell]:
    if "gaussian" in names:
        for noise in (0.1, 0.2, 0.4):
            for k1 in (20, 50, 100):
                seeds = [[7, int(100 * noise), k1, draw] for draw in range(2 * draws)]
                evidence = [gaussian(noise, k1, np.random.default_rng(seed)) for seed in seeds]
                yield f"gaussian {noise} from {k1}", [1000], gaussian_truth(noise, [1000]), evidence
    if "zheng" in names:
        sizes = [1000, 2000, 5000, 10000]
        for noise in (0.05, 0.1, 0.2, 0.3, 0.5):
            seeds = [[8, int(100 * noise), draw] for draw in range(draws)]
            evidence = [gaussian(noise, 500, np.random.default_rng(seed)) for seed in seeds]
            yield f"gaussian {noise} from 500", sizes, gaussian_truth(noise, sizes), evidence
    for kind, worlds in (("worlds", class_worlds.TUNED), ("kept", class_worlds.KEPT_ASIDE)):
        for name, source in worlds.items() if kind in names else ():
            truth = class_worlds.true_accuracy(source, [300, 1000])
            for k1 in (40, 150):
                found = [
                    class_worlds.class_ranks(source, k1, np.random.default_rng([5, k1, draw])) for draw in range(draws)
                ]
                yield f"{name} from {k1}", [300, 1000], truth, found
    for name in (name for name in REAL if name in names and data is not None):
        ways, firsts, k2 = REAL[name]
        for way in ways:
            scores, y = scores_of(name, way, data, cache)
            truth = Ranks.from_scores(scores, y).evidence().accuracy([k2])
            for k1 in firsts:
                evidence = [part(scores, y, k1, np.random.default_rng([9, k1, draw])) for draw in range(draws)]
                yield f"{name} {way} from {k1}", [k2], truth, evidence


def part(scores: np.ndarray, y: np.ndarray, k1: int, rng: np.random.Generator) -> Ranks:
    """k1 of the classes at random: their rows and columns."""
    columns = np.sort(rng.choice(scores.shape[1], k1, replace=False))
    rows = np.flatnonzero(np.isin(y, columns))
    return Ranks.from_scores(scores[np.ix_(rows, columns)], np.searchsorted(columns, y[rows]))


def gaussian(noise: float, n_classes: int, rng: np.random.Generator, d: int = 10) -> Ranks:
    """Classes with normal centres; one row to learn each from and one to test it, both with this variance."""
    centres = rng.normal(size=(n_classes, d))
    learnt, tested = (centres + np.sqrt(noise) * rng.normal(size=(n_classes, d)) for _ in range(2))
    squares = (tested**2).sum(axis=1)[:, None] - 2 * tested @ learnt.T + (learnt**2).sum(axis=1)
    return Ranks.from_scores(-np.sqrt(np.maximum(squares, 0)), np.arange(n_classes))


def gaussian_truth(noise: float, sizes: list[int], d: int = 10, n: int = 200_000) -> np.ndarray:
    """E[U^(k−1)]: U, the share of classes farther from a row than its own, by the noncentral χ²."""
    rng = np.random.default_rng(99)
    centres = rng.normal(size=(n, d))
    learnt, tested = (centres + np.sqrt(noise) * rng.normal(size=(n, d)) for _ in range(2))
    spread = 1 + noise
    share = ncx2.sf(((tested - learnt) ** 2).sum(axis=1) / spread, d, (tested**2).sum(axis=1) / spread)
    return np.array([(share ** (k - 1)).mean() for k in sizes])


def scores_of(name: str, way: str, data: Path, cache: Path) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the test rows and their classes as columns; kept in the cache."""
    made_by = inspect.getsource(scores_of) + inspect.getsource(images_and_texts) + repr(LEARNERS)
    mark = hashlib.sha256(made_by.encode()).hexdigest()[:8]
    path = cache / f"{name}_{way}_{mark}.npz"
    if not path.exists():
        X, y, X_test, y_test = images_and_texts(name, data)
        classes = np.unique(y)
        if way in ("mean", "cosine"):
            centres = np.stack([X[y == each].mean(axis=0) for each in classes])
            if way == "cosine":
                centres /= np.linalg.norm(centres, axis=1, keepdims=True)
                found = X_test @ centres.T / np.linalg.norm(X_test, axis=1, keepdims=True)
            else:
                found = 2 * X_test @ centres.T - (centres**2).sum(axis=1)
        elif way == "bayes":
            found = GaussianNB(var_smoothing=1e-2).fit(X, y).predict_joint_log_proba(X_test)
        else:
            learner = LEARNERS[way].fit(X, y)
            found = learner.predict_log_proba(X_test) if way == "mlp" else learner.decision_function(X_test)
        found = np.maximum(found, -1e30).astype(np.float32)
        np.savez(path, scores=found, y=np.searchsorted(classes, y_test))
    with np.load(path) as file:
        return file["scores"], file["y"]


def images_and_texts(name: str, data: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training rows and labels, test rows and labels."""
    if name in ("omniglot", "tiny"):
        file = np.load(
            data / "images" / {"omniglot": "omniglot_28.npz", "tiny": "tiny_imagenet200_32px_10k_4k.npz"}[name]
        )
        if name == "omniglot":  # drawers 1 to 15 to learn from, the others to test
            train = file["drawer"] <= 15
            parts = file["x"][train], file["y"][train], file["x"][~train], file["y"][~train]
        else:
            parts = tuple(file[key] for key in ("x_train", "y_train", "x_test", "y_test"))
        X, X_test = (part.reshape(len(part), -1) / 255.0 for part in (parts[0], parts[2]))
        shape = PCA(100, random_state=0).fit(X[:: 5 if name == "omniglot" else 1])
        return shape.transform(X), parts[1], shape.transform(X_test), parts[3]
    if name in ("clinc", "banking"):
        frame = pd.read_csv(data / "text" / f"{name}{150 if name == 'clinc' else 77}.csv.gz", keep_default_na=False)
        frame = frame[frame["split"].isin(["train", "test"])]
        X, y = np.asarray(embed(frame["text"].tolist()), dtype=float), frame["label"].to_numpy()
        train = (frame["split"] == "train").to_numpy()
        return X[train], y[train], X[~train], y[~train]
    file, target, share = {
        "leaves": ("features/leaves100.csv.gz", "species", 0.5),
        "palm": ("features/palm_100.csv.gz", "person", 0.2),
        "letters": ("tabular/letter_recognition.csv.gz", "lettr", 0.5),
    }[name]
    frame = pd.read_csv(data / file)
    y = frame.pop(target).to_numpy()
    X = StandardScaler().fit_transform(frame.to_numpy(dtype=float))
    rng, train = np.random.default_rng(0), np.zeros(y.size, dtype=bool)
    for each in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == each))
        train[rows[: max(1, round(share * rows.size))]] = True
    return X[train], y[train], X[~train], y[~train]


if __name__ == "__main__":
    main()
