"""classay assays classifiers: it tells what accuracy does not.

Record once, measure many::

    labelings = classay.record(learner, X, y)
    print(classay.orientation(labelings))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .classes.bayes import bayes_accuracy_bound
    from .classes.curve import Curve, accuracy_curve
    from .classes.decoders import Decoders, decoders
    from .classes.extrapolate import extrapolate, extrapolation
    from .classes.forecast import Extrapolation
    from .classes.identify import Identification, identify
    from .classes.information import Information, fano_information, implied_information, information_bound
    from .classes.learner_curve import curve_of_learner
    from .classes.ranks import Ranks
    from .classes.risk import RiskCurve, risk_curve
    from .data.baseline import BaselineClassifier, baseline_threshold
    from .data.complexity import Complexity, complexity
    from .data.geometry import Geometry
    from .data.slices import Slices, slices
    from .data.text import embed
    from .encoding import encoded
    from .expect import InputError
    from .intervals import Estimate
    from .learner.disagreement import DisagreementRegions, disagreement_regions
    from .learner.drift import DriftMonitor
    from .learner.kinship import Kinship, kinship
    from .learner.labelings import Labelings
    from .learner.memory import MemorizingClassifier
    from .learner.orientation import Orientation, orientation
    from .learner.predictions import Predictions
    from .learner.preference import Preference, preference
    from .learner.preferences import Preferences, preferences
    from .learner.record import record
    from .learner.regression_stability import RegressionStability
    from .learner.saved import load
    from .learner.schemes import HalfSplits, Subsets
    from .learner.stability import Stability, stability
    from .learner.stability_table import StabilityTable, stabilities
    from .learner.sweep import sweep
    from .learner.sweep_result import Sweep
    from .learner.training_size import StabilityBySize, stability_by_size
    from .learner.updates import Drift, Update
    from .network.feature_quality import FeatureQuality, feature_quality
    from .network.head import HeadQuality, head_quality
    from .network.prototypes import prototypes
    from .network.quality import NetworkQuality, network_quality
    from .network.ranking import Ranking, rank_networks
    from .network.record import Prototypes
    from .report.assay import Assay, characterize
    from .report.document import Report
    from .report.files import open_report

__version__ = "0.1.0"

# Loaded when first asked for, so that `import classay` and `classay --help` are fast.
_WHERE = {
    "Curve": "classes.curve",
    "accuracy_curve": "classes.curve",
    "extrapolate": "classes.extrapolate",
    "extrapolation": "classes.extrapolate",
    "Extrapolation": "classes.forecast",
    "Identification": "classes.identify",
    "identify": "classes.identify",
    "curve_of_learner": "classes.learner_curve",
    "bayes_accuracy_bound": "classes.bayes",
    "Decoders": "classes.decoders",
    "decoders": "classes.decoders",
    "Information": "classes.information",
    "fano_information": "classes.information",
    "implied_information": "classes.information",
    "information_bound": "classes.information",
    "Ranks": "classes.ranks",
    "RiskCurve": "classes.risk",
    "risk_curve": "classes.risk",
    "BaselineClassifier": "data.baseline",
    "baseline_threshold": "data.baseline",
    "Complexity": "data.complexity",
    "complexity": "data.complexity",
    "Geometry": "data.geometry",
    "Slices": "data.slices",
    "slices": "data.slices",
    "embed": "data.text",
    "encoded": "encoding",
    "InputError": "expect",
    "Estimate": "intervals",
    "DriftMonitor": "learner.drift",
    "Kinship": "learner.kinship",
    "kinship": "learner.kinship",
    "Labelings": "learner.labelings",
    "MemorizingClassifier": "learner.memory",
    "Orientation": "learner.orientation",
    "orientation": "learner.orientation",
    "Predictions": "learner.predictions",
    "Preference": "learner.preference",
    "preference": "learner.preference",
    "Preferences": "learner.preferences",
    "preferences": "learner.preferences",
    "record": "learner.record",
    "load": "learner.saved",
    "DisagreementRegions": "learner.disagreement",
    "disagreement_regions": "learner.disagreement",
    "RegressionStability": "learner.regression_stability",
    "HalfSplits": "learner.schemes",
    "Subsets": "learner.schemes",
    "Stability": "learner.stability",
    "stability": "learner.stability",
    "StabilityTable": "learner.stability_table",
    "stabilities": "learner.stability_table",
    "sweep": "learner.sweep",
    "Sweep": "learner.sweep_result",
    "StabilityBySize": "learner.training_size",
    "stability_by_size": "learner.training_size",
    "Drift": "learner.updates",
    "Update": "learner.updates",
    "FeatureQuality": "network.feature_quality",
    "feature_quality": "network.feature_quality",
    "HeadQuality": "network.head",
    "head_quality": "network.head",
    "prototypes": "network.prototypes",
    "NetworkQuality": "network.quality",
    "network_quality": "network.quality",
    "Ranking": "network.ranking",
    "rank_networks": "network.ranking",
    "Prototypes": "network.record",
    "Assay": "report.assay",
    "characterize": "report.assay",
    "Report": "report.document",
    "open_report": "report.files",
}

__all__ = [
    "Assay",
    "BaselineClassifier",
    "Complexity",
    "Curve",
    "Decoders",
    "DisagreementRegions",
    "Drift",
    "DriftMonitor",
    "Estimate",
    "Extrapolation",
    "FeatureQuality",
    "Geometry",
    "HalfSplits",
    "HeadQuality",
    "Identification",
    "Information",
    "InputError",
    "Kinship",
    "Labelings",
    "MemorizingClassifier",
    "NetworkQuality",
    "Orientation",
    "Predictions",
    "Preference",
    "Preferences",
    "Prototypes",
    "Ranking",
    "Ranks",
    "RegressionStability",
    "Report",
    "RiskCurve",
    "Slices",
    "Stability",
    "StabilityBySize",
    "StabilityTable",
    "Subsets",
    "Sweep",
    "Update",
    "__version__",
    "accuracy_curve",
    "baseline_threshold",
    "bayes_accuracy_bound",
    "characterize",
    "complexity",
    "curve_of_learner",
    "decoders",
    "disagreement_regions",
    "embed",
    "encoded",
    "extrapolate",
    "extrapolation",
    "fano_information",
    "feature_quality",
    "head_quality",
    "identify",
    "implied_information",
    "information_bound",
    "kinship",
    "load",
    "network_quality",
    "open_report",
    "orientation",
    "preference",
    "preferences",
    "prototypes",
    "rank_networks",
    "record",
    "risk_curve",
    "slices",
    "stabilities",
    "stability",
    "stability_by_size",
    "sweep",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'classay' has no attribute {name!r}")
    return getattr(import_module(f".{_WHERE[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
