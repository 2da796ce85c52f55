"""Do refits of a learner agree more often than by chance?

- *A warning when:* The 95 % interval of kappa reaches 0 and ends below .5: refits agree hardly more often than random
  predictions with the same class shares.
- *A note when:* The interval reaches from 0 to .5 or more: there are too few refits to decide.
- *Fine when:* The interval is above 0, for every learner that can be judged.
- *Judged by:* Predictions; where they are nearly constant, as of a rare class, the scores: how closely those of
  refits on disjoint halves rank the same points (Spearman's correlation, in place of kappa).
- *Not checked when:* Predictions are nearly constant and there are no scores.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
from scipy import stats

from ...intervals import Estimate, of_mean
from ..document import Finding, Unasked
from ..document.phrases import joined, percent, quoted
from ..results import LearnerResults, Results
from ..score_ranks import nearly_constant
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
    by_name = {name: (one, _agreement(one)) for name, one in results.learners.items()}
    judged = {name: (one, kappa) for name, (one, kappa) in by_name.items() if kappa is not None}
    if not judged:
        return Unasked(CODE, TITLE, "predictions are nearly constant, and there are no scores")
    for name, (learner, kappa) in judged.items():
        if not kappa.known or kappa.low > 0:
            continue
        if kappa.high >= HALFWAY:
            undecided[name] = kappa
        else:
            findings.append(_by_chance(learner, kappa))
    if undecided:
        findings.append(_undecided(undecided))
    return findings or [_fine(judged)]


def _agreement(learner: LearnerResults) -> Estimate | None:
    """Kappa; where predictions are nearly constant, how closely the scores of disjoint halves rank points."""
    if not nearly_constant(learner.labelings.labels):
        return learner.stability.kappa
    scores = learner.labelings.scores
    if scores is None or scores.compact or scores.values.shape[3] != 2 or not scores.present.all():
        return None
    first = scores.positive[:, 0].astype(float)
    pairs = [(first[2 * split], first[2 * split + 1]) for split in range(len(first) // 2)]
    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        close = [float(stats.spearmanr(one, other).statistic) for one, other in pairs]
    known = [each for each in close if not math.isnan(each)]
    return of_mean(known, kind="rank correlation of scores, over splits") if len(known) > 1 else None


def _by_chance(learner: LearnerResults, kappa: Estimate) -> Finding:
    return Finding(
        code=CODE,
        level="warning",
        of=learner.name,
        title="Agreement is not shown to be more than chance",
        sentence=f"Two refits agree on {percent(learner.stability.stability)} of the points; random predictions with "
        f"the same class shares would agree about as often (kappa {kappa:.2f}, where 0 is chance)."
        if kappa is learner.stability.kappa
        else f"Its scores on two disjoint halves rank the same points with a correlation of {kappa:.2f}, where 0 is "
        "chance.",
        value=kappa,
        reference="0: chance",
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


def _fine(judged: dict[str, tuple[LearnerResults, Estimate]]) -> Finding:
    least, kappa = min(judged.values(), key=lambda pair: pair[1].value if pair[1].known else 1.0)
    by_scores = kappa is not least.stability.kappa
    return Finding(
        code=CODE,
        level="fine",
        of=EVERYONE,
        title=TITLE,
        sentence=f"Refits agree beyond chance; those of {quoted(least.name)} agree least, on "
        f"{percent(least.stability.stability)} of the points "
        f"({'rank correlation of scores' if by_scores else 'kappa'} {kappa:.2f}).",
        value=kappa,
        reference="0: chance",
    )
