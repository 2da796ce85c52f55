"""With how many classes one classifier overtakes another."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from ... import expect
from ...arrays import Floats
from ...intervals import Estimate
from ...result import Result, parts_of
from ..curve.jackknife import jackknife_error
from ..ranks.evidence import mean_over_label_sets
from .methods import BeatenShare, combine
from .u_distribution import MOST_CLASSES, OF_ERROR, OF_GAP, UDistribution

SIZES = 120
KIND = "over classes"


@dataclass(frozen=True, eq=False)
class Crossing(Result, chart="curve:crossing_chart"):
    """The result of `Curve.crossing`.

    `difference[i]` is the accuracy of `first` minus that of `second` with `k[i]` classes, `crossings` the numbers of
    classes at which the sign changes, each with the range of k around it in which the two are not distinguished.
    `paired`: the two have the same classes, so what classes have in common cancels.
    """

    first: str
    second: str
    k: tuple[int, ...]
    accuracy_first: Floats
    accuracy_second: Floats
    difference: tuple[Estimate, ...]
    crossings: tuple[Estimate, ...]
    paired: bool
    observed: int

    def to_frame(self) -> pd.DataFrame:
        """One row per size and per crossing: figure, k, value, low, high, level, kind."""
        rows = [{"figure": "difference", "k": k, **parts_of(each)} for k, each in zip(self.k, self.difference)]
        rows += [{"figure": "crossing", "k": round(each.value), **parts_of(each)} for each in self.crossings]
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        last = self.difference[-1]
        ahead = self.first if last.value > 0 else self.second
        if not self.crossings:
            sure = "" if last.low > 0 or last.high < 0 else ", but not clearly at the end"
            text = f"{ahead} is ahead for every number of classes from {self.k[0]:,} to {self.k[-1]:,}{sure}"
        else:
            places = "; ".join(_place(each) for each in self.crossings)
            text = f"{self.first} and {self.second} have the same accuracy with about {places}"
            text += f". With {self.k[-1]:,} classes {ahead} is ahead"
        far = f" Beyond {self.observed:,} classes it is extrapolated." if self.k[-1] > self.observed else ""
        pairs = "" if self.paired else " They have different classes, so the intervals are wider."
        return f"{text}: the difference is {last:.3g} there.{far}{pairs}"


def crossing(one: UDistribution, two: UDistribution, most: int) -> Crossing:
    """The numbers of classes at which two classifiers are equally accurate; see `Curve.crossing`."""
    limit = expect.whole(most, "most", at_least=3)
    if limit > MOST_CLASSES:
        raise expect.InputError(f"`most` is {most}; expected at most {MOST_CLASSES:.0e}.")
    level = one.level
    ours, theirs = one.curve.ranks, two.curve.ranks
    paired = np.array_equal(ours.classes, theirs.classes) and one.method == two.method
    sizes = np.unique(np.geomspace(2, limit, SIZES).round().astype(np.int64))
    of_one, of_two = (_accuracies(each, sizes) for each in (one, two))
    value = of_one.value - of_two.value
    counts = [np.bincount(ranks.group) for ranks in (ours, theirs)]
    if paired:
        error = np.asarray(jackknife_error(of_one.without - of_two.without, counts[0]))
    else:
        ours_alone, theirs_alone = (
            np.asarray(jackknife_error(part.without, count)) for part, count in zip((of_one, of_two), counts)
        )
        error = np.hypot(ours_alone, theirs_alone)
    gap = np.abs(of_one.gap - of_two.gap) if paired else np.hypot(of_one.gap, of_two.gap)
    freedom = max(min(ours.n_groups, theirs.n_groups) - 1, 1)
    ahead = sizes > min(ours.n_classes, theirs.n_classes)
    reach = float(stats.t.ppf(0.5 + level / 2, freedom)) * np.where(
        ahead, np.hypot(OF_ERROR * error, OF_GAP * gap), error
    )
    difference = tuple(
        Estimate(float(v), float(max(v - r, -1.0)), float(min(v + r, 1.0)), level, KIND) for v, r in zip(value, reach)
    )
    names = (ours.name, theirs.name) if ours.name != theirs.name else (f"{ours.name} (1)", f"{theirs.name} (2)")
    return Crossing(
        *names, tuple(int(k) for k in sizes), of_one.value, of_two.value, difference,
        tuple(_crossings(sizes, difference, level)), bool(paired), min(ours.n_classes, theirs.n_classes),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _CurveParts:
    """A curve at some sizes, without each group of classes, and the difference of the two methods."""

    value: Floats
    without: Floats
    gap: Floats


def _accuracies(distribution: UDistribution, sizes: np.ndarray) -> _CurveParts:
    here = distribution.curve.n_classes
    inside, beyond = sizes[sizes <= here], sizes[sizes > here].astype(float)

    def joined(beaten: Floats, members: tuple[BeatenShare, ...]) -> Floats:
        observed = mean_over_label_sets(beaten, np.minimum(inside, beaten.size))
        ahead = combine([member.accuracy(beyond) for member in members])
        # More classes are not easier, so a forecast above the last observed accuracy is a step that is not there.
        return np.concatenate([observed, np.minimum(ahead, observed[-1]) if observed.size else ahead])

    value = joined(distribution.curve.evidence().beaten, distribution.members)
    without = [joined(*each) for each in zip(distribution.beaten_without, distribution.without)]
    ends = [member.accuracy(beyond) for member in distribution.pair]
    return _CurveParts(value, np.array(without), np.concatenate([np.zeros(inside.size), ends[0] - ends[1]]))


def _crossings(sizes: np.ndarray, difference: tuple[Estimate, ...], level: float) -> list[Estimate]:
    """Where the difference changes its sign, and how far around it is not distinguished from 0."""
    logs, values = np.log(sizes), np.array([each.value for each in difference])
    open_still = np.array([each.low <= 0 <= each.high for each in difference])
    found = []
    signs = np.sign(values)
    changing = [at for at in range(1, sizes.size) if signs[at] * signs[at - 1] < 0]
    changing += [at for at in range(1, sizes.size - 1) if signs[at] == 0 and signs[at - 1] * signs[at + 1] < 0]
    for at in sorted(changing):
        before, after = values[at - 1], values[at]
        place = math.exp(logs[at - 1] + (logs[at] - logs[at - 1]) * before / (before - after))
        first = at - 1
        while first >= 0 and open_still[first]:
            first -= 1
        last = at
        while last < sizes.size and open_still[last]:
            last += 1
        low = float(sizes[first]) if first >= 0 else 1.0
        high = float(sizes[last]) if last < sizes.size else math.inf
        found.append(
            Estimate(place, min(low, place), max(high, place), level, "range in which they are not distinguished")
        )
    return found


def _place(estimate: Estimate) -> str:
    high = f"{estimate.high:,.0f}" if math.isfinite(estimate.high) else "more"
    return f"{estimate.value:,.0f} classes (not distinguished from {estimate.low:,.0f} to {high})"
