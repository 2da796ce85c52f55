"""`stability`: whether a learner gives the same classifier again when the data are drawn again.

The agreement of two classifiers is the share of points on which they predict the same. Stability is the expected
agreement of two refits, on points that need not come from the data: where correlated columns are separated, refits that
seem alike may differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ... import expect
from ...arrays import AnyInts, Floats
from ...intervals import Estimate, bounded, coefficient_of_table, crossed_error, exact, positive_around, share_of_table
from ...result import Result, parts_of
from ..records.base import TRAINING, Refits, over
from ..records.labelings import Labelings, expect_record
from ..records.predictions import Predictions
from .agreement import (
    FRESH,
    ITEMS,
    ROWS,
    RUNS,
    TEST,
    PairComparison,
    agreement,
    chance_agreement,
    closeness,
    compared_answers,
    concordance,
    kappa,
    pairs_called,
    points_called,
    spread,
    tolerance_for,
)
from .disagreement import DisagreementRegions, disagreement_regions
from .new_data import DATA_LIKE_THESE, accuracy_for_new_data, for_new_data

RARE = 30
"""Points outside the most frequent prediction below which the interval of kappa allows for agreement not yet seen."""


@dataclass(frozen=True, kw_only=True)
class PairFigures(Result, columns=("learner", "on")):
    """What stability has for classifiers and regressors alike."""

    learner: str
    on: str
    pairs: str
    n_points: int
    n_subsets: int
    n_refits: int
    stability: Estimate
    stability_new_data: Estimate
    same_subset: Estimate
    standard_error: float
    per_point: Floats
    per_refit: Floats
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Stability(PairFigures, chart="stability:STABILITY"):
    """The result of `stability`: agreement between 0 and 1, higher is more repeatable.

    `stability` is the expected agreement of two refits on the points `on`, with an interval for these rows;
    `stability_new_data` the same with an interval for other data of the same source and size, on such points. `kappa`
    is agreement beyond chance (0: as if predictions were drawn at random with their own shares, 1: always the same).
    `accuracy` is that of the same refits on the test part, with an interval for refits on these training rows;
    `accuracy_new_data` the same with an interval for fits on other data. `same_subset` is the agreement of refits on
    the *same* subset: what is missing to 1 there is training randomness.

    `standard_error` is that of `stability`, from points and pairs together. `per_point` is the agreement at each point,
    `per_refit` (K, R) that of each refit with those it is compared with.
    """

    kappa: Estimate
    accuracy: Estimate
    accuracy_new_data: Estimate
    record: Labelings = field(repr=False)

    @property
    def points(self) -> Any:
        """The comparison points of the refits, or None for test points and for probes that were not stored."""
        return None if self.on in (TEST, ITEMS) else self.record.probes

    @property
    def seed_share(self) -> float:
        """Share of the disagreement that is training randomness; NaN if it is unknown or nothing disagrees."""
        missing = 1 - self.stability.value
        return min((1 - self.same_subset.value) / missing, 1.0) if missing > 0 else math.nan

    def regions(self, table: pd.DataFrame | None = None, **options: Any) -> DisagreementRegions:
        """Find where refits disagree most: ranges or categories of one column, or of two.

        The outcome at a point is the share of pairs of refits that differ there. The slice finder searches boxes on
        half of the points and half of the refits. On the others, each split (or subset) gives the excess of
        disagreement in the region over the rest; its mean is tested by Student's t with the variance over units and
        over points. Benjamini–Hochberg over the regions tested gives q-values.

        Rates run from 0 to 1; lift 1: as everywhere, higher is less repeatable. Each half has half of the refits, so at
        least 8 splits or subsets are needed, and 20 for good power. A region shows where classifiers differ, not why:
        near a boundary between classes they always do.

        table : the points as rows of a DataFrame, in your own columns; default: the probes of the record. For test
            points, pass the test rows or the whole table that was recorded
        options : columns, max_features, min_size, q, top, level, random_state, as in `slices`
        """
        return disagreement_regions(self.record, table, "test" if self.on in (TEST, ITEMS) else "probes", **options)

    def __str__(self) -> str:
        record = self.record
        two, on = ("runs of", self.on) if record.of_predictions else ("refits on", TEST)
        bare = record.of_predictions or self.pairs in (FRESH, ROWS)
        where = self.pairs if bare else f"{self.pairs} of these rows"
        text = (
            f"{self.learner}: two {two} {where} agree on {self.stability} of {self.n_points} {self.on}"
            f"{'' if bare else _elsewhere(self.stability_new_data)} (kappa {self.kappa}); accuracy {self.accuracy} on "
            f"{on}{'' if bare else _elsewhere(self.accuracy_new_data)}. A learner that always predicts the same has "
            "stability 1, so read it together with accuracy."
        )
        if self.same_subset.value < 1 and self.pairs not in (ROWS, RUNS):
            same = "Runs of the same variant" if record.of_predictions else "Refits on the same rows"
            chance = "randomness" if record.of_predictions else "training randomness"
            text += f" {same} agree on {self.same_subset}, so {self.seed_share:.0%} of the disagreement is {chance}."
        return " ".join([text, *self.notes])


def _elsewhere(estimate: Estimate) -> str:
    both = estimate.known and estimate.kind.startswith(DATA_LIKE_THESE)
    return f" (for data like these, [{estimate.low:.3g}, {estimate.high:.3g}])" if both else ""


@dataclass(frozen=True, kw_only=True)
class RegressionStability(PairFigures, chart="stability:REGRESSION"):
    """The result of `stability` for a regressor.

    `stability` is the share of points on which two refits differ by at most `tolerance` (0 to 1, higher is more
    repeatable), with an interval for these rows, and `stability_new_data` for other data of the same source and size;
    `concordance` Lin's coefficient between refits (1: the same predictions, 0: no more similar than
    predictions for other points). `rmse` and `r2` are errors of the same refits on test points. `same_subset` is the
    agreement of refits on the same subset. `spread` is the standard deviation over subsets at each point, in units of
    the target; `per_point` the agreement there, `per_refit` (K, R) that of each refit with those it is compared with.
    """

    tolerance: float
    concordance: Estimate
    rmse: Estimate
    r2: Estimate
    spread: Floats

    def __str__(self) -> str:
        text = (
            f"{self.learner}: predictions of two refits on {self.pairs} differ by at most {self.tolerance:.3g} on "
            f"{self.stability} of {self.n_points} {self.on}{_elsewhere(self.stability_new_data)}; concordance "
            f"{self.concordance}; root mean squared error {self.rmse}, R² {self.r2} on test points. A learner that "
            "always predicts the same has stability 1, so read it together with the error. Over subsets, predictions "
            f"vary by {np.median(self.spread):.3g} at the median "
            "point."
        )
        return " ".join([text, *self.notes])


COMPARED = ("stability", "kappa", "accuracy")


@dataclass(frozen=True)
class StabilityTable(Result, chart="stability:stability_plane"):
    """The result of `stability` for several learners: figures of each, in the order given.

    `unbeaten`: no other learner is both at least as repeatable and at least as accurate, by the point estimates.
    """

    names: tuple[str, ...]
    on: str
    pairs: str
    n_points: int
    stability: dict[str, Estimate]
    kappa: dict[str, Estimate]
    accuracy: dict[str, Estimate]
    unbeaten: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row per learner and figure: learner, on, figure, value, low, high, level, kind."""
        rows = [
            {"learner": name, "on": self.on, "figure": figure, **parts_of(getattr(self, figure)[name])}
            for name in self.names
            for figure in COMPARED
        ]
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        def in_words(name: str) -> str:
            return f"{name} (stability {self.stability[name]}, accuracy {self.accuracy[name]})"

        steady = max(self.names, key=lambda name: self.stability[name].value)
        right = max(self.names, key=lambda name: self.accuracy[name].value)
        text = f"Of {expect.counted(len(self.names), 'learner')}, compared on {self.n_points} {self.on}, "
        if steady == right:
            return f"{text}{in_words(steady)} is the most repeatable and the most accurate."
        return (
            f"{text}{in_words(steady)} is the most repeatable and {in_words(right)} the most accurate. No other is "
            f"both more repeatable and more accurate than {', '.join(self.unbeaten)}."
        )


