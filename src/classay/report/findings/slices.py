"""Findings on slices in which errors concentrate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats
from sklearn.linear_model import LogisticRegression

from ... import seeds
from ...arrays import Floats, Mask
from ...data.slices import Slice, Slices
from ...regions.outcome import BinaryOutcome
from ..cross_validated import HeldOut
from ..document import Finding, Unasked
from ..phrases import joined, percent, quoted, share
from ..results import LearnerResults, Results
from .learners import EVERYONE
from .rules import CODES, Judge


class Told(NamedTuple):
    """The slice to report for one learner, what its scores predict there, and the number of its slices."""

    learner: LearnerResults
    slice: Slice
    surplus: Surplus
    slices: int


def slice_findings(parts: Results, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    """At most one warning and one note, for the most accurate learner concerned; the section has the others."""
    asked = {name: one for name, one in parts.learners.items() if one.slices is not None and one.held_out is not None}
    if not asked:
        why = next(iter(parts.learners.values())).why.get("slices", "")
        return [], [Unasked("S301", CODES["S301"].title, why)]
    unforeseen, foreseen = [], []
    for one in asked.values():
        assert one.slices is not None
        assert one.held_out is not None
        each = list(zip(one.slices.slices, surplus(one.slices, one.held_out, one.held_out.labels != parts.data.codes)))
        most = judge.slice_p(len(one.slices.tested))
        clear = [(here, more) for here, more in each if more.p_value <= most and _mostly(here, more)]
        if clear:
            unforeseen.append(Told(one, *max(clear, key=lambda pair: pair[1].least), len(each)))
        elif each:
            sharpest = max(each, key=lambda pair: pair[0].error_rate.low - pair[0].rest_rate)
            foreseen.append(Told(one, *sharpest, len(each)))
    found = [_finding(level, some, parts) for level, some in (("warning", unforeseen), ("note", foreseen)) if some]
    if not found:
        tested = sum(len(one.slices.tested) for one in asked.values() if one.slices is not None)
        most_wrong = max((one.slices for one in asked.values() if one.slices), key=lambda all_: all_.error_rate.value)
        found.append(
            Finding(
                "S301",
                "fine",
                EVERYONE,
                "Errors concentrate nowhere",
                f"Of {tested} slices that looked suspicious in one half of the rows, the other half confirmed none."
                if tested
                else "No range or category of one or two columns stands out by its errors.",
                most_wrong.error_rate,
                f"error rate of all rows {share(most_wrong.error_rate.value)}",
            )
        )
    return found, []


def _mostly(here: Slice, more: Surplus) -> bool:
    """Whether the scores predict less than half of the excess error rate of the slice."""
    return more.rate < (here.error_rate.value + here.rest_rate) / 2


def _finding(level: str, told: list[Told], parts: Results) -> Finding:
    def right(each: Told) -> float:
        assert each.learner.held_out is not None
        return float((each.learner.held_out.labels == parts.data.codes).mean())

    first = max(told, key=right)
    one, here = first.learner, first.slice
    assert one.held_out is not None
    others = [quoted(each.learner.name) for each in told if each is not first]
    elsewhere = f"compared with {share(here.rest_rate)} elsewhere" if here.rest_rate else "and none elsewhere"
    if one.held_out.scores is None:
        scores = "It gives no scores that could predict this"
    elif level == "warning":
        scores = f"Its own scores predict {share(first.surplus.rate)} there"
    else:
        known = "which these rows do not contradict" if _mostly(here, first.surplus) else "most of the difference"
        scores = f"Its own scores predict {share(first.surplus.rate)} there, {known}"
    more = f" It has {first.slices - 1} more slice{'s' if first.slices > 2 else ''}." if first.slices > 1 else ""
    too = f" Errors of {joined(others)} also concentrate: see the section on slices." if others else ""
    return Finding(
        "S301",
        level,
        one.name,
        CODES["S301"].title if level == "note" else "Errors concentrate where its scores do not show it",
        f"Where {here.condition} ({here.size:,} of {parts.data.codes.size:,} rows), {percent(here.error_rate)} of its "
        f"predictions are wrong, {elsewhere}. {scores}.{more}{too}",
        here.error_rate,
        f"elsewhere {share(here.rest_rate)}",
        "Check these rows and their labels: add more of them, or a column that separates the classes. Do not trust its "
        "scores there."
        if level == "warning"
        else "These rows are hard and its scores reflect it; review low-score predictions, or add a column that "
        "separates the classes.",
    )


# How many errors a learner's own scores predict in some rows, and whether there are more.


@dataclass(frozen=True)
class Surplus:
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


def surplus(slices: Slices, held: HeldOut, wrong: Mask) -> list[Surplus]:
    """For each slice, the errors beyond those that the learner's scores predict.

    The half of the rows in which slices were searched shows how the error rate falls with certainty: a logistic curve
    (Platt, 1999), corrected within ranges of certainty as far as there are enough errors. The other half is tested.
    Where classes overlap every learner errs, and the scores of a good one reflect it: errors there are no surplus.
    Without scores, the overall error rate is predicted everywhere.
    """
    searched, others = BinaryOutcome(wrong).halves(seeds.generator(slices.seed, "slices"))
    certain = certainty(held)
    rate = _rate(certain, wrong, searched)
    edges = _edges(certain[searched], wrong[searched])
    place = np.searchsorted(edges, certain, side="left")
    size = edges.size + 1
    errors = np.bincount(place[searched], wrong[searched], minlength=size) + 1
    rate = np.minimum(rate * (errors / (np.bincount(place[searched], rate[searched], minlength=size) + 1))[place], 1.0)
    found = []
    for number in range(len(slices.slices)):
        inside = others[slices.rows(number)[others]]
        here = rate[inside]
        # Besides chance in these rows, the rates are themselves estimates, each from this many errors.
        known = np.bincount(place[inside], here, minlength=size) ** 2 / errors
        error = math.sqrt(float((here * (1 - here)).sum() + known.sum()))
        found.append(Surplus(int(wrong[inside].sum()), float(here.sum()), error, inside.size))
    return found


def certainty(held: HeldOut) -> Floats:
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
