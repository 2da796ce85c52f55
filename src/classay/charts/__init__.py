"""Charts, drawn from results: one file a chart. `draw` chooses."""

from __future__ import annotations

from .accuracy_bounds import accuracy_bounds
from .bias import bias_chart
from .complexity import complexity_histogram
from .cosines import class_cosines
from .curve import curve_chart
from .decoders import curves_chart, decoders_chart
from .disagreement import disagreement_bars, disagreement_plane
from .drawing import draw
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
from .prototype_gallery import prototype_gallery
from .region import complexity_region
from .repeatable import agreement_histogram, regression_figures, spread_histogram, stability_figures
from .risk import risk_chart
from .saving import save
from .slices import slices_chart
from .stability import stability_plane
from .sweep import sweep_accuracies, sweep_bias, sweep_entropies, sweep_map
from .theme import beside, styled
from .training_size import stability_by_size_chart
from .within_between import within_between

__all__ = [
    "accuracy_bounds",
    "agreement_histogram",
    "beside",
    "bias_chart",
    "class_cosines",
    "complexity_histogram",
    "complexity_region",
    "curve_chart",
    "curves_chart",
    "decoders_chart",
    "disagreement_bars",
    "disagreement_plane",
    "draw",
    "drift_chart",
    "expressivity_chart",
    "extrapolation_chart",
    "figures_chart",
    "hardest_table",
    "head_cosines",
    "identification_chart",
    "information_chart",
    "kinship_heatmap",
    "kinship_map",
    "nearest_classes",
    "plane_chart",
    "preference_chart",
    "prototype_gallery",
    "regression_figures",
    "risk_chart",
    "save",
    "slices_chart",
    "spread_histogram",
    "stability_by_size_chart",
    "stability_figures",
    "stability_plane",
    "styled",
    "sweep_accuracies",
    "sweep_bias",
    "sweep_entropies",
    "sweep_map",
    "within_between",
]
