"""classay assays classifiers: it tells what accuracy does not.

Record once, measure many::

    labelings = classay.record(learner, X, y)
    print(classay.orientation(labelings))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .data.baseline import BaselineClassifier, baseline_threshold
    from .data.complexity import Complexity, complexity
    from .data.geometry import Geometry
    from .data.slices import Slices, slices
    from .data.text import embed
    from .encoding import encoded
    from .expect import InputError
    from .intervals import Estimate
    from .learner.kinship import Kinship, kinship
    from .learner.labelings import Labelings, load
    from .learner.orientation import Orientation, orientation
    from .learner.record import record
    from .learner.schemes import HalfSplits, Subsets

__version__ = "0.1.0"

# Loaded when first asked for, so that `import classay` and `classay --help` are fast.
_WHERE = {
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
    "Kinship": "learner.kinship",
    "kinship": "learner.kinship",
    "Labelings": "learner.labelings",
    "load": "learner.labelings",
    "Orientation": "learner.orientation",
    "orientation": "learner.orientation",
    "record": "learner.record",
    "HalfSplits": "learner.schemes",
    "Subsets": "learner.schemes",
}

__all__ = [
    "BaselineClassifier",
    "Complexity",
    "Estimate",
    "Geometry",
    "HalfSplits",
    "InputError",
    "Kinship",
    "Labelings",
    "Orientation",
    "Slices",
    "Subsets",
    "__version__",
    "baseline_threshold",
    "complexity",
    "embed",
    "encoded",
    "kinship",
    "load",
    "orientation",
    "record",
    "slices",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'classay' has no attribute {name!r}")
    return getattr(import_module(f".{_WHERE[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
