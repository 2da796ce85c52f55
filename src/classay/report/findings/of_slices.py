"""What the figures say of slices in which errors gather."""

from __future__ import annotations

from typing import NamedTuple

from ...data.slice import Slice
from ..finding import Finding, Unasked
from ..parts import Learner, Parts
from ..saying import joined, percent, quoted, share
from .codes import CODES
from .foretold import Surplus, surplus
from .judging import Judge
from .of_learners import EVERYONE


class Told(NamedTuple):
    """The slice to be told of one learner, what its scores foretell there, and how many slices there are."""

    learner: Learner
    slice: Slice
    surplus: Surplus
    slices: int


def slice_findings(parts: Parts, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    """One warning and one note at most, of the most accurate learner that gives cause; the section has the others."""
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
                "Errors gather nowhere",
                f"Of {tested} slices that looked suspicious in one half of the rows, none was confirmed in the other."
                if tested
                else "No range or category of one or two columns stands out by its errors.",
                most_wrong.error_rate,
                f"error rate of all rows {share(most_wrong.error_rate.value)}",
            )
        )
    return found, []


def _mostly(here: Slice, more: Surplus) -> bool:
    """Whether the scores foretell less than half of what the slice is worse than elsewhere."""
    return more.rate < (here.error_rate.value + here.rest_rate) / 2


def _finding(level: str, told: list[Told], parts: Parts) -> Finding:
    def right(each: Told) -> float:
        assert each.learner.held_out is not None
        return float((each.learner.held_out.labels == parts.data.codes).mean())

    first = max(told, key=right)
    one, here = first.learner, first.slice
    assert one.held_out is not None
    others = [quoted(each.learner.name) for each in told if each is not first]
    elsewhere = f"against {share(here.rest_rate)} elsewhere" if here.rest_rate else "and none elsewhere"
    if one.held_out.scores is None:
        scores = "It gives no scores that would foretell it"
    elif level == "warning":
        scores = f"Its own scores foretell {share(first.surplus.rate)} there"
    else:
        known = "which these rows do not contradict" if _mostly(here, first.surplus) else "most of the difference"
        scores = f"Its own scores foretell {share(first.surplus.rate)} there, {known}"
    more = f" It has {first.slices - 1} more slice{'s' if first.slices > 2 else ''}." if first.slices > 1 else ""
    too = f" Errors of {joined(others)} gather, too: see the slices." if others else ""
    return Finding(
        "S301",
        level,
        one.name,
        CODES["S301"].title if level == "note" else "Errors gather where its scores do not say so",
        f"Where {here.condition} ({here.size:,} of {parts.data.codes.size:,} rows), {percent(here.error_rate)} of its "
        f"answers are wrong, {elsewhere}. {scores}.{more}{too}",
        here.error_rate,
        f"elsewhere {share(here.rest_rate)}",
        "Look at these rows and their labels: bring more of them, or a column that tells them apart. Do not trust its "
        "scores there."
        if level == "warning"
        else "Rows there are hard, and it knows: have answers of low score looked at, or bring a column that tells "
        "them apart.",
    )
