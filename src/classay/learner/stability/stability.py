"""`stability`: whether a learner gives the same classifier again when the data are drawn again.

The agreement of two classifiers is the share of points on which they predict the same. Stability is the expected
agreement of two refits, on points that need not come from the data: where correlated columns are separated, refits that
seem alike may differ.
"""

from __future__ import annotations

import math
from dataclasses import InitVar, dataclass, replace
from functools import partial
from typing import Any, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ... import expect
from ...arrays import AnyInts, Floats
from ...intervals import Estimate, around, by_group, crossed_standard_error, draws_of
from ...result import Result, figures_frame
from ..records.base import TRAINING, over
from ..records.labelings import Labelings, expect_record
from ..records.predictions import Predictions
from .agreement import (
    FRESH,
    ITEMS,
    ROWS,
    RUNS,
    TEST,
    Agreement,
    agreement,
    as_units,
    closeness,
    coefficient,
    compared_on,
    pair_figures,
    share,
    used,
)
from .disagreement import DisagreementRegions, disagreement_regions
from .new_data import DATA_LIKE_THESE, accuracy_for_new_data

FIGURES = ("stability", "stability_new_data", "kappa", "accuracy", "accuracy_new_data", "same_subset")
RARE = 30
"""Points outside the most frequent prediction below which the interval of kappa allows for agreement not yet seen."""


