"""Findings on the rows: the baseline, suspected labels, duplicate rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ...data.complexity import Complexity
from ...data.complexity_tables import suspected
from ...inputs.labels import encode
from ...intervals import exact, of_proportion
from ..document import Finding, Unasked
from ..figures import contradicted, repeated
from ..phrases import joined, percent, points, quoted, ruler, share, signed
from ..results import Results
from .learners import EVERYONE
from .rules import CODES, Judge, few_rows, over_rows, rightly

Found = tuple[list[Finding], list[Unasked]]
ALLOWANCE = 2.0
"""Up to this many times the count expected from overlap is attributed to tails heavier than the model's."""


def data_findings(parts: Results, judge: Judge) -> Found:
    """Findings on the rows, and the checks that could not be made."""
    found: list[Finding] = []
    unasked: list[Unasked] = []
    for rule in (_baseline, _suspects, _repeated):
        some, none = rule(parts, judge)
        found += some
        unasked += none
    return found, unasked


def _baseline(parts: Results, judge: Judge) -> Found:
    title = CODES["D201"].title
    if parts.complexity is None:
        return [], [Unasked("D201", title, parts.why.get("complexity", ""))]
    answered = {name: right for name, one in parts.learners.items() if (right := rightly(one, parts.data)) is not None}
    if not answered:
        return [], [Unasked("D201", title, "there are no cross-validated predictions")]
    baseline = parts.complexity.predicted == parts.data.labels
    base = parts.complexity.baseline_accuracy
    rule = f"taking the nearest class by {ruler(parts.complexity)}"
    found, doubtful, ahead, below = [], [], {}, {}
    for name, right in answered.items():
        lead = over_rows(right, baseline, 0.95)
        if over_rows(right, baseline, judge.level).high < 0:
            below[name] = of_proportion(int(right.sum()), right.size)
        elif lead.low <= 0:
            doubtful.append(f"{quoted(name)} ({signed(lead)})")
        else:
            ahead[name] = lead
    if below:
        first = min(below, key=lambda name: below[name].value)
        others = [f"{quoted(name)} ({share(below[name].value)})" for name in below if name != first]
        # The baseline uses all rows: that it beats a learner with fewer says little about the learner.
        few = few_rows(parts.learners[first], parts.data)
        found.append(
            Finding(
                "D201",
                "note" if few else "warning",
                first,
                "Below the geometric baseline",
                f"It predicts {percent(below[first])} of the rows correctly{few}; {rule}, without any learner, reaches "
                f"{percent(base)}.{f' Also below that: {joined(others)}.' if others else ''}",
                below[first],
                f"baseline {percent(base)}",
                "Give it a larger budget, or --fold-rows all, before you judge it."
                if few
                else "A rule without any settings is more accurate: check the settings of this learner, and how "
                "columns are scaled or encoded for it.",
            )
        )
    if doubtful:
        found.append(
            Finding(
                "D201",
                "note",
                EVERYONE if len(doubtful) == len(answered) else "data",
                "Not shown to beat the baseline",
                f"T{rule[1:]} predicts {percent(base)} of the rows correctly. These rows do not show that "
                f"{joined(doubtful)} {'is' if len(doubtful) == 1 else 'are'} better (in parentheses: points ahead).",
                base,
                "what geometry alone reaches",
                "That rule (classay.BaselineClassifier) may be enough: it has nothing to tune.",
            )
        )
    if ahead and not found:
        least = min(ahead, key=lambda name: ahead[name].value)
        found.append(
            Finding(
                "D201",
                "fine",
                EVERYONE,
                title,
                f"Every learner is more accurate than {rule}, which predicts {percent(base)} of the rows correctly; "
                f"the smallest lead is that of {quoted(least)}, {points(ahead[least])}.",
                ahead[least],
                f"baseline {percent(base)}",
            )
        )
    return found, []


