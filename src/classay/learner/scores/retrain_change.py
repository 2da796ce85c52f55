"""`retraining`: what changes if the learner is retrained after a share of its rows has been replaced.

Half of the changes that users see may have nothing to do with the new rows: another seed alone changes predictions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ... import expect
from ...arrays import AnyInts, Floats
from ...expect import InputError, counted
from ...intervals import ROUNDING, Estimate, bounded, by_group, crossed_standard_error, exact
from ...result import Result, figures_frame
from ..fitting.schemes import lag_of
from ..records.labelings import Labelings, expect_record
from ..stability.disagreement import DisagreementRegions, disagreement_regions
from .refit_pairs import Differ, PairTables, distance, pair_tables, unequal

LEAST_ROWS = 5
"""With fewer test rows of a class, its interval is withheld."""
OVER = "over data sets like this one"


@dataclass(frozen=True)
class Retraining(Result, chart="scores:retraining_chart"):
    """The result of `retraining`: shares of predictions, 0 to 1, lower is steadier.

    `change` is the share of test rows whose prediction changes when the share `replaced` of the training rows is
    replaced and the learner is fitted again; `by_seed` the share that changes if it is fitted again on the same rows,
    `by_rows` the rest, which the new rows cause. `by_class` is the change among the rows of each true class,
    `per_point` that at each test row, `per_sample` that of each training sample. `score_change` is the mean absolute
    change of the predicted probability (of more than two classes, half the sum over classes), `score_by_seed` the same
    on unchanged rows; unknown without probabilities.
    """

    learner: str
    replaced: float
    in_time: bool
    n_points: int
    n_samples: int
    n_refits: int
    train_rows: int
    change: Estimate
    by_seed: Estimate
    by_rows: Estimate
    by_class: dict[str, Estimate]
    score_change: Estimate
    score_by_seed: Estimate
    accuracy: Estimate
    per_point: Floats
    per_sample: Floats
    notes: tuple[str, ...]
    record: Labelings = field(repr=False)

    def regions(self, table: pd.DataFrame, **options: Any) -> DisagreementRegions:
        """Where predictions change most: see `disagreement_regions`. `table` has the test rows, in their order."""
        return disagreement_regions(self.record, table, on="test", **options)

    def of_rows(self) -> str:
        """The share that is replaced, and of how many rows, if that is known."""
        return f"{self.replaced:.0%} of its {f'{self.train_rows:,} ' if self.train_rows else ''}training rows"

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: learner, on, figure, value, low, high, level, kind."""
        names = ("change", "by_seed", "by_rows", "score_change", "score_by_seed", "accuracy")
        figures = {name: getattr(self, name) for name in names}
        figures |= {f"change[{name}]": each for name, each in self.by_class.items()}
        return figures_frame(self.learner, "test points", figures)

    def __str__(self) -> str:
        text = f"{self.learner}: a retraining that replaces {self.of_rows()}{' by newer ones' if self.in_time else ''}"
        text += f" changes {_percent(self.change)} of predictions"
        if self.by_seed.known and self.by_seed.kind != "deterministic":
            text += f"; another seed alone changes {_percent(self.by_seed)}"
            ends = f"{self.by_rows.low:.1%} to {self.by_rows.high:.1%}".replace("-", "−")
            if self.by_rows.low > 0:
                text += f", the new rows {self.by_rows.value:.1%} more ({ends})"
            else:
                text += f", and new rows are not shown to change more ({ends})"
        text += f". Accuracy {self.accuracy} on {self.n_points} test rows."
        if self.score_change.known:
            text += f" Predicted probabilities change by {100 * self.score_change.value:.2g} points on average."
        return " ".join([text, *self.notes])


