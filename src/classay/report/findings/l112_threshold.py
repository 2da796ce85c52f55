"""Would another threshold cost less?

- *A note when:* Of two classes one has less than a third of the rows, and another threshold on its probability raises
  balanced accuracy by 3 points or more (the 99 % interval above 0). Balanced accuracy is the cost in which a missed
  row of the rarer class weighs as much as the classes are unequal: with 2 % of the rows, as much as 49 false alarms.
  The threshold is chosen on one half of the rows and judged on the other.
- *Not reported when:* No threshold is better by so much.
- *Not checked when:* There are not two unequal classes, fewer than 20 rows of the rarer one, no probabilities, or
  fits on fewer than 90 % of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import seeds
from ...arrays import Floats, Ints, Mask
from ...intervals import Estimate
from ...splits import PerRow, fold_of_rows
from ..cross_validated import HeldOut
from ..document import Finding, Unasked
from ..document.phrases import points, quoted, share
from ..results import Results
from .rules import Judge, Outcome, full_folds, mean_over_rows, without_full_folds

CODE = "L112"
TITLE = "Another threshold would cost less"
UNEQUAL, EVENTS, MATTERS, LEVEL = 1 / 3, 20, 0.03, 0.99


@dataclass(frozen=True)
class _Threshold:
    """A learner at its own threshold and at a better one: the share of the rarer class found, and of false alarms."""

    learner: str
    gain: Estimate
    threshold: float
    own: tuple[float, float]
    better: tuple[float, float]


def check(results: Results, judge: Judge) -> Outcome:
    """One note for the learner that would gain most, among those that were asked for."""
    data = results.data
    counts = np.bincount(data.codes, minlength=data.classes.size)
    rarer = int(counts.argmin())
    if counts.size != 2 or counts[rarer] > UNEQUAL * counts.sum():
        return Unasked(CODE, TITLE, "it is asked for two classes, one with less than a third of the rows")
    full = full_folds(results)
    if not full:
        return without_full_folds(results, CODE, TITLE)
    able = {
        name: held for name, held in full.items() if held.probabilities is not None and name not in results.contrast
    }
    events = [int((data.codes[held.tested] == rarer).sum()) for held in able.values()]
    if not events or min(events) < EVENTS:
        why = "no learner gives probabilities" if not events else f"there are {min(events)} rows of the rarer class"
        return Unasked(CODE, TITLE, why)
    made = [_better(name, held, results, rarer) for name, held in able.items()]
    clear = [each for each in made if each.gain.low > 0 and each.gain.value >= MATTERS]
    return [_note(max(clear, key=lambda each: each.gain.value), clear, results, rarer)] if clear else []


def _better(name: str, held: HeldOut, results: Results, rarer: int) -> _Threshold:
    assert held.probabilities is not None
    codes, groups = results.data.codes[held.tested], results.data.groups_of(held.tested)
    is_rare, p = codes == rarer, held.probabilities[:, rarer]
    half = fold_of_rows(codes, 2, seeds.integers(0, "thresholds", count=1)[0], PerRow(groups=groups))
    flagged = np.zeros(codes.size, dtype=bool)
    for part in (0, 1):
        flagged[half == part] = p[half == part] >= best_threshold(p[half != part], is_rare[half != part])
    own = held.labels == rarer
    weights = np.where(is_rare, 0.5 / is_rare.mean(), 0.5 / (~is_rare).mean())
    gain = ((flagged == is_rare).astype(float) - (own == is_rare)) * weights
    return _Threshold(
        learner=name,
        gain=mean_over_rows(gain, LEVEL, groups),
        threshold=best_threshold(p, is_rare),
        own=_rates(own, is_rare),
        better=_rates(flagged, is_rare),
    )


def best_threshold(p: Floats, is_rare: Mask) -> float:
    """The lowest probability that should count as the class: the highest share found minus share of false alarms.

    >>> best_threshold(np.array([0.1, 0.2, 0.3, 0.6]), np.array([False, False, True, True]))
    0.3
    """
    order: Ints = np.argsort(-p, kind="stable")
    found = np.cumsum(is_rare[order]) / max(int(is_rare.sum()), 1)
    alarms = np.cumsum(~is_rare[order]) / max(int((~is_rare).sum()), 1)
    last = np.append(p[order][1:] != p[order][:-1], True)  # equal probabilities are on one side
    return float(p[order][np.where(last, found - alarms, -np.inf).argmax()])


def _rates(flagged: Mask, is_rare: Mask) -> tuple[float, float]:
    return float(flagged[is_rare].mean()), float(flagged[~is_rare].mean())


def _note(one: _Threshold, clear: list[_Threshold], results: Results, rarer: int) -> Finding:
    label, counts = quoted(results.data.classes[rarer]), np.bincount(results.data.codes)
    ratio = counts.max() / counts.min()
    others = len(clear) - 1
    too = f" {others} other {'learner also gains' if others == 1 else 'learners also gain'} by this." if others else ""
    return Finding(
        code=CODE,
        level="note",
        of=one.learner,
        title=TITLE,
        sentence=f"As it is, it finds {share(one.own[0])} of the rows of class {label}, with false alarms for "
        f"{share(one.own[1])} of the others. If a probability of {one.threshold:.2g} were enough, it would find "
        f"{share(one.better[0])}, with false alarms for {share(one.better[1])}: balanced accuracy rises by "
        f"{points(one.gain)}. That costs less if missing one costs as much as {ratio:.2g} false alarms.{too}",
        value=one.gain,
        reference="0: its own threshold is as good",
        action="Decide what a missed row and a false alarm cost you, and set the threshold for that: "
        "TunedThresholdClassifierCV of scikit-learn does. Do not resample the rows for it.",
    )
