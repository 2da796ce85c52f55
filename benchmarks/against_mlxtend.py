"""`record` against mlxtend's `bias_variance_decomp`: the same number of fits, of the same size, on the same split.

Both draw as many rows as there are, with replacement, for each of N fits, and mlxtend's three figures are read off
the record as well: the main prediction is the majority of refits; bias, the share of test points where it is wrong;
variance, how often a refit differs from it. mlxtend seeds its bootstrap and not the learner: with the learner's
random_state left free, the same seed gives other figures. Freezing it makes them repeat, but with the same dice in
every fit. A record varies the dice and repeats to the bit. Goals: faster on two cores; seeded.
"""

from __future__ import annotations

import sys

import numpy as np
import timing
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import classay
from classay.splits import split_by_share
from classay.tables.read import read_table

SEED, TEST_SIZE = 0, 0.2
FIGURES = ("loss", "bias", "variance")


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/against_mlxtend.py --rounds 100 --repeats 3")
    parser.add_argument("--data", help="a table for classay.tables.read, of numbers only; default: made, ROWS x 14")
    parser.add_argument("--rows", type=int, default=4_000)
    parser.add_argument("--rounds", type=int, default=100, help="N fits")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3, help="turns of each way, at least 2 to see what repeats")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.rounds, options.repeats = 500, 6, 2
    try:
        import mlxtend
    except ImportError:
        sys.exit("mlxtend is not installed, so there is nothing to compare with. Run `pip install mlxtend`.")

    if options.data:
        table = read_table(options.data)
        X, y = table.X.to_numpy(float), np.unique(table.y, return_inverse=True)[1]
    else:
        X, y = make_classification(options.rows, 14, n_informative=8, flip_y=0.05, random_state=SEED)
    print(f"{timing.machine()}, mlxtend {mlxtend.__version__}")
    print(f"{X.shape[0]} x {X.shape[1]}; {options.rounds} fits; record on {options.workers} workers", flush=True)
    learners = {
        "tree": (DecisionTreeClassifier(), None),
        "forest": (RandomForestClassifier(n_estimators=50), RandomForestClassifier(n_estimators=50, n_jobs=2)),
    }
    speed, figures, seeded = [], [], []
    for name, (learner, threaded) in learners.items():
        turns = take_turns(learner, threaded, X, y, options)
        speed += [
            {
                "learner": name,
                "against": way,
                "mlxtend s": turns.median(way),
                "record s": turns.median("record"),
                "times faster": turns.ratio(way, "record"),
                "range": turns.spread(way, "record"),
                "goal": "> 1",
            }
            for way in turns.seconds
            if way != "record"
        ]
        records = turns.results["record"]
        theirs = turns.results["mlxtend"]
        for way, values in (("mlxtend", theirs[0]), ("record", decomposed(records[0]))):
            figures.append({"learner": name, "from": way, **dict(zip(FIGURES, values))})
        same_labels = all(np.array_equal(records[0].labels, other.labels) for other in records[1:])
        seeded.append(
            {
                "learner": name,
                "mlxtend, same seed: largest difference": max(
                    abs(a - b) for other in theirs[1:] for a, b in zip(theirs[0], other)
                ),
                "record, same seed: same labels": "yes" if same_labels else "no",
                "record, 1 worker: same labels": "yes" if same_alone(learner, X, y, records[0], options) else "no",
            }
        )
    timing.show(speed, "Seconds, median of turns")
    timing.show(figures, "The same three figures; the bootstraps differ, so they agree up to chance")
    timing.show(seeded, "Run again with the same seed, the learner's random_state left free")


def record(learner, X, y, n_train: int, rounds: int, workers: int) -> classay.Labelings:
    scheme = classay.Subsets(rounds, size=n_train, replace=True)
    return classay.record(learner, X, y, scheme, repeats=1, test_size=TEST_SIZE, random_state=SEED, executor=workers)


def take_turns(learner, threaded, X, y, options) -> timing.Turns:
    from mlxtend.evaluate import bias_variance_decomp

    train, test = split_by_share(np.unique(y, return_inverse=True)[1], TEST_SIZE, SEED)

    def theirs(of, rounds=options.rounds):
        parts = X[train], y[train], X[test], y[test]
        return bias_variance_decomp(of, *parts, loss="0-1_loss", num_rounds=rounds, random_seed=SEED)

    def ours(rounds=options.rounds):
        return record(learner, X, y, train.size, rounds, options.workers)

    ways = {"mlxtend": lambda: theirs(learner), "record": ours}
    warm = {"mlxtend": lambda: theirs(learner, 2), "record": lambda: ours(2 * options.workers)}
    if threaded is not None:
        ways["mlxtend, n_jobs=2"] = lambda: theirs(threaded)
        warm["mlxtend, n_jobs=2"] = lambda: theirs(threaded, 2)
    return timing.Turns(ways, options.repeats, warm)


def same_alone(learner, X, y, known: classay.Labelings, options) -> bool:
    """Whether one worker gives the first labels of two: a few refits tell, as streams go by position."""
    few = min(4, options.rounds)
    alone = record(learner, X, y, known.train_rows[0].size, few, 1)
    return np.array_equal(alone.labels, known.labels[:few])


def decomposed(labelings: classay.Labelings) -> tuple[float, float, float]:
    """mlxtend's average loss, bias and variance of the 0-1 loss, from a record."""
    answers = labelings.labels[:, 0]  # (N, n)
    votes = np.stack([(answers == code).sum(axis=0) for code in range(len(labelings.classes))])
    main_prediction = votes.argmax(axis=0)
    loss = (answers != labelings.truth).mean()
    return float(loss), float((main_prediction != labelings.truth).mean()), float((answers != main_prediction).mean())


if __name__ == "__main__":
    main()
