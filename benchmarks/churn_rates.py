"""How often `compare` finds a change: when only the seed changed (at most 5 %), and when a region changed (90 %).

    python benchmarks/churn_rates.py --worlds 200 --part report

`--part tune` draws other worlds than `--part report`; thresholds were chosen on the first only.
"""

from __future__ import annotations

import argparse
import json

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.tree import ExtraTreeClassifier

import classay

SIZES = [(3, 1), (5, 1), (10, 1), (19, 1), (5, 2), (5, 5), (10, 10)]


def boundary_world(rng: np.random.Generator, fits: int, n: int = 1500):
    """Fits are thresholds that differ from each other, with noise at single items."""
    X = rng.random((n, 3))
    truth = (X[:, 0] > 0.5).astype(int)
    cuts = 0.5 + rng.normal(0, 0.03, fits)
    labels = (X[:, 0] > cuts[:, None]).astype(int)
    flips = rng.random(labels.shape) < 0.02
    return X, truth, np.where(flips, 1 - labels, labels)


def tree_world(rng: np.random.Generator, fits: int, n: int = 1500):
    """Random trees on one training sample; only their seed differs."""
    X, y = make_classification(400 + n, 6, n_informative=4, flip_y=0.05, random_state=int(rng.integers(2**31)))
    trees = [ExtraTreeClassifier(max_depth=7, random_state=int(rng.integers(2**31))) for _ in range(fits)]
    labels = np.stack([tree.fit(X[:400], y[:400]).predict(X[400:]) for tree in trees])
    return X[400:], y[400:], labels


def new_rates(world, old: int, new: int, worlds: int, base: int) -> dict[str, float]:
    """Shares of worlds in which something is found, without and with a changed region."""
    counts: dict[str, list[float]] = {}
    for number in range(worlds):
        rng = np.random.default_rng([base, number])
        X, truth, labels = world(rng, old + new)
        table = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
        first = classay.Labelings.from_arrays(labels[None, :old], truth)
        for name in ("seed only", "region changed"):
            second = labels[None, old:].copy()
            if name == "region changed":
                inside = X[:, 1] > np.quantile(X[:, 1], 0.88)  # 12 % of the items
                turned = inside & (rng.random((1, new, len(X))) < 0.6)
                second = np.where(turned, 1 - second, second)
            result = classay.compare(first, classay.Labelings.from_arrays(second, truth), table, max_features=1)
            found = {
                "beyond": result.beyond_shown,
                "changed region": bool(result.changed),
                "worse region": bool(result.worse),
            }
            for what, value in found.items():
                counts.setdefault(f"{name}: {what}", []).append(float(value))
    return {name: float(np.mean(values)) for name, values in counts.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=100)
    parser.add_argument("--part", choices=["tune", "report"], default="report")
    parser.add_argument("--fits", default="", help="only these numbers of old and new fits, such as 10:1,5:5")
    arguments = parser.parse_args()
    sizes = [tuple(map(int, each.split(":"))) for each in arguments.fits.split(",") if each] or SIZES
    base = {"tune": 1, "report": 2}[arguments.part]
    for world in (boundary_world, tree_world):
        for old, new in sizes:
            rates = new_rates(world, old, new, arguments.worlds, base)
            print(json.dumps({"world": world.__name__, "fits": f"{old} against {new}", **rates}), flush=True)


if __name__ == "__main__":
    main()
