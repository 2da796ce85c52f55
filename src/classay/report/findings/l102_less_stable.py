"""Is there another learner that is equally accurate and more stable?

- *A warning when:* Another learner's accuracy is indistinguishable from its own (95 %), and that learner is more
  stable: the whole interval of the difference in stability is above half the width of the interval of the difference
  in accuracy, so more predictions change than the accuracies can resolve. Both differences are paired over subsets and
  points.
- *A note when:* Every learner that is this much more stable is also more accurate.
- *Fine when:* No learner is beaten in either way.
- *Not checked when:* There is only one learner.
"""

from __future__ import annotations

from typing import NamedTuple

from ...intervals import Estimate
from ..document import Finding, Unasked
from ..document.phrases import joined, percent, points, quoted
from ..results import LearnerResults, Results
from .rules import EVERYONE, Judge, Outcome, accuracy_difference, not_less_accurate, stability_difference

CODE = "L102"
TITLE = "Equally accurate, less stable"
BASIS = "refits"
LEVEL = 0.95
"""Confidence level of the difference in accuracy; that of the difference in stability is the page's."""


class _Rival(NamedTuple):
    """A learner that is more stable than another: by how much, and by how much it is more accurate."""

    learner: LearnerResults
    steadier: float
    lead: Estimate


def check(results: Results, judge: Judge) -> Outcome:
    """One warning per learner with an equally accurate rival, one note on those beaten on both, or one that none is."""
    if len(results.learners) < 2:
        return Unasked(CODE, TITLE, "it needs at least 2 learners")
    findings: list[Finding] = []
    beaten: dict[str, _Rival] = {}
    for name, learner in results.learners.items():
        rivals = _rivals(learner, results, judge)
        equal = [rival for rival in rivals if rival.lead.low <= 0]
        if equal:
            findings.append(_less_stable(learner, max(equal, key=lambda rival: rival.steadier)))
        elif rivals:
            beaten[name] = max(rivals, key=lambda rival: rival.steadier)
    if beaten:
        findings.append(_beaten_on_both(results, beaten))
    return findings or [_fine(results)]


def _rivals(learner: LearnerResults, results: Results, judge: Judge) -> list[_Rival]:
    rivals = []
    for other in not_less_accurate(learner, results):
        lead = accuracy_difference(other, learner, LEVEL)
        steadier = stability_difference(other, learner, judge.level)
        if steadier.low > (lead.high - lead.low) / 2:
            rivals.append(_Rival(other, steadier.value, lead))
    return rivals


def _less_stable(learner: LearnerResults, rival: _Rival) -> Finding:
    mine, its, other = learner.stability.stability, rival.learner.stability.stability, quoted(rival.learner.name)
    return Finding(
        code=CODE,
        level="warning",
        of=learner.name,
        title=TITLE,
        sentence=f"{other} is equally accurate within the precision of these rows (a difference of "
        f"{points(rival.lead)}) and more stable: two of its refits agree on {percent(its)} of the points, two refits "
        f"of {quoted(learner.name)} on {percent(mine)}.",
        value=mine,
        reference=f"{rival.learner.name}: {percent(its)}",
        action=f"Prefer {other}, or make this one more stable: average fits, prune, or add rows.",
    )


def _beaten_on_both(results: Results, beaten: dict[str, _Rival]) -> Finding:
    """One note for all learners that are less accurate and less stable: accuracy already shows that they are worse."""
    first = min(beaten, key=lambda name: results.learners[name].stability.stability.value)
    other, lead = beaten[first].learner, beaten[first].lead
    mine, its = results.learners[first].stability.stability, other.stability.stability
    rest = [f"{quoted(name)} (by {quoted(beaten[name].learner.name)})" for name in beaten if name != first]
    too = f" So {'are' if len(rest) > 1 else 'is'} {joined(rest)}." if rest else ""
    return Finding(
        code=CODE,
        level="note",
        of=first,
        title="Less accurate and less stable",
        sentence=f"{quoted(first)} is beaten on both by {quoted(other.name)}, which is more accurate by "
        f"{points(lead)} and whose refits agree on {percent(its)} of the points, compared with {percent(mine)}.{too}",
        value=mine,
        reference=f"{other.name}: {percent(its)}",
        action="Keep it only if it is faster or easier to explain.",
    )


def _fine(results: Results) -> Finding:
    least = min(results.learners.values(), key=lambda each: each.stability.stability.value)
    return Finding(
        code=CODE,
        level="fine",
        of=EVERYONE,
        title="No learner is beaten on stability at equal accuracy",
        sentence="Where accuracies are indistinguishable, stabilities differ little; the lowest is that of "
        f"{quoted(least.name)}, {percent(least.stability.stability)}.",
        value=least.stability.stability,
        reference=f"{len(results.learners)} learners compared",
    )
