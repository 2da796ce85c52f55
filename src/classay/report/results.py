"""The result objects behind a report."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..arrays import Ints
from ..classes.extrapolate.extrapolate import Extrapolation
from ..classes.information.information import Information
from ..data.checks.part_shift import Shift
from ..data.checks.row_dependence import Dependence
from ..data.checks.target_leaks import Leaks
from ..data.labels.wrong_labels import WrongLabels
from ..data.model.error_slices import Slices
from ..data.model.new_rows import UnlikeKnown
from ..data.row_complexity import Complexity
from ..inputs import take
from ..intervals import Estimate
from ..learner.orientation.kinship import Kinship
from ..learner.orientation.orientation import Orientation
from ..learner.records.base import OutOfFold
from ..learner.records.labelings import Labelings
from ..learner.scores.retrain_change import Retraining
from ..learner.stability.disagreement import DisagreementRegions
from ..learner.stability.stability import Stability
from ..network.quality.quality import NetworkQuality
from ..splits import NOTHING, PerRow

if TYPE_CHECKING:
    from ..learner.importance import Importance
    from ..learner.scores.comparison import Scored
    from ..tables.audit import Audit
    from .model_check import ModelCheck


@dataclass(frozen=True)
class TestPart:
    """Rows to test on that were given as such: the table, the labels, and the groups if they are known."""

    X: Any
    y: NDArray[Any]
    groups: Ints | None = None

    def table(self, columns: pd.Index) -> pd.DataFrame:
        """The rows as a table with these columns, in this order; those of an array get their names."""
        if not isinstance(self.X, pd.DataFrame):
            return pd.DataFrame(self.X, columns=columns)
        return self.X[list(columns)] if set(columns) <= set(self.X.columns) else self.X

    def take(self, rows: Ints) -> TestPart:
        """Some of the rows."""
        return TestPart(take(self.X, rows), self.y[rows], None if self.groups is None else self.groups[rows])


@dataclass(frozen=True)
class DataResults:
    """The rows as they were assayed: `codes` index `classes`; `notes` lists what was dropped or changed.

    `X` is the table as the page shows it, `given` what learners are fitted on: the same, or an array of numbers as the
    user gave it. `per_row` has groups, times and weights. `audit` says how the data were read. `copies_together` is
    whether the groups are those of equal rows, which are then never on both sides of a split.
    """

    name: str
    X: pd.DataFrame
    codes: Ints
    classes: NDArray[Any]
    target: str
    notes: tuple[str, ...] = ()
    per_row: PerRow = NOTHING
    given: Any = None
    audit: Audit | None = None
    test: TestPart | None = None
    copies_together: bool = False

    @property
    def labels(self) -> NDArray[Any]:
        """The label of each row."""
        return np.asarray(self.classes[self.codes])

    @property
    def rarer(self) -> int:
        """Of two classes the rarer one, which curves are about; the second if both are as frequent."""
        counts = np.bincount(self.codes)
        return int(counts.size == 2 and counts[1] <= counts[0])

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns that the user named as text."""
        return () if self.audit is None else tuple(each.name for each in self.audit.columns if each.use == "text")

    def groups_of(self, rows: Ints) -> Ints | None:
        """The groups of some rows, if there are any."""
        return None if self.per_row.groups is None else self.per_row.groups[rows]

    @property
    def for_learners(self) -> Any:
        """What learners are fitted on."""
        return self.X if self.given is None else self.given

    @cached_property
    def row_hashes(self) -> NDArray[np.uint64]:
        """A number for each row, the same for rows that are equal in every column."""
        # Objects of any kind are hashed as text, everything else as it is.
        columns = {name: values.map(str) if values.dtype == object else values for name, values in self.X.items()}
        return np.asarray(pd.util.hash_pandas_object(pd.DataFrame(columns, copy=False), index=False))

    @cached_property
    def duplicates(self) -> int:
        """Rows that repeat an earlier one, including the label."""
        return int(pd.DataFrame({"row": self.row_hashes, "code": self.codes}).duplicated().sum())

    @cached_property
    def contradicted_rows(self) -> NDArray[np.bool_]:
        """Which rows are equal in every column to a row with another label."""
        labels = pd.DataFrame({"row": self.row_hashes, "code": self.codes}).groupby("row")["code"]
        return np.asarray(labels.transform("nunique") > 1)

    @cached_property
    def surely_wrong(self) -> int:
        """Rows that any classifier gets wrong: of equal rows, all but those of their most frequent label."""
        pairs = pd.DataFrame({"row": self.row_hashes, "code": self.codes})[self.contradicted_rows]
        by_row = pairs.value_counts().groupby("row")
        return int((by_row.sum() - by_row.max()).sum())

    @cached_property
    def chance_duplicates(self) -> int:
        """Rows that would repeat an earlier one if the values of each column were shuffled within the classes.

        About as many as there are: equal cases are frequent. Far fewer: rows were copied.
        """
        rng = np.random.default_rng(0)
        by_class = [np.flatnonzero(self.codes == code) for code in range(self.classes.size)]
        shuffled = np.zeros(self.codes.size, dtype=np.uint64)
        for name in self.X.columns:
            one = replace(self, X=self.X[[name]]).row_hashes
            order = np.arange(self.codes.size)
            for rows in by_class:
                order[rows] = rng.permutation(rows)
            shuffled = shuffled * np.uint64(1_000_003) + one[order]
        return int(pd.DataFrame({"row": shuffled, "code": self.codes}).duplicated().sum())


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
        """Whether a column gives the label away: then labels that contradict it are no surprise."""
        return self.leaks is not None and bool(self.leaks.found)

    @property
    def rows_belong_together(self) -> bool:
        """Whether accuracy on shuffled rows promises too much."""
        return self.dependence is not None and bool(self.dependence.found)


