"""The verdict on top of a report: which learner, how sure that is, and what to do next, in two or three sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...expect import counted
from ...intervals import Estimate
from ...learner.scores.comparison import ACCURACY, RANKING, Scored, rows_to_decide
from ..results import ModelCheck, Results
from .document import Cell, Finding, Recommendation, Sheet
from .figures import changed_by_sample
from .glossary import term_of
from .phrases import counted_rows, number, percent, points, quoted, share
from .rows_section import by_measure, comparison, most_accurate, unlike_in_words
from .slices_section import concentrated

LEVEL = 0.95
SPOIL = ("D205", "D206", "D207", "D208")
"""Warnings that make the figures of every learner wrong; most of them too good."""
DOUBTS = {
    "D205": "a column may give the label away",
    "D209": "accuracy is almost perfect, as where columns give the label away",
    "D206": "rows may belong together",
    "D208": "the test part may be unlike the training part",
}
"""The same where it is in doubt: a note, or not decided."""
A_FEW = 0.01
"""Up to this share of rows, suspected labels can be looked at one by one."""
HOPELESS = 50
"""More than this many times the rows are not worth collecting: in practice the learners are equal."""


def verdict_of(results: Results, findings: Sequence[Finding]) -> Recommendation:
    """What to use, how sure that is, and what to do next, with the table that shows it."""
    scored = list(results.scored.values())
    if not results.fitted and results.complexity is not None:
        return Recommendation(_of_rows(results, findings), _beside_the_nearest_class(results))
    if not scored and results.learners and not results.fitted:
        return Recommendation(tuple(_of_refits(results)), None)
    if not scored:
        return Recommendation(("No learner can be recommended: there are no cross-validated predictions.",), None, "")
    choice = _choice(results, scored)
    safe = [] if _useless(results, findings) else _safe(findings)
    sentences = [*safe, _which(choice, results, findings, bool(safe)), *_how_sure(choice, results)]
    spoiled = any(each.code in SPOIL and each.level == "warning" for each in findings)
    sentences += [] if spoiled else _next(choice, results, findings)
    return Recommendation(tuple(sentences), _table(results), choice.learner)


def recommended(results: Results) -> str:
    """The learner that comes first, before any finding; "" if none has a metric."""
    return _choice(results, list(results.scored.values())).learner if results.scored else ""


@dataclass(frozen=True)
class _Choice:
    """The learner to use; `leads` are by how much it is better than each other, at a level that all share.

    `best` has the best metric; it is the same, unless that one is behind by less than a standard error and changes
    least when it is retrained.
    """

    learner: str
    best: Scored
    own: Scored
    leads: dict[str, Estimate]
    steadiest: bool

    @property
    def undecided(self) -> dict[str, Estimate]:
        """The others that are not shown to be worse."""
        return {name: lead for name, lead in self.leads.items() if lead.low <= 0}


def _choice(results: Results, scored: list[Scored]) -> _Choice:
    best = max(scored, key=lambda each: each.estimate.value)
    # Default learners are not retrained, and cannot be the one that changes least.
    asked = [each for each in scored if each.learner not in results.contrast]
    known = _changes(results)[1]
    changes = {each.learner: known[each.learner].value if each.learner in known else math.inf for each in asked}
    # The one-standard-error rule: of those that are as good as the best one, the one that changes least.
    near = [each for each in asked if each is best or _within_one_error(best.ahead_of(each))] or [best]
    own = min(near, key=lambda each: (changes.get(each.learner, 1.0), -each.estimate.value))
    others = [known[name].low for name in changes if name in known and name != own.learner]
    level = 1 - (1 - LEVEL) / max(len(scored) - 1, 1)
    leads = {each.learner: own.ahead_of(each, level) for each in scored if each is not own}
    steadiest = len(others) == len(changes) - 1 and changes.get(own.learner, 1.0) < min(others, default=0.0)
    return _Choice(own.learner, best, own, leads, steadiest)


def _within_one_error(lead: Estimate) -> bool:
    return lead.value <= (lead.high - lead.low) / 4


def _changes(results: Results) -> tuple[str, dict[str, Estimate]]:
    """The figure of what changes when a learner is retrained, and its value by learner.

    Where that is not known of all learners that were asked for, it is what changes with another half of the rows.
    """
    if results.runs is not None and not results.fitted:
        raters = results.runs.raters.raters
        return "changed_items", {rater.name: rater.changed for rater in raters if rater.self_agreement.known}
    asked = [one for name, one in results.learners.items() if name not in results.contrast]
    if asked and all(one.retraining is not None for one in asked):
        retrained = {name: one.retraining for name, one in results.learners.items()}
        return "retrain_change", {name: made.change for name, made in retrained.items() if made is not None}
    return "sample_change", {name: changed_by_sample(one) for name, one in results.learners.items()}


def _of_refits(results: Results) -> list[str]:
    """What the refits of a record reach, where no row has a prediction of its own."""
    accuracies = {name: one.stability.accuracy for name, one in results.learners.items()}
    best = max(accuracies, key=lambda name: accuracies[name].value)
    sentences = [f"Refits of {quoted(best)} reach {_in_words(accuracies[best], ACCURACY)}."]
    change = changed_by_sample(results.learners[best]).value
    if math.isfinite(change):
        sentences.append(f"With another training sample, {share(change)} of its predictions change.")
    if len(accuracies) > 1:
        sentences.append("Refits of no other learner are right more often.")
    return sentences


def _safe(findings: Sequence[Finding]) -> list[str]:
    """That no learner can be recommended while the figures of all are wrong, or may be."""
    for found in (each for each in findings if each.level == "warning" and each.code in SPOIL):
        why = f"{_small(found.title.split(': ')[-1])} ({found.code})"
        return [f"Choose no learner yet: {why}, so that the figures on this page promise too much."]
    open_ = [each for each in findings if each.code in DOUBTS and each.level in ("note", "unknown")]
    for doubt in sorted(open_, key=lambda each: list(DOUBTS).index(each.code)):
        return [f"See to {doubt.code} before you choose: {DOUBTS[doubt.code]}, and figures would promise too much."]
    return []


def _which(choice: _Choice, results: Results, findings: Sequence[Finding], unsafe: bool) -> str:
    if _useless(results, findings):
        return "Use none of them as it is: none is shown to be better than always predicting the largest class."
    name, against = quoted(choice.learner), _against(choice, findings)
    first = f", but see {against.code} first: {_small(against.title)}" if against is not None else ""
    if len(results.scored) == 1:
        figure = _in_words(choice.own.estimate, results.metric)
        fits = f" (fits on {choice.own.rows:,} rows)" if choice.own.rows else ""
        return f"{name} reaches {figure}{fits}{first}."
    if unsafe:
        return f"By them alone, the first is {name}{first}."
    if first:
        comes = "comes first" if choice.best is not choice.own else "is the most accurate"
        comes = comes if results.metric == ACCURACY else f"comes first by {term_of(results.metric).label}"
        return f"{name} {comes}{first}."
    return f"Use {name}."


def _useless(results: Results, findings: Sequence[Finding]) -> bool:
    """Whether no learner is better than the largest class."""
    return {each.of for each in findings if (each.code, each.level) == ("L101", "warning")} >= set(results.scored)


def _against(choice: _Choice, findings: Sequence[Finding]) -> Finding | None:
    """The first warning against the learner that comes first."""
    return next((each for each in findings if each.level == "warning" and each.of == choice.learner), None)


def _how_sure(choice: _Choice, results: Results) -> list[str]:
    """Whether it is shown to be better than the others, and how many rows would show it."""
    figure, changes = _changes(results)
    when = {"retrain_change": "it is retrained", "changed_items": "it is asked again"}.get(
        figure, "it is fitted on another half of the rows"
    )
    change = changes[choice.learner].value if choice.learner in changes else math.nan
    retrained = f"{100 * change:.0f} of 100 rows" if change >= 0.01 else f"{share(change)} of rows"
    if len(results.scored) == 1:
        return [f"When {when}, the predictions for {retrained} change."] if choice.learner in changes else []
    better = "more accurate" if results.metric == ACCURACY else "better"
    if not choice.undecided:
        name, lead = min(choice.leads.items(), key=lambda item: item[1].value)
        others = f"every other learner{' measured' if set(results.failed) - set(results.scored) else ''}"
        sure = f"It is shown to be {better} than {others} (than {quoted(name)} by {_lead(lead, results)})"
    else:
        rivals = {name: results.scored[name].estimate.value for name in choice.undecided}
        rivals = {name: value for name, value in rivals.items() if name not in results.contrast} or rivals
        name = max(rivals, key=lambda each: rivals[each])
        flipped = _flipped(choice.leads[name])
        sure = f"No other learner is shown to be {better} ({quoted(name)} {_lead(flipped, results, signed=True)})"
    least = " least" if choice.steadiest else ""
    sentences = [f"{sure}."]
    if choice.learner in changes:
        sentences = [f"{sure}. Its predictions change{least} when {when} ({retrained})."]
    if choice.undecided:
        sentences.append(_rows_needed(choice, name, results))
    return sentences


def _rows_needed(choice: _Choice, rival: str, results: Results) -> str:
    """That it cannot be decided, and how many rows would."""
    lead = choice.own.ahead_of(results.scored[rival], LEVEL)
    rows = len(results.rows)
    needed = rows_to_decide(lead, rows)
    which = f"Which of {quoted(choice.learner)} and {quoted(rival)} is better cannot be decided with these rows"
    if not math.isfinite(needed) or needed > HOPELESS * rows:
        return f"{which}, nor with {HOPELESS} times as many: take them as equal."
    if needed <= rows:
        return f"{which}: the difference is at the edge of what they can show."
    return f"{which}: if the difference is what it seems, about {_rounded(needed)} would show it (80 % power)."


def _next(choice: _Choice, results: Results, findings: Sequence[Finding]) -> list[str]:
    """The first thing to do."""
    warnings = [each for each in findings if each.level == "warning"]
    concerned = [each for each in warnings if each.of not in results.names or each.of == choice.learner]
    if concerned and concerned[0] is not _against(choice, findings):
        return _see_to(concerned)
    suspects = next((each for each in findings if each.code == "D202" and each.level == "note"), None)
    # Where a class is rare, its rows look like wrong labels: the comparison is by ranking then.
    count = 0 if suspects is None else int(suspects.value.value)
    judged = results.metric != RANKING and choice.learner in results.learners
    if judged and 0 < count <= A_FEW * len(results.rows):
        return [f"{counted(count, 'label')} {'is' if count == 1 else 'are'} worth a look."]
    return []


def _see_to(warnings: Sequence[Finding]) -> list[str]:
    """The first of the warnings, if there are any."""
    more = f", the first of {counted(len(warnings), 'warning')}" if len(warnings) > 1 else ""
    return [f"First see to {each.code}{more}: {_small(each.title)}." for each in warnings[:1]]


def _table(results: Results) -> Sheet:
    """The metric, what changes when it is retrained, and the rows of the fits."""
    figure, changes = _changes(results)
    ranked = sorted(results.scored.items(), key=lambda item: -item[1].estimate.value)
    rows: list[tuple[Cell, ...]] = [(name, each.estimate, changes.get(name), each.rows) for name, each in ranked]
    columns: tuple[str, ...] = ("learner", results.metric, figure, "fit_rows")
    if not any(each.rows for _, each in ranked):  # predictions of another system
        rows, columns = [row[:3] for row in rows], columns[:3]
    title = "The learners in three figures" if len(columns) > 3 else "The models in two figures"
    return Sheet("verdict", title, columns, tuple(rows), "", tuple(name for name, _ in ranked), sort=False)


def _flipped(lead: Estimate) -> Estimate:
    return Estimate(-lead.value, -lead.high, -lead.low, lead.level, lead.kind)


def _lead(lead: Estimate, results: Results, signed: bool = False) -> str:
    plus = "+" if signed and lead.value >= 0 else ""
    if term_of(results.metric).form == "share":
        unit = "points" if results.metric == ACCURACY else f"points of {term_of(results.metric).label}"
        return plus + points(lead).replace("points (", f"{unit}, ").rstrip(")")
    return f"{plus}{lead.value:.3f}, {lead.low:.3f} to {lead.high:.3f}".replace("-", "−")


def _in_words(estimate: Estimate, metric: str) -> str:
    value, low, high = (number(each, "share") for each in (estimate.value, estimate.low, estimate.high))
    return f"{term_of(metric).label} {value} ({low} to {high})"


def _rounded(rows: float) -> str:
    """A number of rows as people say it: two digits."""
    digits = max(len(f"{rows:.0f}") - 2, 0)
    return f"{math.ceil(rows / 10**digits) * 10**digits:,} rows"


def _small(title: str) -> str:
    return title[:1].lower() + title[1:]


# Rows and one model that were given: does it beat the geometry, where are errors, do labels limit it?


def _of_rows(results: Results, findings: Sequence[Finding]) -> tuple[str, ...]:
    assert results.complexity is not None
    # What makes every figure too good comes first.
    warnings = [each for each in findings if each.level == "warning"]
    warnings.sort(key=lambda each: each.code not in SPOIL)
    sentences = _see_to(warnings)
    if not results.checks:
        counts = results.complexity.geometry.counts
        sentences.append(
            f"Taking the nearest class predicts {percent(results.complexity.baseline_accuracy)} of "
            f"{counted_rows(len(results.complexity))} correctly: that is what a model must beat, besides the largest "
            f"class ({share(float(counts.max() / counts.sum()))})."
        )
        sentences += _of_refits(results) if results.learners else []
    else:
        check = most_accurate(results.checks)
        sentences.append(comparison(check, "geometry", share(check.versus.model["accuracy"].value)))
        if len(results.checks) > 1:
            sentences.append("No other model is right more often.")
        sentences.append(_where(results, check))
    sentences.append(_labels_in_words(results))
    if results.unlike is not None:
        sentences.append(unlike_in_words(results.unlike))
    return tuple(sentences)


def _where(results: Results, check: ModelCheck) -> str:
    """Where errors concentrate, or why that is unknown."""
    if check.name in results.slices and check.against is not None:
        return concentrated(results.slices[check.name], check)
    # Without `against`, there are no two kinds of rows to compare.
    return check.why if check.against is None else f"Slices were not searched: {results.why.get('slices', '')}"


def _beside_the_nearest_class(results: Results) -> Sheet | None:
    """The model beside the nearest class."""
    if not results.checks:
        return None
    check = most_accurate(results.checks)
    columns = ("measure", quoted(check.name), "nearest class", "difference")
    return Sheet("verdict", "The model and the nearest class", columns, by_measure(check), sort=False)


def _labels_in_words(results: Results) -> str:
    """Whether labels limit the accuracy, and how many to check."""
    labels = results.labels
    assert labels is not None
    if not labels.share.known:
        return f"Whether wrong labels limit the accuracy is {labels.share.kind}."
    listed = labels.listed.size
    look = f"{counted(listed, 'label')} {'is' if listed == 1 else 'are'} worth a look" if listed else "none is listed"
    limit = f"about {percent(labels.share)} of the labels are wrong"
    if not labels.errors:
        return f"Labels: {limit}; {look}."
    explained = labels.explained
    limits = explained.low >= 0.5
    start = "Labels limit the accuracy" if limits else "Labels are not what limits the accuracy"
    if explained.low < 0.5 <= explained.high:
        start = "Whether labels limit the accuracy is open"
    if not limits and labels.unclear:
        # Labels wrong towards a similar class look like overlap, so no share of them can be given.
        limit = f"If they are spread over the classes, about {percent(labels.share)} of the labels are wrong"
        further = "whether labels wrong towards a similar class limit the accuracy is unknown"
        return f"{limit}, which explains {percent(explained)} {_whose_errors(results)}; {further}; {look}."
    return f"{start}: {limit}, which explains {percent(explained)} {_whose_errors(results)}; {look}."


def _whose_errors(results: Results) -> str:
    """Whose errors the result on labels counts: the model's only if it predicts its likeliest class in every row."""
    best = results.most_accurate
    shares = None if best is None else results.predicted[best].probabilities
    if best is None or shares is None:
        return "of the nearest class's errors"
    if (results.predicted[best].labels == shares.argmax(axis=1)).all():
        return f"of the errors of {quoted(best)}"
    return "of the errors of the largest probability"
