"""Findings on predictions alone: codes P601 to P605. A warning needs an interval that supports it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..intervals import Estimate
from .document import LEVELS, Finding, Unasked
from .document.phrases import joined, percent, points, quoted, share
from .findings.rules import Judge

if TYPE_CHECKING:
    from .predictions import PredictionResults, VariantResults

TITLES = {
    "P601": "Better than the largest class",
    "P602": "Scores that keep what they promise",
    "P603": "Where predictions are wrong",
    "P604": "The same prediction when asked again",
    "P605": "Missing predictions",
}
CALIBRATED = 0.02
"""A mean score that differs less than this from accuracy is not a note."""
OFTEN = 0.9
"""Below this agreement with itself, a variant changes its mind often."""


def findings_on(results: PredictionResults) -> tuple[tuple[Finding, ...], tuple[Unasked, ...]]:
    """All findings, warnings first, and the checks that do not apply."""
    judge = Judge(4 * len(results.variants), len(results.variants))
    findings: list[Finding] = []
    unasked: list[Unasked] = []
    for one in results.variants.values():
        findings.append(_against_largest(one, results, judge))
        if one.overconfidence is not None:
            findings.append(_confidence(one, one.overconfidence, judge))
        if one.slices is not None:
            findings.append(_slices(one, judge))
        if one.predicted.value < 1:
            findings.append(_missing(one, judge))
    again = [each for each in results.raters.raters if each.self_agreement.known]
    findings += [_again(each.name, each.self_agreement, each.changed, each.n_runs, results, judge) for each in again]
    if results.table.confidence is None:
        unasked.append(Unasked("P602", TITLES["P602"], "there is no score (--score)"))
    if all(one.slices is None for one in results.variants.values()):
        why = next(one.why_no_slices for one in results.variants.values())
        unasked.append(Unasked("P603", TITLES["P603"], why))
    if not again:
        unasked.append(Unasked("P604", TITLES["P604"], "every item was predicted once (--run)"))
    findings.sort(key=lambda each: (LEVELS.index(each.level), each.code))
    return tuple(findings), tuple(unasked)


def _against_largest(one: VariantResults, results: PredictionResults, judge: Judge) -> Finding:
    wide = judge.widened(one.accuracy)
    level, title, action = "fine", TITLES["P601"], ""
    if wide.high < results.majority:
        level, title = "warning", "Worse than always predicting the largest class"
        action = "Look at the confusions first: are the classes spelled as in the truth (--normalise)?"
    elif wide.low <= results.majority:
        level, title = "note", "Not shown to be better than the largest class"
        action = "Measure more items, or use a metric that weighs classes equally."
    return Finding(
        code="P601", level=level, of=one.name, title=title, value=one.accuracy, action=action,
        sentence=f"{quoted(one.name)} predicts {percent(one.accuracy)} of the items correctly.",
        reference=f"always the largest class: {share(results.majority)}",
    )  # fmt: skip


def _confidence(one: VariantResults, gap: Estimate, judge: Judge) -> Finding:
    wide = judge.widened(gap)
    level, title, action = "fine", TITLES["P602"], ""
    if wide.low > CALIBRATED or wide.high < -CALIBRATED:
        level = "warning" if gap.value > 0 else "note"
        title = "Scores promise too much" if gap.value > 0 else "Scores promise too little"
        action = "Calibrate the scores on other items before you use a threshold."
    return Finding(
        code="P602", level=level, of=one.name, title=title, value=gap, action=action,
        sentence=f"The mean score of {quoted(one.name)} differs from its accuracy by {points(gap)}.",
        reference="calibrated: 0",
    )  # fmt: skip


def _slices(one: VariantResults, judge: Judge) -> Finding:
    assert one.slices is not None
    clear = [each for each in one.slices.slices if each.p_value <= judge.slice_p(len(one.slices.tested))]
    shown = clear or list(one.slices.slices)
    if not shown:
        sentence = f"No range or category of the other columns has clearly more errors of {quoted(one.name)}."
        return Finding(
            code="P603", level="fine", of=one.name, title=TITLES["P603"], value=one.slices.error_rate,
            sentence=sentence, reference="",
        )  # fmt: skip
    where = joined([f"{quoted(each.condition)} ({percent(each.rate)} wrong)" for each in shown[:3]])
    return Finding(
        code="P603", level="warning" if clear else "note", of=one.name, title="Errors concentrate",
        value=shown[0].rate, sentence=f"{quoted(one.name)} errs more often where {where}.",
        reference=f"all items: {share(one.slices.error_rate.value)} wrong",
        action="Look at these items; more examples of them, or another prompt, may help.",
    )  # fmt: skip


def _again(
    name: str, same: Estimate, changed: Estimate, runs: int, results: PredictionResults, judge: Judge
) -> Finding:
    wide = judge.widened(same)
    level, title, action = "fine", TITLES["P604"], ""
    if wide.high < OFTEN:
        level, title = "warning", "Predictions change when asked again"
        enough = (
            ""
            if results.repeats is None
            else f" {results.repeats.repeats.value:.0f} runs per item suffice for accuracy."
        )
        action = f"Do not rank variants by single runs; average several.{enough}"
    elif wide.low < OFTEN:
        level, title = "note", "Some predictions change when asked again"
    return Finding(
        code="P604", level=level, of=name, title=title, value=same, action=action,
        sentence=f"Two runs of {quoted(name)} predict the same for {percent(same)} of the items; in {runs} runs, "
        f"{percent(changed)} of the items changed.",
        reference="no randomness: 100 %",
    )  # fmt: skip


def _missing(one: VariantResults, judge: Judge) -> Finding:
    clear = judge.widened(one.predicted).high < 0.99
    return Finding(
        code="P605", level="warning" if clear else "note", of=one.name, title="Predictions are missing",
        value=one.predicted, sentence=f"{quoted(one.name)} predicts {percent(one.predicted)} of the items at all.",
        reference="all items: 100 %",
        action="Missing predictions count as wrong here; with --missing drop these items do not count.",
    )  # fmt: skip
