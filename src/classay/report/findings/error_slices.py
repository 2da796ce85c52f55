"""The rule on slices (S301), and how many errors a learner's own scores predict in them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats
from sklearn.linear_model import LogisticRegression

from ... import seeds
from ...arrays import Floats, Ints, Mask
from ...data.model.error_slices import Slices
from ...expect import counted
from ...learner.records.base import OutOfFold
from ...learner.scores.comparison import EVENTS, nearly_constant
from ...regions.outcome import BinaryOutcome, GroupedOutcome
from ...regions.region import Region
from ..document.phrases import joined, quoted, share
from ..results import Results, best_of
from .rules import EVERYONE, Judge, Outcome, Said, fits_of, full_fits, full_folds, rule, say

ALWAYS = 0.99
"""A learner that is equally certain of this share of its predictions is always certain."""


class _LearnerSlice(NamedTuple):
    """The slice to report for one learner, the errors that its scores do not predict there, and its other slices."""

    slice: Region
    excess: ExcessErrors
    others: int

    @property
    def mostly_unpredicted(self) -> bool:
        """Whether the scores predict less than half of the excess error rate of the slice."""
        return self.excess.rate < (self.slice.rate.value + self.slice.rest_rate) / 2


@rule("S301", full_fits, basis="folds", alone=True)
def error_slices(results: Results, judge: Judge) -> Outcome:
    """Is there a slice of the rows in which errors concentrate, and do the learner's own scores reflect it?"""
    held_out = full_folds(results)
    searched = {name: results.slices[name] for name in held_out if name in results.slices}
    if not searched:
        return results.why.get("slices", "no slices were searched")
    unpredicted: dict[str, _LearnerSlice] = {}
    certain: dict[str, _LearnerSlice] = {}
    for name, slices in searched.items():
        held, most = held_out[name], judge.slice_p(len(slices.tested))
        errors = excess_errors(slices, held, ~held.right, held.groups)
        pairs = [pair for pair in zip(slices.slices, errors) if pair[0].size * pair[0].rate.value >= EVENTS]
        large = [_LearnerSlice(*pair, len(pairs) - 1) for pair in pairs]
        clear = [each for each in large if each.excess.p_value <= most and each.mostly_unpredicted]
        if clear:
            unpredicted[name] = max(clear, key=lambda each: each.excess.least)
        elif large and not nearly_constant(held.labels) and _certain(held):
            certain[name] = max(large, key=lambda each: each.slice.rate.low - each.slice.rest_rate)
    # At most one warning and one note, for the most accurate learner concerned; the section has the others.
    both = (unpredicted, "unpredicted"), (certain, "certain")
    findings = [_concentrated(slices, held_out, outcome) for slices, outcome in both if slices]
    confirmed = {name: len(slices.slices) for name, slices in searched.items() if slices.slices}
    if confirmed and not findings:
        first = searched[next(iter(confirmed))]
        named = joined([f"{quoted(name)} ({count})" for name, count in confirmed.items()])
        parts = {"condition": first.slices[0].condition, "named": named, "overall": first.error_rate.value}
        return say("predicted", EVERYONE, first.slices[0].rate, rest=first.slices[0].rest_rate, **parts)
    tested = sum(len(slices.tested) for slices in searched.values())
    overall = max((slices.error_rate for slices in searched.values()), key=lambda rate: rate.value)
    visible = max(slices.visible for slices in searched.values())
    outcome = "fine" if visible <= 1 else "unknown"
    return findings or say(outcome, EVERYONE, overall, tested=tested, overall=overall.value, visible=visible)


def _concentrated(slices: dict[str, _LearnerSlice], held_out: dict[str, OutOfFold], outcome: str) -> Said:
    """The slice of the most accurate learner."""
    name = best_of({name: held_out[name] for name in slices})
    first, held = slices[name], held_out[name]
    here = first.slice
    return say(
        outcome,
        name,
        here.rate,
        condition=here.condition,
        size=here.size,
        tested=held.rows.size,
        fits=fits_of(held),
        rest=here.rest_rate,
        elsewhere=f"compared with {share(here.rest_rate)} elsewhere" if here.rest_rate else "and none elsewhere",
        scores=_certain(held) or f"Its own scores predict {share(first.excess.rate)} there",
        more=f" It has {counted(first.others, 'more slice')}." if first.others else "",
    )


