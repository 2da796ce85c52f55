"""Are there more suspected labels than the distance rule gives by itself?

- *A warning when:* The best learner also contradicts clearly more of the suspected labels than twice what overlap of
  the classes would give: the tail of a logistic distribution with the mean and spread of the margins of each class,
  with a Poisson test of the count.
- *A note when:* There are suspected labels, but no more than the distance rule misplaces anyway.
- *Fine when:* No label is suspected.
- *Not checked when:* There is no baseline, there are no cross-validated predictions, or a column gives the label away
  (D205).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ...arrays import Ints
from ...data.complexity import Complexity
from ...data.complexity_tables import suspected
from ...inputs import encode
from ...intervals import exact
from ..document import Finding, Unasked
from ..phrases import quoted
from ..results import Results
from .rules import Judge, Outcome

CODE = "D202"
TITLE = "Suspected labels"
BASIS = "folds"
ALLOWANCE = 2.0
"""Up to this many times the count expected from overlap is attributed to tails heavier than the model's."""


def check(results: Results, judge: Judge) -> Outcome:
    """One finding: how many labels are suspected, and whether they are too many."""
    held = {name: learner.held_out for name, learner in results.learners.items() if learner.held_out is not None}
    if results.suspicions.leak:
        return Unasked(CODE, TITLE, "a column gives the label away (D205): labels that it contradicts are no surprise")
    if results.complexity is None or not held:
        return Unasked(CODE, TITLE, results.why.get("complexity", "there are no cross-validated predictions"))
    data, measured = results.data, results.measured
    best = max(held, key=lambda name: float(held[name].right(data.codes).mean()))
    tested = held[best].tested
    # Rows that equal a row with another label are reported as such (D203): nobody can know which label is wrong.
    contradicts = ~held[best].right(data.codes) & ~data.contradicted_rows[tested]
    places = np.searchsorted(measured, tested)
    seen, expected = expected_suspects(results.complexity, data.codes[measured], places, contradicts)
    suspects = int(suspected(results.complexity)[places].sum())
    reference = f"misplaced by the distance rule anyway: about {expected:,.0f}"
    if judge.more_than(seen, ALLOWANCE * expected):
        return [_warning(suspects, seen, expected, tested.size, best, reference)]
    return [_note(suspects, seen, tested.size, best, reference) if suspects else _fine(reference)]


def expected_suspects(
    complexity: Complexity, codes: Ints, tested: Ints, contradicts: NDArray[np.bool_]
) -> tuple[int, float]:
    """Suspected rows whose label a learner also contradicts, and how many overlap alone would give.

    `tested` are the rows with predictions, and `contradicts` whether these differ from the label.

    The margin of a row is δ(own class) − δ(nearest other). Overlap is modelled as the tail of a logistic distribution
    with the mean and spread of the margins of the class, beyond the margin at which another label is suspected. Wrong
    labels widen that spread, so the count is over- rather than underestimated. It misleads if tails are heavier.
    """
    margins = complexity.own_distance - complexity.nearest_distance
    size = complexity.classes.size
    known = complexity.known
    own = np.exp(-complexity.values)
    rows = np.maximum(np.bincount(codes[known], minlength=size), 1)
    usual = np.bincount(codes[known], own[known], minlength=size) / rows
    middle = np.bincount(codes[known], margins[known], minlength=size) / rows
    spread = np.sqrt(np.bincount(codes[known], (margins - middle[codes])[known] ** 2, minlength=size) / rows)
    other = usual[encode(complexity.nearest, complexity.classes)]
    with np.errstate(divide="ignore", invalid="ignore"):
        beyond = complexity.temperature * special.logit(other)
        away = (np.maximum(beyond, 0.0) - middle[codes]) / spread[codes]
    chance = special.expit(-np.nan_to_num(away, nan=np.inf, posinf=np.inf) * np.pi / np.sqrt(3))
    return int((suspected(complexity)[tested] & contradicts).sum()), float(chance[tested][known[tested]].sum())


def _warning(suspects: int, seen: int, expected: float, rows: int, best: str, reference: str) -> Finding:
    return Finding(
        code=CODE,
        level="warning",
        of="data",
        title=TITLE,
        sentence=f"{suspects:,} of {rows:,} rows look like another class than their label. {quoted(best)} also "
        f"contradicts {seen:,} of these labels, where the distance rule alone would misplace about {expected:,.0f}.",
        value=exact(suspects, "count"),
        reference=reference,
        action="Check the rows below, likeliest first, and correct wrong labels before you tune anything.",
    )


def _note(suspects: int, seen: int, rows: int, best: str, reference: str) -> Finding:
    return Finding(
        code=CODE,
        level="note",
        of="data",
        title=TITLE,
        sentence=f"{suspects:,} of {rows:,} rows look like another class than their label; {quoted(best)} "
        f"{f'also contradicts {seen:,}' if seen else 'contradicts none'} of these labels. These are no more than "
        "the distance rule misplaces anyway, where classes overlap or have another shape than it expects.",
        value=exact(suspects, "count"),
        reference=reference,
        action="Check the first of them; most are hard rows with the right label.",
    )


def _fine(reference: str) -> Finding:
    return Finding(
        code=CODE,
        level="fine",
        of="data",
        title="No label is suspected",
        sentence="No row looks like another class than its label.",
        value=exact(0, "count"),
        reference=reference,
    )
