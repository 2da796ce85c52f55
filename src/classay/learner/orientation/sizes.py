"""`orientation(labelings, holdout_size=[1, 2, 5])`: how predictions vary, by the number of points looked at together.

I(F; Z_1..Z_h), the information that the labels of h points have on the training sample, cannot fall as h grows, nor
can the entropies. Each holdout of h points is part of one of h + 1, so that this holds for every holdout; estimates
are made to rise by isotonic regression.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from ... import expect
from ...intervals import Estimate, normal_quantile
from ...result import Result, parts_of
from ..records.labelings import Labelings
from .entropy import count, draw_holdouts, interval_kind, number_labelings
from .entropy_parts import EntropyParts, PluginOrientation, parts, plugin_orientation

FIGURES = ("expressivity", "capacity", "stochasticity")


@dataclass(frozen=True)
class OrientationBySize(Result, chart="learner.orientation:draw_by_size"):
    """The result of `orientation` for several sizes: `expressivity`, `capacity`, `stochasticity` by size, in bits.

    `identified` is the largest number of points whose labelings can be counted, 0 if there is none; beyond it,
    figures may be lower limits, the low ends of intervals. `plugin` has the paper's plain estimates of
    the three, by figure and number of points. `ceiling` is the number of points times the capacity of one: an upper
    limit if labels are independent given the training sample, and only then.
    """

    learner: str
    n_classes: int
    sizes: tuple[int, ...]
    identified: int
    expressivity: dict[int, Estimate]
    capacity: dict[int, Estimate]
    stochasticity: dict[int, Estimate]
    plugin: dict[str, dict[int, Estimate]]
    ceiling: dict[int, float]
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row per number of points and figure: learner, points, figure, value, low, high, level, kind."""
        estimates = {name: getattr(self, name) for name in FIGURES}
        estimates |= {f"plugin_{name}": self.plugin[name] for name in FIGURES}
        rows = [
            {"learner": self.learner, "points": size, "figure": name, **parts_of(by_size[size])}
            for size in self.sizes
            for name, by_size in estimates.items()
        ]
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        # With one refit per subset, data and training randomness cannot be separated.
        split = all(each.known for each in self.stochasticity.values())
        name, figure = ("capacity", self.capacity) if split else ("expressivity", self.expressivity)
        curve = ", ".join(f"{size}: {figure[size]}" for size in self.sizes)
        limit = (
            "Not even single points can be counted."
            if self.identified == 0
            else f"Up to {expect.counted(self.identified, 'point')} can be counted."
        )
        if not split:
            limit += " Capacity and stochasticity are unknown: there is one refit per subset. Record with repeats=10."
        return " ".join([f"{self.learner}: {name} in bits by number of points, {curve}. {limit}", *self.notes])


def orientation_by_size(
    record: Labelings,
    labels: NDArray[np.integer],
    sizes: list[int],
    holdouts: int,
    random_state: int | np.random.Generator | None,
    level: float,
) -> OrientationBySize:
    """The three entropies at each number of points; `labels` are those of complete refits (K, R, n)."""
    wanted = sorted({expect.whole(size, "holdout_size", at_least=1) for size in sizes})
    if not wanted:
        raise expect.InputError("`holdout_size` is empty; expected a number of points, or several such as [1, 2, 5].")
    chosen = draw_holdouts(labels.shape[-1], wanted[-1], holdouts, random_state)
    n_classes = len(record.classes)
    measured: dict[int, EntropyParts] = {}
    plain: dict[int, PluginOrientation] = {}
    for size in sorted({1, *wanted}):
        first_points = chosen[:, :size]
        counts = count(number_labelings(labels, first_points, n_classes))
        kind = interval_kind(record)
        measured[size] = parts(counts, labels, first_points, n_classes, record.deterministic, level, kind)
        plain[size] = plugin_orientation(counts, record.deterministic, size * math.log2(n_classes), level)
    countable = [size for size, entropies in measured.items() if entropies.identified]
    curves = _rising({size: measured[size] for size in countable}, level)
    raised = _limits_raised(
        {name: {size: curves[name].get(size, getattr(measured[size], name)) for size in wanted} for name in FIGURES}
    )
    return OrientationBySize(
        learner=record.name,
        n_classes=n_classes,
        sizes=tuple(wanted),
        identified=max(countable, default=0),
        expressivity=raised["expressivity"],
        capacity=raised["capacity"],
        stochasticity=raised["stochasticity"],
        plugin={name: {size: getattr(plain[size], name) for size in wanted} for name in FIGURES},
        ceiling={size: size * measured[1].capacity.value for size in wanted},
        notes=tuple(record.notes),
    )


def _rising(measured: dict[int, EntropyParts], level: float) -> dict[str, dict[int, Estimate]]:
    """Capacity and stochasticity made to rise with size, weighted by their errors; expressivity is their sum."""
    curves: dict[str, dict[int, Estimate]] = {name: {} for name in FIGURES}
    if not measured:
        return curves
    sizes = list(measured)
    known = all(each.capacity.known for each in measured.values())
    for name in ("capacity", "stochasticity") if known else ("expressivity",):
        estimates = [getattr(each, name) for each in measured.values()]
        errors = np.array([(one.high - one.low) / 2 / normal_quantile(level) for one in estimates])
        weights = 1 / np.maximum(errors, max(float(errors.max()) * 1e-3, 1e-9)) ** 2
        values = isotonic_regression([one.value for one in estimates], sample_weight=weights)
        curves[name] = {size: _moved(one, float(value)) for size, one, value in zip(sizes, estimates, values)}
    if known:
        for size, each in measured.items():
            value = curves["capacity"][size].value + curves["stochasticity"][size].value
            curves["expressivity"][size] = _moved(each.expressivity, value)
    else:
        for name in ("capacity", "stochasticity"):
            curves[name] = {size: getattr(each, name) for size, each in measured.items()}
    return curves


def _limits_raised(by_size: dict[str, dict[int, Estimate]]) -> dict[str, dict[int, Estimate]]:
    """Lower limits raised to the low ends of all smaller sizes, and those of expressivity to its part's."""
    raised: dict[str, dict[int, Estimate]] = {name: {} for name in FIGURES}
    for name in reversed(FIGURES):
        least = 0.0
        for size, one in by_size[name].items():
            part = raised["stochasticity"][size].low if name == "expressivity" else 0.0
            low = max(one.low, least, part)
            limit = replace(one, value=low, low=low, high=max(one.high, low))
            raised[name][size] = limit if one.prefix else one
            least = max(least, raised[name][size].low)
    return raised


def _moved(estimate: Estimate, value: float) -> Estimate:
    return replace(estimate, value=value, low=min(estimate.low, value), high=max(estimate.high, value))
