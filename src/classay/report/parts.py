"""The live results behind a report: what each room found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..classes.forecast import Extrapolation
from ..classes.information import Information
from ..data.complexity import Complexity
from ..data.slices import Slices
from ..learner.disagreement import DisagreementRegions
from ..learner.kinship import Kinship
from ..learner.labelings import Labelings
from ..learner.orientation import Orientation
from ..learner.stability import Stability
from ..network.quality import NetworkQuality
from .held_out import HeldOut

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Data:
    """The rows as they were assayed: `codes` are places in `classes`, `notes` what was left out or changed."""

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
class Learner:
    """What was found of one learner. What could not be told is None, and `why` says why, by name."""

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
class Classes:
    """What more classes would do to the learner with the best scores, and what these carry."""

    learner: str
    forecast: Extrapolation
    information: Information


@dataclass(frozen=True)
class Parts:
    """Everything that was found. `failed` tells why learners or networks gave nothing; `why` the same for rooms."""

    data: Data
    learners: dict[str, Learner]
    kinship: Kinship | None = None
    complexity: Complexity | None = None
    classes: Classes | None = None
    networks: dict[str, NetworkQuality] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
