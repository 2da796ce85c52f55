"""`Sweep`: a learner's figures along a parameter, and the records for further measures."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from ...expect import InputError, counted
from ...intervals import Estimate, difference
from ...notes import Note
from ...result import Result, parts_of, plain
from ..fitting.groups import ALONE, is_numeric
from ..orientation.orientation import Orientation, usual_threshold
from ..records.labelings import Labelings
from ..scores.metrics import RefitSpread
from ..scores.scorers import LOWER_IS_BETTER
from ..stability.stability import stability
from .best_value import SweepComparison, compared, text_of
from .training_data import STORED, WITHOUT_BEST

LEAST_VALUES, FEW_VALUES = 3, 8


@dataclass(frozen=True)
class PathUse:
    """How some values were fitted: `kind` is what they share; `exact`, whether bit for bit as separate fits."""

    parameter: str
    values: tuple[Any, ...]
    kind: str
    exact: bool


@dataclass(frozen=True)
class Correlation:
    """Pearson's and Spearman's correlation over the values of a parameter, NaN where nothing varies.

    Of the `n` values, `distinct` differ; copies, such as depths that no tree reaches, count once, and with fewer than 3
    different ones nothing is known. `limits` more values are left out: only a lower limit of their stochasticity is
    known. The p-values treat values of the parameter as independent. They share subsets and
    neighbouring values are similar, so p is too small; it is kept because the paper's Table 4 has it. Spearman's uses
    Student's t; up to 8 values, where that is far too small, it is the share of all orders that are as extreme: with 3
    values never below 1/3.
    """

    n: int
    distinct: int
    pearson: float
    pearson_p: float
    spearman: float
    spearman_p: float
    limits: int = 0

    def __str__(self) -> str:
        values = (
            counted(self.n, "value") if self.distinct == self.n else f"{self.n} values, of which {self.distinct} differ"
        )
        if self.limits:
            values += f", without {self.limits} of which only a lower limit is known"
        if math.isnan(self.pearson):
            return f"unknown over {values}"
        return (
            f"Pearson {self.pearson:.2f}, Spearman {self.spearman:.2f} over {values} (on the same test points, so not "
            "independent)"
        )


@dataclass(frozen=True, eq=False)
class Sweep(Result, chart="sweep:SWEEP"):
    """The result of `sweep`. `orientations` and `records` are by value, or by pair of values for two parameters.

    `gap_correlation` is that of stochasticity with the gap between training and test accuracy, over values;
    `plugin_gap_correlation` the same with the paper's estimate of stochasticity. `paths` says how values were fitted,
    `failed` which could not be, and why. `metric` is the metric that was asked for beside accuracy: by value, its
    estimate (`metric_estimates`) and how far it moves over refits (`metric_spread`). `between_windows` is for a sweep
    over `time`: by how many bits labelings vary more over all windows than within one: what the stream changes.
    """

    learner: str
    parameters: tuple[str, ...]
    values: tuple[Any, ...]
    orientations: dict[Any, Orientation]
    records: dict[Any, Labelings]
    gap_correlation: Correlation
    plugin_gap_correlation: Correlation
    paths: tuple[PathUse, ...]
    failed: dict[Any, str]
    interrupted: bool
    notes: tuple[str, ...]
    metric: str = ""
    metric_estimates: dict[Any, Estimate] = field(default_factory=dict)
    metric_spread: dict[Any, RefitSpread] = field(default_factory=dict)
    between_windows: Estimate | None = None

    def to_frame(self, raw: bool = False) -> pd.DataFrame:
        """One row per value and metric: learner, parameter, value, metric, threshold, estimate, low, high, level, kind.

        Metrics are those of `Orientation.to_frame`, `gap`, training minus test accuracy, and the metric asked for. Two
        parameters add `parameter_2` and `value_2`. `raw`: one row per value, metric and holdout, with the plain
        estimates.
        """
        tables = [
            one.per_holdout.melt("holdout", var_name="metric", value_name="estimate")
            if raw
            else _figures(one, self.metric, self.metric_estimates.get(value))
            for value, one in self.orientations.items()
        ]
        for value, table in zip(self.orientations, tables):
            self._place(table, value)
        return pd.concat(tables, ignore_index=True)

    def ask(self, measure: Callable[..., Result], **options: Any) -> pd.DataFrame:
        """Apply another measure, such as `classay.stability`, to every record: its tables, one below the other."""
        tables = []
        for value, labelings in self.records.items():
            table = measure(labelings, **options).to_frame().rename(columns={"value": "estimate", "figure": "metric"})
            table = table.drop(columns="learner", errors="ignore")
            tables.append(self._place(table, value))
        return pd.concat(tables, ignore_index=True)

    def compare(
        self, utility: Mapping[str, float] | None = None, prefer: str = "smallest", level: float = 0.95
    ) -> SweepComparison:
        """Compare every value with the best, on the same subsets and test points, and choose the simplest as good.

        The difference of two values is the mean of the differences by subset and test point: what the sample adds to
        both cancels, so its interval is narrower than the two bands suggest. One-standard-error rule: the
        simplest value whose difference from the best is within one standard error of that difference.

        It misleads as the best of many values is also the luckiest: its own figure is optimistic, and small differences
        from it are too large. Test the chosen value on rows that no sweep has seen.

        Parameters
        ----------
        utility : weights of `accuracy`, `stability` (agreement of refits on different subsets), `cost` (seconds of a
            fit and its predictions) and `complexity` (leaves or coefficients of a fit, or else numbers that it keeps),
            such as {"accuracy": 1, "stability": 0.5, "complexity": -0.001}; default: accuracy alone. Cost and
            complexity are losses: their weights are below 0. They need values that were fitted one by one, with
            share_paths=False: they are not measured for a value of a shared fit
        prefer : which of the values that are as good is the simplest: smallest, largest, or first in the given order
        level : confidence level of the intervals

        """
        return compared(self.learner, self.parameters, self.records, utility, prefer, level)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; for records, their provenance and failures."""
        content = {
            each.name: plain(getattr(self, each.name)) for each in dataclasses.fields(self) if each.name != "records"
        }
        content["records"] = {
            str(value): {"about": plain(one.about), "failures": plain(one.failures), "notes": list(one.notes)}
            for value, one in self.records.items()
        }
        return content

    def gap(self, value: Any) -> Estimate:
        """Accuracy on training rows minus that on test points, at a value."""
        one = self.orientations[value]
        return difference(one.train_accuracy, one.accuracy)

    def stability(self, value: Any) -> Estimate:
        """How often refits on different subsets agree on test points, at a value: see `stability`."""
        one = self.orientations[value]
        return stability(self.records[value], "test", one.accuracy.level).stability

    def __str__(self) -> str:
        sentences = [f"{self.learner}, {self._along()}: {self._story()}"]
        if self.between_windows is not None:
            mean = np.mean([one.stochasticity.value for one in self.orientations.values()])
            sentences.append(
                f"Over all windows, predictions vary by {self.between_windows} bits more than within one: what the "
                "stream changes."
            )
            if np.isfinite(mean):
                sentences.append(f"Training randomness is {mean:.3g} bits of a window's expressivity, on average.")
        if len(self.values) > 1 and self.parameters[0] not in WITHOUT_BEST:
            sentences.append(self._simplest())
        if len(self.values) > 2 and self.parameters != (STORED,):
            sentences.append(f"Stochasticity with the train–test gap: {self.gap_correlation}.")
        shared = [use for use in self.paths if use.kind != ALONE]
        if shared:
            exactly = "exactly" if all(use.exact for use in shared) else "in distribution"
            number = sum(len(use.values) for use in shared)
            sentences.append(
                f"{number} values share work ({shared[0].kind}), {exactly} as separate fits would predict."
            )
        sentences += [f"{text_of(value)} failed: {why}" for value, why in list(self.failed.items())[:3]]
        more = len(self.failed) - 3
        return " ".join([*sentences, *([f"{more} more failed."] if more > 0 else []), *self.notes])

    def _simplest(self) -> str:
        try:
            found = self.compare()
        except InputError:
            return "Values have different subsets and cannot be compared in pairs."
        if found.chosen == found.best:
            return "No simpler value is within one standard error of the best, on the same test points."
        return (
            f"{text_of(found.chosen)} is as good as the best: {found.difference[found.chosen]:+.2g} in accuracy on the "
            "same test points, within one standard error."
        )

    def _along(self) -> str:
        names = " x ".join(self.parameters)
        if len(self.parameters) == 1 and is_numeric(self.values) and len(self.values) > 1:
            return f"{names} from {min(self.values):g} to {max(self.values):g} ({len(self.values)} values)"
        return f"{names} ({counted(len(self.values), 'value')})"

    def _story(self) -> str:
        orientations = self.orientations
        best = max(orientations, key=lambda value: orientations[value].accuracy.value)
        first, last = next(iter(orientations)), list(orientations)[-1]
        if self.parameters == (STORED,):
            shares = (f"{share} of {text_of(size)}" for size, share in self.metric_estimates.items())
            return f"{self.metric}: {', '.join(shares)}."
        text = f"test accuracy is best at {text_of(best)}, {orientations[best].accuracy}"
        known = {value: each for value, each in self.metric_estimates.items() if each.known}
        if known:
            top = max(known, key=lambda value: known[value].value * (-1 if self.metric in LOWER_IS_BETTER else 1))
            spread = self.metric_spread[top]
            text += f"; {self.metric} is best at {text_of(top)}, {known[top]} (90 % of refits {spread})"
        if len(orientations) == 1:
            return (
                f"{text}; capacity {orientations[best].capacity}, stochasticity "
                f"{orientations[best].stochasticity} bits."
            )
        threshold = usual_threshold(orientations[best].holdout_size)
        ends: dict[str, tuple[Estimate, Estimate]] = {
            name: (getattr(orientations[first], name), getattr(orientations[last], name))
            for name in ("expressivity", "capacity", "stochasticity")
        }
        # With one refit per subset, data and training randomness cannot be separated.
        parts = ", ".join(
            f"{name} {' to '.join(map(_end, pair))}" if any(each.known for each in pair) else f"{name} unknown"
            for name, pair in ends.items()
        )
        again = f", stability {self.stability(first).value:.3g} to {self.stability(last).value:.3g}"
        return (
            f"{text}. From the first to the last value: accuracy {orientations[first].accuracy.value:.3g} to "
            f"{orientations[last].accuracy.value:.3g}{again}, bias at {threshold} of {orientations[best].holdout_size} "
            f"{orientations[first].bias[threshold].value:+.3g} to "
            f"{orientations[last].bias[threshold].value:+.3g}, {parts} bits."
        )

    def _place(self, table: pd.DataFrame, value: Any) -> pd.DataFrame:
        """Put learner, parameters and values in front of a table."""
        parts = value if len(self.parameters) > 1 else (value,)
        for place, (name, part) in reversed(list(enumerate(zip(self.parameters, parts)))):
            end = f"_{place + 1}" if place else ""
            table.insert(0, f"value{end}", pd.Series([part] * len(table), index=table.index))
            table.insert(0, f"parameter{end}", name)
        table.insert(0, "learner", self.learner)
        return table


