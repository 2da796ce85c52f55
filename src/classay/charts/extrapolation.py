"""What accuracy is foreseen with more classes, beside what was observed and how earlier forecasts did."""

from __future__ import annotations

import math

import altair as alt

from ..classes.backtest import TOLERANCE, BackTest
from ..classes.forecast import Extrapolation
from ..intervals import Estimate
from . import theme
from .curve import at, drawn
from .words import cut, figure

ASIDE = (-0.012, 0.012)
"""How far the back-tests stand from where they belong, as a share of the axis, so as not to cover each other."""


def extrapolation_chart(found: Extrapolation) -> alt.LayerChart:
    """Draw the observed curve, dashed what is foreseen, and what back-tests foresaw for the classes at hand."""
    curve, here = found.curve, found.curve.n_classes
    asked = [(k, each) for k, each in zip(found.k, found.estimates) if k > here]
    most = max([here, *(k for k, _ in asked)])
    borders = {f"{here:,} observed": float(here)} if asked else {}
    trust = found.trusted * here
    if asked and math.isfinite(trust):
        borders[f"trusted to {about(trust)}"] = trust
    points = [_point(test, here, aside, most) for aside, test in zip(ASIDE, found.back_tests)]
    return drawn(
        curve,
        _title(found),
        f"Line and band: accuracy over all sets of k classes, {curve.level:.0%} interval over classes. Dashed: "
        f"foreseen by “{found.method}”. {_about_trust(found, trust)}",
        path=list(zip(found.path_k, found.path)),
        asked=asked,
        points=points,
        borders=borders,
    )


def about(size: float) -> str:
    """A size in two digits, which is as much as anybody knows of it.

    >>> about(13761), about(277.4), about(72.0)
    ('14,000', '280', '72')
    """
    return f"{float(f'{size:.2g}'):,.0f}"


def _title(found: Extrapolation) -> str:
    known = [(k, each) for k, each in zip(found.k, found.estimates) if each.known]
    name = cut(found.curve.ranks.name)
    if not known:
        return f"{name}: {found.curve.n_classes:,} classes do not tell what more would do"
    k, last = max(known, key=lambda pair: pair[0])
    now = figure(float(found.curve.accuracy[-1]), ".0%")
    return f"{name}: from {now} with {found.curve.n_classes:,} classes to about {figure(last.value, '.0%')} with {k:,}"


def _about_trust(found: Extrapolation, trust: float) -> str:
    if not found.back_tests:
        return "There are too few classes for a back-test."
    told = f"Points: what parts of the classes foresaw for all {found.curve.n_classes:,}, least to most"
    return f"{told}; by these, errors are expected to stay within {TOLERANCE:g} up to about {about(trust)} classes."


def _point(test: BackTest, here: int, aside: float, most: int) -> theme.Row:
    """The mean forecast of a back-test, from the least to the most, at the size for which it was made."""
    foreseen = Estimate(float(test.foreseen.mean()), float(test.foreseen.min()), float(test.foreseen.max()))
    told = f"{figure(foreseen.value)} ({figure(foreseen.low)} to {figure(foreseen.high)}), came {figure(test.actual)}"
    beside = max(here * max(most, 2) ** aside, 1.0)
    return at(here, foreseen) | {"what": f"foreseen from {test.n_classes:,}", "k": beside, "told": told}
