"""Would more rows help?

- *A note when:* The most accurate learner is more accurate when fitted on all rows but a fold than on half of the
  training part, on the same test points, by a point or more (the 99 % interval above 0). How errors usually fall
  (with the square root of the number of rows, or in proportion to it) then says what twice as many rows would add.
- *Fine when:* The 95 % interval of that gain ends below one point: more rows like these would hardly help.
- *Not reported when:* Neither is shown.
- *Not checked when:* A test part was given, rows belong together (D206), or the folds or the refits used fewer rows
  than there are.
"""

from __future__ import annotations

import numpy as np

from ...intervals import Estimate
from ..document import Finding, Unasked
from ..document.phrases import points, quoted
from ..results import Results
from .rules import Judge, Outcome, full_folds, mean_over_rows, without_full_folds

CODE = "L113"
TITLE = "More rows would help"
MATTERS, CLEAR, LEVEL = 0.01, 0.99, 0.95
SLOW, FAST = 0.5, 1.0
"""Powers with which errors usually fall: between these."""


def check(results: Results, judge: Judge) -> Outcome:
    """One finding on the most accurate learner, or none if it cannot be said."""
    full = full_folds(results)
    if not full:
        return without_full_folds(results, CODE, TITLE)
    test, settings = results.suspicions.test_rows, results.settings
    small = settings.get("half", 0)
    if test is None or settings.get("size", "all") != "all" or not small:
        return Unasked(CODE, TITLE, "it needs refits on all rows of each half, tested on rows of the same table")
    if results.suspicions.rows_belong_together:
        return Unasked(CODE, TITLE, "rows belong together (D206), so that more of them need not be new ones")
    codes = results.data.codes
    best = max(full, key=lambda name: float(full[name].right(codes).mean()))
    if best not in results.learners:
        return Unasked(CODE, TITLE, f"there are no refits of {best}")
    held, labelings = full[best], results.learners[best].labelings
    place = np.searchsorted(held.tested, test)
    there = np.flatnonzero((place < held.tested.size) & (held.tested[np.minimum(place, held.tested.size - 1)] == test))
    if there.size < 2 or labelings.truth.size != test.size:
        return Unasked(CODE, TITLE, "test points have no cross-validated predictions")
    right = held.right(codes)[place[there]].astype(float)
    before = (labelings.labels == labelings.truth).mean(axis=(0, 1))[there]
    groups = results.data.groups_of(test[there])
    gain = mean_over_rows(right - before, CLEAR, groups)
    if gain.low > 0 and gain.value >= MATTERS:
        return [_note(best, gain, small, held.rows)]
    if mean_over_rows(right - before, LEVEL, groups).high < MATTERS:
        return [_fine(best, mean_over_rows(right - before, LEVEL, groups), small, held.rows)]
    return []


def twice(gain: float, factor: float, power: float) -> float:
    """What twice as many rows would add, if `factor` times as many added `gain` and errors fall as rows^−power.

    With error a + b·n^−power, the gain is b·n^−power · (1 − factor^−power), and the next one is smaller by
    factor^−power.

    >>> round(twice(0.04, 2, 1), 3), round(twice(0.04, 2, 0.5), 3)
    (0.02, 0.028)
    """
    shrink = float(factor**-power)
    return gain * shrink * float(1 - 2**-power) / (1 - shrink)


def _note(learner: str, gain: Estimate, small: int, large: int) -> Finding:
    least, most = sorted(100 * twice(gain.value, large / small, power) for power in (SLOW, FAST))
    return Finding(
        code=CODE,
        level="note",
        of=learner,
        title=TITLE,
        sentence=f"Fits on {large:,} rows are more accurate than fits on {small:,} rows by {points(gain)}. If errors "
        f"go on falling as they usually do, twice as many rows would add about {least:.1f} to {most:.1f} points.",
        value=gain,
        reference="0: more rows add nothing",
        action="Weigh this against the cost of more rows. It is a rule of thumb from two sizes.",
    )


def _fine(learner: str, gain: Estimate, small: int, large: int) -> Finding:
    return Finding(
        code=CODE,
        level="fine",
        of=learner,
        title="More rows would hardly help",
        sentence=f"Fits of {quoted(learner)} on {large:,} rows are more accurate than fits on {small:,} rows by "
        f"{points(gain)}: more rows like these would add less than a point.",
        value=gain,
        reference="0: more rows add nothing",
    )
