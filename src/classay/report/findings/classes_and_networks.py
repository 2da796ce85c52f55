"""Rules on the label set (C401) and on networks (N501, N502)."""

from __future__ import annotations

import math

from ...intervals import Estimate, exact
from ...network.quality.quality import CONVERGED, NetworkQuality
from ..document.phrases import percent
from ..results import Results
from .rules import Judge, Outcome, Said, fits_of, rule, say

HALF = 0.5
"""Below this share of the present accuracy, the forecast is a warning."""


@rule("C401", basis="folds")
def more_classes(results: Results, judge: Judge) -> Outcome:
    """How accurate would the best learner be with ten times the classes?"""
    if results.classes is None:
        return results.why.get("classes", "there are no scores that allow a forecast")
    forecast, size = results.classes.forecast, results.rows.classes.size
    now, later = forecast.curve.at(size), forecast.estimates[-1]
    if not later.known:
        return "these scores allow no forecast"
    outcome = "fine" if later.low > HALF * now.value else "unknown"
    if judge.widened(later).high < HALF * now.value:
        outcome = "halved"
    elif later.high < now.value:
        outcome = "tested" if forecast.back_tests else "untested"
    held = results.predicted.get(results.classes.learner)
    return say(
        outcome,
        "classes",
        later,
        name=results.classes.learner,
        fits=fits_of(held),
        now=now,
        size=size,
        tenfold=10 * size,
        chance=0.1 / size,
    )


def _networks(results: Results) -> str:
    return "" if results.networks else "no network was given"


@rule("N501", _networks)
def trained_network(results: Results, judge: Judge) -> Outcome:
    """Which weights of a network lie outside of the range of fresh initialisations, and do its walks arrive?"""
    return [_trained(name, quality) for name, quality in results.networks.items()]


def _trained(name: str, quality: NetworkQuality) -> Said:
    structure, arrived = quality.figures.get("structure", math.nan), quality.converged.value
    return say(
        "unreached" if arrived < CONVERGED else "like_fresh" if quality.like_fresh else "trained",
        name,
        Estimate(structure, 0.0, math.inf, kind="of weights") if math.isnan(structure) else exact(structure),
        within=int(quality.layers["like_fresh"].sum()),
        layers=len(quality.layers),
        arrived=arrived,
        accuracy="Its accuracy cannot be known without labelled rows."
        if quality.labelled is None
        else f"By labelled rows its accuracy is {percent(quality.labelled)}.",
    )


@rule("N502")
def similar_classes(results: Results, judge: Judge) -> Outcome:
    """Which classes does a network find most similar?"""
    return [_closest_pair(name, quality) for name, quality in results.networks.items()]


def _closest_pair(name: str, quality: NetworkQuality) -> Said:
    pair = quality.per_pair.sort_values("rows", ascending=False).iloc[0]
    parts = {"first": pair["first"], "second": pair["second"], "cosine": pair["rows"]}
    return say("closest", name, quality.between, mean=1 - quality.classifier_quality, **parts)
