"""`Sweep.compare`: which values of a parameter are as good as the best, on the same subsets and test points."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ...arrays import Floats
from ...expect import InputError, counted, fraction, one_of, shown
from ...intervals import Estimate, around, crossed_standard_error
from ...result import Result
from ..fitting.groups import is_numeric
from ..records.labelings import Labelings

LOSSES = {
    "cost": "Cost is the mean time of one fit and its predictions, in seconds, measured in this sweep.",
    "complexity": "Complexity is the mean number of leaves or coefficients of a fit, or else of numbers it keeps.",
}
PARTS = ("accuracy", "stability", *LOSSES)
MOST_EQUAL = 0.1
"""Share of refits above which the same seconds at two values are no coincidence."""
PAIRED = "paired, over subsets and points"


@dataclass(frozen=True)
class SweepComparison(Result, chart="sweep:comparison_chart"):
    """The result of `Sweep.compare`: every value against the best, on the same subsets and points.

    `utility[value]` is the figure that is compared, `difference[value]` its difference from that of `best` with a
    paired interval, `error[value]` the standard error of that difference. `chosen` is the simplest value that is within
    one standard error of the best; `as_good` are all whose interval contains 0.
    """

    learner: str
    parameters: tuple[str, ...]
    weights: dict[str, float]
    best: Any
    chosen: Any
    as_good: tuple[Any, ...]
    utility: dict[Any, Estimate]
    difference: dict[Any, Estimate]
    error: dict[Any, float]
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row per value: learner, parameter, value, utility, difference, low, high, standard_error, chosen."""
        rows = [
            {
                "learner": self.learner,
                "parameter": " x ".join(self.parameters),
                "value": value,
                "utility": self.utility[value].value,
                "difference": one.value,
                "low": one.low,
                "high": one.high,
                "level": one.level,
                "standard_error": self.error[value],
                "within_one_error": bool(one.value >= -self.error[value]),
                "best": value == self.best,
                "chosen": value == self.chosen,
            }
            for value, one in self.difference.items()
        ]
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        what = in_words(self.weights)
        names = " x ".join(self.parameters)
        best = self.utility[self.best]
        text = f"{self.learner}, {names}: {what} is best at {text_of(self.best)} ({best.value:.3g})."
        if self.chosen == self.best:
            text += " No simpler value is within one standard error of it."
        else:
            text += (
                f" {text_of(self.chosen)} is as good: {self.difference[self.chosen]:+.3g} on the same test points, "
                f"within one standard error ({self.error[self.chosen]:.2g})."
            )
        others = len(self.as_good) - 1
        text += f" For {counted(others, 'other value')}, the interval of the difference contains 0."
        return " ".join([text, *self.notes])


def compared(
    learner: str,
    parameters: tuple[str, ...],
    records: Mapping[Any, Labelings],
    weights: Mapping[str, float] | None,
    prefer: str,
    level: float,
) -> SweepComparison:
    """Compare all records with the best; see `Sweep.compare`."""
    weighed = expect_weights(weights)
    one_of(prefer, "prefer", ("smallest", "largest", "first"))
    fraction(level, "level")
    if weighed.get("cost"):
        _expect_own_seconds(records)
    if weighed.get("complexity"):
        _expect_complexity(records)
    tables = _paired({value: utility_table(record, weighed) for value, record in records.items()}, records)
    best = max(tables, key=lambda value: float(tables[value].mean()))
    utility = {value: _estimate(table, level) for value, table in tables.items()}
    difference = {value: _estimate(table - tables[best], level) for value, table in tables.items()}
    error = {value: crossed_standard_error(table - tables[best]) for value, table in tables.items()}
    within = [value for value in tables if difference[value].value >= -error[value]]
    notes = []
    if prefer != "first" and not is_numeric(tuple(tables)):
        prefer = "first"
        words = [value for value in tables if not is_numeric((value,))]
        why = "Pairs of values have no order" if len(parameters) > 1 else f"{text_of(words[0])} is not a number"
        notes.append(f"{why}: the first in the given order counts as the simplest.")
    notes += [meaning for name, meaning in LOSSES.items() if weighed.get(name)]
    chosen = within[0] if prefer == "first" else (min if prefer == "smallest" else max)(within)
    if len(next(iter(tables.values()))) < 20:
        notes.append("With fewer than 20 subsets, standard errors are rough.")
    return SweepComparison(
        learner=learner,
        parameters=parameters,
        weights=weighed,
        best=best,
        chosen=chosen,
        as_good=tuple(value for value, one in difference.items() if one.low <= 0 <= one.high),
        utility=utility,
        difference=difference,
        error=error,
        notes=tuple(notes),
    )


def _paired(tables: dict[Any, Floats], records: Mapping[Any, Labelings]) -> dict[Any, Floats]:
    """The tables reduced to the subsets that all of them have."""
    kept = {value: record.chosen()[0] for value, record in records.items()}
    if len({(record.labels.shape[0], record.labels.shape[2]) for record in records.values()}) > 1:
        raise InputError("Values have different numbers of subsets or test points, so that they cannot be paired.")
    common = set.intersection(*(set(subsets.tolist()) for subsets in kept.values()))
    if len(common) < 2:
        raise InputError("Fewer than 2 subsets are complete at all values, so that they cannot be paired.")
    return {value: table[np.isin(kept[value], list(common))] for value, table in tables.items()}


