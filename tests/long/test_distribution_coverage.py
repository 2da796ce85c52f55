"""How often the intervals of top-m, of the largest label set, of added classes, and the limit of trust hold."""

from __future__ import annotations

import os

import numpy as np
from class_worlds import KEPT_ASIDE, TUNED, class_ranks, class_scores

import classay
from classay.classes.ranks.evidence import top_of_label_sets

RUNS = int(os.environ.get("CLASSAY_RUNS", "40"))
WORLDS = {name: source for name, source in (TUNED | KEPT_ASIDE).items() if name != "twins"}
"""Without the one that no forecast of the default holds in: its classes are not independent."""
HERE, AHEAD = 60, 240


def truths(source):
    """Accuracy and top-5 accuracy with `AHEAD` classes, the curve of the source, and D̄(.98)."""
    beaten = [class_ranks(source, AHEAD, np.random.default_rng([77, d])).evidence().beaten for d in range(12)]
    mean = np.mean(beaten, axis=0)
    tops = [top_of_label_sets(mean, m, np.array([AHEAD]))[0] for m in (1, 5)]
    far = class_ranks(source, 1500, np.random.default_rng(78)).evidence()
    share = np.cumsum(far.beaten)[int(0.98 * 1499)]
    return tops, far.accuracy(), share


def test_intervals_hold():
    every = {"top-1": [], "top-5": [], "largest": [], "D̄(.98)": [], "trusted": []}
    for name, source in WORLDS.items():
        tops, curve, share = truths(source)
        held = {figure: [] for figure in every}
        for run in range(RUNS):
            u = classay.accuracy_curve(class_ranks(source, HERE, np.random.default_rng([79, run]))).u_distribution()
            for figure, m, truth in (("top-1", 1, tops[0]), ("top-5", 5, tops[1])):
                found = u.top(m, AHEAD)
                held[figure].append(found.low <= truth <= found.high)
            largest = u.largest(float(curve[150]))
            held["largest"].append(largest.low <= 151 <= largest.high)
            shown = u.to_frame()
            at = int(np.searchsorted(shown["u"], 0.98))
            held["D̄(.98)"].append(shown["low"][at] <= share <= shown["high"][at])
            ahead = classay.extrapolate(u.curve, [AHEAD])
            k = min(round(ahead.trusted * HERE), 1500) if np.isfinite(ahead.trusted) else HERE
            if k > HERE:
                held["trusted"].append(abs(classay.extrapolate(u.curve, k).value - curve[k - 1]) <= 0.05)
        print(
            name,
            {figure: round(float(np.mean(each)), 3) if each else None for figure, each in held.items()},
            flush=True,
        )
        for figure, each in held.items():
            every[figure] += each
    overall = {figure: float(np.mean(each)) for figure, each in every.items()}
    print("overall", {figure: round(value, 3) for figure, value in overall.items()}, len(every["trusted"]))
    assert min(overall.values()) >= 0.88
    assert overall["trusted"] >= 0.9


def test_added_classes_hold():
    held = {"kept": [], "all": []}
    for source in WORLDS.values():
        for run in range(RUNS):
            rng = np.random.default_rng([80, run])
            scores, y = class_scores(source, AHEAD, rng)
            first = rng.permutation(AHEAD)[:HERE]
            columns = np.sort(first)
            rows = np.isin(y, columns)
            found = classay.accuracy_curve(scores[np.ix_(rows, columns)], np.searchsorted(columns, y[rows])).nested(
                AHEAD
            )
            right = scores.argmax(axis=1) == y
            by_class = np.array([right[y == each].mean() for each in range(AHEAD)])
            # The truth of one draw of classes and rows; its own chance is small beside the interval.
            held["kept"].append(found.kept.low <= by_class[columns].mean() <= found.kept.high)
            held["all"].append(found.accuracy.low <= by_class.mean() <= found.accuracy.high)
    print({name: round(float(np.mean(each)), 3) for name, each in held.items()})
    assert min(float(np.mean(each)) for each in held.values()) >= 0.88


def test_intervals_over_rows_hold():
    held = []
    for run in range(10 * RUNS):
        rng = np.random.default_rng([81, run])
        y = np.repeat(np.arange(6), [10, 20, 30, 40, 50, 50])
        chance = np.linspace(0.5, 0.95, 6)
        right = rng.random(y.size) < chance[y]
        scores = np.where(np.eye(6, dtype=bool)[y], np.where(right, 2.0, -1.0)[:, None], rng.random((y.size, 6)))
        found = classay.accuracy_curve(scores, y).over_rows()
        held.append(found.low <= chance.mean() <= found.high)
    print("over rows", np.mean(held))
    assert 0.93 <= np.mean(held) <= 1.0
