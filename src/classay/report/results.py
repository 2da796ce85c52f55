"""The result objects behind a report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..arrays import Ints
from ..classes.extrapolate.extrapolate import Extrapolation
from ..classes.information.information import Information
from ..data.complexity import Complexity
from ..data.slices import Slices
from ..learner.orientation.kinship import Kinship
from ..learner.orientation.orientation import Orientation
from ..learner.records.labelings import Labelings
from ..learner.stability.disagreement import DisagreementRegions
from ..learner.stability.stability import Stability
from ..network.quality.quality import NetworkQuality
from .cross_validated import HeldOut


@dataclass(frozen=True)
class DataResults:
    """The rows as they were assayed: `codes` index `classes`; `notes` lists what was dropped or changed."""

    name: str
    X: pd.DataFrame
    codes: Ints
    classes: NDArray[Any]
    target: str
    notes: tuple[str, ...] = ()

    @property
    def labels(self) -> NDArray[Any]:
        """The label of each row."""
        return np.asarray(self.classes[self.codes])


@dataclass(frozen=True)
class LearnerResults:
    """The results of one learner. What could not be measured is None, and `why` has the reason by name."""

    name: str
    labelings: Labelings
    orientation: Orientation
    stability: Stability
    on_probes: Stability | None = None
    regions: DisagreementRegions | None = None
    held_out: HeldOut | None = None
    slices: Slices | None = None
    why: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ClassesResults:
    """Forecast for more classes, and information in the scores, of the best learner with scores."""

    learner: str
    forecast: Extrapolation
    information: Information


@dataclass(frozen=True)
class Results:
    """All results. `failed` says why learners or networks gave no results, `why` the same for other measurements."""

    data: DataResults
    learners: dict[str, LearnerResults]
    kinship: Kinship | None = None
    complexity: Complexity | None = None
    classes: ClassesResults | None = None
    networks: dict[str, NetworkQuality] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