def _certain(held: OutOfFold) -> str:
    """Why scores cannot predict errors, if they cannot."""
    if held.scores is None:
        return "It gives no scores that could predict this"
    certain = certainty(held)
    if (certain >= certain.max() - 1e-9).mean() >= ALWAYS:
        return "It is always certain, so its scores cannot warn you"
    return ""


# How many errors a learner's own scores predict in some rows, and whether there are more.


@dataclass(frozen=True)
class ExcessErrors:
    """Errors of a slice among rows that were not searched (`seen`), and how many were `expected`, out of `rows`."""

    seen: int
    expected: float
    error: float
    rows: int

    @property
    def rate(self) -> float:
        """The error rate that the scores predict."""
        return self.expected / self.rows if self.rows else math.nan

    @property
    def p_value(self) -> float:
        """Probability of this many errors or more if the scores are right: the larger of Poisson and normal tail."""
        if not self.rows or self.seen <= self.expected:
            return 1.0
        normal = stats.norm.sf((self.seen - 0.5 - self.expected) / self.error) if self.error else 0.0
        return float(max(normal, stats.poisson.sf(self.seen - 1, self.expected)))

    @property
    def least(self) -> float:
        """A cautious count of errors beyond those that the scores predict."""
        return self.seen - self.expected - 2 * self.error


def excess_errors(slices: Slices, held: OutOfFold, wrong: Mask, groups: Ints | None = None) -> list[ExcessErrors]:
    """For each slice, the errors beyond those that the learner's scores predict.

    The part of the rows in which slices were searched shows how the error rate falls with certainty: a logistic curve
    (Platt, 1999), corrected within ranges of certainty as far as there are enough errors. The others are tested.
    Where classes overlap every learner errs, and the scores of a good one reflect it: errors there are no excess.
    Without scores, the overall error rate is predicted everywhere.
    """
    outcome = BinaryOutcome(wrong) if groups is None else GroupedOutcome(wrong, groups)
    searched, others = outcome.split(seeds.generator(slices.seed, "slices"))
    certain = certainty(held)
    rate = _rate(certain, wrong, searched)
    edges = _edges(certain[searched], wrong[searched])
    place = np.searchsorted(edges, certain, side="left")
    size = edges.size + 1
    errors = np.bincount(place[searched], wrong[searched], minlength=size) + 1
    rate = np.minimum(rate * (errors / (np.bincount(place[searched], rate[searched], minlength=size) + 1))[place], 1.0)
    by_slice = []
    for number in range(len(slices.slices)):
        inside = others[slices.rows(number)[others]]
        here = rate[inside]
        # Besides chance in these rows, the rates are themselves estimates, each from this many errors.
        known = np.bincount(place[inside], here, minlength=size) ** 2 / errors
        error = math.sqrt(float((here * (1 - here)).sum() + known.sum()))
        by_slice.append(ExcessErrors(int(wrong[inside].sum()), float(here.sum()), error, inside.size))
    return by_slice


def certainty(held: OutOfFold) -> Floats:
    """The probability that the scores give to the likeliest class; 0 everywhere without scores."""
    if held.scores is None:
        return np.zeros(held.labels.size)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nan_to_num(special.softmax(held.scores, axis=1).max(axis=1)))


def _rate(certain: Floats, wrong: Mask, searched: NDArray[np.int64]) -> Floats:
    """The probability that each row is wrong: a logistic curve of its doubt, fitted on the rows searched."""
    least = 0.5 / certain.size
    doubt = special.logit(np.clip(1 - certain, least, 1 - least))[:, None]
    known = wrong[searched]
    flat = np.full(certain.size, float(known.mean()))
    if known.all() or not known.any() or np.ptp(doubt[searched]) == 0:
        return flat
    curve = LogisticRegression(C=100.0).fit(doubt[searched], known)
    return np.asarray(curve.predict_proba(doubt)[:, 1]) if curve.coef_[0, 0] > 0 else flat


def _edges(certain: Floats, wrong: Mask) -> Floats:
    """Edges of about √errors bins of certainty, each with about the same number of errors.

    Rows of equal certainty stay in one bin.
    """
    ordered = np.sort(certain[wrong])
    parts = max(math.isqrt(ordered.size), 1)
    return np.unique(ordered[(np.arange(1, parts) * ordered.size) // parts - 1] if parts > 1 else ordered[:0])