def expected_suspects(
    complexity: Complexity, codes: NDArray[np.int64], contradicts: NDArray[np.bool_]
) -> tuple[int, float]:
    """Suspected rows whose label a learner also contradicts, and how many overlap alone would give.

    The margin of a row is δ(own class) − δ(nearest other). Overlap is modelled as the tail of a logistic distribution
    with the mean and spread of the margins of the class, beyond the margin at which another label is suspected. Wrong
    labels widen that spread, so the count is over- rather than underestimated. It misleads if tails are heavier.
    """
    margins = complexity.own_distance - complexity.nearest_distance
    size = complexity.classes.size
    known = complexity.known
    own = np.exp(-complexity.values)
    rows = np.maximum(np.bincount(codes[known], minlength=size), 1)
    usual = np.bincount(codes[known], own[known], minlength=size) / rows
    middle = np.bincount(codes[known], margins[known], minlength=size) / rows
    spread = np.sqrt(np.bincount(codes[known], (margins - middle[codes])[known] ** 2, minlength=size) / rows)
    other = usual[encode(complexity.nearest, complexity.classes)]
    with np.errstate(divide="ignore", invalid="ignore"):
        beyond = complexity.temperature * special.logit(other)
        away = (np.maximum(beyond, 0.0) - middle[codes]) / spread[codes]
    chance = special.expit(-np.nan_to_num(away, nan=np.inf, posinf=np.inf) * np.pi / np.sqrt(3))
    return int((suspected(complexity) & contradicts).sum()), float(chance[known].sum())


def _suspects(parts: Results, judge: Judge) -> Found:
    title = CODES["D202"].title
    answered = {name: one.held_out for name, one in parts.learners.items() if one.held_out is not None}
    if parts.complexity is None or not answered:
        return [], [Unasked("D202", title, parts.why.get("complexity", "there are no cross-validated predictions"))]
    codes = parts.data.codes
    best = max(answered, key=lambda name: float((answered[name].labels == codes).mean()))
    # Rows that equal a row with another label are reported as such (D203): nobody can know which label is wrong.
    contradicts = (answered[best].labels != codes) & ~contradicted(parts.data)
    seen, expected = expected_suspects(parts.complexity, codes, contradicts)
    all_of_them = len(parts.complexity.suspects())
    value = exact(all_of_them, "count")
    reference = f"overlap of the classes: about {expected:,.0f}"
    if judge.more_than(seen, ALLOWANCE * expected):
        finding = Finding(
            "D202",
            "warning",
            "data",
            title,
            f"{all_of_them:,} of {codes.size:,} rows look like another class than their label. {quoted(best)} "
            f"also contradicts {seen:,} of these labels, where overlap of the classes would give about "
            f"{expected:,.0f}.",
            value,
            reference,
            "Check the rows below, likeliest first, and correct wrong labels before you tune anything.",
        )
    elif all_of_them:
        finding = Finding(
            "D202",
            "note",
            "data",
            title,
            f"{all_of_them:,} of {codes.size:,} rows look like another class than their label; {quoted(best)} "
            f"{f'also contradicts {seen:,}' if seen else 'contradicts none'} of these labels. Overlap of the classes "
            "explains this number.",
            value,
            reference,
            "Check the first of them; most are hard rows with the right label.",
        )
    else:
        finding = Finding(
            "D202", "fine", "data", "No label is suspected", "No row looks like another class than its label.", value,
            reference,
        )  # fmt: skip
    return [finding], []


def _repeated(parts: Results, judge: Judge) -> Found:
    contradictory, again = repeated(parts.data)
    rows = parts.data.codes.size
    found = []
    if contradictory:
        found.append(
            Finding(
                "D203",
                "note",
                "data",
                CODES["D203"].title,
                f"{contradictory:,} of {rows:,} rows are equal in every column to rows with another label: no "
                f"classifier can predict more than {share(1 - contradictory / rows)} of the rows correctly.",
                exact(contradictory, "count"),
                "0: no contradictions",
                "Is a column missing that separates them, or are labels wrong?",
            )
        )
    if again:
        found.append(
            Finding(
                "D204",
                "note",
                "data",
                CODES["D204"].title,
                f"{again:,} of {rows:,} rows repeat an earlier one, including the label. If one copy is in the "
                "training part and another in the test part, accuracy is too high.",
                exact(again, "count"),
                "0: no duplicates",
                "Drop the rows if they are copies; keep them if equal cases really are frequent.",
            )
        )
    if not found:
        found.append(
            Finding(
                "D203",
                "fine",
                "data",
                "No row repeats or contradicts another",
                f"All {rows:,} rows differ in some column.",
                exact(0, "count"),
                "0: no contradictions",
            )
        )
    return found, []