def retraining(labelings: Labelings, level: float = 0.95) -> Retraining:
    """Measure what changes when a learner is retrained: the share of predictions that differ, by seed and by rows.

    change = P[f_S(x) ≠ f_T(x)] for training samples S and T of nearly full size that share all but the share `replaced`
    of their rows (the scheme `Retrain`): the mean over pairs of samples, all pairs of their refits, and test rows.
    by_seed = the same for two refits on the same rows, by_rows = change − by_seed: unbiased, so that it may come out a
    little below 0. All are shares from 0 (nothing changes) to 1. With `time`, T is S without its oldest rows and with
    newer ones.

    It is not stability, which compares refits on disjoint halves: those have no row in common and half as many. A
    constant learner never changes: read it together with accuracy.

    Intervals are for other data sets of this size from the same source, with other training rows and other test rows:
    the variance over test rows plus that between single pairs of samples, which stands for the variance over sets of
    training rows. Their coverage is checked by simulation. With `time` samples overlap, and the interval does not cover
    a source that changes.

    Parameters
    ----------
    labelings : what `record` returned with the scheme `Retrain`; two refits per sample or more to separate the seed
    level : confidence level of the intervals

    Examples
    --------
    >>> import classay
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(n_estimators=10)
    >>> r = retraining(classay.record(forest, X, y, classay.Retrain(6), repeats=2, executor=1))
    >>> 0 < r.by_seed.value < 0.15, 0 < r.change.value < 0.15
    (True, True)

    """
    expect.fraction(level, "level")
    record = expect_record(labelings, "labelings")
    scheme = record.about.get("scheme", {})
    if scheme.get("kind") != "Retrain":
        raise InputError(
            f"The record of {record.name} was made with {scheme.get('kind', 'an unknown scheme')}; what a retraining "
            "changes needs samples that share most rows. Record with scheme=classay.Retrain(20), or pass "
            "retrained=0.1 to Labelings.from_arrays."
        )
    in_time = bool(record.about.get("time"))
    if not record.present.all():
        subsets, chosen = record.chosen()
        if in_time and subsets.size < len(record.labels):
            raise InputError(
                f"{len(record.labels) - subsets.size} of {len(record.labels)} samples in time have missing refits; all "
                "are needed. See `failures` of the record."
            )
        record = record.taken(subsets, chosen)
    samples, refits, _ = record.labels.shape
    if samples < 2:
        raise InputError(f"The record has {counted(samples, 'sample')}; at least 2 are needed. Record more.")
    changed = _tables(record.labels, unequal, in_time)
    of_all = not in_time
    change = _mean(changed.table, record.groups, level, of_all)
    by_seed = _seed(changed.within, record, level)
    unknown = Estimate(math.nan, 0.0, 1.0, level, "unknown: the record has no probabilities")
    score_change = score_by_seed = unknown
    if record.scores is not None and record.scores.probabilities and not record.scores.compact:
        moved = _tables(record.scores.values, distance, in_time)
        if not np.isnan(moved.table).any():
            score_change = _mean(moved.table, record.groups, level, of_all)
            score_by_seed = _seed(moved.within, record, level)
    names = [str(each) for each in record.classes.tolist()]
    return Retraining(
        learner=record.name,
        replaced=float(scheme.get("replaced", math.nan)),
        in_time=in_time,
        n_points=record.truth.size,
        n_samples=samples,
        n_refits=refits,
        train_rows=int(np.mean([rows.size for rows in record.train_rows])) if record.train_rows else 0,
        change=change,
        by_seed=by_seed,
        by_rows=_rest(changed, by_seed, record, level, of_all),
        by_class={name: _of_class(changed, record, code, level, of_all) for code, name in enumerate(names)},
        score_change=score_change,
        score_by_seed=score_by_seed,
        accuracy=record.accuracy("test", level),
        per_point=changed.per_point,
        per_sample=changed.table.mean(axis=1),
        notes=tuple(record.notes),
        record=record,
    )


def _tables(values: NDArray[Any], differ: Differ, in_time: bool) -> PairTables:
    """Differences between all pairs of samples; in time, of each from the one that is `lag` samples later."""
    if not in_time:
        return pair_tables(values, differ, paired=False)
    lag = lag_of(len(values))
    paired = np.stack([values[:-lag], values[lag:]], axis=1).reshape(-1, *values.shape[1:])
    later = pair_tables(paired, differ, paired=True)
    return PairTables(later.table, pair_tables(values, differ, paired=False).within)


def _mean(table: Floats, groups: AnyInts | None, level: float, of_all: bool = False, least: float = 0.0) -> Estimate:
    """The mean of a table of samples (or pairs) x points from `least` to 1, with its interval over data sets.

    Over points as ever. Samples of one data set share nearly all rows, so their mean varies less than data sets do: the
    variance of a single pair of samples, and not that of the mean of all pairs, stands for that of data sets. `of_all`:
    rows of the table are 2·h − mean, h the mean difference of one sample from all others; a pair varies by 2·Var(h).
    If nothing varies at all, it is pairs of samples that may, rarely.
    """
    grouped = by_group(table, groups)
    samples, units = grouped.shape
    over_points = crossed_standard_error(grouped.mean(axis=0, keepdims=True)) ** 2
    single = float(grouped.mean(axis=1).var(ddof=1)) if samples > 1 else 0.0
    error, draws = math.sqrt(over_points + single / (2 if of_all else 1)), min(samples, units)
    if np.ptp(table) < ROUNDING:
        units = min(units, max(samples // 2 if of_all else samples, 1))
    return bounded(float(table.mean().clip(least, 1.0)), error, units, level, OVER, draws, least)


def _seed(within: Floats, record: Labelings, level: float) -> Estimate:
    if record.deterministic:
        return exact(0.0, "deterministic", level)
    if not len(within):
        return Estimate(math.nan, 0.0, 1.0, level, "unknown: one refit per sample")
    return _mean(within, record.groups, level)


def _rest(changed: PairTables, by_seed: Estimate, record: Labelings, level: float, of_all: bool) -> Estimate:
    """What the rows cause: the paired difference at each point."""
    if record.deterministic:
        return _mean(changed.table, record.groups, level, of_all)
    if not by_seed.known:
        return Estimate(math.nan, -1.0, 1.0, level, by_seed.kind)
    count = min(len(changed.table), len(changed.within))
    apart = changed.table[:count] - changed.within[:count]
    apart += changed.table.mean() - changed.within.mean() - apart.mean()  # in time there are more samples than pairs
    estimate = _mean(apart, record.groups, level, of_all, -1.0 if np.ptp(apart) > ROUNDING else 0.0)
    return replace(estimate, low=max(estimate.low, min(estimate.value, 0.0)))  # new rows change at least as much


def _of_class(changed: PairTables, record: Labelings, code: int, level: float, of_all: bool) -> Estimate:
    here = np.flatnonzero(record.truth == code)
    if not here.size:
        return Estimate(math.nan, 0.0, 1.0, level, "undefined: no test rows")
    value = float(changed.table[:, here].mean().clip(0.0, 1.0))
    if here.size < LEAST_ROWS:
        return Estimate(value, 0.0, 1.0, level, f"unknown: {counted(here.size, 'test row')}")
    groups = None if record.groups is None else record.groups[here]
    return _mean(changed.table[:, here], groups, level, of_all)


def _percent(estimate: Estimate) -> str:
    return f"{estimate.value:.1%} ({estimate.low:.1%} to {estimate.high:.1%})"