@dataclass(frozen=True)
class Stability(Result, chart="learner.stability:draw_stability"):
    """The result of `stability`: agreement between 0 and 1, higher is more repeatable.

    `stability` is the expected agreement of two refits on the points `on`, with an interval for these rows;
    `stability_new_data` the same with an interval for other data of the same source and size, on such points. `kappa`
    is agreement beyond chance (0: as if predictions were drawn at random with their own shares, 1: always the same).
    `accuracy` is that of the same refits on the test part, with an interval for refits on these training rows;
    `accuracy_new_data` the same with an interval for fits on other data. `same_subset` is the agreement of refits on
    the *same* subset: what is missing to 1 there is training randomness.

    `standard_error` is that of `stability`, from points and pairs together. The paper's two limits are each of one
    source alone: `worst_case_points` (0.5/√n, n the number of points, or of their groups) for two given classifiers,
    `worst_case_pairs` (0.5/√m) for m disjoint pairs of subsets on given points. `per_point` is the agreement at each
    point, `per_refit` (K, R) that of each refit with those it is compared with.
    """

    learner: str
    on: str
    pairs: str
    n_points: int
    n_subsets: int
    n_refits: int
    stability: Estimate
    stability_new_data: Estimate
    kappa: Estimate
    accuracy: Estimate
    accuracy_new_data: Estimate
    same_subset: Estimate
    standard_error: float
    worst_case_points: float
    worst_case_pairs: float
    per_point: Floats
    per_refit: Floats
    notes: tuple[str, ...]
    record: InitVar[Labelings]

    def __post_init__(self, record: Labelings) -> None:
        # Not a field: all predictions do not belong in to_dict().
        object.__setattr__(self, "_record", record)

    @property
    def points(self) -> Any:
        """The probes on which refits were compared, or None for test points or probes that were not stored."""
        record: Labelings = self._record  # type: ignore[attr-defined]
        return None if self.on in (TEST, ITEMS) else record.probes

    @property
    def dice(self) -> float:
        """Share of the disagreement that is training randomness; NaN if it is unknown or nothing disagrees."""
        missing = 1 - self.stability.value
        return min((1 - self.same_subset.value) / missing, 1.0) if missing > 0 else math.nan

    def regions(self, table: pd.DataFrame | None = None, **options: Any) -> DisagreementRegions:
        """Where refits disagree most: see `disagreement_regions`. `table` has the rows of the points."""
        record: Labelings = self._record  # type: ignore[attr-defined]
        return disagreement_regions(record, table, on="test" if self.on in (TEST, ITEMS) else "probes", **options)

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: learner, on, figure, value, low, high, level, kind."""
        return figures_frame(self.learner, self.on, {name: getattr(self, name) for name in FIGURES})

    def __str__(self) -> str:
        record: Labelings = self._record  # type: ignore[attr-defined]
        two, on = ("runs of", self.on) if record.of_predictions else ("refits on", TEST)
        bare = record.of_predictions or self.pairs in (FRESH, ROWS)
        where = self.pairs if bare else f"{self.pairs} of these rows"
        text = (
            f"{self.learner}: two {two} {where} agree on {self.stability} of {self.n_points} {self.on}"
            f"{'' if bare else _elsewhere(self.stability_new_data)} (kappa {self.kappa}); accuracy {self.accuracy} on "
            f"{on}{'' if bare else _elsewhere(self.accuracy_new_data)}. A learner with constant predictions has "
            "stability 1, so read it together with accuracy."
        )
        if self.same_subset.value < 1 and self.pairs not in (ROWS, RUNS):
            same = "Runs of the same variant" if record.of_predictions else "Refits on the same rows"
            chance = "randomness" if record.of_predictions else "training randomness"
            text += f" {same} agree on {self.same_subset}, so {self.dice:.0%} of the disagreement is {chance}."
        return " ".join([text, *self.notes])


def _elsewhere(estimate: Estimate) -> str:
    both = estimate.known and estimate.kind.startswith(DATA_LIKE_THESE)
    return f" (for data like these, [{estimate.low:.3g}, {estimate.high:.3g}])" if both else ""


@overload
def stability(labelings: Labelings, on: str = ..., level: float = ...) -> Stability: ...
@overload
def stability(
    labelings: Predictions, on: str = ..., level: float = ..., tolerance: float | None = ...
) -> RegressionStability: ...
def stability(
    labelings: Labelings | Predictions, on: str = "auto", level: float = 0.95, tolerance: float | None = None
) -> Stability | RegressionStability:
    """Measure how repeatable a learner is: the expected agreement of two refits on different subsets.

    stability = mean over pairs and points of [f1(a) = f2(a)]; kappa = (stability − e)/(1 − e), e the mean over the same
    pairs of Σ_c p1(c)·p2(c), p(c) the share of points that a refit puts into class c. With `HalfSplits` the pairs
    are the two disjoint halves of each split (the paper's); with any other record all pairs of refits on different
    subsets. Overlapping subsets agree more than disjoint ones of the same size.

    It runs from 0 (never the same prediction) to 1 (always); kappa from −1, 0 being chance. It misleads by itself: a
    constant learner has stability 1, and one that nearly always predicts the most frequent class nearly so. Therefore
    accuracy and kappa are reported with it. It depends on the points: on the data themselves, correlated columns hide
    differences that 'uniform' probes show.

    The interval of `stability` is for the expected agreement of two refits on subsets drawn this way from *these rows*,
    on points drawn this way. That of `stability_new_data` is for two samples of *data like these*: another data set of
    the same source and size changes the figure more than other splits do. The points stay as they are: uniform probes
    lie in the ranges of these rows. It needs `HalfSplits` that are not stratified, and is wider than necessary for most
    learners. `accuracy` and `accuracy_new_data` differ in the same way: fits on parts of these training rows, or on
    other data, each tested on new points.

    Pairs that share a refit depend on each other and all pairs share the points: the variance is taken over units
    (splits, or the projection of all pairs on subsets) and over points at once, with Student's t over units, on the
    logit scale. If no pair ever disagrees, disagreement is assumed to come in whole pairs: P(none in m pairs) = 1 −
    level. If the record has groups, the variance is taken over groups of points, and Student's t has the degrees of
    freedom of the fewer of units and groups.

    Parameters
    ----------
    labelings : what `record` returned; for a regressor the result is `RegressionStability`
    on : 'probes', 'test', or 'auto' for the probes if there are any
    level : confidence level of the intervals
    tolerance : for a regressor only: predictions that differ by at most this count as the same; default 0.1 standard
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
        raise expect.InputError("`tolerance` is for regressors; the predictions of a classifier are the same or not.")
    where = compared_on(record, on)
    labels = record.complete(where, pairs=record.halves)
    notes = used(record, labels.shape)
    labels, repeated = as_units(labels), len(labels) == 1
    compared = agreement(labels, len(record.classes), record.halves)
    shared = pair_figures(record, where, compared, labels, np.equal, level)
    accuracy = record.accuracy("test", level)
    return Stability(
        learner=shared.learner,
        on=shared.on,
        pairs=shared.pairs,
        n_points=shared.n_points,
        n_subsets=shared.n_subsets,
        n_refits=shared.n_refits,
        stability=shared.stability,
        stability_new_data=shared.stability_new_data,
        same_subset=shared.stability if repeated else shared.same_subset,
        standard_error=shared.standard_error,
        worst_case_points=shared.worst_case_points,
        worst_case_pairs=shared.worst_case_pairs,
        per_point=shared.per_point,
        per_refit=shared.per_refit,
        kappa=record.named(_kappa(compared, labels, record, level, record.groups_of(where))),
        accuracy=accuracy,
        accuracy_new_data=accuracy_for_new_data(record, accuracy),
        notes=tuple(notes),
        record=record,
    )


def _kappa(compared: Agreement, labels: AnyInts, record: Labelings, level: float, groups: AnyInts | None) -> Estimate:
    disjoint, n_points = len(labels) // 2, labels.shape[2]
    shares = np.bincount(labels.ravel(), minlength=len(record.classes)) / labels.size
    if compared.chance >= 1 or shares.max() >= 1:
        return Estimate(math.nan, -1.0, 1.0, level, "undefined: only one class is ever predicted")
    value = compared.kappa
    if value >= 1 and disjoint > 1:
        least = share(compared.table, disjoint, level, groups).low
        return Estimate(1.0, max((least - compared.chance) / (1 - compared.chance), -1.0), 1.0, level, over(groups))
    estimate = coefficient(value, compared.kappa_table(), disjoint, level, groups)
    if n_points * (1 - shares.max()) >= RARE:
        return estimate
    # What refits do on a class that few points get is seldom seen, and its absence looks certain. One more point on
    # which all refits predict such a class, or one half of them does, shows what may have been missed (Agresti &
    # Coull's added successes and failures).
    top, second = np.argsort(shares, kind="stable")[:-3:-1]
    agreed = np.full((*labels.shape[:2], 1), second, dtype=labels.dtype)
    differing = agreed.copy()
    differing[1::2] = top
    own_group = None if groups is None else np.append(groups, groups.max() + 1)
    ends = []
    for added in (differing, agreed):
        more = agreement(np.concatenate([labels, added], axis=2), len(record.classes), record.halves)
        ends.append(coefficient(more.kappa, more.kappa_table(), disjoint, level, own_group))
    return replace(estimate, low=min(estimate.low, ends[0].low), high=max(estimate.high, ends[1].high))


# How repeatable a regressor is: predictions within a tolerance, Lin's concordance, and the spread at each point.


TOLERANCE = 0.1
"""In standard deviations of the target."""
REGRESSION_FIGURES = ("stability", "stability_new_data", "concordance", "rmse", "r2", "same_subset")


@dataclass(frozen=True)
class RegressionStability(Result, chart="learner.stability:draw_regression_stability"):
    """The result of `stability` for a regressor.

    `stability` is the share of points on which two refits differ by at most `tolerance` (0 to 1, higher is more
    repeatable), with an interval for these rows, and `stability_new_data` for other data of the same source and size;
    `concordance` Lin's coefficient between refits (1: the same predictions, 0: no more similar than
    predictions for other points). `rmse` and `r2` are errors of the same refits on test points. `same_subset` is the
    agreement of refits on the same subset. `spread` is the standard deviation over subsets at each point, in units of
    the target; `per_point` the agreement there, `per_refit` (K, R) that of each refit with those it is compared with.
    """

    learner: str
    on: str
    pairs: str
    n_points: int
    n_subsets: int
    n_refits: int
    tolerance: float
    stability: Estimate
    stability_new_data: Estimate
    concordance: Estimate
    rmse: Estimate
    r2: Estimate
    same_subset: Estimate
    standard_error: float
    worst_case_points: float
    worst_case_pairs: float
    per_point: Floats
    per_refit: Floats
    spread: Floats
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: learner, on, figure, value, low, high, level, kind."""
        return figures_frame(self.learner, self.on, {name: getattr(self, name) for name in REGRESSION_FIGURES})

    def __str__(self) -> str:
        text = (
            f"{self.learner}: predictions of two refits on {self.pairs} differ by at most {self.tolerance:.3g} on "
            f"{self.stability} of {self.n_points} {self.on}{_elsewhere(self.stability_new_data)}; concordance "
            f"{self.concordance}; root mean squared error "
            f"{self.rmse}, R² {self.r2} on test points. A learner with constant predictions has stability 1, so read "
            f"it together with the error. Over subsets, predictions vary by {np.median(self.spread):.3g} at the median "
            "point."
        )
        return " ".join([text, *self.notes])


def regression_stability(
    predictions: Predictions, on: str, level: float, tolerance: float | None
) -> RegressionStability:
    """`stability` for the record of a regressor."""
    where = compared_on(predictions, on)
    reach = tolerance_for(predictions.truth, tolerance)
    values = predictions.complete(where, pairs=predictions.halves)
    notes = used(predictions, values.shape)
    values, repeated = as_units(values), len(values) == 1
    near = closeness(values, reach, predictions.halves)
    value, table = concordance(values, predictions.halves)
    squared = predictions.on_unseen_rows(lambda values: (values - predictions.truth) ** 2)
    rmse, r2 = _errors(squared, float(predictions.truth.var()), level, predictions.groups)
    groups = predictions.groups_of(where)
    undefined = Estimate(math.nan, -1.0, 1.0, level, "undefined: all predictions are one number")
    shared = pair_figures(predictions, where, near, values, partial(_near, reach), level)
    return RegressionStability(
        learner=shared.learner,
        on=shared.on,
        pairs=shared.pairs,
        n_points=shared.n_points,
        n_subsets=shared.n_subsets,
        n_refits=shared.n_refits,
        stability=shared.stability,
        stability_new_data=shared.stability_new_data,
        same_subset=shared.stability if repeated else shared.same_subset,
        standard_error=shared.standard_error,
        worst_case_points=shared.worst_case_points,
        worst_case_pairs=shared.worst_case_pairs,
        per_point=shared.per_point,
        per_refit=shared.per_refit,
        tolerance=reach,
        concordance=predictions.named(
            undefined if math.isnan(value) else coefficient(value, table, len(values) // 2, level, groups)
        ),
        rmse=predictions.named(rmse, TRAINING),
        r2=predictions.named(r2, TRAINING),
        spread=spread(values, predictions.halves),
        notes=tuple(notes),
    )


def _near(tolerance: float, one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
    close: NDArray[np.bool_] = np.abs(one - other) <= tolerance
    return close


def tolerance_for(truth: Floats, tolerance: float | None) -> float:
    """The tolerance that a user gave, checked, or that of the standard deviation of the truth."""
    if tolerance is None:
        deviation = float(truth.std())
        if deviation == 0:
            raise expect.InputError("The truth is one number, so there is no scale for `tolerance`. Pass one.")
        return TOLERANCE * deviation
    is_number = isinstance(tolerance, (int, float, np.integer, np.floating)) and not isinstance(tolerance, bool)
    if not is_number or not 0 <= tolerance < math.inf:
        raise expect.InputError(
            f"`tolerance` is {tolerance!r}; expected a number from 0 up, in units of the target: predictions that "
            "differ by at most this count as the same."
        )
    return float(tolerance)


def _errors(squared: Floats, variance: float, level: float, groups: AnyInts | None = None) -> tuple[Estimate, Estimate]:
    """Root mean squared error and R², from squared errors (K, n); both intervals on the log scale of the former."""
    mean = float(squared.mean())
    kind, table = over(groups), by_group(squared, groups)
    if mean == 0:
        perfect = 1.0 if variance else math.nan
        return Estimate(0.0, 0.0, 0.0, level, kind), Estimate(perfect, perfect, perfect, level, kind)
    reach = around(0.0, crossed_standard_error(table) / mean, level, kind, draws_of(table, groups)).high
    low, high = mean * math.exp(-reach), mean * math.exp(min(reach, 700.0))
    rmse = Estimate(math.sqrt(mean), math.sqrt(low), math.sqrt(high), level, kind)
    if variance == 0:
        return rmse, Estimate(math.nan, -math.inf, 1.0, level, "undefined: the truth is one number")
    kind_of_r2 = f"{kind}, the variance of the target taken as fixed"
    return rmse, Estimate(1 - mean / variance, 1 - high / variance, 1 - low / variance, level, kind_of_r2)


# Lin's concordance between refits of a regressor: how close their predictions are, relative to how far they range.


def concordance(values: Floats, halves: bool) -> tuple[float, Floats]:
    """Lin's coefficient over pairs of refits on different subsets, and the table of units x points it is made of.

    1 − E(a − b)² / E₀(a − b)², the mean over pairs and points of the squared difference of two predictions at the same
    point, over that at two independent points: σa² + σb² + (μa − μb)² of each pair. For one pair it is Lin's (1989),
    for many that of Barnhart, Haber & Song (2002). 1: the same predictions; 0: no more similar than predictions for
    other points. NaN if all predictions are one number. The table is linear in the units at each
    point and gives the error.

    >>> a, b = [1.0, 2.0, 3.0, 4.0], [1.5, 2.0, 2.5, 4.5]
    >>> round(concordance(np.array([[a], [b]]), halves=True)[0], 3)  # 2·cov / (var + var + (mean − mean)²)
    0.927
    """
    centred = values - values.mean()
    mean, square = centred.mean(axis=1), (centred**2).mean(axis=1)
    own = mean.mean(axis=1)
    if halves:
        (m1, m2), (s1, s2), (u1, u2) = ((part[::2], part[1::2]) for part in (mean, square, own[:, None]))
        apart = s1 + s2 - 2 * m1 * m2
        by_chance = s1 + s2 - 2 * (m1 * u2 + m2 * u1 - u1 * u2)
    else:
        others = len(values) - 1
        rest, rest_square, rest_own = ((part.sum(axis=0) - part) / others for part in (mean, square, own))
        each = square + rest_square - 2 * mean * rest
        apart = 2 * each - each.mean(axis=0)
        product = float((own * rest_own).mean())
        by_chance = 2 * square - 4 * mean * rest_own[:, None] + 2 * product
    near, far = float(apart.mean()), float(by_chance.mean())
    if far <= 0:
        return np.nan, np.full(apart.shape, np.nan)
    value = 1 - near / far
    return value, value - (apart - near) / far + near * (by_chance - far) / far**2


def spread(values: Floats, halves: bool) -> Floats:
    """(n,): standard deviation of predictions over subsets at each point: √(mean squared difference of a pair / 2)."""
    centred = values - values.mean(axis=(0, 1))
    mean, square = centred.mean(axis=1), (centred**2).mean(axis=1)
    if halves:
        products = (mean[::2] * mean[1::2]).mean(axis=0)
    else:
        products = (mean.sum(axis=0) ** 2 - (mean**2).sum(axis=0)) / (len(values) * (len(values) - 1))
    deviation: Floats = np.sqrt(np.maximum(square.mean(axis=0) - products, 0.0))
    return deviation
