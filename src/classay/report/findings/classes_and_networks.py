"""Rules on the label set (C401) and on networks (N501, N502)."""

from __future__ import annotations

import math

from ...intervals import Estimate, exact
from ...network.prototypes.probes import RANDOM_STRUCTURE
from ...network.quality.quality import CONVERGED, NetworkQuality
from ..document import Finding
from ..document.phrases import percent, quoted, share
from ..results import Results
from .rules import Judge, Outcome, finding, fit_size, note, rule

HALF = 0.5
"""Below this share of the present accuracy, the forecast is a warning."""


@rule("C401", "More classes", basis="folds")
def more_classes(results: Results, judge: Judge) -> Outcome:
    """How accurate would the best learner be with ten times the classes?

    - *A warning when:* The upper end of the accuracy forecast for ten times the classes is below half of the present
      accuracy.
    - *A note when:* The upper end is below the present accuracy.
    - *Fine when:* The interval reaches the present accuracy.
    - *Not checked when:* There are fewer than 20 classes (5, if it is asked for by `--more-classes`), fits had fewer
      than 90 % of the rows, or there are no scores that allow a forecast.
    """
    if results.classes is None:
        return results.why.get("classes", "there are no scores that allow a forecast")
    forecast, size = results.classes.forecast, results.data.classes.size
    now, later = forecast.curve.at(size), forecast.estimates[-1]
    if not later.known:
        return "these scores allow no forecast"
    level, title, action = "fine", "", ""
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
    held = results.predicted.get(results.classes.learner)
    return finding(
        level,
        "classes",
        f"With equal weight for every class, {quoted(results.classes.learner)}"
        f"{'' if held is None else f' ({fit_size(held)})'} predicts {percent(now)} correctly among {size} classes; the "
        f"forecast for {10 * size:,} classes of the same kind is {percent(later)}, where chance is "
        f"{share(0.1 / size)}.",
        later,
        f"with {size} classes {percent(now)}",
        action,
        title,
    )


def _networks(results: Results) -> str:
    return "" if results.networks else "no network was given"


@rule("N501", "A trained network", _networks)
def trained_network(results: Results, judge: Judge) -> Outcome:
    """Is a network distinguishable from an untrained one, by its weights alone?

    - *A warning when:* Its weights look like random numbers, or less than 90% of its walks arrive.
    - *Fine when:* Its weights have structure, and walks arrive.
    - *Not checked when:* No network is given.
    """
    return [_trained(name, quality) for name, quality in results.networks.items()]


def _trained(name: str, quality: NetworkQuality) -> Finding:
    structure, arrived = quality.figures.get("structure", math.nan), quality.converged.value
    trained = arrived >= CONVERGED and not quality.untrained
    weights = "is unknown" if math.isnan(structure) else f"is {structure:.2f} (random weights: 0)"
    accuracy = (
        f"By labelled rows its accuracy is {percent(quality.labelled)}."
        if quality.labelled is not None
        else "Its accuracy cannot be known without labelled rows."
    )
    return finding(
        "fine" if trained else "warning",
        name,
        f"The structure of its weights {weights}, and {share(arrived)} of the walks to its classes arrived. {accuracy}",
        Estimate(structure, 0.0, math.inf, kind="of weights") if math.isnan(structure) else exact(structure),
        f"random weights below {RANDOM_STRUCTURE:g}",
        "" if trained else "Test it on labelled data before anything else.",
        "" if trained else "Indistinguishable from an untrained network",
    )


@rule("N502", "Classes the network finds similar")
def similar_classes(results: Results, judge: Judge) -> Outcome:
    """Which classes does a network find most similar?

    - *A note always:* The closest pair of rows of the head, for every network.
    """
    return [_closest_pair(name, quality) for name, quality in results.networks.items()]


def _closest_pair(name: str, quality: NetworkQuality) -> Finding:
    pair = quality.per_pair.sort_values("rows", ascending=False).iloc[0]
    return note(
        name,
        f"The rows of its head are closest for the classes {quoted(pair['first'])} and {quoted(pair['second'])} "
        f"(cosine {pair['rows']:.2f}).",
        quality.between,
        f"mean cosine of all pairs {1 - quality.classifier_quality:.2f}",
        "Test these two classes first.",
    )
