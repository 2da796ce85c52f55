"""Do the predictions of a learner vary by its own training randomness, or with its training sample?

- *A warning when:* Stochasticity exceeds capacity (the whole interval of the difference is above 0), and training
  randomness alone changes more predictions than half the width of the interval of accuracy.
- *A note when:* Stochasticity exceeds capacity but changes fewer predictions than that; or capacity exceeds
  stochasticity.
- *Fine when:* Neither clearly exceeds the other.
- *Not checked when:* There is one refit per half, which cannot separate the two.
"""

from __future__ import annotations

from ...intervals import Estimate, difference
from ..document import Finding, Unasked
from ..figures import changed_by_randomness
from ..phrases import bits, joined, percent, quoted
from ..results import LearnerResults, Results
from .rules import EVERYONE, Judge, Outcome

CODE = "L103"
TITLE = "Training randomness or data"
BASIS = "refits"


def check(results: Results, judge: Judge) -> Outcome:
    """One finding per learner that varies by training randomness, one note on those that vary with the data."""
    findings: list[Finding] = []
    unknown = 0
    by_data: dict[str, Estimate] = {}
    for name, learner in results.learners.items():
        capacity, stochasticity = learner.orientation.capacity, learner.orientation.stochasticity
        if not (capacity.known and stochasticity.known):
            unknown += 1
            continue
        # The two add up to the expressivity: an error in one is an error in the other.
        lead = judge.widened(difference(stochasticity, capacity, correlation=-1.0))
        if lead.low > 0:
            findings.append(_by_randomness(learner, judge))
        elif lead.high < 0 and judge.widened(capacity).low > 0:
            by_data[name] = capacity
    if by_data:
        findings.append(_by_data(results, by_data))
    if unknown == len(results.learners):
        return Unasked(CODE, TITLE, "one refit per half cannot separate training randomness from data")
    return findings or [_fine(results)]


def _by_randomness(learner: LearnerResults, judge: Judge) -> Finding:
    oriented, accuracy = learner.orientation, learner.stability.accuracy
    changed = changed_by_randomness(learner)
    material = judge.widened(changed).low > (accuracy.high - accuracy.low) / 2
    return Finding(
        code=CODE,
        level="warning" if material else "note",
        of=learner.name,
        title="It varies by its own training randomness",
        sentence=f"Refitted on the same rows, it still varies by {bits(oriented.stochasticity)} of "
        f"{oriented.expressivity.value:.2f}: another random_state changes {percent(changed)} of its predictions.",
        value=oriented.stochasticity,
        reference=f"capacity {bits(oriented.capacity)}",
        action="Average more members (n_estimators), or fix random_state and document it. More rows would not help.",
    )


def _by_data(results: Results, by_data: dict[str, Estimate]) -> Finding:
    most = max(by_data, key=lambda name: by_data[name].value)
    whole = results.learners[most].orientation.expressivity
    others = [quoted(name) for name in by_data if name != most]
    too = f" So do {joined(others)}." if len(others) > 1 else f" So does {others[0]}." if others else ""
    return Finding(
        code=CODE,
        level="note",
        of=most if len(by_data) == 1 else EVERYONE,
        title="It varies with the training sample",
        sentence=f"{quoted(most)} varies with its training rows: {bits(by_data[most])} of {whole.value:.2f}.{too}",
        value=by_data[most],
        reference=f"total: {bits(whole)}",
        action="More rows or a stronger bias (pruning, regularisation) would stabilise it; other seeds would not.",
    )


def _fine(results: Results) -> Finding:
    most = max(results.learners.values(), key=lambda learner: learner.orientation.expressivity.value)
    return Finding(
        code=CODE,
        level="fine",
        of=EVERYONE,
        title=TITLE,
        sentence="No learner's variation clearly comes from training randomness or from the data; "
        f"{quoted(most.name)} varies most, by {bits(most.orientation.expressivity)}.",
        value=most.orientation.expressivity,
        reference=f"largest possible: {most.orientation.log2_labelings:.2f} bits",
    )
