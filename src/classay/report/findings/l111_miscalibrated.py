"""Are the probabilities of a learner as high as its predictions are right?

- *A note when:* On average over cross-validated predictions, a learner is surer than it is right, or less sure, by 3
  points or more; or the probability that it gives to a class differs so much from the share of the class. The 99 %
  interval, shared by all learners, must be beyond 3 points.
- *Fine when:* No learner's 95 % interval reaches beyond 3 points.
- *Not checked when:* No learner gives probabilities, fits had fewer than 90 % of the rows, or rows belong together
  (D206).
- *Not reported when:* It cannot be said; or the learner is there for contrast only.
- *Judged by:* This is calibration on average: probabilities that are too high in one place and too low in another may
  still cancel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...intervals import Estimate
from ..cross_validated import HeldOut
from ..document import Finding, Unasked
from ..document.phrases import joined, points, quoted, share
from ..results import Results
from .rules import EVERYONE, Judge, Outcome, fit_size, full_folds, mean_over_rows, without_full_folds

CODE = "L111"
TITLE = "Probabilities do not match how often it is right"
MATTERS = 0.03
"""Smallest difference that matters."""
CHANCE, LEVEL = 0.01, 0.95
ENOUGH = 1000
"""Rows from which isotonic regression is better than a sigmoid."""


@dataclass(frozen=True)
class _Gap:
    """How far probabilities are from shares: of its predictions being right, or of class `of` if that is farther."""

    learner: str
    gap: Estimate
    mean: float
    real: float
    of: object = None


def check(results: Results, judge: Judge) -> Outcome:
    """One note for the learners whose probabilities are off, or one finding that all are fine."""
    full = {name: held for name, held in full_folds(results).items() if name not in results.contrast}
    if not full:
        return without_full_folds(results, CODE, TITLE)
    with_probabilities = {name: held for name, held in full.items() if held.probabilities is not None}
    if not with_probabilities:
        return Unasked(CODE, TITLE, "no learner gives probabilities")
    if results.suspicions.rows_belong_together:
        return Unasked(CODE, TITLE, "rows belong together (D206), so that it is right too often")
    level = 1 - CHANCE / (len(with_probabilities) * (results.data.classes.size + 1))
    gaps = [_gap(name, held, results, level) for name, held in with_probabilities.items()]
    off = [each for each in gaps if each.gap.low > MATTERS or each.gap.high < -MATTERS]
    if off:
        return [_note(sorted(off, key=lambda each: -abs(each.gap.value)), results)]
    usual = [_gap(name, held, results, LEVEL) for name, held in with_probabilities.items()]
    if all(each.gap.low >= -MATTERS and each.gap.high <= MATTERS for each in usual):
        return [_fine(max(usual, key=lambda each: abs(each.gap.value)))]
    return []


def _gap(name: str, held: HeldOut, results: Results, level: float) -> _Gap:
    """The largest of: mean sureness minus accuracy, and mean probability of each class minus its share."""
    assert held.probabilities is not None
    codes, groups = results.data.codes[held.tested], results.data.groups_of(held.tested)
    given = held.probabilities / held.probabilities.sum(axis=1, keepdims=True)
    sure, right = given.max(axis=1), (given.argmax(axis=1) == codes).astype(float)
    made = [_Gap(name, mean_over_rows(sure - right, level, groups), float(sure.mean()), float(right.mean()))]
    for code, label in enumerate(results.data.classes):
        own = (codes == code).astype(float)
        gap = mean_over_rows(given[:, code] - own, level, groups)
        made.append(_Gap(name, gap, float(given[:, code].mean()), float(own.mean()), label))
    clear = [each for each in made if each.gap.low > MATTERS or each.gap.high < -MATTERS]
    # How sure it is comes first: the gap of a class is often another side of it.
    return clear[0] if clear else max(made, key=lambda each: max(each.gap.high, -each.gap.low))


def _note(off: list[_Gap], results: Results) -> Finding:
    first, rest = off[0], off[1:]
    held = results.predicted[first.learner]
    others = [f"{quoted(each.learner)} ({_direction(each)} by {points(_size(each.gap))})" for each in rest]
    too = f" Also off: {joined(others)}." if others else ""
    if first.of is None:
        sentence = (
            f"It is {share(first.mean)} sure of its predictions on average, but {share(first.real)} of them are right "
            f"({fit_size(held)}): it is {_direction(first)} by {points(_size(first.gap))}."
        )
    else:
        sentence = (
            f"It gives class {quoted(first.of)} a probability of {share(first.mean)} on average, but "
            f"{share(first.real)} of the rows are of that class ({fit_size(held)}), a difference of "
            f"{points(_size(first.gap))}."
        )
    method = "isotonic" if held.rows >= ENOUGH else "sigmoid"
    return Finding(
        code=CODE,
        level="note",
        of=first.learner,
        title=f"Its probabilities are {'too high' if first.gap.value > 0 else 'too low'}"
        if first.of is None
        else "Its probabilities do not match the shares of the classes",
        sentence=f"{sentence}{too}",
        value=first.gap,
        reference="0: as sure as it is right",
        action="Use its labels and its ranking, but not its probabilities as they are: calibrate them with "
        f"CalibratedClassifierCV(method='{method}', cv=5), or undo class weights and resampling.",
    )


def _direction(one: _Gap) -> str:
    if one.of is not None:
        return "off"
    return "too sure" if one.gap.value > 0 else "not sure enough"


def _size(gap: Estimate) -> Estimate:
    """The gap without its sign."""
    ends = np.sort(np.abs([gap.low, gap.high]))
    return Estimate(abs(gap.value), float(ends[0]), float(ends[1]), gap.level, gap.kind)


def _fine(worst: _Gap) -> Finding:
    return Finding(
        code=CODE,
        level="fine",
        of=EVERYONE,
        title="Probabilities are right on average",
        sentence="On average no learner is surer than it is right, or less sure, by more than 3 points; the largest "
        f"difference is that of {quoted(worst.learner)}, {points(worst.gap)}.",
        value=worst.gap,
        reference="0: as sure as it is right",
    )
