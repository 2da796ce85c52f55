"""Did every refit succeed?

- *A warning when:* A refit raised an error or took too long, or a learner gave no results at all.
- *A note when:* A learner gave no results because it is too slow for the budget.
- *Fine when:* No refit failed.
"""

from __future__ import annotations

import math

from ...intervals import Estimate, exact
from ..document import Finding
from ..document.phrases import one_line
from ..results import LearnerResults, Results
from .rules import EVERYONE, Judge, Outcome

CODE = "L106"
TITLE = "Refits failed"


def check(results: Results, judge: Judge) -> Outcome:
    """One warning per learner with failures, or one finding that there are none."""
    findings = [_some(learner) for learner in results.learners.values() if learner.labelings.failures]
    findings += [_all(name, results) for name in results.failed]
    return findings or ([_fine(results)] if results.learners else [])


def _some(learner: LearnerResults) -> Finding:
    failures, refits = learner.labelings.failures, learner.labelings.present.size
    return Finding(
        code=CODE,
        level="warning",
        of=learner.name,
        title=TITLE,
        sentence=f"{len(failures)} of {refits} refits failed, the first with: {one_line(failures[0].error)}",
        value=exact(len(failures), "count"),
        reference=f"{refits} refits",
        action="Its figures cover only the refits that succeeded. Find out why the others failed first.",
    )


def _all(name: str, results: Results) -> Finding:
    if name in results.slow:
        return _too_slow(name, results)
    return Finding(
        code=CODE,
        level="warning",
        of=name,
        title="No results",
        sentence=f"It gave no results: {one_line(results.failed[name])}",
        value=Estimate(math.nan, math.nan, math.nan, kind="unknown"),
        reference=f"{len(results.names)} others have results",
        action="Run it again to include it." if results.settings.get("interrupted") else "Fix it or drop it.",
    )


def _too_slow(name: str, results: Results) -> Finding:
    return Finding(
        code=CODE,
        level="note",
        of=name,
        title="Too slow for the budget",
        sentence=one_line(results.failed[name], 400),
        value=Estimate(math.nan, math.nan, math.nan, kind="unknown"),
        reference=f"{len(results.names)} others have results",
    )


def _fine(results: Results) -> Finding:
    refits = sum(int(learner.labelings.present.sum()) for learner in results.learners.values())
    return Finding(
        code=CODE,
        level="fine",
        of=EVERYONE,
        title="Every refit succeeded",
        sentence=f"None of {refits:,} refits failed.",
        value=exact(0, "count"),
        reference=f"{refits:,} refits",
    )
