"""What the figures say of the rows: against the baseline, suspected labels, repeated rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ...data.ask import suspected
from ...data.complexity import Complexity
from ...data.rows import encode
from ...intervals import exact, of_proportion
from ..figures import contradicted, repeated
from ..finding import Finding, Unasked
from ..parts import Parts
from ..saying import joined, percent, points, quoted, ruler, share, signed
from .codes import CODES
from .judging import Judge, few_rows, over_rows, rightly
from .of_learners import EVERYONE

Found = tuple[list[Finding], list[Unasked]]
ALLOWANCE = 2.0
"""So many times what overlap would give is put down to tails heavier than those that it is reckoned with."""


def data_findings(parts: Parts, judge: Judge) -> Found:
    """Findings of the rows, and those that could not be looked for."""
    found: list[Finding] = []
    unasked: list[Unasked] = []
    for rule in (_baseline, _suspects, _repeated):
        some, none = rule(parts, judge)
        found += some
        unasked += none
    return found, unasked


def _baseline(parts: Parts, judge: Judge) -> Found:
    title = CODES["D201"].title
    if parts.complexity is None:
        return [], [Unasked("D201", title, parts.why.get("complexity", ""))]
    answered = {name: right for name, one in parts.learners.items() if (right := rightly(one, parts.data)) is not None}
    if not answered:
        return [], [Unasked("D201", title, "there are no cross-validated answers")]
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
        # The baseline has all rows: that it beats a learner of fewer says little of the learner.
        few = few_rows(parts.learners[first], parts.data)
        found.append(
            Finding(
                "D201",
                "note" if few else "warning",
                first,
                "Below the geometric baseline",
                f"It labels {percent(below[first])} of the rows rightly{few}; {rule}, without any learner, reaches "
                f"{percent(base)}.{f' Below that, too: {joined(others)}.' if others else ''}",
                below[first],
                f"baseline {percent(base)}",
                "Give it a larger budget, or --fold-rows all, before you judge it."
                if few
                else "A rule without any settings does better: look at its settings, and at how columns are scaled or "
                "encoded for it.",
            )
        )
    if doubtful:
        found.append(
            Finding(
                "D201",
                "note",
                EVERYONE if len(doubtful) == len(answered) else "data",
                "Not shown to beat the baseline",
                f"T{rule[1:]} labels {percent(base)} of the rows rightly. These rows do not show that "
                f"{joined(doubtful)} {'is' if len(doubtful) == 1 else 'are'} better (in brackets: points ahead of it).",
                base,
                "what geometry alone reaches",
                "That rule (classay.BaselineClassifier) may do: it has nothing to tune.",
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
                f"Every learner does better than {rule}, which labels {percent(base)} of the rows rightly; "
                f"{quoted(least)} by the least, {points(ahead[least])}.",
                ahead[least],
                f"baseline {percent(base)}",
            )
        )
    return found, []


def expected_suspects(
    complexity: Complexity, codes: NDArray[np.int64], contradicts: NDArray[np.bool_]
) -> tuple[int, float]:
    """Suspected rows whose label a learner contradicts, too, and how many overlap alone would give.

    The margin of a row is δ(own class) − δ(nearest other). Overlap is taken as the tail of a logistic distribution with
    the mean and spread of the margins of the class, beyond the margin at which another label is suspected. Wrong labels
    widen that spread, so too many are expected rather than too few; tails heavier than the logistic's mislead.
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


def _suspects(parts: Parts, judge: Judge) -> Found:
    title = CODES["D202"].title
    answered = {name: one.held_out for name, one in parts.learners.items() if one.held_out is not None}
    if parts.complexity is None or not answered:
        return [], [Unasked("D202", title, parts.why.get("complexity", "there are no cross-validated answers"))]
    codes = parts.data.codes
    best = max(answered, key=lambda name: float((answered[name].labels == codes).mean()))
    # Rows that equal a row with another label are told as such (D203): nobody could know which label is wrong.
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
            f"contradicts {seen:,} of these labels, too, where overlap of the classes would give about "
            f"{expected:,.0f}.",
            value,
            reference,
            "Look at the rows below, the likeliest first, and correct labels before tuning anything.",
        )
    elif all_of_them:
        finding = Finding(
            "D202",
            "note",
            "data",
            title,
            f"{all_of_them:,} of {codes.size:,} rows look like another class than their label; {quoted(best)} "
            f"contradicts {f'{seen:,} of these labels, too' if seen else 'none of these labels'}. Overlap of the "
            "classes explains as many.",
            value,
            reference,
            "Look at the first of them; most are hard rows with the right label.",
        )
    else:
        finding = Finding(
            "D202", "fine", "data", "No label is suspected", "No row looks like another class than its label.", value,
            reference,
        )  # fmt: skip
    return [finding], []


def _repeated(parts: Parts, judge: Judge) -> Found:
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
                f"classifier can label more than {share(1 - contradictory / rows)} of these rows rightly.",
                exact(contradictory, "count"),
                "0: every row can be told",
                "Is a column missing that tells them apart, or are labels wrong?",
            )
        )
    if again:
        found.append(
            Finding(
                "D204",
                "note",
                "data",
                CODES["D204"].title,
                f"{again:,} of {rows:,} rows repeat an earlier one, label and all. Where one copy is trained on and "
                "the other tested, accuracy is flattered.",
                exact(again, "count"),
                "0: every row is new",
                "Drop copies if they are copies; keep them if equal cases are frequent.",
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
                "0: every row can be told",
            )
        )
    return found, []
