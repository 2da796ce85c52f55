"""`score_variance`: how much of the variance of predicted scores comes from the training sample, how much from chance.

The counterpart of capacity and stochasticity for scores. It also works where one class is rare and labels hardly ever
change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import special, stats

from ... import expect
from ...arrays import Floats
from ...expect import InputError
from ...intervals import Estimate, bounded, exact, share_of_table
from ...result import Result, figures_frame
from ..records.base import over
from ..records.labelings import Labelings, expect_record
from ..records.scores import Scores
from .refit_pairs import distance, pair_tables, unequal
from .row_blocks import block_of_rows
from .threshold import cheapest_threshold, expect_threshold, expect_two

SCALES = ("probability", "logit")
LEAST_CLIP = 1e-6
OVER = "over subsets, at these points"


@dataclass(frozen=True)
class ScoreVariance(Result, chart="scores:VARIANCE"):
    """The result of `score_variance`: variances of scores over refits, mean over test points.

    `total` = `from_sample` + `from_randomness`; `share_sample` and `share_randomness` are their shares, 0 to 1.
    `spread` is √total, in units of the scale. The unbiased estimate of `from_sample` may come out negative: it is shown
    as 0, and `raw_from_sample` keeps it. `per_point` has a row for each test point: score (mean), total, from_sample
    (raw), from_randomness. `clip` is where probabilities were cut before taking logits.
    """

    learner: str
    scale: str
    of: str
    n_points: int
    n_subsets: int
    n_refits: int
    total: Estimate
    from_sample: Estimate
    from_randomness: Estimate
    share_sample: Estimate
    share_randomness: Estimate
    raw_from_sample: float
    clip: float
    per_point: pd.DataFrame
    notes: tuple[str, ...]
    record: Labelings = field(repr=False)

    @property
    def spread(self) -> float:
        """The standard deviation of a score over refits."""
        return math.sqrt(max(self.total.value, 0.0))

    def moved(self, by: float = 0.1, same_sample: bool = False, level: float = 0.95) -> Estimate:
        """The share of rows whose predicted probability moves by more than `by` when the learner is refitted.

        The expected share of test points at which two refits on different training samples differ by more than that
        (half the sum of absolute differences over classes; of two classes, the difference itself): the mean over pairs
        of refits, which is unbiased. `same_sample`: of two refits on the same rows, which differ by training
        randomness alone. The interval is over subsets and test points.
        """
        expect.fraction(by, "by")
        record, scores = _scored(self.record)
        scores.expect_full("`moved`")
        tables = pair_tables(scores.values, lambda one, other: distance(one, other) > by, record.halves)
        return _share_of(tables.within if same_sample else tables.table, record, same_sample, level)

    def flips(
        self, threshold: float | None = None, cost: Any = None, same_sample: bool = False, level: float = 0.95
    ) -> Estimate:
        """The share of rows whose decision changes when the learner is refitted, for two classes.

        Decisions are for the second class from `threshold` on (default 0.5), or at the threshold that costs least with
        `cost`, a pair (cost of a false positive, of a false negative). As `moved` otherwise.
        """
        record, scores = _scored(self.record)
        expect_two(record, "`flips`")
        if threshold is not None and cost is not None:
            raise InputError("`threshold` and `cost` are both given; the cost decides the threshold. Pass one of them.")
        at = 0.5 if threshold is None else expect_threshold(threshold, scores)
        if cost is not None:
            at, _ = cheapest_threshold(scores, record.truth, cost, block_of_rows(record.truth, record.groups))
        tables = pair_tables(scores.positive >= at, unequal, record.halves)
        return _share_of(tables.within if same_sample else tables.table, record, same_sample, level)

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: learner, on, figure, value, low, high, level, kind."""
        names = ("total", "from_sample", "from_randomness", "share_sample", "share_randomness")
        return figures_frame(self.learner, "test points", {name: getattr(self, name) for name in names})

    def __str__(self) -> str:
        text = (
            f"{self.learner}: over refits, the {self.of} varies with a standard deviation of {self.spread:.3g}"
            f"{' on the logit scale' if self.scale == 'logit' else ''} (mean variance over {self.n_points} test "
            f"points {self.total})."
        )
        if self.share_sample.known:
            text += (
                f" The training sample causes {self.share_sample:.2f} of it, training randomness "
                f"{self.share_randomness:.2f}."
            )
        else:
            text += " With one refit per training sample, the two sources cannot be separated: record with repeats=2."
        return " ".join([text, *self.notes])


