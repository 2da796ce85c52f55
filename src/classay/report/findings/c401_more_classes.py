"""How accurate would the best learner be with ten times the classes?

- *A warning when:* The upper end of the accuracy forecast for ten times the classes is below half of the present
  accuracy.
- *A note when:* The upper end is below the present accuracy.
- *Fine when:* The interval reaches the present accuracy.
- *Not checked when:* There are fewer than 20 classes (5, if it is asked for by `--more-classes`), fits had fewer than
  90 % of the rows, or there are no scores that allow a forecast.
"""

from __future__ import annotations

from ..document import Finding, Unasked
from ..document.phrases import percent, quoted, share
from ..results import Results
from .rules import Judge, Outcome, fit_size

CODE = "C401"
TITLE = "More classes"
BASIS = "folds"
HALF = 0.5
"""Below this share of the present accuracy, the forecast is a warning."""


def check(results: Results, judge: Judge) -> Outcome:
    """One finding on the forecast."""
    if results.classes is None:
        return Unasked(CODE, TITLE, results.why.get("classes", ""))
    forecast, size = results.classes.forecast, results.data.classes.size
    now, later = forecast.curve.at(size), forecast.estimates[-1]
    if not later.known:
        return Unasked(CODE, TITLE, "these scores allow no forecast")
    if judge.widened(later).high < HALF * now.value:
        level, title = "warning", "Ten times the classes would halve accuracy"
        action = "Plan for it: use richer features, or a first step that narrows down the classes."
    elif later.high < now.value:
        level, title = "note", "More classes cost accuracy"
        action = "It is a forecast for classes like these" + (
            "; the section on classes shows how accurate such forecasts were here."
            if forecast.back_tests
            else f", and {size} classes are too few to check its accuracy."
        )
    else:
        level, title, action = "fine", TITLE, ""
    return [
        Finding(
            code=CODE,
            level=level,
            of="classes",
            title=title,
            sentence=f"With equal weight for every class, {quoted(results.classes.learner)}{_size(results)} predicts "
            f"{percent(now)} correctly among {size} classes; the forecast for {10 * size:,} classes of the same kind "
            f"is {percent(later)}, where chance is {share(0.1 / size)}.",
            value=later,
            reference=f"with {size} classes {percent(now)}",
            action=action,
        )
    ]


def _size(results: Results) -> str:
    """The rows of the fits behind the forecast."""
    assert results.classes is not None
    held = results.predicted.get(results.classes.learner)
    return "" if held is None else f" ({fit_size(held)})"
