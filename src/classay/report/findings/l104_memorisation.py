"""Does a learner fit its own rows more closely than it needs to?

- *A warning when:* Another learner is at least as accurate, and both its train–test gap and its expressivity are
  smaller (the whole intervals of the differences).
- *A note when:* There is no other learner, its gap is above 0, and so is its stochasticity.
- *Fine when:* Neither holds for any learner.
- *Not checked when:* Every learner predicts a training row by a vote in which the row takes part itself, such as
  forests and nearest neighbours: their accuracy on training rows says nothing.
"""

from __future__ import annotations

from ...intervals import difference
from ..document import Finding, Unasked
from ..document.figures import accuracy_of, changed_by_randomness, changed_by_sample, gap
from ..document.phrases import percent, points, quoted, share
from ..results import LearnerResults, Results
from .rules import EVERYONE, Judge, Outcome, not_less_accurate

CODE = "L104"
TITLE = "Memorising"
BASIS = "refits"
EXACTLY = 0.995
"""From this training accuracy on, a learner fits its rows exactly."""


def check(results: Results, judge: Judge) -> Outcome:
    """One finding per learner that memorises, or one that none does."""
    asked = [one for one in results.learners.values() if gap(one).known and not one.votes_for_itself]
    if not asked:
        return Unasked(CODE, TITLE, "training rows vote for themselves in every learner, as in forests and neighbours")
    findings = []
    for learner in asked:
        better = [
            other
            for other in not_less_accurate(learner, results)
            if _varies_less(learner, other, judge)
            and accuracy_of(results, other.name).value >= accuracy_of(results, learner.name).value
        ]
        if better:
            best = max(better, key=lambda each: accuracy_of(results, each.name).value)
            findings.append(_needlessly(learner, best, results))
        elif len(results.learners) == 1 and _clearly(learner, judge):
            findings.append(_alone(learner))
    return findings or [_fine(asked)]


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


def _needlessly(learner: LearnerResults, other: LearnerResults, results: Results) -> Finding:
    return Finding(
        code=CODE,
        level="warning",
        of=learner.name,
        title=TITLE,
        sentence=f"{_gap_in_words(learner)} {quoted(other.name)} fits its own rows less closely (a gap of "
        f"{points(gap(other))}), changes fewer predictions ({percent(changed_by_sample(other))} with another sample), "
        f"and is at least as accurate ({share(accuracy_of(results, other.name).value)} compared with "
        f"{share(accuracy_of(results, learner.name).value)}, cross-validated).",
        value=gap(learner),
        reference=f"{other.name}: {points(gap(other))}",
        action=f"Use {quoted(other.name)}, or regularise this one: less depth, fewer steps, a stronger penalty, "
        "whichever it has.",
    )


def _alone(learner: LearnerResults) -> Finding:
    return Finding(
        code=CODE,
        level="note",
        of=learner.name,
        title=TITLE,
        sentence=_gap_in_words(learner),
        value=gap(learner),
        reference="no gap: 0",
        action="Compare it with a simpler learner: if that is as accurate, this one memorises rows.",
    )


def _gap_in_words(learner: LearnerResults) -> str:
    trained = learner.orientation.train_accuracy.value
    closely = (
        "fits its training rows exactly and predicts"
        if trained >= EXACTLY
        else f"predicts {share(trained)} of its training rows and"
    )
    seed = changed_by_randomness(learner)
    by_seed = (
        ""
        if learner.labelings.deterministic or not seed.value
        else f"Another seed changes {percent(seed)} of its predictions; a"
    )
    return (
        f"It {closely} {percent(learner.stability.accuracy)} of new rows, a gap of {points(gap(learner))}. "
        f"{by_seed or 'A'}nother training sample changes {percent(changed_by_sample(learner))}"
        f"{'' if by_seed else ' of its predictions'}."
    )


def _fine(asked: list[LearnerResults]) -> Finding:
    widest = max(asked, key=lambda each: gap(each).value)
    return Finding(
        code=CODE,
        level="fine",
        of=EVERYONE,
        title="No unnecessary memorising",
        sentence="No learner fits its own rows more closely than another that is as accurate; the widest train–test "
        f"gap is that of {quoted(widest.name)}, {points(gap(widest))}."
        if len(asked) > 1
        else f"The train–test gap of {quoted(widest.name)} is {points(gap(widest))}.",
        value=gap(widest),
        reference=f"{len(asked)} learners compared" if len(asked) > 1 else "no gap: 0",
    )
