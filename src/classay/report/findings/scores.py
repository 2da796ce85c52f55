"""Rules on cross-validated predictions and their scores: L101, L105, L111, L112."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ... import seeds
from ...arrays import Floats, Ints, Mask
from ...intervals import Estimate, exact, of_proportion_by_group
from ...learner.records.base import OutOfFold
from ...learner.scores.comparison import (
    EVENTS,
    accuracy_over_rows,
    classes_with_rows,
    difference_over_rows,
    mean_over_rows,
    overconfidence,
    ranks_by_row,
    ranks_of_class,
)
from ...splits import PerRow, fold_of_rows
from ..document.phrases import joined, points, quoted
from ..results import Results
from .rules import EVERYONE, OPEN, Judge, Outcome, Said, every_learner, fits_of, full_fits, full_folds, rule, say

LEVEL = 0.95
"""Confidence level of differences that are not shared by all warnings of a page."""


@rule("L101", full_fits, alone=True)
def largest_class(results: Results, judge: Judge) -> Outcome:
    """Is a learner better than always predicting the largest class?"""
    data, held = results.rows, full_folds(results)
    largest = int(np.argmax(np.bincount(data.codes)))
    always = data.codes == largest
    if int((~always).sum()) < EVENTS:
        return f"fewer than {EVENTS} rows are not of the largest class"
    common = {"label": quoted(data.classes[largest]), "chance": float(always.mean())}
    leads = {
        name: difference_over_rows(each.correct, always[each.rows], LEVEL, each.groups) for name, each in held.items()
    }
    least = min(leads, key=lambda name: leads[name].value)
    return [_no_better(name, held[name], lead, common) for name, lead in leads.items() if lead.low <= 0] or say(
        "better", EVERYONE, leads[least], learners=every_learner(held, results), name=least, **common
    )


def _no_better(name: str, held: OutOfFold, lead: Estimate, common: dict[str, object]) -> Said:
    groups = held.groups
    ranks = ranks_by_row(held)
    auc = None if ranks is None else mean_over_rows(ranks, LEVEL, groups, (0.0, 1.0))
    ranked, clearly = auc is not None and auc.low > 0.5, lead.value <= 0
    return say(
        "ranked" if ranked else "no_better" if clearly else "unclear",
        name,
        accuracy_over_rows(held),
        fits=fits_of(held),
        lead="" if clearly else f", which is lower by {points(lead)}",
        scores=""
        if auc is None
        else f" Its scores rank rows {'better' if ranked else 'no better'} than chance (AUC {auc:.2f}).",
        **common,
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


@rule("L105", full_fits, basis="folds", alone=True)
def missed_class(results: Results, judge: Judge) -> Outcome:
    """Is there a class that a learner hardly ever finds?"""
    judged = len(classes_with_rows(results.rows.codes))
    if not judged:
        return f"no class has {EVENTS} rows"
    findings = []
    for name, held in full_folds(results).items():
        missed = _missed(held, results)
        for ranked in (False, True):
            classes = [each for each in missed if each.is_ranked == ranked]
            if classes:
                findings.append(_hardly_found(name, held, classes, ranked))
    few = results.rows.classes.size - judged
    unjudged = f"; {few} of {few + judged} classes have fewer than {EVENTS} rows and were not judged" if few else ""
    return findings or say("fine", EVERYONE, exact(0, "count"), few=unjudged, judged=judged)


def _missed(held: OutOfFold, results: Results) -> list[_Missed]:
    data = results.rows
    codes, right, groups = held.truth, held.right, held.groups
    shares, two = np.bincount(data.codes) / data.codes.size, data.classes.size == 2
    missed = []
    for code in classes_with_rows(codes):
        own = codes == code
        recall = of_proportion_by_group(right[own], None if groups is None else groups[own], RECALL_LEVEL)
        if recall.high < HALF * shares[code]:
            ranks = ranks_of_class(held, code)
            auc = None if ranks is None else mean_over_rows(ranks, LEVEL, groups, (0.0, 1.0))
            label, rows = quoted(data.classes[code]), int(own.sum())
            missed.append(_Missed(label, rows, int(right[own].sum()), float(shares[code]), auc, two))
    return missed


def _hardly_found(name: str, held: OutOfFold, missed: list[_Missed], ranked: bool) -> Said:
    named = joined([f"{each.label} ({each.found:,} of {each.rows:,} rows)" for each in missed[:3]])
    more = f" and {len(missed) - 3} more" if len(missed) > 3 else ""
    label, auc = missed[0].label, missed[0].auc
    return say(
        "ranked" if ranked else "missed",
        name,
        exact(len(missed), "count"),
        classes=f"{'class' if len(missed) == 1 else 'classes'} {named}{more}",
        fits=fits_of(held),
        share=sum(each.share for each in missed),
        scores="" if auc is None else f" Its scores rank rows of class {label} with an AUC of {auc:.2f}.",
    )


MATTERS, COSTLY = 0.03, 0.1
"""Smallest difference of probabilities, and of balanced accuracy, that matters; and by which it is far too sure."""
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


@rule("L111", full_fits, alone=True)
def calibration(results: Results, judge: Judge) -> Outcome:
    """Are the probabilities of a learner as high as its predictions are right?"""
    able = {
        name: held
        for name, held in full_folds(results).items()
        if held.probabilities is not None or overconfidence(held) is not None
    }
    if not able:
        return "no learner gives probabilities"
    if results.suspicions.rows_belong_together:
        return "rows belong together (D206), so that it is right too often"
    level = 1 - CHANCE / (len(able) * (results.rows.classes.size + 1))
    off = [gap for name, held in able.items() if (gap := _gap(name, held, results, level)).is_off]
    if off:
        off = sorted(off, key=lambda each: -abs(each.gap.value))
        first = _gap(off[0].learner, able[off[0].learner], results, judge.level)
        return _off(off, able, costly=first.gap.low > COSTLY and first.of is None)
    usual = [_gap(name, held, results, LEVEL) for name, held in able.items()]
    if any(each.gap.low < -MATTERS or each.gap.high > MATTERS for each in usual):
        return OPEN
    worst = max(usual, key=lambda each: abs(each.gap.value))
    return say("fine", EVERYONE, worst.gap, name=worst.learner)


def _gap(name: str, held: OutOfFold, results: Results, level: float) -> _Gap:
    """The largest of: mean sureness minus accuracy, and mean probability of each class minus its share."""
    codes, groups = held.truth, held.groups
    # Of other systems, or of several runs: only how sure they are of what they predict.
    gap = overconfidence(held, level) if held.probabilities is None or held.share_right is not None else None
    if gap is not None:
        right = float(held.correct.mean())
        return _Gap(name, gap, right + gap.value, right)
    assert held.probabilities is not None
    probabilities = held.probabilities / held.probabilities.sum(axis=1, keepdims=True)
    sure, right = probabilities.max(axis=1), (probabilities.argmax(axis=1) == codes).astype(float)
    gaps = [_Gap(name, mean_over_rows(sure - right, level, groups), float(sure.mean()), float(right.mean()))]
    for code, label in enumerate(results.rows.classes):
        own, of_class = (codes == code).astype(float), probabilities[:, code]
        gap = mean_over_rows(of_class - own, level, groups)
        gaps.append(_Gap(name, gap, float(of_class.mean()), float(own.mean()), label))
    clear = [each for each in gaps if each.is_off]
    # How sure it is comes first: the gap of a class is often another side of it.
    return clear[0] if clear else max(gaps, key=lambda each: max(each.gap.high, -each.gap.low))


def _off(off: list[_Gap], held_out: dict[str, OutOfFold], costly: bool) -> Said:
    first, held = off[0], held_out[off[0].learner]
    others = [f"{quoted(each.learner)} ({each.direction} by {points(each.size)})" for each in off[1:]]
    return say(
        "classes" if first.of is not None else "far_too_sure" if costly else "sure",
        first.learner,
        first.gap,
        high="high" if first.gap.value > 0 else "low",
        mean=first.mean,
        real=first.real,
        fits=fits_of(held),
        direction=first.direction,
        size=first.size,
        label=first.of,
        method="isotonic" if held.fit_rows >= ENOUGH else "sigmoid",
        too=f" Also off: {joined(others)}." if others else "",
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


@rule("L112", alone=True)
def threshold(results: Results, judge: Judge) -> Outcome:
    """Would another threshold cost less?"""
    data = results.rows
    counts = np.bincount(data.codes, minlength=data.classes.size)
    rarer = int(counts.argmin())
    if counts.size != 2 or counts[rarer] > UNEQUAL * counts.sum():
        return "it is asked for two classes, one with less than a third of the rows"
    if why := full_fits(results):
        return why
    able = {name: held for name, held in full_folds(results).items() if held.probabilities is not None}
    events = [int((held.truth == rarer).sum()) for held in able.values()]
    if not events or min(events) < EVENTS:
        return "no learner gives probabilities" if not events else f"there are {min(events)} rows of the rarer class"
    thresholds = [_better(name, held, rarer) for name, held in able.items()]
    clear = [each for each in thresholds if each.gain.low > 0 and each.gain.value >= MATTERS]
    if not clear:
        return []
    most = max(clear, key=lambda each: each.gain.value)
    return say(
        "better",
        most.learner,
        most.gain,
        label=data.classes[rarer],
        found=most.own[0],
        alarms=most.own[1],
        threshold=most.threshold,
        more_found=most.better[0],
        more_alarms=most.better[1],
        ratio=counts.max() / counts.min(),
    )


def _better(name: str, held: OutOfFold, rarer: int) -> _Threshold:
    assert held.probabilities is not None
    codes, groups = held.truth, held.groups
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
