"""What the figures say of more classes, and of networks."""

from __future__ import annotations

from ..finding import Finding, Unasked
from ..parts import Parts
from ..saying import percent, quoted, share
from .codes import CODES
from .judging import Judge
from .of_data import Found


def class_findings(parts: Parts, judge: Judge) -> Found:
    title = CODES["C401"].title
    if parts.classes is None:
        return [], [Unasked("C401", title, parts.why.get("classes", ""))]
    forecast, size = parts.classes.forecast, parts.data.classes.size
    now, later = forecast.curve.at(size), forecast.estimates[-1]
    if not later.known:
        return [], [Unasked("C401", title, "nothing can be foreseen from these scores")]
    wide = judge.widened(later)
    sentence = (
        f"With every class counting the same, {quoted(parts.classes.learner)} labels {percent(now)} rightly among "
        f"{size} classes, and is expected to label {percent(later)} among {10 * size:,} of the same kind, where "
        f"guessing reaches {share(0.1 / size)}."
    )
    reference = f"with {size} classes {percent(now)}"
    if wide.high < now.value / 2:
        action = "Plan for it: richer features, or a first step that narrows the classes down."
        head = "Ten times the classes would halve accuracy"
        return [Finding("C401", "warning", "classes", head, sentence, later, reference, action)], []
    if wide.high < now.value:
        action = "It is a forecast for classes like these" + (
            "; how well such forecasts did here is told with the classes."
            if forecast.back_tests
            else f", and {size} are too few to see how good it is."
        )
        return [
            Finding("C401", "note", "classes", "More classes cost accuracy", sentence, later, reference, action)
        ], []
    return [Finding("C401", "fine", "classes", title, sentence, later, reference)], []


def network_findings(parts: Parts, judge: Judge) -> Found:
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
                CODES["N501"].title if good else "Not told from an untrained network",
                f"From its weights alone its accuracy is estimated at {percent(net.estimate)}, where chance is "
                f"{share(chance)}. The estimate ranks checkpoints of one task; its level says little.",
                net.estimate,
                f"chance {share(chance)}",
                "" if good else "Test it on labelled rows before anything else.",
            )
        )
        pair = net.per_pair.sort_values("rows", ascending=False).iloc[0]
        found.append(
            Finding(
                "N502",
                "note",
                name,
                CODES["N502"].title,
                f"The rows of its head are closest for {quoted(pair['first'])} and {quoted(pair['second'])} (cosine "
                f"{pair['rows']:.2f}).",
                net.between,
                f"mean cosine of all pairs {1 - net.classifier_quality:.2f}",
                "Test these two classes first.",
            )
        )
    return found, []