def _expect_own_seconds(records: Mapping[Any, Labelings]) -> None:
    """Refuse values whose seconds are not their own: those of a shared fit are spread evenly over its values.

    Not all need be equal: some may have failed, or been fitted again one by one. But of many quick fits, two may take
    the same number of nanoseconds by coincidence.
    """
    for (twin, one), (value, other) in combinations(records.items(), 2):
        if one.seconds.shape != other.seconds.shape:
            continue
        known = np.isfinite(one.seconds) & np.isfinite(other.seconds)
        if (one.seconds == other.seconds).sum() > MOST_EQUAL * known.sum():
            raise InputError(
                f"`utility` has a cost, but {text_of(twin)} and {text_of(value)} were fitted together, so what each "
                "costs was not measured. Sweep with share_paths=False, with a store in another folder; or leave it out."
            )


def _expect_complexity(records: Mapping[Any, Labelings]) -> None:
    for value, record in records.items():
        if record.complexity is None or np.isnan(record.complexity[record.chosen()[0]]).all(axis=1).any():
            raise InputError(
                f"`utility` has a complexity, but fits at {text_of(value)} have none: values that share fits are not "
                "counted (sweep with share_paths=False), nor are fits outside Python, such as those of XGBoost."
            )


def expect_weights(weights: Mapping[str, float] | None) -> dict[str, float]:
    """The weight of accuracy, stability, a second of fitting and a leaf or coefficient, if they make a utility."""
    given: Any = {"accuracy": 1.0} if weights is None else weights
    if not isinstance(given, Mapping) or not given or set(given) - set(PARTS):
        raise InputError(
            f"`utility` is {given!r}; expected weights by name, of {shown(PARTS)}, such as "
            "{'accuracy': 1, 'stability': 0.5, 'cost': -0.01}."
        )
    try:
        weighed = {name: float(weight) for name, weight in given.items()}
    except (TypeError, ValueError):
        weighed = {}
    if not any(weighed.values()) or not all(map(math.isfinite, weighed.values())):
        raise InputError(f"`utility` is {given!r}; expected finite weights, not all of them 0.")
    for name in LOSSES:
        if weighed.get(name, 0) > 0:
            raise InputError(
                f"`utility` has {name} {weighed[name]:g}; a {name} is a loss: expected a weight below 0, such as "
                f"{-weighed[name]:g} for what {'one second of a fit' if name == 'cost' else 'one leaf'} takes away."
            )
    return weighed


def utility_table(record: Labelings, weights: Mapping[str, float]) -> Floats:
    """What every subset and test point add to the utility, (K, n); its mean is the utility."""
    labels = record.complete()
    table = np.zeros((labels.shape[0], labels.shape[2]))
    for name, weight in weights.items():
        if weight and name == "accuracy":
            table += weight * (labels == record.truth).mean(axis=1)
        elif weight and name == "stability":
            table += weight * _stability_table(labels, len(record.classes))
        elif weight:
            by_refit = record.seconds if name == "cost" else record.complexity
            assert by_refit is not None  # refused before
            table += weight * np.nanmean(by_refit[record.chosen()[0]], axis=1)[:, None]
    return table


def _stability_table(labels: Any, n_classes: int) -> Floats:
    """Agreement of refits on different subsets, as pseudo-values (K, n): their mean is it, their spread its error.

    It is a mean over pairs of subsets, so a subset counts twice: 2·(agreement with the others) − (agreement of all).
    """
    n_subsets, n_refits, _ = labels.shape
    if n_subsets < 2:
        raise InputError("Stability needs at least 2 subsets.")
    agreement = np.zeros((n_subsets, labels.shape[2]))
    for code in range(n_classes):
        share = (labels == code).sum(axis=1) / n_refits
        agreement += share * (share.sum(axis=0) - share) / (n_subsets - 1)
    return np.asarray(2 * agreement - agreement.mean(axis=0))


def _estimate(table: Floats, level: float) -> Estimate:
    return around(float(table.mean()), crossed_standard_error(table), level, PAIRED, len(table))


def in_words(weights: Mapping[str, float]) -> str:
    """A utility as text: `accuracy`, or `accuracy + 0.5 stability - 0.01 cost`.

    >>> in_words({"accuracy": 1.0}), in_words({"accuracy": 1, "stability": 0.5, "cost": -0.01})
    ('accuracy', 'accuracy + 0.5 stability - 0.01 cost')
    """
    sizes = {name: "" if math.isclose(abs(weight), 1) else f"{abs(weight):g} " for name, weight in weights.items()}
    terms = (f"{'-' if weight < 0 else '+'} {sizes[name]}{name}" for name, weight in weights.items() if weight)
    return " ".join(terms).removeprefix("+ ")


def text_of(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