@dataclass(frozen=True)
class LearnerResults:
    """The results of the refits of one learner. What could not be measured is None, `why` has the reason by name.

    `wrapped` says how the table is changed for the learner inside each fit; it is empty if the learner takes it as is.
    `votes_for_itself` and `scales` are its traits; `more_iterations` is the share of predictions that ten times the
    iterations change, where fits did not converge; `retraining` what a retraining changes.
    """

    name: str
    labelings: Labelings
    orientation: Orientation
    stability: Stability
    on_probes: Stability | None = None
    regions: DisagreementRegions | None = None
    why: dict[str, str] = field(default_factory=dict)
    wrapped: str = ""
    votes_for_itself: bool = False
    scales: bool = False
    more_iterations: Estimate | None = None
    retraining: Retraining | None = None


@dataclass(frozen=True)
class ClassesResults:
    """Forecast for more classes, and information in the scores, of the best learner with scores."""

    learner: str
    forecast: Extrapolation
    information: Information


@dataclass(frozen=True)
class Results:
    """All results. `failed` says why learners or networks gave no results, `why` the same for other measurements.

    `predicted` has predictions for rows that a learner was not fitted on, such as cross-validated ones, and `slices`
    where they are wrong; `learners` what refits of it show: each as far as there was time for them.
    `unfinished` has the learners among `failed` that only lacked time. `complexity` and `labels`, which may be wrong,
    are those of `measured_rows`: all rows, or a sample of a large table; `test_table` has the test points. `scored` has
    the `metric` of each learner, from cross-validated fits on all rows, and `more_metrics` others by name; `contrast`
    are default learners for comparison. `with_copies` has a learner and its predictions from folds that ignore which
    rows are copies. `suspicions` are the checks of the data; `checks` those of cross-validated predictions against the
    geometry, by learner; `unlike` the test rows that are unlike anything known, if a test part was given.
    """

    data: DataResults
    learners: dict[str, LearnerResults]
    predicted: dict[str, OutOfFold] = field(default_factory=dict)
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
    measured_rows: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    test_table: pd.DataFrame = field(default_factory=pd.DataFrame)
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
    def most_accurate(self) -> str | None:
        """The learner with the highest cross-validated accuracy."""
        right = {name: float(held.right.mean()) for name, held in self.predicted.items()}
        return max(right, key=lambda name: right[name], default=None)

    @property
    def measured(self) -> Ints:
        """The rows whose complexity was measured, in order."""
        return self.measured_rows if self.measured_rows.size else np.arange(self.data.codes.size)