def correlated(stochasticity: list[float], gap: list[float], limits: int = 0) -> Correlation:
    """Correlations of two figures over the values at which both are known; `limits` more of them have only a limit."""
    table: NDArray[np.float64] = np.array([stochasticity, gap], dtype=float)
    known = table[:, np.isfinite(table).all(axis=0)]
    total = known.shape[1]
    # Rounding alone is not variation, and a copy is no further evidence.
    _, places = np.unique(known.round(12), axis=1, return_index=True)
    known = known[:, np.sort(places)]
    n = known.shape[1]
    if n < LEAST_VALUES or (np.ptp(known, axis=1) < 1e-12).any():
        return Correlation(total, n, math.nan, math.nan, math.nan, math.nan, limits)
    pearson, spearman = stats.pearsonr(*known), stats.spearmanr(*known)
    spearman_p = float(spearman.pvalue) if n > FEW_VALUES else _share_of_orders(*known)
    both = float(pearson.statistic), float(pearson.pvalue), float(spearman.statistic), spearman_p
    return Correlation(total, n, *both, limits)


def _share_of_orders(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """The share of all orders of values whose Spearman correlation is at least as far from 0 as this one's."""
    ranks, others = (stats.rankdata(each) - (len(each) + 1) / 2 for each in (first, second))
    orders = np.array(list(permutations(others)))
    return float(np.mean(np.abs(orders @ ranks) >= abs(others @ ranks) - 1e-9))


@dataclass(frozen=True)
class SweepRecords:
    """The records of a sweep by value, why other values have none, and how they were fitted."""

    parameters: tuple[str, ...]
    records: dict[Any, Labelings]
    failed: dict[Any, str]
    paths: tuple[PathUse, ...]
    interrupted: bool
    notes: list[Note]


def summed_up(
    learner: str,
    swept: SweepRecords,
    measured: dict[Any, Orientation | str],
    metric: str,
    figures: dict[Any, tuple[Estimate, RefitSpread]],
) -> Sweep:
    """A sweep from what was measured at each value; a text there says why it could not be measured.

    `figures` are the metric and its spread over refits, by value.
    """
    orientations = {value: one for value, one in measured.items() if isinstance(one, Orientation)}
    failed = {**swept.failed, **{value: one for value, one in measured.items() if isinstance(one, str)}}
    if not orientations:
        raise InputError(f"No value gave a record that can be measured. {next(iter(failed.values()), '')}".strip())
    gaps = [one.train_accuracy.value - one.accuracy.value for one in orientations.values()]
    # A lower limit may be far below what it limits: values would be ordered by how little is known of them.
    own = [one.stochasticity for one in orientations.values()]
    limited = [bool(each.prefix) or each.between for each in own]
    counted_bits = [math.nan if limit else each.value for limit, each in zip(limited, own)]
    return Sweep(
        learner=learner,
        parameters=swept.parameters,
        values=tuple(orientations),
        orientations=orientations,
        records={value: swept.records[value] for value in orientations},
        gap_correlation=correlated(counted_bits, gaps, sum(limited)),
        plugin_gap_correlation=correlated([one.plugin.stochasticity.value for one in orientations.values()], gaps),
        paths=swept.paths,
        failed=failed,
        interrupted=swept.interrupted,
        notes=tuple(swept.notes),
        metric=metric,
        metric_estimates={value: estimate for value, (estimate, _) in figures.items() if value in orientations},
        metric_spread={value: spread for value, (_, spread) in figures.items() if value in orientations},
    )


def _end(estimate: Estimate) -> str:
    """A figure without its interval, unless that is all that is known."""
    return str(estimate) if estimate.between or not estimate.known else f"{estimate.prefix}{estimate.value:.3g}"


def _figures(one: Orientation, metric: str, estimate: Estimate | None) -> pd.DataFrame:
    more = {"gap": difference(one.train_accuracy, one.accuracy)}
    if estimate is not None and metric != "accuracy":
        more[metric] = estimate
    rows = pd.DataFrame([{"figure": name, **parts_of(each)} for name, each in more.items()])
    table = pd.concat([one.to_frame(), rows], ignore_index=True).astype({"threshold": "Int64"})
    return table.rename(columns={"figure": "metric", "value": "estimate"})[
        ["metric", "threshold", "estimate", "low", "high", "level", "kind"]
    ]
