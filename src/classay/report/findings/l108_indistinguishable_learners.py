"""Do two learners predict the same?

- *A note when:* The distance between the predictions of two learners is no more than chance gives.
- *Not reported when:* All learners predict differently, or predictions are nearly constant, so that equal ones show
  little.
- *Not checked when:* There are fewer than two learners with comparable refits.
"""

from __future__ import annotations

from ...intervals import exact
from ...learner.orientation.kinship import Kinship
from ..document import Finding, Unasked
from ..document.phrases import quoted
from ..results import Results
from ..score_ranks import nearly_constant
from .rules import Judge, Outcome

CODE = "L108"
TITLE = "Indistinguishable learners"
BASIS = "refits"


def check(results: Results, judge: Judge) -> Outcome:
    """One note per pair that is indistinguishable."""
    kin = results.kinship
    if kin is None:
        return Unasked(CODE, TITLE, results.why.get("kinship", "it needs at least 2 learners"))
    distance, chance = kin.jensen_shannon, kin.floor["jensen_shannon"]
    varied = [
        name in results.learners and not nearly_constant(results.learners[name].labelings.labels) for name in kin.names
    ]
    return [
        _alike(results, kin, a, b)
        for a in range(len(kin.names))
        for b in range(a)
        if distance[a, b] <= chance[a, b] and varied[a] and varied[b]
    ]


def _alike(results: Results, kin: Kinship, a: int, b: int) -> Finding:
    first, second = kin.names[a], kin.names[b]
    distance, chance = kin.jensen_shannon[a, b], kin.floor["jensen_shannon"][a, b]
    seconds = {name: float(results.learners[name].labelings.seconds.mean()) for name in (first, second)}
    faster = min(seconds, key=lambda name: seconds[name])
    return Finding(
        code=CODE,
        level="note",
        of=first,
        title=TITLE,
        sentence=f"Its predictions are indistinguishable from those of {quoted(second)}: a Jensen–Shannon distance of "
        f"{distance:.2f}, where chance alone gives up to {chance:.2f}.",
        value=exact(float(distance), "of these refits"),
        reference=f"chance alone: {chance:.2f}",
        action=f"On the evidence of these refits, one of them is enough; {quoted(faster)} is faster.",
    )
