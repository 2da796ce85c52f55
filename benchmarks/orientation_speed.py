"""How long `orientation` takes on a record, and how much longer it takes without one.

Without a record, as in the published implementation, every fitted classifier is loaded from disk again for every
holdout, predicts its h points, and one-hot vectors of all 2^h labelings are averaged into P_F and P_D. Some holdouts
are timed that way and scaled up to all. The files are in the system's cache by then, which favours that way.
Goals: under 0.2 s for 100 x 5 x 3000 with 100 holdouts of 5; at least 100 times faster than without a record.
"""

from __future__ import annotations

import pickle
import tempfile
import time
from pathlib import Path

import numpy as np
import timing
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

import classay

GOAL_SECONDS, GOAL_RATIO = 0.2, 100


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/orientation_speed.py --repeats 7 --naive 3")
    parser.add_argument("--subsets", type=int, default=100, help="K")
    parser.add_argument("--refits", type=int, default=5, help="R")
    parser.add_argument("--points", type=int, default=3000, help="test points")
    parser.add_argument("--holdouts", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=7, help="runs of orientation()")
    parser.add_argument("--naive", type=int, default=3, help="holdouts that are done without a record")
    options = parser.parse_args()
    if options.quick:
        options.subsets, options.refits, options.points, options.repeats, options.naive = 12, 2, 300, 2, 1
    print(timing.machine())
    shape = f"{options.subsets} x {options.refits} x {options.points}"
    print(f"Record: {shape}; {options.holdouts} holdouts", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        paths, X_test, labelings = fit_trees(options, Path(folder))
        several = synthetic(options, n_classes=10)
        rows = [
            timed("trees, h = 5", labelings, 5, options, f"< {GOAL_SECONDS} s"),
            timed("trees, h = 50", labelings, 50, options),
            timed("10 classes, h = 5", several, 5, options),
            timed("10 classes, h = 50", several, 50, options),
        ]
        timing.show(rows, "orientation() on a record")

        found = classay.orientation(labelings, 5, options.holdouts)
        begin = time.perf_counter()
        naive = np.array([without_record(paths, X_test[holdout]) for holdout in found.holdouts[: options.naive]])
        each = (time.perf_counter() - begin) / options.naive
    ours = found.per_holdout[["expressivity", "stochasticity"]].to_numpy()[: options.naive]
    seconds = rows[0]["median s"]
    timing.show(
        [
            {
                "seconds a holdout": each,
                f"scaled to {options.holdouts}": each * options.holdouts,
                "orientation() s": seconds,
                "ratio": f"{each * options.holdouts / seconds:.0f}",
                "goal": f">= {GOAL_RATIO}",
                "largest difference": f"{np.abs(naive - ours).max():.1e}",
            }
        ],
        f"Without a record: {options.naive} holdouts timed, {paths.size} classifiers loaded for each",
    )


def fit_trees(options, folder: Path) -> tuple[np.ndarray, np.ndarray, classay.Labelings]:
    """Fit trees on subsets, save each, and keep what they answer."""
    rows = 4 * options.points
    X, y = make_classification(rows + options.points, 14, n_informative=8, flip_y=0.05, random_state=0)
    X_test = X[rows:]
    labels = np.empty((options.subsets, options.refits, options.points), dtype=np.int8)
    paths = np.empty((options.subsets, options.refits), dtype=object)
    rng = np.random.default_rng(0)
    for subset in range(options.subsets):
        drawn = rng.choice(rows, int(0.15 * rows))
        for refit in range(options.refits):
            tree = DecisionTreeClassifier(random_state=refit).fit(X[drawn], y[drawn])
            paths[subset, refit] = folder / f"{subset}-{refit}.pickle"
            paths[subset, refit].write_bytes(pickle.dumps(tree))
            labels[subset, refit] = tree.predict(X_test)
    return paths, X_test, classay.Labelings.from_arrays(labels, y[rows:], name="tree")


def synthetic(options, n_classes: int) -> classay.Labelings:
    """Answers that agree as those of a real learner do: some points are hard, subsets differ, refits a little."""
    rng = np.random.default_rng(1)
    truth = rng.integers(n_classes, size=options.points)
    hardness = rng.beta(0.6, 1.4, size=options.points)
    shape = (options.subsets, options.refits, options.points)
    by_data = rng.integers(n_classes, size=(options.subsets, 1, options.points))
    by_dice = rng.integers(n_classes, size=shape)
    labels = np.where(rng.random((options.subsets, 1, options.points)) < hardness, by_data, truth)
    labels = np.where(rng.random(shape) < 0.2 * hardness, by_dice, labels)
    return classay.Labelings.from_arrays(labels.astype(np.int8), truth, name="synthetic")


def timed(what: str, labelings: classay.Labelings, size: int, options, goal: str = "") -> dict[str, object]:
    """Median seconds of `orientation`; the first, untimed run pays for imports."""
    classay.orientation(labelings, size, options.holdouts)
    turns = timing.Turns({what: lambda: classay.orientation(labelings, size, options.holdouts)}, options.repeats)
    seconds = turns.seconds[what]
    return {"what": what, "median s": turns.median(what), "least": min(seconds), "most": max(seconds), "goal": goal}


def without_record(paths: np.ndarray, X_holdout: np.ndarray) -> tuple[float, float]:
    """Plain expressivity and stochasticity of one holdout, loading every classifier and building 2^h vectors."""
    labelings = 2 ** len(X_holdout)
    P_F = np.zeros((len(paths), labelings))
    for subset, refits in enumerate(paths):
        for path in refits:
            with open(path, "rb") as file:
                tree = pickle.load(file)
            one_hot = np.zeros(labelings)
            one_hot[int("".join(map(str, tree.predict(X_holdout))), 2)] = 1
            P_F[subset] += one_hot / len(refits)
    return entropy(P_F.mean(axis=0)), float(np.mean([entropy(row) for row in P_F]))


def entropy(p: np.ndarray) -> float:
    return float(-(p[p > 0] * np.log2(p[p > 0])).sum())


if __name__ == "__main__":
    main()