@overload
def stability(labelings: Labelings, on: str = ..., level: float = ...) -> Stability: ...
@overload
def stability(
    labelings: Predictions, on: str = ..., level: float = ..., tolerance: float | None = ...
) -> RegressionStability: ...
@overload
def stability(labelings: Mapping[str, Labelings | Stability], on: str = ..., level: float = ...) -> StabilityTable: ...
def stability(
    labelings: Labelings | Predictions | Mapping[str, Labelings | Stability],
    on: str = "auto",
    level: float = 0.95,
    tolerance: float | None = None,
) -> Stability | RegressionStability | StabilityTable:
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
    labelings : what `record` returned; for a regressor the result is `RegressionStability`. Or several, name -> record
        or `Stability`, of classifiers on the same points: a `StabilityTable` that says which of them no other beats,
        being at least as repeatable and at least as accurate; where intervals overlap, the order may be chance
    on : 'probes' (comparison points), 'test', or 'auto' for the probes if there are any
    level : confidence level of the intervals
    tolerance : for a regressor only: predictions that differ by at most this count as the same; default 0.1 standard
        deviations of the target

    Examples
    --------
    >>> answers = np.random.default_rng(0).random((40, 400)) < 0.3
    >>> s = stability(Labelings.from_arrays(answers.astype(int), [0, 1] * 200))
    >>> round(float(s.stability), 2), abs(s.kappa.value) < 0.02
    (0.58, True)
    >>> constant = Labelings.from_arrays(np.zeros((40, 400), int), [0, 1] * 200)
    >>> stability({"random": s, "constant": constant}).unbeaten
    ('constant',)

    References
    ----------
    Turney, Technical Note: Bias and the Quantification of Stability, Machine Learning 20 (1995).

    """
    expect.fraction(level, "level")
    if tolerance is not None and not isinstance(labelings, Predictions):
        raise expect.InputError("`tolerance` is for regressors; the predictions of a classifier are the same or not.")
    if isinstance(labelings, Mapping):
        return _table(labelings, on, level)
    if isinstance(labelings, Predictions):
        return _of_numbers(labelings, on, level, tolerance)
    record = expect_record(labelings, "labelings")
    where, labels, notes = compared_answers(record, on)
    compared = agreement(labels, len(record.classes), record.halves)
    accuracy = record.accuracy("test", level)
    return _pair_figures(Stability, record, where, compared, labels, level)(
        kappa=record.named(_kappa(compared, labels, record, level, record.groups_of(where))),
        accuracy=accuracy,
        accuracy_new_data=accuracy_for_new_data(record, accuracy),
        notes=tuple(notes),
        record=record,
    )


def _of_numbers(record: Predictions, on: str, level: float, tolerance: float | None) -> RegressionStability:
    where, values, notes = compared_answers(record, on)
    reach, groups = tolerance_for(record.truth, tolerance), record.groups_of(where)
    value, table = concordance(values, record.halves)
    alike = Estimate(math.nan, -1.0, 1.0, level, "undefined: all predictions are one number")
    if not math.isnan(value):
        alike = coefficient_of_table(value, table, len(values) // 2, level, over(groups), groups)
    rmse, r2 = _errors(record, level)
    compared = closeness(values, reach, record.halves)
    return _pair_figures(RegressionStability, record, where, compared, values, level)(
        tolerance=reach,
        concordance=record.named(alike),
        rmse=record.named(rmse, TRAINING),
        r2=record.named(r2, TRAINING),
        spread=spread(values, record.halves),
        notes=tuple(notes),
    )


FiguresT = TypeVar("FiguresT", bound=PairFigures)


def _pair_figures(
    result: type[FiguresT], record: Refits, where: str, compared: PairComparison, answers: NDArray[Any], level: float
) -> partial[FiguresT]:
    """A result with all figures of compared pairs of refits; to be called with the others of its own, and its notes."""
    disjoint, groups = len(compared.per_refit) // 2, record.groups_of(where)
    error, _ = crossed_error(compared.table, groups)
    these = record.named(share_of_table(compared.table, disjoint, level, over(groups), groups))
    # With one subset, its refits are the pairs.
    same_subset = these if len(record.present) == 1 else _same_subset(compared.within, record, level, groups)
    return partial(
        result,
        learner=record.name,
        on=points_called(record, where),
        pairs=pairs_called(record),
        n_points=len(compared.per_point),
        n_subsets=len(compared.per_refit),
        n_refits=answers.shape[1],
        stability=these,
        stability_new_data=for_new_data(record, these, error, answers, compared.same, where),
        same_subset=same_subset,
        standard_error=error,
        per_point=compared.per_point,
        per_refit=compared.per_refit,
    )


def _same_subset(within: Floats, record: Refits, level: float, groups: AnyInts | None) -> Estimate:
    """The agreement of refits on the same subset, from a table of subsets x points."""
    if record.deterministic:
        return exact(1.0, "deterministic", level)
    if not len(within):
        return Estimate(math.nan, 0.0, 1.0, level, "unknown: one refit per subset")
    return record.named(share_of_table(within, len(within), level, over(groups), groups))


def _errors(record: Predictions, level: float) -> tuple[Estimate, Estimate]:
    """Root mean squared error and R² on rows not fitted on; both intervals on the log scale of the mean square."""
    squared = record.on_unseen_rows(lambda predicted: (predicted - record.truth) ** 2)
    mean, variance, kind = float(squared.mean()), float(record.truth.var()), over(record.groups)
    error, draws = crossed_error(squared, record.groups)
    if mean:
        square = positive_around(mean, error, level, kind, draws)
    else:  # errors that did not occur are rare, and no larger than the range
        most = max(float(np.ptp(record.truth)) ** 2, np.finfo(float).tiny)
        square = bounded(0.0, 0.0, min(squared.shape), level, kind, most=most)
    rmse = Estimate(math.sqrt(mean), math.sqrt(square.low), math.sqrt(square.high), level, kind)
    if variance == 0:
        return rmse, Estimate(math.nan, -math.inf, 1.0, level, "undefined: the truth is one number")
    kind = f"{kind}, the variance of the target taken as fixed"
    return rmse, Estimate(1 - mean / variance, 1 - square.high / variance, 1 - square.low / variance, level, kind)


def _table(labelings: Mapping[str, Labelings | Stability], on: str, level: float) -> StabilityTable:
    """The figures of several learners, and which of them no other beats on both stability and accuracy."""
    if not labelings:
        raise expect.InputError("`labelings` is empty; expected at least one record, as {name: record}.")
    results: dict[str, Stability] = {}
    for name, record in labelings.items():
        measured = stability(record, on, level) if isinstance(record, Labelings) else record
        if not isinstance(measured, Stability):
            raise expect.InputError(
                f"`labelings[{name!r}]` is {type(record).__name__}; expected the record of a classifier, or what "
                "`classay.stability` returned for one."
            )
        results[str(name)] = measured
    first = next(iter(results.values()))
    for name, other in results.items():
        if (other.on, other.n_points, other.pairs) != (first.on, first.n_points, first.pairs):
            raise expect.InputError(
                f"{name!r} was compared on {other.n_points} {other.on} by {other.pairs}, but {next(iter(results))!r} "
                f"on {first.n_points} {first.on} by {first.pairs}; they must match. Record all with the same settings."
            )
    places = {name: (result.stability.value, result.accuracy.value) for name, result in results.items()}

    def beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
        return one[0] >= other[0] and one[1] >= other[1] and one != other

    return StabilityTable(
        names=tuple(results),
        on=first.on,
        pairs=first.pairs,
        n_points=first.n_points,
        stability={name: result.stability for name, result in results.items()},
        kappa={name: result.kappa for name, result in results.items()},
        accuracy={name: result.accuracy for name, result in results.items()},
        unbeaten=tuple(name for name, own in places.items() if not any(beats(other, own) for other in places.values())),
    )


def _kappa(
    compared: PairComparison, labels: AnyInts, record: Labelings, level: float, groups: AnyInts | None
) -> Estimate:
    disjoint, n_points, n_classes, kind = len(labels) // 2, labels.shape[2], len(record.classes), over(groups)
    shares = np.bincount(labels.ravel(), minlength=n_classes) / labels.size
    expected = chance_agreement(labels, n_classes, record.halves)
    chance = float(expected.mean())
    if chance >= 1 or shares.max() >= 1:
        return Estimate(math.nan, -1.0, 1.0, level, "undefined: only one class is ever predicted")
    value, table = kappa(compared, expected)
    if value >= 1 and disjoint > 1:
        least = share_of_table(compared.table, disjoint, level, kind, groups).low
        return Estimate(1.0, max((least - chance) / (1 - chance), -1.0), 1.0, level, kind)
    estimate = coefficient_of_table(value, table, disjoint, level, kind, groups)
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
        more = np.concatenate([labels, added], axis=2)
        expected = chance_agreement(more, n_classes, record.halves)
        value, table = kappa(agreement(more, n_classes, record.halves), expected)
        ends.append(coefficient_of_table(value, table, disjoint, level, kind, own_group))
    return replace(estimate, low=min(estimate.low, ends[0].low), high=max(estimate.high, ends[1].high))
