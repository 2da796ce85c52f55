"""Charts, drawn from results: one file a chart. `result.plot()` comes here."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import altair as alt

from ..data.complexity import Complexity
from ..data.slices import Slices
from ..expect import one_of
from ..learner.kinship import Kinship
from ..learner.orientation import Orientation, PluginOrientation
from .bias import bias_chart
from .complexity import complexity_histogram
from .expressivity import expressivity_chart
from .figures import figures_chart
from .hardest import hardest_table
from .kinship import kinship_heatmap, kinship_map
from .nearest import nearest_classes
from .plane import plane_chart
from .region import complexity_region
from .saving import save
from .slices import slices_chart
from .theme import beside, styled

__all__ = [
    "beside",
    "bias_chart",
    "complexity_histogram",
    "complexity_region",
    "draw",
    "expressivity_chart",
    "figures_chart",
    "hardest_table",
    "kinship_heatmap",
    "kinship_map",
    "nearest_classes",
    "plane_chart",
    "save",
    "slices_chart",
    "styled",
]


@singledispatch
def draw(result: Any, **options: Any) -> alt.TopLevelMixin:
    """The chart of a result. `kind` and other options depend on what it is."""
    raise TypeError(f"{type(result).__name__} has no chart; draw what classay's measures return.")


@draw.register
def _(result: Orientation, kind: str = "both", **options: Any) -> alt.TopLevelMixin:
    """Kinds: both (bias beside expressivity), bias, expressivity, plane (which takes a threshold)."""
    one_of(kind, "kind", ("both", "bias", "expressivity", "plane"))
    _known(options, ("threshold",) if kind == "plane" else ())
    if kind == "plane":
        return plane_chart(result, **options)
    if kind == "bias":
        return bias_chart(result)
    if kind == "expressivity":
        return expressivity_chart(result)
    return beside(bias_chart(result), expressivity_chart(result))


@draw.register
def _(result: Kinship, kind: str = "both", **options: Any) -> alt.TopLevelMixin:
    """Kinds: both, heatmap (both take a distance), map."""
    one_of(kind, "kind", ("both", "heatmap", "map"))
    _known(options, () if kind == "map" else ("distance",))
    if kind == "map":
        return kinship_map(result)
    heatmap = kinship_heatmap(result, **options)
    return heatmap if kind == "heatmap" else beside(heatmap, kinship_map(result))


@draw.register
def _(result: PluginOrientation, **options: Any) -> alt.TopLevelMixin:
    _known(options, ())
    return figures_chart(
        {
            "expressivity": result.expressivity,
            "stochasticity": result.stochasticity,
            "capacity": result.capacity,
        },
        "bits",
        "How far answers spread, by the plain estimates",
        "Points: the paper's estimates, which are off where refits are few. "
        f"Lines: {result.expressivity.level:.0%} interval over holdouts.",
    )


@draw.register
def _(result: Complexity, kind: str = "both", **options: Any) -> alt.TopLevelMixin:
    """Kinds: both (histogram, confusion), either alone, hardest (n, texts, images), region (X, x, y, slices)."""
    one_of(kind, "kind", ("both", "histogram", "confusion", "hardest", "region"))
    _known(options, {"hardest": ("n", "texts", "images"), "region": ("X", "x", "y", "slices")}.get(kind, ()))
    if kind == "hardest":
        return hardest_table(result, **options)
    if kind == "region":
        return complexity_region(result, **options)
    if kind == "confusion":
        return nearest_classes(result)
    if kind == "histogram":
        return complexity_histogram(result)
    return beside(complexity_histogram(result), nearest_classes(result))


@draw.register
def _(result: Slices, **options: Any) -> alt.TopLevelMixin:
    _known(options, ())
    return slices_chart(result)


def _known(options: dict[str, Any], allowed: tuple[str, ...]) -> None:
    for name in options:
        one_of(name, "option", ("kind", *allowed))
