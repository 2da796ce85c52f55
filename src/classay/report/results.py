"""The results behind a report, whatever they came from: learners, records, predictions, networks or data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..arrays import Ints
from ..classes.extrapolate.extrapolate import Extrapolation
from ..classes.information.information import Information
from ..data.checks.part_shift import Shift
from ..data.checks.row_dependence import Dependence
from ..data.checks.target_leaks import Leaks
from ..data.labels.wrong_labels import WrongLabels
from ..data.model.baseline import ComplexityAgainst, VersusBaseline
from ..data.model.error_slices import Slices
from ..data.model.new_rows import UnlikeKnown
from ..data.row_complexity import Complexity
from ..intervals import Estimate
from ..learner.orientation.kinship import Kinship
from ..learner.orientation.orientation import Orientation
from ..learner.records.base import OutOfFold
from ..learner.records.labelings import Labelings
from ..learner.scores.retrain_change import Retraining
from ..learner.stability.disagreement import DisagreementRegions
from ..learner.stability.stability import Stability
from ..learner.versions.judges import Judges
from ..learner.versions.repeats import Repeats
from ..network.quality.quality import NetworkQuality
from ..tables.data import Data

if TYPE_CHECKING:
    from ..learner.importance import Importance
    from ..learner.scores.comparison import Scored


@dataclass(frozen=True)
class Suspicions:
    """The checks of the data; what could not be checked is None, and `why` says why.

    `importance` has the most accurate learner and which columns it relies on. `test_rows` are the rows that every
    refit was tested on, if they are rows of the data.
    """

    leaks: Leaks | None = None
    dependence: Dependence | None = None
    shift: Shift | None = None
    importance: tuple[str, Importance] | None = None
    test_rows: Ints | None = None
    why: dict[str, str] = field(default_factory=dict)

    @property
    def leak(self) -> bool:
        """Whether one column predicts the label: then labels that contradict it are no surprise."""
        return self.leaks is not None and bool(self.leaks.found)

    @property
    def rows_belong_together(self) -> bool:
        """Whether accuracy on shuffled rows promises too much."""
        return self.dependence is not None and bool(self.dependence.found)


@dataclass(frozen=True)
class LearnerResults:
    """The results of the refits of one learner. What could not be measured is None, `why` has the reason by name.

    `points` are the test points. `wrapped` says how the table is changed for the learner inside each fit; it is empty
    if the learner takes it as is. `votes_for_itself` and `scales` are properties of the learner; `more_iterations` is
    the share of predictions that ten times the iterations change, where fits did not converge; `retraining` what a
    retraining changes.
    """

    name: str
    labelings: Labelings
    orientation: Orientation
    stability: Stability
    on_probes: Stability | None = None
    regions: DisagreementRegions | None = None
    points: pd.DataFrame = field(default_factory=pd.DataFrame)
    why: dict[str, str] = field(default_factory=dict)
    wrapped: str = ""
    votes_for_itself: bool = False
    scales: bool = False
    more_iterations: Estimate | None = None
    retraining: Retraining | None = None


@dataclass(frozen=True)
class ModelCheck:
    """Predictions against the geometry of the rows; what their errors do not allow is None, and `why` says so.

    `known_slices` are slices of `searched`: the columns of the rows, their complexity, and the model's confidence,
    under names (`added`) that no column has. They are apart from slices of the columns because complexity knows the
    label: slices of it are the clearest, and would push out those that say which rows to look at.
    """

    name: str
    versus: VersusBaseline
    against: ComplexityAgainst | None
    known_slices: Slices | None
    searched: pd.DataFrame
    added: tuple[str, ...] = ()
    why: str = ""

    @property
    def by_column(self) -> pd.DataFrame | None:
        """The most significant slice of each column alone."""
        return None if self.known_slices is None else self.known_slices.by_column


@dataclass(frozen=True)
class ClassesResults:
    """Forecast for more classes, and information in the scores, of the best learner with scores."""

    learner: str
    forecast: Extrapolation
    information: Information


@dataclass(frozen=True)
class RunsResults:
    """Predictions of several variants, or in several runs: how far they agree, and how many runs suffice."""

    raters: Judges
    steady: Stability
    repeats: Repeats | None


@dataclass(frozen=True)
class Results:
    """All results. `failed` says why learners or networks gave no results, `why` the same for other measurements.

    `predicted` has one prediction per row by a model that was not fitted on the row, such as cross-validated ones, and
    `slices` where they are wrong; `learners` what refits show: each as far as there was time for them. `given` are
    records of predictions that were read, and `runs` how far these agree. Predictions and figures of single rows are
    about `rows`: those of the `data`, or of the test part where nothing was fitted (`part`); `rows_known` is false
    where there are only predictions. `complexity` and `labels`, which may be wrong, are those of `measured_rows`: all
    rows, or a sample of a large table; `texts` are those that were embedded. `scored` has the `metric` of each model,
    and `more_metrics` others by name; `contrast` are default learners for comparison. `with_copies` has a learner and
    its predictions from folds that ignore which rows are copies. `suspicions` are the checks of the data; `checks`
    those of predictions against the geometry, by name; `unlike` the test rows that are unlike anything known.
    `unfinished` has the learners among `failed` that only lacked time; `folds` how many folds `predicted` are of, and
    how many there are.
    """

    data: Data
    learners: dict[str, LearnerResults] = field(default_factory=dict)
    predicted: dict[str, OutOfFold] = field(default_factory=dict)
    given: dict[str, Labelings] = field(default_factory=dict)
    runs: RunsResults | None = None
    part: Data | None = None
    rows_known: bool = True
    slices: dict[str, Slices] = field(default_factory=dict)
    kinship: Kinship | None = None
    complexity: Complexity | None = None
    labels: WrongLabels | None = None
    classes: ClassesResults | None = None
    networks: dict[str, NetworkQuality] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    unfinished: tuple[str, ...] = ()
    folds: tuple[int, int] = (0, 0)
    measured_rows: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    texts: tuple[str, ...] | None = None
    with_copies: tuple[str, OutOfFold] | None = None
    metric: str = "accuracy"
    scored: dict[str, Scored] = field(default_factory=dict)
    more_metrics: dict[str, dict[str, Scored]] = field(default_factory=dict)
    contrast: frozenset[str] = frozenset()
    suspicions: Suspicions = field(default_factory=Suspicions)
    checks: dict[str, ModelCheck] = field(default_factory=dict)
    unlike: UnlikeKnown | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The learners of which anything is known."""
        return tuple(dict.fromkeys((*self.learners, *self.predicted)))

    @property
    def fitted(self) -> bool:
        """Whether learners were fitted for this report."""
        return "fitted" in self.settings

    @property
    def refit_rows(self) -> int | None:
        """The rows of a refit on a half, if they are known."""
        size, half = self.settings.get("size", "all"), self.settings.get("half")
        rows = size if isinstance(size, int) else half
        return rows if isinstance(rows, int) else None

    @property
    def no_rows(self) -> str:
        """Why there is nothing to say about rows and columns; "" if they are known."""
        return "" if self.rows_known else "only predictions were given, not the rows"

    @property
    def rows(self) -> Data:
        """The rows that are predicted and measured."""
        return self.data if self.part is None else self.part

    @property
    def most_accurate(self) -> str | None:
        """The learner with the highest cross-validated accuracy."""
        return best_of(self.predicted) if self.predicted else None

    @property
    def measured(self) -> Ints:
        """The rows whose complexity was measured, in order."""
        return self.measured_rows if self.measured_rows.size else np.arange(len(self.rows))


def best_of(predicted: Mapping[str, OutOfFold]) -> str:
    """The learner whose predictions are right most often; of equal ones the first."""
    return max(predicted, key=lambda name: float(predicted[name].correct.mean()))
