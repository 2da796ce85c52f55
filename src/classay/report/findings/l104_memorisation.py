"""Does a learner memorise rows, although another is as accurate without it?

- *A warning when:* Another learner is not shown to be less accurate (95 %), and both its train–test gap and its
  expressivity are smaller (the whole intervals of the differences).
- *A note when:* There is no other learner, its gap is above 0, and so is its stochasticity.
- *Fine when:* Neither holds for any learner.
"""

from __future__ import annotations

from ...intervals import difference
from ..document import Finding
from ..figures import gap
from ..phrases import bits, percent, points, quoted, share
from ..results import LearnerResults, Results
from .rules import EVERYONE, Judge, Outcome, not_less_accurate

CODE = "L104"
TITLE = "Memorising"
BASIS = "refits"


def check(results: Results, judge: Judge) -> Outcome:
    """One finding per learner that memorises, or one that none does."""
    findings = []
    for learner in results.learners.values():
        if not gap(learner).known:
            continue
        better = [other for other in not_less_accurate(learner, results) if _varies_less(learner, other, judge)]
        if better:
            findings.append(_needlessly(learner, max(better, key=lambda each: each.stability.accuracy.value)))
        elif len(results.learners) == 1 and _clearly(learner, judge):
            findings.append(_alone(learner))
    return findings or [_fine(results)]


def _varies_less(learner: LearnerResults, other: LearnerResults, judge: Judge) -> bool:
    """Whether the other varies less and fits its own rows less closely, over the whole intervals."""
    wider = difference(learner.orientation.expressivity, other.orientation.expressivity)
    closer = difference(gap(learner), gap(other))
    return judge.widened(wider).low > 0 and judge.widened(closer).low > 0


def _clearly(learner: LearnerResults, judge: Judge) -> bool:
    """Whether a learner without a rival fits its own rows more closely than new ones, and is random."""
    stochasticity = learner.orientation.stochasticity
    return (
        judge.widened(gap(learner)).low > 0
        and stochasticity.known
        and not learner.orientation.deterministic
        and judge.widened(stochasticity).low > 0
    )


def _needlessly(learner: LearnerResults, other: LearnerResults) -> Finding:
    return Finding(
        code=CODE,
        level="warning",
        of=learner.name,
        title=TITLE,
        sentence=f"{_gap_in_words(learner)}. {quoted(other.name)} is not measurably less accurate on new rows, with a "
        f"gap of {points(gap(other))} and {bits(other.orientation.expressivity)}.",
        value=gap(learner),
        reference=f"{other.name}: {points(gap(other))}",
        action=f"It memorises rows. Use {quoted(other.name)}, or regularise this one: less depth, fewer steps, more "
        "neighbours, whichever it has.",
    )


def _alone(learner: LearnerResults) -> Finding:
    return Finding(
        code=CODE,
        level="note",
        of=learner.name,
        title=TITLE,
        sentence=f"{_gap_in_words(learner)}.",
        value=gap(learner),
        reference="no gap: 0",
        action="Compare it with a simpler learner: if that is as accurate, this one memorises rows.",
    )


def _gap_in_words(learner: LearnerResults) -> str:
    oriented = learner.orientation
    random = oriented.stochasticity
    return (
        f"It predicts {share(oriented.train_accuracy.value)} of its own training rows correctly and "
        f"{percent(learner.stability.accuracy)} of new rows, a gap of {points(gap(learner))}; its predictions vary by "
        f"{bits(oriented.expressivity)}"
        + (f", of which training randomness gives {random.value:.2f}" if random.known and random.value > 0.005 else "")
    )


def _fine(results: Results) -> Finding:
    several = len(results.learners) > 1
    widest = max(results.learners.values(), key=lambda each: gap(each).value if gap(each).known else -1.0)
    return Finding(
        code=CODE,
        level="fine",
        of=EVERYONE,
        title="No unnecessary memorising",
        sentence="No learner fits its own rows more closely than another that is as accurate; the widest train–test "
        f"gap is that of {quoted(widest.name)}, {points(gap(widest))}."
        if several
        else f"Its train–test gap is {points(gap(widest))}.",
        value=gap(widest),
        reference=f"{len(results.learners)} learners compared" if several else "no gap: 0",
    )
