"""Do refits of a learner agree more often than by chance?

- *A warning when:* The 95 % interval of kappa reaches 0 and ends below .5: refits agree hardly more often than random
  predictions with the same class shares.
- *A note when:* The interval reaches from 0 to .5 or more: there are too few refits to decide.
- *Fine when:* The interval is above 0, for every learner that can be judged.
- *Not checked when:* The predictions of every learner are nearly constant, as of a rare class: agreement beyond
  chance is then about a few points only.
"""

from __future__ import annotations

from ...intervals import Estimate
from ..document import Finding, Unasked
from ..phrases import joined, percent, quoted
from ..ranking import nearly_constant
from ..results import LearnerResults, Results
from .rules import EVERYONE, Judge, Outcome

CODE = "L109"
TITLE = "Agreement beyond chance"
BASIS = "refits"
HALFWAY = 0.5
"""The kappa halfway between chance and full agreement."""


def check(results: Results, judge: Judge) -> Outcome:
    """One warning per learner that agrees by chance, one note on those that cannot be judged, or one that all agree."""
    findings: list[Finding] = []
    undecided: dict[str, Estimate] = {}
    judged = {name: one for name, one in results.learners.items() if _can_be_judged(one)}
    if not judged:
        return Unasked(CODE, TITLE, "predictions are nearly constant")
    for name, learner in judged.items():
        kappa = learner.stability.kappa
        if not kappa.known or kappa.low > 0:
            continue
        if kappa.high >= HALFWAY:
            undecided[name] = kappa
        else:
            findings.append(_by_chance(learner))
    if undecided:
        findings.append(_undecided(undecided))
    return findings or [_fine(judged)]


def _can_be_judged(learner: LearnerResults) -> bool:
    """Whether enough predictions differ from the most frequent one, or no test point could tell anything else."""
    return not nearly_constant(learner.labelings.labels)


def _by_chance(learner: LearnerResults) -> Finding:
    kappa = learner.stability.kappa
    return Finding(
        code=CODE,
        level="warning",
        of=learner.name,
        title="Agreement is not shown to be more than chance",
        sentence=f"Two refits agree on {percent(learner.stability.stability)} of the points; random predictions with "
        f"the same class shares would agree about as often (kappa {kappa:.2f}, where 0 is chance).",
        value=kappa,
        reference="kappa 0: chance",
        action="Its prediction for a row depends mostly on the training sample. Add rows, columns or a stronger bias.",
    )


def _undecided(kappas: dict[str, Estimate]) -> Finding:
    widest = max(kappas, key=lambda name: kappas[name].high - kappas[name].low)
    return Finding(
        code=CODE,
        level="note",
        of=widest if len(kappas) == 1 else EVERYONE,
        title="Too few refits to separate agreement from chance",
        sentence="The interval of kappa reaches from chance to more than halfway to full agreement: "
        f"{joined([f'{quoted(name)} {each:.2f}' for name, each in kappas.items()])}.",
        value=kappas[widest],
        reference="kappa 0: chance, 1: full agreement",
        action="Use more splits, or a larger budget.",
    )


def _fine(judged: dict[str, LearnerResults]) -> Finding:
    def kappa(learner: LearnerResults) -> float:
        return learner.stability.kappa.value if learner.stability.kappa.known else 1.0

    least = min(judged.values(), key=kappa)
    return Finding(
        code=CODE,
        level="fine",
        of=EVERYONE,
        title=TITLE,
        sentence=f"Refits agree beyond chance; those of {quoted(least.name)} agree least, on "
        f"{percent(least.stability.stability)} of the points (kappa {least.stability.kappa:.2f}).",
        value=least.stability.kappa,
        reference="kappa 0: chance",
    )
