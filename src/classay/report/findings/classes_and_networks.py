"""Findings on more classes, and on networks."""

from __future__ import annotations

from ..document import Finding, Unasked
from ..phrases import percent, quoted, share
from ..results import Results
from .data import Found
from .rules import CODES, Judge


def class_findings(parts: Results, judge: Judge) -> Found:
    title = CODES["C401"].title
    if parts.classes is None:
        return [], [Unasked("C401", title, parts.why.get("classes", ""))]
    forecast, size = parts.classes.forecast, parts.data.classes.size
    now, later = forecast.curve.at(size), forecast.estimates[-1]
    if not later.known:
        return [], [Unasked("C401", title, "these scores allow no forecast")]
    wide = judge.widened(later)
    sentence = (
        f"With equal weight for every class, {quoted(parts.classes.learner)} predicts {percent(now)} correctly among "
        f"{size} classes; the forecast for {10 * size:,} classes of the same kind is {percent(later)}, where chance is "
        f"{share(0.1 / size)}."
    )
    reference = f"with {size} classes {percent(now)}"
    if wide.high < now.value / 2:
        action = "Plan for it: use richer features, or a first step that narrows down the classes."
        head = "Ten times the classes would halve accuracy"
        return [Finding("C401", "warning", "classes", head, sentence, later, reference, action)], []
    if wide.high < now.value:
        action = "It is a forecast for classes like these" + (
            "; the section on classes shows how accurate such forecasts were here."
            if forecast.back_tests
            else f", and {size} classes are too few to check its accuracy."
        )
        return [
            Finding("C401", "note", "classes", "More classes cost accuracy", sentence, later, reference, action)
        ], []
    return [Finding("C401", "fine", "classes", title, sentence, later, reference)], []


def network_findings(parts: Results, judge: Judge) -> Found:
    if not parts.networks:
        return [], [Unasked("N501", CODES["N501"].title, "no network was given")]
    found = []
    for name, net in parts.networks.items():
        chance = 1 / net.classes
        told = judge.widened(net.estimate)
        good = net.estimate.known and told.low > chance
        found.append(
            Finding(
                "N501",
                "fine" if good else "warning",
                name,
                CODES["N501"].title if good else "Indistinguishable from an untrained network",
                f"From its weights alone its accuracy is estimated at {percent(net.estimate)}, where chance is "
                f"{share(chance)}. The estimate ranks checkpoints of one task; do not rely on its absolute value.",
                net.estimate,
                f"chance {share(chance)}",
                "" if good else "Test it on labelled data before anything else.",
            )
        )
        pair = net.per_pair.sort_values("rows", ascending=False).iloc[0]
        found.append(
            Finding(
                "N502",
                "note",
                name,
                CODES["N502"].title,
                f"The rows of its head are closest for the classes {quoted(pair['first'])} and "
                f"{quoted(pair['second'])} (cosine {pair['rows']:.2f}).",
                net.between,
                f"mean cosine of all pairs {1 - net.classifier_quality:.2f}",
                "Test these two classes first.",
            )
        )
    return found, []
