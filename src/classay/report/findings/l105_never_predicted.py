"""Is there a class that a learner never predicts?

- *A warning when:* No refit ever predicts a class, although predictions drawn by class shares would miss it on all
  test points with a probability below 5 % divided by the number of classes.
- *Fine when:* Every learner predicts every class that is frequent enough to judge.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Floats, Ints
from ...intervals import exact
from ..document import Finding
from ..phrases import joined, quoted, share
from ..results import LearnerResults, Results
from .rules import EVERYONE, Judge, Outcome

CODE = "L105"
TITLE = "A class is never predicted"
BASIS = "refits"
CHANCE = 0.05
"""Highest probability that any class is missed by chance, shared by all classes."""


def check(results: Results, judge: Judge) -> Outcome:
    """One warning per learner that never predicts a class, or one finding that none does."""
    shares = np.bincount(results.data.codes) / results.data.codes.size
    findings = []
    for learner in results.learners.values():
        labels, points = learner.labelings.labels, learner.labelings.truth.size
        times = np.bincount(labels[labels >= 0].ravel(), minlength=len(learner.labelings.classes))
        frequent = (1 - shares) ** points < CHANCE / shares.size
        missing = np.flatnonzero((times == 0) & frequent)
        if missing.size:
            findings.append(_never(learner, missing, shares))
    return findings or [_fine(results)]


def _never(learner: LearnerResults, missing: Ints, shares: Floats) -> Finding:
    names = joined([quoted(learner.labelings.classes[code]) for code in missing[:3]])
    more = f" and {missing.size - 3} more" if missing.size > 3 else ""
    return Finding(
        code=CODE,
        level="warning",
        of=learner.name,
        title=TITLE,
        sentence=f"No refit ever predicts {'class' if missing.size == 1 else 'classes'} {names}{more}: "
        f"{share(float(shares[missing].sum()))} of the rows.",
        value=exact(missing.size, "count"),
        reference=f"{shares.size} classes",
        action="Weight the classes (class_weight='balanced'), change the threshold, or add rows of these classes.",
    )


def _fine(results: Results) -> Finding:
    return Finding(
        code=CODE,
        level="fine",
        of=EVERYONE,
        title="Every class is predicted",
        sentence="Every learner predicts every class that is frequent enough to judge.",
        value=exact(0, "count"),
        reference=f"{results.data.classes.size} classes",
    )
