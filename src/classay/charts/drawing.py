"""Which chart a result has, and which kinds and options each takes. `result.plot()` comes here."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import altair as alt

from ..classes.curve import Curve
from ..classes.decoders import Decoders
from ..classes.forecast import Extrapolation
from ..classes.identify import Identification
from ..classes.information import Information
from ..classes.retrain import Retrained
from ..classes.risk import RiskCurve
from ..data.complexity import Complexity
from ..data.slices import Slices
from ..expect import InputError, one_of, shown
from ..learner.disagreement import DisagreementRegions
from ..learner.kinship import Kinship
from ..learner.orientation import Orientation, PluginOrientation
from ..learner.preference import Preference
from ..learner.preferences import Preferences
from ..learner.regression_stability import RegressionStability
from ..learner.stability import Stability
from ..learner.stability_table import StabilityTable
from ..learner.sweep_result import Sweep
from ..learner.training_size import StabilityBySize
from ..learner.updates import Drift, Update
from ..network.feature_quality import FeatureQuality
from ..network.head import HeadQuality
from ..network.quality import NetworkQuality
from ..network.ranking import Ranking
from .accuracy_bounds import accuracy_bounds
from .bias import bias_chart
from .complexity import complexity_histogram
from .cosines import class_cosines
from .curve import curve_chart
from .decoders import decoders_chart
from .disagreement import disagreement_bars, disagreement_plane
from .drift import drift_chart
from .expressivity import expressivity_chart
from .extrapolation import extrapolation_chart
from .figures import figures_chart
from .hardest import hardest_table
from .head_cosines import head_cosines
from .identification import identification_chart
from .information import information_chart
from .kinship import kinship_heatmap, kinship_map
from .nearest import nearest_classes
from .plane import plane_chart
from .preference import preference_chart
from .region import complexity_region
from .repeatable import agreement_histogram, regression_figures, spread_histogram, stability_figures
from .risk import risk_chart
from .slices import slices_chart
from .stability import stability_plane
from .sweep import sweep_accuracies, sweep_bias, sweep_entropies, sweep_map
from .theme import beside
from .training_size import stability_by_size_chart
from .within_between import within_between

PLAIN: dict[type, Callable[[Any], alt.TopLevelMixin]] = {
    Slices: slices_chart,
    StabilityTable: stability_plane,
    StabilityBySize: stability_by_size_chart,
    DisagreementRegions: disagreement_bars,
    Curve: curve_chart,
    RiskCurve: risk_chart,
    Information: information_chart,
    Extrapolation: extrapolation_chart,
    Decoders: decoders_chart,
    HeadQuality: head_cosines,
    Ranking: accuracy_bounds,
    Preference: preference_chart,
    Drift: drift_chart,
}
"""Results with one chart, which takes no options."""


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
    _no_options(result, options)
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
def _(result: Stability, kind: str = "both", **options: Any) -> alt.TopLevelMixin:
    """Kinds: both (figures, histogram of agreement), either alone, plane (X, x, y, regions)."""
    one_of(kind, "kind", ("both", "figures", "histogram", "plane"))
    _known(options, ("X", "x", "y", "regions") if kind == "plane" else ())
    if kind == "plane":
        return disagreement_plane(result, **options)
    if kind == "figures":
        return stability_figures(result)
    if kind == "histogram":
        return agreement_histogram(result)
    return beside(stability_figures(result), agreement_histogram(result))


@draw.register
def _(result: RegressionStability, kind: str = "both", **options: Any) -> alt.TopLevelMixin:
    """Kinds: both (figures, histogram of spread), either alone."""
    one_of(kind, "kind", ("both", "figures", "histogram"))
    _known(options, ())
    if kind == "figures":
        return regression_figures(result)
    if kind == "histogram":
        return spread_histogram(result)
    return beside(regression_figures(result), spread_histogram(result))


@draw.register
def _(result: Sweep, kind: str = "all", **options: Any) -> alt.TopLevelMixin:
    """Kinds: all (of one parameter: bias, entropy, accuracy; of two: map), either alone; map takes a metric."""
    kinds = {"bias": sweep_bias, "entropy": sweep_entropies, "accuracy": sweep_accuracies}
    one_of(kind, "kind", ("all", *kinds, "map"))
    if kind == "map" or (kind == "all" and len(result.parameters) == 2):
        _known(options, ("metric",))
        return sweep_map(result, **options)
    _known(options, ())
    return kinds[kind](result) if kind in kinds else beside(*(drawn(result) for drawn in kinds.values()))


@draw.register
def _(result: Retrained, **options: Any) -> alt.TopLevelMixin:
    _no_options(result, options)
    return figures_chart(
        {f"{result.k:,} classes": result.accuracy},
        "accuracy",
        "Accuracy when fitted on fewer classes",
        f"Point: the mean over {result.draws.size} random label sets. Line: {result.accuracy.level:.0%} interval.",
    )


@draw.register
def _(result: Identification, kind: str = "both", **options: Any) -> alt.TopLevelMixin:
    """Kinds: both, curve, information."""
    one_of(kind, "kind", ("both", "curve", "information"))
    _known(options, ())
    if kind == "curve":
        return identification_chart(result)
    information = information_chart(result.implied, result.bound, result.fano, about="the stimulus")
    return information if kind == "information" else beside(identification_chart(result), information)


@draw.register(NetworkQuality)
@draw.register(FeatureQuality)
def _(result: NetworkQuality | FeatureQuality, kind: str = "both", **options: Any) -> alt.TopLevelMixin:
    """Kinds: both (class cosines beside distributions), either alone; of a network also bounds and head."""
    more = ("bounds", "head") if isinstance(result, NetworkQuality) else ()
    one_of(kind, "kind", ("both", "cosines", "distributions", *more))
    _known(options, ())
    if isinstance(result, NetworkQuality) and kind == "bounds":
        return accuracy_bounds(result)
    if isinstance(result, NetworkQuality) and kind == "head":
        return head_cosines(result.head)
    if kind == "cosines":
        return class_cosines(result)
    if kind == "distributions":
        return within_between(result)
    return beside(class_cosines(result), within_between(result))


@draw.register
def _(result: Preferences, **options: Any) -> alt.TopLevelMixin:
    _no_options(result, options)
    return preference_chart(*result.learners.values())


@draw.register
def _(result: Update, **options: Any) -> alt.TopLevelMixin:
    _no_options(result, options)
    return drift_chart(Drift(result.learner, "", result.false_alarm_rate, result.n_reference, (result,)))


def _without_options(chart: Callable[[Any], alt.TopLevelMixin]) -> Callable[..., alt.TopLevelMixin]:
    def drawn(result: Any, **options: Any) -> alt.TopLevelMixin:
        _no_options(result, options)
        return chart(result)

    return drawn


for _kind, _chart in PLAIN.items():
    draw.register(_kind, _without_options(_chart))


def _known(options: dict[str, Any], allowed: tuple[str, ...]) -> None:
    for name in options:
        one_of(name, "option", ("kind", *allowed))


def _no_options(result: Any, options: dict[str, Any]) -> None:
    if options:
        raise InputError(f"The chart of {type(result).__name__} takes no options; {shown(options)} was given.")