def score_variance(labelings: Labelings, scale: str = "probability", level: float = 0.95) -> ScoreVariance:
    """Measure where the variance of predicted scores comes from: the training sample, or training randomness.

    s_kr is the score of a row by refit r on subset k. Within = mean over k of Var_r(s_kr): training randomness. Between
    = Var_k(mean over r of s_kr) − within/R: the training sample, unbiased, so that it may come out negative. Both are
    means over test points; of more than two classes, half the sum over classes, which for two classes is the variance
    of one of them. Shares are ratios of these means: 0 to 1, their sum is 1.

    A variance is in squared units: on the probability scale, 0.01 is a standard deviation of 10 points. On the logit
    scale, small probabilities count as much as those near 0.5. Probabilities of exactly 0 or 1, as forests give them,
    are cut at half of the smallest other distance from 0 or 1 (a forest of T full trees: 1/(2T)), so the variance there
    depends on that. It misleads about accuracy: constant scores have no variance.

    Intervals come from leaving out one subset at a time (a split, if subsets are halves), on the log scale; they are
    for subsets drawn this way from these rows, at these test points.

    Parameters
    ----------
    labelings : what `record` returned, with probabilities; two refits per subset or more to separate the sources
    scale : 'probability' or 'logit'
    level : confidence level of the intervals

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = (0.4 + 0.08 * rng.normal(size=(50, 1, 300)) + 0.06 * rng.normal(size=(50, 4, 300))).clip(0.01, 0.99)
    >>> v = score_variance(Labelings.from_arrays((p > 0.5).astype(int), [0, 1] * 150, scores=p))
    >>> round(v.share_sample.value, 2)  # 0.08² / (0.08² + 0.06²)
    0.64

    """
    expect.one_of(scale, "scale", SCALES)
    expect.fraction(level, "level")
    record, scores = _scored(expect_record(labelings, "labelings"))
    subsets, refits, points = record.labels.shape
    if subsets < 3:
        raise InputError(
            f"The record has {subsets} subsets; at least 3 are needed to see how scores vary. Record more."
        )
    values, of = _values(record, scores)
    clip = 0.0
    if scale == "logit":
        clip = _resolution(values)
        values = special.logit(values.clip(clip, 1 - clip)) if clip else special.logit(values)
    halve = 2.0 if values.shape[3] > 1 else 1.0
    # Over refits of each subset: the variance, summed over classes (K, n), and means (K, n, C).
    within = values.var(axis=1, ddof=1).sum(axis=2) / halve if refits > 1 else np.zeros((subsets, points))
    means = values.mean(axis=1)
    deterministic = record.deterministic
    known = refits > 1 or deterministic
    over_samples, chance = means.var(axis=0, ddof=1).sum(axis=1) / halve, within.mean(axis=0)
    per_point = pd.DataFrame({"total": over_samples + chance * (1 - 1 / refits),
                              "from_sample": over_samples - chance / refits, "from_randomness": chance})  # fmt: skip
    units = np.arange(subsets) // 2 if record.halves else np.arange(subsets)
    most = math.inf if scale == "logit" else 1.0
    figures = _Jackknife(means, within, units, refits, halve, level, most, known, deterministic)
    return ScoreVariance(
        learner=record.name,
        scale=scale,
        of=of,
        n_points=points,
        n_subsets=subsets,
        n_refits=refits,
        total=figures.total(),
        from_sample=figures.from_sample(),
        from_randomness=figures.from_randomness(),
        share_sample=figures.share(of_sample=True),
        share_randomness=figures.share(of_sample=False),
        raw_from_sample=figures.raw_from_sample(),
        clip=clip,
        per_point=per_point.assign(score=values.mean(axis=(0, 1))[:, -1] if halve == 1 else np.nan)[
            ["score", "total", "from_sample", "from_randomness"]
        ],
        notes=tuple(record.notes),
        record=record,
    )


def _scored(record: Labelings) -> tuple[Labelings, Scores]:
    record, scores = record.scored()
    if not scores.probabilities:
        raise InputError(
            "The variance of scores needs probabilities, and the learner gives decision values, which have no unit. "
            "Wrap it in CalibratedClassifierCV, or set probability=True where it has that."
        )
    return record, scores


def _values(record: Labelings, scores: Scores) -> tuple[Floats, str]:
    """(K, R, n, C') scores whose variance is taken, and what they are."""
    if scores.compact:
        return scores.true(record.truth).astype(float)[..., None], "probability of the true class"
    if record.classes.size == 2:
        return scores.positive.astype(float)[..., None], f"probability of {record.classes[1]}"
    return scores.values.astype(float), "probabilities of classes"


def _resolution(values: Floats) -> float:
    """Where to cut probabilities before taking logits: half the smallest distance from 0 or 1 that occurs."""
    inner = values[(values > 0) & (values < 1)]
    if inner.size == values.size:
        return 0.0
    if not inner.size:
        raise InputError(
            "All probabilities are 0 or 1, which have no logit. Use scale='probability'; a tree that is not cut, for "
            "example, is always certain."
        )
    return max(float(min(inner.min(), (1 - inner).min())) / 2, LEAST_CLIP)


