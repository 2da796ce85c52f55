"""Do the predictions of a learner depend on its seed more than on its training sample?

- *A warning when:* Stochasticity exceeds capacity (the whole interval of the difference is above 0), and another seed
  alone changes more predictions than half the width of the interval of accuracy.
- *A note when:* Stochasticity exceeds capacity but changes fewer predictions than that.
- *Fine when:* It does not, for any learner with training randomness.
- *Not checked when:* No learner is random, or there is one refit per half, which cannot separate the two.
"""

from __future__ import annotations

from ...intervals import difference
from ..document import Finding, Unasked
from ..document.figures import changed_by_randomness, changed_by_sample
from ..document.phrases import bits, percent, quoted
from ..results import LearnerResults, Results
from .rules import EVERYONE, Judge, Outcome

CODE = "L103"
TITLE = "Training randomness or data"
BASIS = "refits"


def check(results: Results, judge: Judge) -> Outcome:
    """One finding per learner that varies by training randomness, or one that none does."""
    random = [one for one in results.learners.values() if not one.orientation.deterministic]
    if not random:
        return Unasked(CODE, TITLE, "no learner has training randomness")
    known = [one for one in random if one.orientation.capacity.known and one.orientation.stochasticity.known]
    if not known:
        return Unasked(CODE, TITLE, "one refit per half cannot separate training randomness from data")
    findings = []
    for learner in known:
        # The two add up to the expressivity: an error in one is an error in the other.
        lead = difference(learner.orientation.stochasticity, learner.orientation.capacity, correlation=-1.0)
        if judge.widened(lead).low > 0:
            findings.append(_by_randomness(learner, judge))
    return findings or [_fine(known)]


def _by_randomness(learner: LearnerResults, judge: Judge) -> Finding:
    oriented, accuracy = learner.orientation, learner.stability.accuracy
    changed = changed_by_randomness(learner)
    material = judge.widened(changed).low > (accuracy.high - accuracy.low) / 2
    return Finding(
        code=CODE,
        level="warning" if material else "note",
        of=learner.name,
        title="Its predictions depend mostly on its seed",
        sentence=f"Another random_state changes {percent(changed)} of its predictions; another training sample, with "
        f"another random_state, {percent(changed_by_sample(learner))}.",
        value=changed,
        reference=f"varies by {bits(oriented.stochasticity)} with the seed (stochasticity), by "
        f"{bits(oriented.capacity)} with the sample (capacity)",
        action="Average several refits, or more members (n_estimators); or fix random_state and document it.",
    )


def _fine(random: list[LearnerResults]) -> Finding:
    most = max(random, key=lambda learner: changed_by_randomness(learner).value)
    return Finding(
        code=CODE,
        level="fine",
        of=EVERYONE,
        title="No learner depends mostly on its seed",
        sentence=f"{quoted(most.name)} depends on it most: another random_state changes "
        f"{percent(changed_by_randomness(most))} of its predictions, another training sample "
        f"{percent(changed_by_sample(most))}.",
        value=changed_by_randomness(most),
        reference="0: the training rows alone decide",
    )
