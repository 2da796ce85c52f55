"""Rules on cross-validated predictions and their scores: L101, L105, L111, L112."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ... import seeds
from ...arrays import Floats, Ints, Mask
from ...intervals import Estimate, exact, of_proportion_by_group
from ...splits import PerRow, fold_of_rows
from ..cross_validated import HeldOut
from ..document import Finding
from ..document.phrases import joined, percent, points, quoted, share
from ..results import Results
from ..score_ranks import EVENTS, classes_with_rows, ranks_by_row, ranks_of_class
from .differences import difference_over_rows, mean_over_rows
from .rules import (
    EVERYONE,
    Judge,
    Outcome,
    every_learner,
    finding,
    fine,
    fit_size,
    full_fits,
    full_folds,
    note,
    rule,
)

LEVEL = 0.95
"""Confidence level of differences that are not shared by all warnings of a page."""


@rule("L101", "Better than the largest class", full_fits)
def largest_class(results: Results, judge: Judge) -> Outcome:
    """Is a learner better than always predicting the largest class?

    - *A warning when:* Its accuracy is not above the share of the largest class, and its scores are not shown to rank
      rows better than chance.
    - *A note when:* Its accuracy is not shown to be above that share (the 95 % interval of the difference, paired over
      rows, reaches 0), but its scores rank rows better than chance, or its accuracy is higher.
    - *Fine when:* The whole interval is above 0, for every learner.
    - *Not checked when:* Fits had fewer than 90 % of the rows, or fewer than 20 rows are of other classes.
    - *Judged by:* Cross-validated predictions; where accuracy cannot show it, by how well the scores rank rows
      (AUC).
    """
    data, held = results.data, full_folds(results)
    largest = int(np.argmax(np.bincount(data.codes)))
    always = data.codes == largest
    if int((~always).sum()) < EVENTS:
        return f"fewer than {EVENTS} rows are not of the largest class"
    label, chance = quoted(data.classes[largest]), share(float(always.mean()))
    leads = {
        name: difference_over_rows(each.right(data.codes), always[each.tested], LEVEL, data.groups_of(each.tested))
        for name, each in held.items()
    }
    findings = [
        _no_better(name, held[name], lead, results, label, chance) for name, lead in leads.items() if lead.low <= 0
    ]
    least = min(leads, key=lambda name: leads[name].value)
    return findings or fine(
        EVERYONE,
        f"{every_learner(held, results)} beats always predicting class {label}, which reaches {chance}; the smallest "
        f"lead is that of {quoted(least)}, {points(leads[least])}.",
        leads[least],
        f"always class {label}: {chance}",
    )


def _no_better(name: str, held: HeldOut, lead: Estimate, results: Results, label: str, chance: str) -> Finding:
    codes, groups = results.data.codes, results.data.groups_of(held.tested)
    accuracy, ranks = of_proportion_by_group(held.right(codes), groups), ranks_by_row(held, codes)
    auc = None if ranks is None else mean_over_rows(ranks, LEVEL, groups)
    ranked, clearly = auc is not None and auc.low > 0.5, lead.value <= 0
    scores = ""
    if auc is not None:
        scores = f" Its scores rank rows {'better than chance' if ranked else 'no better than chance'} (AUC {auc:.2f})."
    if ranked:
        title = "Accuracy does not show what it has learnt"
        action = "Judge it by its scores (metric roc_auc or average_precision), and set the threshold by your costs."
    elif clearly:
        title = "No better than the largest class"
        action = "Do not use it as it is: check whether the columns are informative, and the recall of each class."
    else:
        title = "Not shown to beat the largest class"
        action = "More rows would show whether it is better. Until then, check the recall of each class."
    return finding(
        "warning" if clearly and not ranked else "note",
        name,
        f"It predicts {percent(accuracy)} of the rows correctly ({fit_size(held)}); always predicting class {label} "
        f"would reach {chance}{'' if clearly else f', which is lower by {points(lead)}'}.{scores}",
        accuracy,
        f"always class {label}: {chance}",
        action,
        title,
    )


RECALL_LEVEL = 0.8
"""Confidence level of the recall: its upper end is then one-sided at 90 %."""
HALF, RARE = 0.5, 0.05
"""Below this share of its own share, the recall of a class is hardly any; below this share of rows, a class is rare."""


class _Missed(NamedTuple):
    """A class that is hardly ever found: rows, how many were found, its share, and how well scores rank it."""

    label: str
    rows: int
    found: int
    share: float
    auc: Estimate | None
    of_two: bool

    @property
    def is_ranked(self) -> bool:
        """Whether scores know more of a rare class than labels show."""
        return self.auc is not None and self.auc.low > 0.5 and self.share < RARE and self.of_two


@rule("L105", "A class is hardly ever found", full_fits, basis="folds")
def missed_class(results: Results, judge: Judge) -> Outcome:
    """Is there a class that a learner hardly ever finds?

    - *A warning when:* The upper end of the recall of a class (90 %, one-sided) is below half its share: naming rows at
      random would find more than twice as many of them.
    - *A note when:* The same of the rarer of two classes, with less than 5 % of the rows, and scores rank it better
      than chance: labels at the usual threshold hide what the learner knows.
    - *Fine when:* This holds for no learner and no class.
    - *Not checked when:* There are no cross-validated predictions, or no class has 20 rows.
    - *Judged by:* Cross-validated predictions, for classes with at least 20 rows.
    """
    judged = len(classes_with_rows(results.data.codes))
    if not judged:
        return f"no class has {EVENTS} rows"
    findings = []
    for name, held in full_folds(results).items():
        missed = _missed(held, results)
        for ranked in (False, True):
            classes = [each for each in missed if each.is_ranked == ranked]
            if classes:
                findings.append(_hardly_found(name, held, classes, ranked))
    few = results.data.classes.size - judged
    return findings or fine(
        EVERYONE,
        f"No learner is shown to find fewer rows of a class than random naming would"
        f"{f'; {few} of {few + judged} classes have fewer than {EVENTS} rows and were not judged' if few else ''}.",
        exact(0, "count"),
        f"{judged} classes",
        "No class is missed",
    )


def _missed(held: HeldOut, results: Results) -> list[_Missed]:
    data = results.data
    codes, right, groups = data.codes[held.tested], held.right(data.codes), data.groups_of(held.tested)
    shares, two = np.bincount(data.codes) / data.codes.size, data.classes.size == 2
    missed = []
    for code in classes_with_rows(codes):
        own = codes == code
        recall = of_proportion_by_group(right[own], None if groups is None else groups[own], RECALL_LEVEL)
        if recall.high < HALF * shares[code]:
            ranks = ranks_of_class(held, data.codes, code)
            auc = None if ranks is None else mean_over_rows(ranks, LEVEL, groups)
            label, rows = quoted(data.classes[code]), int(own.sum())
            missed.append(_Missed(label, rows, int(right[own].sum()), float(shares[code]), auc, two))
    return missed


def _hardly_found(name: str, held: HeldOut, missed: list[_Missed], ranked: bool) -> Finding:
    named = joined([f"{each.label} ({each.found:,} of {each.rows:,} rows)" for each in missed[:3]])
    more = f" and {len(missed) - 3} more" if len(missed) > 3 else ""
    label, auc = missed[0].label, missed[0].auc
    scores = "" if auc is None else f" Its scores rank rows of class {label} with an AUC of {auc:.2f}."
    return finding(
        "note" if ranked else "warning",
        name,
        f"Of {'class' if len(missed) == 1 else 'classes'} {named}{more} it finds fewer than random naming would "
        f"({fit_size(held)}); together they are {share(sum(each.share for each in missed))} of the rows.{scores}",
        exact(len(missed), "count"),
        "half the share of the class",
        "Use its scores, with a threshold set by your costs, instead of its labels."
        if ranked
        else "Weight the classes (class_weight='balanced'), change the threshold, or add rows of these classes.",
        "A rare class needs a threshold" if ranked else "",
    )


MATTERS = 0.03
"""Smallest difference of probabilities, and of balanced accuracy, that matters."""
CHANCE = 0.01
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

    @property
    def direction(self) -> str:
        """Too sure, or not sure enough."""
        return "off" if self.of is not None else "too sure" if self.gap.value > 0 else "not sure enough"

    @property
    def size(self) -> Estimate:
        """The gap without its sign."""
        ends = np.sort(np.abs([self.gap.low, self.gap.high]))
        return Estimate(abs(self.gap.value), float(ends[0]), float(ends[1]), self.gap.level, self.gap.kind)

    @property
    def is_off(self) -> bool:
        """Whether the whole interval is beyond what matters."""
        return self.gap.low > MATTERS or self.gap.high < -MATTERS


@rule("L111", "Probabilities do not match how often it is right", full_fits)
def calibration(results: Results, judge: Judge) -> Outcome:
    """Are the probabilities of a learner as high as its predictions are right?

    - *A note when:* On average over cross-validated predictions, a learner is surer than it is right, or less sure, by
      3 points or more; or the probability that it gives to a class differs so much from the share of the class. The
      99 % interval, shared by all learners, must be beyond 3 points.
    - *Fine when:* No learner's 95 % interval reaches beyond 3 points.
    - *Not checked when:* No learner gives probabilities, fits had fewer than 90 % of the rows, or rows belong together
      (D206).
    - *Not reported when:* It cannot be said; or the learner is there for contrast only.
    - *Judged by:* This is calibration on average: probabilities that are too high in one place and too low in another
      may still cancel.
    """
    able = {name: held for name, held in full_folds(results).items() if held.probabilities is not None}
    if not able:
        return "no learner gives probabilities"
    if results.suspicions.rows_belong_together:
        return "rows belong together (D206), so that it is right too often"
    level = 1 - CHANCE / (len(able) * (results.data.classes.size + 1))
    off = [gap for name, held in able.items() if (gap := _gap(name, held, results, level)).is_off]
    if off:
        return _off(sorted(off, key=lambda each: -abs(each.gap.value)), able)
    usual = [_gap(name, held, results, LEVEL) for name, held in able.items()]
    if any(each.gap.low < -MATTERS or each.gap.high > MATTERS for each in usual):
        return []
    worst = max(usual, key=lambda each: abs(each.gap.value))
    return fine(
        EVERYONE,
        "On average no learner is surer than it is right, or less sure, by more than 3 points; the largest difference "
        f"is that of {quoted(worst.learner)}, {points(worst.gap)}.",
        worst.gap,
        "0: as sure as it is right",
        "Probabilities are right on average",
    )


def _gap(name: str, held: HeldOut, results: Results, level: float) -> _Gap:
    """The largest of: mean sureness minus accuracy, and mean probability of each class minus its share."""
    assert held.probabilities is not None
    codes, groups = results.data.codes[held.tested], results.data.groups_of(held.tested)
    probabilities = held.probabilities / held.probabilities.sum(axis=1, keepdims=True)
    sure, right = probabilities.max(axis=1), (probabilities.argmax(axis=1) == codes).astype(float)
    gaps = [_Gap(name, mean_over_rows(sure - right, level, groups), float(sure.mean()), float(right.mean()))]
    for code, label in enumerate(results.data.classes):
        own, of_class = (codes == code).astype(float), probabilities[:, code]
        gap = mean_over_rows(of_class - own, level, groups)
        gaps.append(_Gap(name, gap, float(of_class.mean()), float(own.mean()), label))
    clear = [each for each in gaps if each.is_off]
    # How sure it is comes first: the gap of a class is often another side of it.
    return clear[0] if clear else max(gaps, key=lambda each: max(each.gap.high, -each.gap.low))


def _off(off: list[_Gap], held_out: dict[str, HeldOut]) -> Finding:
    first, held = off[0], held_out[off[0].learner]
    others = [f"{quoted(each.learner)} ({each.direction} by {points(each.size)})" for each in off[1:]]
    if first.of is None:
        title = f"Its probabilities are {'too high' if first.gap.value > 0 else 'too low'}"
        sentence = (
            f"It is {share(first.mean)} sure of its predictions on average, but {share(first.real)} of them are right "
            f"({fit_size(held)}): it is {first.direction} by {points(first.size)}."
        )
    else:
        title = "Its probabilities do not match the shares of the classes"
        sentence = (
            f"It gives class {quoted(first.of)} a probability of {share(first.mean)} on average, but "
            f"{share(first.real)} of the rows are of that class ({fit_size(held)}), a difference of "
            f"{points(first.size)}."
        )
    return note(
        first.learner,
        f"{sentence}{f' Also off: {joined(others)}.' if others else ''}",
        first.gap,
        "0: as sure as it is right",
        "Use its labels and its ranking, but not its probabilities as they are: calibrate them with "
        f"CalibratedClassifierCV(method='{'isotonic' if held.rows >= ENOUGH else 'sigmoid'}', cv=5), or undo class "
        "weights and resampling.",
        title,
    )


UNEQUAL, CLEAR = 1 / 3, 0.99


@dataclass(frozen=True)
class _Threshold:
    """A learner at its own threshold and at a better one: the share of the rarer class found, and of false alarms."""

    learner: str
    gain: Estimate
    threshold: float
    own: tuple[float, float]
    better: tuple[float, float]


@rule("L112", "Another threshold would cost less")
def threshold(results: Results, judge: Judge) -> Outcome:
    """Would another threshold cost less?

    - *A note when:* Of two classes one has less than a third of the rows, and another threshold on its probability
      raises balanced accuracy by 3 points or more (the 99 % interval above 0). Balanced accuracy is the cost in which a
      missed row of the rarer class weighs as much as the classes are unequal: with 2 % of the rows, as much as 49 false
      alarms. The threshold is chosen on one half of the rows and judged on the other.
    - *Not reported when:* No threshold is better by so much.
    - *Not checked when:* There are not two unequal classes, fewer than 20 rows of the rarer one, no probabilities, or
      fits on fewer than 90 % of the rows.
    """
    data = results.data
    counts = np.bincount(data.codes, minlength=data.classes.size)
    rarer = int(counts.argmin())
    if counts.size != 2 or counts[rarer] > UNEQUAL * counts.sum():
        return "it is asked for two classes, one with less than a third of the rows"
    if why := full_fits(results):
        return why
    able = {name: held for name, held in full_folds(results).items() if held.probabilities is not None}
    events = [int((data.codes[held.tested] == rarer).sum()) for held in able.values()]
    if not events or min(events) < EVENTS:
        return "no learner gives probabilities" if not events else f"there are {min(events)} rows of the rarer class"
    thresholds = [_better(name, held, results, rarer) for name, held in able.items()]
    clear = [each for each in thresholds if each.gain.low > 0 and each.gain.value >= MATTERS]
    if not clear:
        return []
    most, others = max(clear, key=lambda each: each.gain.value), len(clear) - 1
    too = f" {others} other {'learner also gains' if others == 1 else 'learners also gain'} by this." if others else ""
    return note(
        most.learner,
        f"As it is, it finds {share(most.own[0])} of the rows of class {quoted(data.classes[rarer])}, with false "
        f"alarms for {share(most.own[1])} of the others. If a probability of {most.threshold:.2g} were enough, it "
        f"would find {share(most.better[0])}, with false alarms for {share(most.better[1])}: balanced accuracy rises "
        f"by {points(most.gain)}. That costs less if missing one costs as much as {counts.max() / counts.min():.2g} "
        f"false alarms.{too}",
        most.gain,
        "0: its own threshold is as good",
        "Decide what a missed row and a false alarm cost you, and set the threshold for that: "
        "TunedThresholdClassifierCV of scikit-learn does. Do not resample the rows for it.",
    )


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
    rates = [(float(each[is_rare].mean()), float(each[~is_rare].mean())) for each in (own, flagged)]
    return _Threshold(name, mean_over_rows(gain, CLEAR, groups), best_threshold(p, is_rare), rates[0], rates[1])


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
