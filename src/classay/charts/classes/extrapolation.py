"""The accuracy that is expected with more classes, beside the observed curve and how back-tests did."""

from __future__ import annotations

import math

import altair as alt

from ...classes.extrapolate.back_test import NARROWEST, TOLERANCE, BackTest
from ...classes.extrapolate.extrapolate import Extrapolation
from ...intervals import Estimate
from ..kinds import without_options
from ..style import theme
from ..style.theme import cut, figure
from .curve import at, curve_layers

ASIDE = (-0.012, 0.012)
"""How far the back-tests are drawn from their true position, as a share of the axis, so that they do not overlap."""


@without_options
def extrapolation_chart(extrapolation: Extrapolation) -> alt.LayerChart:
    """Draw the observed curve, the extrapolation dashed, and what back-tests predicted for the observed classes."""
    curve, here = extrapolation.curve, extrapolation.curve.n_classes
    asked = [(k, each) for k, each in zip(extrapolation.k, extrapolation.estimates) if k > here]
    most = max([here, *(k for k, _ in asked)])
    borders = {f"{here:,} observed": float(here)} if asked else {}
    trust = extrapolation.trusted * here
    if asked and math.isfinite(trust) and trust >= NARROWEST * here:
        borders[f"trusted to {about(trust)}"] = trust
    points = [_point(test, here, aside, most) for aside, test in zip(ASIDE, extrapolation.back_tests)]
    return curve_layers(
        curve,
        _title(extrapolation),
        f"Line and band: accuracy over all sets of k classes, {curve.level:.0%} interval over classes. Dashed: "
        f"extrapolated by “{extrapolation.method}”. {_about_trust(extrapolation, trust)}",
        path=list(zip(extrapolation.path_k, extrapolation.path)),
        asked=asked,
        points=points,
        borders=borders,
    )


def about(size: float) -> str:
    """A size in two digits, which is as much as is known about it.

    >>> about(13761), about(277.4), about(72.0)
    ('14,000', '280', '72')
    """
    return f"{float(f'{size:.2g}'):,.0f}"


def _title(extrapolation: Extrapolation) -> str:
    known = [(k, each) for k, each in zip(extrapolation.k, extrapolation.estimates) if each.known]
    name = cut(extrapolation.curve.ranks.name)
    if not known:
        return f"{name}: {extrapolation.curve.n_classes:,} classes are too few to extrapolate"
    k, last = max(known, key=lambda pair: pair[0])
    now, later = figure(float(extrapolation.curve.accuracy[-1]), ".0%"), figure(last.value, ".0%")
    return f"{name}: from {now} with {extrapolation.curve.n_classes:,} classes to about {later} with {k:,}"


def _about_trust(extrapolation: Extrapolation, trust: float) -> str:
    if not extrapolation.back_tests:
        return "There are too few classes for a back-test."
    points = f"Points: what parts of the classes predicted for all {extrapolation.curve.n_classes:,}, lowest to highest"
    level = extrapolation.estimates[0].level
    if trust < NARROWEST * extrapolation.curve.n_classes:
        return f"{points}. No error within {TOLERANCE:g} can be promised for more classes in {level:.0%} of cases."
    return f"{points}. In {level:.0%} of cases the error stays within {TOLERANCE:g} up to about {about(trust)} classes."


def _point(test: BackTest, here: int, aside: float, most: int) -> theme.Row:
    """The mean forecast of a back-test, from the lowest to the highest, at the size for which it was made."""
    forecast = Estimate(float(test.foreseen.mean()), float(test.foreseen.min()), float(test.foreseen.max()))
    text = f"{figure(forecast.value)} ({figure(forecast.low)} to {figure(forecast.high)}), actual {figure(test.actual)}"
    beside = max(here * max(most, 2) ** aside, 1.0)
    return at(here, forecast) | {"what": f"predicted from {test.n_classes:,}", "k": beside, "value_text": text}
