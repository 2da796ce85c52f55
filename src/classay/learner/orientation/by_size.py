"""`orientation_by_size`: how much predictions vary, and why, by the number of points that are looked at together."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from sklearn.isotonic import isotonic_regression

from ... import expect
from ...intervals import Estimate, normal_quantile
from ...result import PARTS, Result
from ..records.labelings import Labelings, expect_record
from .entropy import count, number_labelings
from .entropy_parts import EntropyParts, parts, usual_size
from .holdouts import draw_holdouts, interval_kind
from .plugin import PluginOrientation, plugin_orientation

FIGURES = ("expressivity", "capacity", "stochasticity")


@dataclass(frozen=True)
class OrientationBySize(Result, chart="learner.orientation:draw_by_size"):
    """The result of `orientation_by_size`: `expressivity`, `capacity` and `stochasticity` by number of points, in bits.

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
            {"learner": self.learner, "points": size, "figure": name}
            | {part: getattr(by_size[size], part) for part in PARTS}
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
    labelings: Labelings,
    sizes: Iterable[int] = (1, 2, 3, 4, 5),
    holdouts: int = 100,
    random_state: int | np.random.Generator | None = 0,
    level: float = 0.95,
) -> OrientationBySize:
    """Measure how expressivity, capacity and stochasticity grow with the number of points looked at together.

    I(F; Z_1..Z_h), the information that the labels of h points have on the training sample, cannot fall as h grows, nor
    can the entropies. Each holdout of h points is part of one of h + 1, so that this holds for every holdout; estimates
    are made to rise by isotonic regression.

    Bits, from 0 to h·log2 c. The entropies can be counted while labelings repeat over subsets; beyond that,
    expressivity and capacity are "at least" the low end of the interval that fewer points have.

    It misleads if the ceiling, h times the capacity of one point, is taken as a limit: labels that depend on
    each other given the training sample can exceed it.

    Parameters
    ----------
    labelings : what `record` returned
    sizes : numbers of points
    holdouts, random_state, level : as in `orientation`

    Examples
    --------
    >>> answers = np.random.default_rng(0).integers(2, size=(30, 4, 20))
    >>> curve = orientation_by_size(Labelings.from_arrays(answers, np.arange(20) % 2), sizes=(1, 2, 3))
    >>> curve.sizes, curve.identified
    ((1, 2, 3), 3)

    """
    record = expect_record(labelings, "labelings")
    labels = record.complete()
    if len(labels) < 2:
        raise expect.InputError(f"The record has {len(labels)} subset; at least 2 are needed. Record more subsets.")
    wanted = sorted({expect.whole(size, "sizes", at_least=1) for size in sizes})
    if not wanted:
        raise expect.InputError("`sizes` is empty; expected numbers of points, such as (1, 2, 3).")
    chosen = draw_holdouts(labels.shape[-1], wanted[-1], holdouts, random_state)
    n_classes = len(record.classes)
    found: dict[int, EntropyParts] = {}
    plain: dict[int, PluginOrientation] = {}
    for size in sorted({1, *wanted}):
        counts = count(number_labelings(labels, chosen[:, :size], n_classes))
        found[size] = parts(
            counts, labels, chosen[:, :size], n_classes, record.deterministic, level, interval_kind(record)
        )
        plain[size] = plugin_orientation(counts, record.deterministic, size * math.log2(n_classes), level)
    countable = [size for size, each in found.items() if each.identified]
    curves = _rising({size: found[size] for size in countable}, level)
    by_size = {name: {size: curves[name].get(size, getattr(found[size], name)) for size in wanted} for name in FIGURES}
    by_size = _limits_raised(by_size)
    single = found[1].capacity.value
    return OrientationBySize(
        learner=record.name,
        n_classes=n_classes,
        sizes=tuple(wanted),
        identified=max(countable, default=0),
        **by_size,
        plugin={name: {size: getattr(plain[size], name) for size in wanted} for name in FIGURES},
        ceiling={size: size * single for size in wanted},
        notes=tuple(record.notes),
    )


def countable_size(
    labelings: Labelings, holdouts: int = 100, random_state: int | np.random.Generator | None = 0
) -> int:
    """How many points `orientation` looks at together if it is not given a size: at most five."""
    labels = labelings.complete()
    chosen = draw_holdouts(labels.shape[-1], None, holdouts, random_state)
    return usual_size(labels, chosen, len(labelings.classes))


def _rising(found: dict[int, EntropyParts], level: float) -> dict[str, dict[int, Estimate]]:
    """Capacity and stochasticity made to rise with size, weighted by their errors; expressivity is their sum."""
    curves: dict[str, dict[int, Estimate]] = {name: {} for name in FIGURES}
    if not found:
        return curves
    sizes = list(found)
    known = all(each.capacity.known for each in found.values())
    for name in ("capacity", "stochasticity") if known else ("expressivity",):
        estimates = [getattr(each, name) for each in found.values()]
        errors = np.array([(one.high - one.low) / 2 / normal_quantile(level) for one in estimates])
        weights = 1 / np.maximum(errors, max(float(errors.max()) * 1e-3, 1e-9)) ** 2
        values = isotonic_regression([one.value for one in estimates], sample_weight=weights)
        curves[name] = {size: _moved(one, float(value)) for size, one, value in zip(sizes, estimates, values)}
    if known:
        for size, each in found.items():
            value = curves["capacity"][size].value + curves["stochasticity"][size].value
            curves["expressivity"][size] = _moved(each.expressivity, value)
    else:
        for name in ("capacity", "stochasticity"):
            curves[name] = {size: getattr(each, name) for size, each in found.items()}
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
