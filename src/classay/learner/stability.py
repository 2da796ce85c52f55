"""`stability`: whether a learner gives the same classifier again when the data are drawn again.

The agreement of two classifiers is the share of points on which they answer the same. Stability is the expected
agreement of two refits, on points that need not come from the data: where columns that go together come apart, refits
that seem alike may differ.
"""

from __future__ import annotations

import math
from dataclasses import InitVar, dataclass
from typing import Any, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .. import expect
from ..intervals import Estimate
from ..result import Result
from . import pairs
from .agreement import Agreement, agreement
from .disagreement import DisagreementRegions, disagreement_regions
from .figures import figures_frame
from .labelings import Labelings, expect_record
from .predictions import Predictions
from .regression_stability import RegressionStability, regression_stability

Floats = NDArray[np.float64]
FIGURES = ("stability", "kappa", "accuracy", "same_subset")


@dataclass(frozen=True)
class Stability(Result):
    """What `stability` finds: agreement between 0 and 1, higher is more repeatable.

    `stability` is the expected agreement of two refits on the points `on`; `kappa` the same beyond chance (0: as
    answers drawn by their own shares, 1: always the same); `accuracy` that of the same refits on the test part.
    `same_subset` is the agreement of refits on the *same* subset: what is missing to 1 there is the learner's own dice.
    `standard_error` is that of `stability`; it is at most `worst_case_points` (0.5/√n) for one pair of classifiers and
    at most `worst_case_pairs` (0.5/√m) over m disjoint pairs of subsets. `per_point` is the agreement at each point,
    `per_refit` (K, R) that of each refit with those it is compared with.
    """

    learner: str
    on: str
    pairs: str
    n_points: int
    n_subsets: int
    n_refits: int
    stability: Estimate
    kappa: Estimate
    accuracy: Estimate
    same_subset: Estimate
    standard_error: float
    worst_case_points: float
    worst_case_pairs: float
    per_point: Floats
    per_refit: Floats
    notes: tuple[str, ...]
    record: InitVar[Labelings]

    def __post_init__(self, record: Labelings) -> None:
        # Not a field: all answers do not belong into to_dict().
        object.__setattr__(self, "_record", record)

    @property
    def points(self) -> Any:
        """The probes on which refits were compared, or None if it was on test points or they were not kept."""
        record: Labelings = self._record  # type: ignore[attr-defined]
        return None if self.on == pairs.TEST else record.probes

    @property
    def dice(self) -> float:
        """Share of the disagreement that the learner's own dice make; NaN if it is not known or nothing disagrees."""
        missing = 1 - self.stability.value
        return min((1 - self.same_subset.value) / missing, 1.0) if missing > 0 else math.nan

    def regions(self, table: pd.DataFrame | None = None, **options: Any) -> DisagreementRegions:
        """Where refits disagree most: see `disagreement_regions`. `table` has the rows of the points."""
        record: Labelings = self._record  # type: ignore[attr-defined]
        return disagreement_regions(record, table, on="test" if self.on == pairs.TEST else "probes", **options)

    def to_frame(self) -> pd.DataFrame:
        """One row a figure: learner, on, figure, value, low, high, level, kind."""
        return figures_frame(self.learner, self.on, {name: getattr(self, name) for name in FIGURES})

    def __str__(self) -> str:
        text = (
            f"{self.learner}: two refits on {self.pairs} agree on {self.stability} of {self.n_points} {self.on} "
            f"(kappa {self.kappa}); accuracy {self.accuracy} on test points. A learner that always answers the same "
            f"has stability 1, so read it beside accuracy. Standard error {self.standard_error:.2g}; in the worst case "
            f"{self.worst_case_points:.2g} for one pair, {self.worst_case_pairs:.2g} over all."
        )
        if self.same_subset.value < 1:
            text += (
                f" Refits on the same rows agree on {self.same_subset}, so {self.dice:.0%} of the disagreement is the "
                "learner's own dice."
            )
        return " ".join([text, *self.notes])


@overload
def stability(labelings: Labelings, on: str = ..., level: float = ...) -> Stability: ...
@overload
def stability(
    labelings: Predictions, on: str = ..., level: float = ..., tolerance: float | None = ...
) -> RegressionStability: ...
def stability(
    labelings: Labelings | Predictions, on: str = "auto", level: float = 0.95, tolerance: float | None = None
) -> Stability | RegressionStability:
    """Tell how repeatable a learner is: the expected agreement of two refits on different subsets.

    stability = mean over pairs and points of [f1(a) = f2(a)]; kappa = (stability − e)/(1 − e), e = Σ share² of the
    answers. From `HalfSplits` the pairs are the two disjoint halves of each split (the paper's); from any other record
    all pairs of refits on different subsets. Subsets that overlap agree more than disjoint ones of the same size.

    It runs from 0 (never the same answer) to 1 (always); kappa from −1, 0 being chance. It misleads by itself: a
    constant learner has stability 1, and one that nearly always gives the commonest answer nearly so. So accuracy and
    kappa stand beside it. It depends on the points: on the data's own, columns that go together hide differences that
    'uniform' probes show.

    The interval is for the expected agreement of two refits on subsets drawn this way from these rows, on points drawn
    this way; another data set is another matter. Pairs that share a refit depend on each other and all pairs share the
    points: the variance is taken over units (splits, or the projection of all pairs on subsets) and over points at
    once, with Student's t over units, on the logit scale. If no pair ever disagrees, it is as if disagreement came in
    whole pairs: P(none in m pairs) = 1 − level.

    Parameters
    ----------
    labelings : what `record` returned; of a regressor it gives `RegressionStability`
    on : 'probes', 'test', or 'auto' for the probes if there are any
    level : of the intervals
    tolerance : of a regressor only: how far apart answers may be that count as the same; default 0.1 standard
        deviations of the target

    Examples
    --------
    >>> answers = np.random.default_rng(0).random((40, 400)) < 0.3
    >>> s = stability(Labelings.from_arrays(answers.astype(int), [0, 1] * 200))
    >>> round(float(s.stability), 2), abs(s.kappa.value) < 0.02
    (0.58, True)

    References
    ----------
    Turney, Technical Note: Bias and the Quantification of Stability, Machine Learning 20 (1995).

    """
    expect.fraction(level, "level")
    if isinstance(labelings, Predictions):
        return regression_stability(labelings, on, level, tolerance)
    record = expect_record(labelings, "labelings")
    if tolerance is not None:
        raise expect.InputError("`tolerance` is for regressors; the answers of a classifier are the same or not.")
    where = pairs.compared_on(record, on)
    labels = record.complete(where, pairs=record.halves)
    notes = pairs.used(record, labels.shape)
    found = agreement(labels, len(record.classes), record.halves)
    return Stability(
        **pairs.figures(record, where, found, labels.shape[1], level),
        kappa=_kappa(found, len(labels) // 2, level),
        accuracy=record.accuracy("test", level),
        notes=tuple(notes),
        record=record,
    )


def _kappa(found: Agreement, disjoint: int, level: float) -> Estimate:
    if found.chance >= 1:
        return Estimate(math.nan, -1.0, 1.0, level, "undefined: only one answer ever occurs")
    value = (found.value - found.chance) / (1 - found.chance)
    if value >= 1 and disjoint > 1:
        least = pairs.share(found.table, disjoint, level).low
        return Estimate(1.0, max((least - found.chance) / (1 - found.chance), -1.0), 1.0, level, pairs.OVER)
    return pairs.coefficient(value, found.kappa_table(), disjoint, level)