@dataclass(frozen=True)
class _Jackknife:
    """Means over points of the variance components, and the same without each unit of subsets."""

    means: Floats
    within: Floats
    units: Any
    refits: int
    halve: float
    level: float
    most: float
    known: bool
    deterministic: bool

    @cached_property
    def _all(self) -> tuple[float, float]:
        return self._components(np.ones(len(self.means), dtype=bool))

    @cached_property
    def _left(self) -> Floats:
        """The components without each unit in turn."""
        return np.array([self._components(self.units != unit) for unit in np.unique(self.units)])

    def _components(self, kept: Any) -> tuple[float, float]:
        """Variance over subsets of means over refits, and within, without what is not kept."""
        some = self.means[kept]
        over = float(some.var(axis=0, ddof=1).sum(axis=1).mean()) / self.halve
        return over, float(self.within[kept].mean())

    def _estimate(self, figure: Any, scale: Any, back: Any, kind: str = OVER) -> Estimate:
        """A figure of (over, within), with the jackknife's interval on a scale where it is nearly normal."""
        value = figure(*self._all)
        left, count = self._left, len(self._left)
        with np.errstate(divide="ignore", invalid="ignore"):
            whole, others = scale(value), np.array([scale(figure(*each)) for each in left])
        if not np.isfinite(whole) or not np.isfinite(others).all():
            return Estimate(float(value), 0.0, math.inf, self.level, "unknown: nothing varies")
        pseudo = count * whole - (count - 1) * others
        reach = float(stats.t.ppf(0.5 + self.level / 2, count - 1)) * float(pseudo.std(ddof=1)) / math.sqrt(count)
        return Estimate(float(value), float(back(whole - reach)), float(back(whole + reach)), self.level, kind)

    @property
    def _constant(self) -> bool:
        return not any(self._all)

    def _never(self, kind: str) -> Estimate:
        """The variance where no unit has shown any: those that vary are rare."""
        return bounded(0.0, 0.0, len(self._left), self.level, kind, most=self.most)

    def total(self) -> Estimate:
        """Variance of a score over refits on other subsets."""
        if self._constant:
            return self._never("nothing varied")
        return self._estimate(lambda over, within: over + within * (1 - 1 / self.refits), np.log, np.exp)

    def raw_from_sample(self) -> float:
        """Unbiased, perhaps negative."""
        over, within = self._all
        return over - within / self.refits if self.known else math.nan

    def from_sample(self) -> Estimate:
        total = self.total()
        if self.deterministic or self._constant:
            return total
        if not self.known:
            return Estimate(math.nan, 0.0, total.high, self.level, "unknown: one refit per subset")
        # The variance between subsets, from 0 up: on the scale of log(over), of which it is a part.
        value = max(self.raw_from_sample(), 0.0)
        within = self._all[1] / self.refits
        over = self._estimate(lambda over, within: over, np.log, np.exp)
        high = over.high - within if over.high > within else over.high
        return Estimate(value, max(over.low - within, 0.0), high, self.level, OVER)

    def from_randomness(self) -> Estimate:
        if self.deterministic:
            return exact(0.0, "deterministic", self.level)
        if not self.known:
            return Estimate(math.nan, 0.0, self.total().high, self.level, "unknown: one refit per subset")
        if self._all[1] == 0:
            return self._never("refits on the same rows did not differ")
        return self._estimate(lambda over, within: within, np.log, np.exp)

    def share(self, of_sample: bool) -> Estimate:
        """The share of one source, from the ratio F of the mean squares between and within, on its log scale."""
        if self.deterministic:
            return exact(1.0 if of_sample else 0.0, "deterministic", self.level)
        if not self.known or self._constant:
            why = "undefined: nothing varied" if self.known else "unknown: one refit per subset"
            return Estimate(math.nan, 0.0, 1.0, self.level, why)

        def sample(ratio: float) -> float:
            between = max(ratio - 1, 0.0)
            return float(between / (between + self.refits)) if math.isfinite(between) else 1.0

        if self._all[1] == 0:
            least = self.total().low
            value, low, high = 1.0, least / (least + self._never("").high), 1.0
        else:
            ratio = self._estimate(lambda over, within: self.refits * over / within, np.log, np.exp)
            value, low, high = (sample(each) for each in (ratio.value, ratio.low, ratio.high))
        if not of_sample:
            value, low, high = 1 - value, 1 - high, 1 - low
        return Estimate(value, low, high, self.level, OVER)


def _share_of(table: Floats, record: Labelings, same_sample: bool, level: float) -> Estimate:
    if same_sample and not len(table):
        if record.deterministic:
            return exact(0.0, "deterministic", level)
        return Estimate(math.nan, 0.0, 1.0, level, "unknown: one refit per subset")
    disjoint = len(table) if same_sample or record.halves else len(table) // 2
    return share_of_table(table, disjoint, level, over(record.groups), record.groups)
