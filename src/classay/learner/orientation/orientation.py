"""`orientation`: a learner's bias, how much it responds to the data, and its own training randomness.

Take a holdout of h test points. A labeling is what one refit predicts for them, one of c^h. P_F is the distribution of
labelings over refits on one subset, P_D its mean over subsets.

- algorithmic bias at threshold z: share of refits with at least z of h labels right, minus the chance of that;
- expressivity H(P_D): how much predictions vary with the training sample and training randomness, in bits;
- stochasticity, mean H(P_F): how much they vary on a fixed training sample;
- capacity, expressivity − stochasticity: how much a prediction reveals about the data it was trained on.

All are averaged over random holdouts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ... import expect, seeds
from ...arrays import Floats
from ...intervals import Estimate, around, crossed_standard_error, difference, exact, of_mean, within_limits
from ...result import Result
from ..records.labelings import Labelings, expect_record
from . import entropy
from .entropy import Bounds, Counts, bounds, chance, count, number_labelings, within


@dataclass(frozen=True)
class PluginOrientation(Result, chart="learner.orientation:plugin_chart"):
    """The paper's plain estimates, with its intervals, which are over holdouts alone. Biased with few refits."""

    expressivity: Estimate
    stochasticity: Estimate
    capacity: Estimate

    def to_frame(self) -> pd.DataFrame:
        """One row per figure."""
        return _figures(
            {
                "expressivity": self.expressivity,
                "stochasticity": self.stochasticity,
                "capacity": self.capacity,
            }
        )

    def __str__(self) -> str:
        return (
            f"Plain estimates: expressivity {self.expressivity}, stochasticity {self.stochasticity}, "
            f"capacity {self.capacity} bits."
        )


@dataclass(frozen=True)
class Orientation(Result, chart="learner.orientation:draw_orientation"):
    """The result of `orientation`. Entropies are in bits, between 0 and `holdout_size` · log2(`n_classes`).

    `expressivity`, `stochasticity` and `capacity` are corrected for few refits; `plugin` has the paper's estimates.
    `bias[z]` is the bias at threshold z. `bounds` compares every plain estimate with what is possible. `per_holdout`
    has the raw plain figures. `notes` lists what the figures cannot identify.
    """

    learner: str
    n_classes: int
    n_subsets: int
    n_refits: int
    holdout_size: int
    deterministic: bool
    accuracy: Estimate
    train_accuracy: Estimate
    bias: dict[int, Estimate]
    expressivity: Estimate
    stochasticity: Estimate
    capacity: Estimate
    plugin: PluginOrientation
    bounds: tuple[Bounds, ...]
    per_holdout: pd.DataFrame
    holdouts: NDArray[np.int64]
    notes: tuple[str, ...]

    @property
    def log2_labelings(self) -> float:
        """log2|Ω|: the highest possible entropy."""
        return self.holdout_size * math.log2(self.n_classes)

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: figure, threshold, value, low, high, level, kind, least and most possible."""
        entropies = (0.0, self.log2_labelings)
        named = {
            "test_accuracy": (self.accuracy, (0.0, 1.0)),
            "train_accuracy": (self.train_accuracy, (0.0, 1.0)),
            "expressivity": (self.expressivity, entropies),
            "stochasticity": (self.stochasticity, entropies),
            "capacity": (self.capacity, entropies),
            "plugin_expressivity": (self.plugin.expressivity, entropies),
            "plugin_stochasticity": (self.plugin.stochasticity, entropies),
            "plugin_capacity": (self.plugin.capacity, entropies),
        }
        frame = _figures({name: estimate for name, (estimate, _) in named.items()})
        frame["least"], frame["most"] = zip(*(limits for _, limits in named.values()))
        by_threshold = _figures({f"bias_{threshold}": estimate for threshold, estimate in self.bias.items()})
        by_threshold["threshold"] = list(self.bias)
        by_threshold["least"] = [bound.bias_low for bound in self.bounds]
        by_threshold["most"] = [bound.bias_high for bound in self.bounds]
        frame = pd.concat([frame, by_threshold], ignore_index=True).astype({"threshold": "Int64"})
        frame.insert(0, "learner", self.learner)
        return frame[["learner", "figure", "threshold", "value", "low", "high", "level", "least", "most", "kind"]]

    def __str__(self) -> str:
        middle = usual_threshold(self.holdout_size)
        text = (
            f"{self.learner}: accuracy {self.accuracy} on test points ({self.train_accuracy:.3g} on its own rows). "
            f"On {self.holdout_size} points it gets {middle} or more right {self.bias[middle]:+.3g} more often "
            f"than chance. Its predictions vary by {self.expressivity} of {self.log2_labelings:.3g} bits: "
            f"{self.capacity} with the training data (capacity), {self.stochasticity} by training randomness "
            "(stochasticity)."
        )
        return " ".join([text, *self.notes])


def orientation(
    labelings: Labelings,
    holdout_size: int = 5,
    holdouts: int = 100,
    random_state: int | np.random.Generator | None = 0,
    level: float = 0.95,
) -> Orientation:
    """Measure a learner's bias, and how its predictions vary with the data and with its own training randomness.

    bias_z = share of refits with at least z of h labels right − p_z, p_z the chance of that when guessing;
    expressivity = H(P_D), stochasticity = mean H(P_F), capacity = their difference (bits).

    Bias runs from −p_z to 1 − p_z; 0: as good as guessing, higher is better. Entropies run from 0 (always the same
    predictions) to h·log2 c (all predictions equally likely). High capacity means that another sample gives another
    classifier; high stochasticity means that the same sample does.

    It misleads with few refits: the plain estimates (`plugin`) then attribute training randomness to the data. The
    default ones are corrected, and their intervals cover what the counts cannot identify. With one refit per subset
    stochasticity is unknown, unless the learner is deterministic. Test points are fixed: the interval is over subsets
    and over holdouts of these test points. The larger the holdout, the rarer each labeling: if labelings hardly repeat,
    `notes` says that an entropy is not identified.

    Parameters
    ----------
    labelings : what `record` returned
    holdout_size : h, number of points whose labelings are counted together
    holdouts : number of random holdouts to average over
    random_state : seed for the choice of holdouts
    level : confidence level of the intervals

    Examples
    --------
    >>> answers = np.tile([0, 1, 1, 0, 1, 0], (10, 3, 1))
    >>> o = orientation(Labelings.from_arrays(answers, [0, 1, 1, 0, 1, 1]), holdout_size=3)
    >>> float(o.expressivity), float(o.stochasticity)
    (0.0, 0.0)

    References
    ----------
    Pang-Naylor, Chen & Montañez, Model Characterization with Inductive Orientation Vectors.

    """
    labels = expect_record(labelings, "labelings").complete()
    n_subsets, n_refits, n_points = labels.shape
    n_classes = len(labelings.classes)
    if n_subsets < 2:
        raise expect.InputError(
            f"The record has {n_subsets} subset; at least 2 are needed to separate training randomness from data. "
            "Record more subsets."
        )
    chosen = draw_holdouts(n_points, holdout_size, holdouts, random_state)
    log2_labelings = holdout_size * math.log2(n_classes)
    counts = count(number_labelings(labels, chosen, n_classes))
    notes = list(labelings.notes)
    if labels.shape != labelings.labels.shape:
        notes.append(f"Refits are missing; {n_subsets} subsets with {n_refits} refits each were used.")

    # (M, K, R) labels right of h; bias only needs a share per holdout and subset.
    right = np.moveaxis((labels == labelings.truth)[:, :, chosen].sum(axis=3), 2, 0)
    shares = {threshold: (right >= threshold).mean(axis=2) for threshold in range(1, holdout_size + 1)}
    bias = {z: bias_of(share, chance(z, holdout_size, n_classes), level) for z, share in shares.items()}

    plain_overall, plain_within = entropy.plugin_overall(counts), entropy.plugin_within(counts).mean(axis=1)
    entropies = parts(counts, labels, chosen, n_classes, labelings.deterministic, level)

    known = n_refits > 1 or labelings.deterministic
    unknown = Estimate(math.nan, 0.0, log2_labelings, level, "unknown: one refit per subset")
    plugin = PluginOrientation(
        of_mean(plain_overall, level, "over holdouts"),
        of_mean(plain_within, level, "over holdouts") if known else unknown,
        of_mean(plain_overall - plain_within, level, "over holdouts") if known else unknown,
    )
    raw = pd.DataFrame({"holdout": np.arange(len(chosen)), "expressivity": plain_overall})
    raw["stochasticity"] = plain_within if known else np.nan
    raw["capacity"] = raw["expressivity"] - raw["stochasticity"]
    for z, share in shares.items():
        raw[f"bias_{z}"] = share.mean(axis=1) - chance(z, holdout_size, n_classes)
    return Orientation(
        learner=labelings.name,
        n_classes=n_classes,
        n_subsets=n_subsets,
        n_refits=n_refits,
        holdout_size=holdout_size,
        deterministic=labelings.deterministic,
        accuracy=labelings.accuracy("test", level),
        train_accuracy=labelings.accuracy("train", level),
        bias=bias,
        expressivity=entropies.expressivity,
        stochasticity=entropies.stochasticity,
        capacity=entropies.capacity,
        plugin=plugin,
        bounds=tuple(
            bounds(share, plugin.expressivity.value, plugin.stochasticity.value, z, holdout_size, n_classes)
            for z, share in shares.items()
        ),
        per_holdout=raw,
        holdouts=chosen,
        notes=(*notes, *entropies.notes),
    )


def bias_of(hits: Floats, p: float, level: float) -> Estimate:
    """Share of refits that hit a target, over holdouts and subsets (M, K), minus the chance of that."""
    error = crossed_standard_error(hits)
    return within_limits(around(float(hits.mean()) - p, error, level, entropy.KIND, hits.shape[1]), -p, 1 - p)


def usual_threshold(holdout_size: int) -> int:
    """Four of five, or as close as the holdout allows."""
    return math.ceil(0.8 * holdout_size)


def _figures(estimates: dict[str, Estimate]) -> pd.DataFrame:
    rows = [
        {
            "figure": name,
            "threshold": None,
            "value": estimate.value,
            "low": estimate.low,
            "high": estimate.high,
            "level": estimate.level,
            "kind": estimate.kind,
        }
        for name, estimate in estimates.items()
    ]
    return pd.DataFrame(rows)


# Which test points are grouped into holdouts.


def draw_holdouts(
    n_points: int, holdout_size: int, holdouts: int, random_state: int | np.random.Generator | None
) -> NDArray[np.int64]:
    """Random holdouts, (M, h), each without repetition."""
    size = expect.whole(holdout_size, "holdout_size", at_least=1)
    number = expect.whole(holdouts, "holdouts", at_least=1)
    if size > n_points:
        raise expect.InputError(
            f"`holdout_size` is {size}, but there are {n_points} test points. Use a smaller holdout or a larger "
            "test part."
        )
    generator = seeds.generator(seeds.settle(random_state), "holdouts")
    return np.stack([generator.choice(n_points, size, replace=False) for _ in range(number)])


# Expressivity and its two parts: what data and training randomness each add, and what cannot be identified.


# Above this share of predictions that no second subset repeats, H(P_D) depends on labelings that were not seen.
MOST_UNREPEATED = 0.1
# A range of stochasticity wider than this, in bits, is reported.
WIDEST = 1.0
# Below this many subsets the jackknife leaves a bias that matters.
FEW_SUBSETS = 20
NOT_IDENTIFIED = "a range: not identified"


@dataclass(frozen=True)
class EntropyParts:
    """Expressivity = capacity + stochasticity, in bits, and notes about them."""

    expressivity: Estimate
    stochasticity: Estimate
    capacity: Estimate
    notes: tuple[str, ...]


def parts(
    counts: Counts,
    labels: NDArray[np.integer],
    holdouts: NDArray[np.int64],
    n_classes: int,
    deterministic: bool,
    level: float,
) -> EntropyParts:
    """Estimate the three from the counts of labelings, corrected for few refits."""
    most = holdouts.shape[1] * math.log2(n_classes)
    overall = entropy.overall(counts, most, level)
    unrepeated = entropy.unrepeated(counts)
    identified = unrepeated <= MOST_UNREPEATED
    if not identified:
        ceiling = overall_ceiling(labels, holdouts, n_classes, level)
        overall = replace(overall, high=max(min(ceiling, most), overall.high), kind=NOT_IDENTIFIED)
    if deterministic:
        within = exact(0.0, "exact: deterministic", level)
    else:
        within = _within(counts, labels, holdouts, n_classes, level)
    if not within.known:
        unknown = Estimate(math.nan, 0.0, overall.high, level, within.kind)
        note = "Stochasticity is unknown: there is one refit per subset. Record with repeats=10."
        return EntropyParts(overall, unknown, unknown, (*_said_of(overall, unrepeated, counts), note))

    # Training randomness cannot exceed the total; where the total is a lower estimate, it is raised.
    if not identified and within.value > overall.value:
        overall = replace(overall, value=min(within.value, overall.high))
    value = min(within.value, overall.value)
    within = replace(within, value=value, low=min(within.low, value), high=max(min(within.high, overall.high), value))
    if identified:
        capacity = difference(overall, within, entropy.KIND)
    else:
        # Ranges of possible values do not cancel out as sampling errors do: take the worst of both.
        value, low, high = overall.value - within.value, overall.low - within.high, overall.high - within.low
        capacity = Estimate(value, low, high, level, NOT_IDENTIFIED)
    capacity = within_limits(capacity, 0.0, most)

    notes = _said_of(overall, unrepeated, counts)
    if within.kind == entropy.UNSOLVED:
        notes.append("The range of stochasticity could not be computed; all that is possible is shown instead.")
    elif within.high - within.low > WIDEST:
        notes.append(
            f"Stochasticity is only known to within {within.high - within.low:.2g} bits from {counts.n_refits} refits "
            "per subset. Record with more repeats, or use smaller holdouts."
        )
    return EntropyParts(overall, within, capacity, tuple(notes))


def _within(
    counts: Counts, labels: NDArray[np.integer], holdouts: NDArray[np.int64], n_classes: int, level: float
) -> Estimate:
    """Mean H(P_F), at most what single points allow."""
    size = holdouts.shape[1]
    within = entropy.within(counts, size * math.log2(n_classes), level)
    if size == 1 or not within.known:
        return within
    # A labeling cannot vary more than its labels one by one, and those are well estimated from few refits.
    single = within_from_points(labels, holdouts, n_classes, level)
    value = min(within.value, single.value)
    return replace(within, value=value, low=min(within.low, value), high=max(min(within.high, single.high), value))


def _said_of(overall: Estimate, unrepeated: float, counts: Counts) -> list[str]:
    notes = []
    if unrepeated > MOST_UNREPEATED:
        notes.append(
            f"Expressivity is not identified: {unrepeated:.0%} of predictions occur in only one subset, so labelings "
            f"that were not seen matter. It is between {overall.low:.3g} and {overall.high:.3g} bits. Use smaller "
            "holdouts or more subsets."
        )
    if counts.n_subsets < FEW_SUBSETS:
        notes.append(
            f"{counts.n_subsets} subsets are few: expressivity, and with it capacity, is likely underestimated. "
            f"Record {FEW_SUBSETS} or more."
        )
    return notes


# Upper limits of entropies from single points: a labeling cannot vary more than its labels do one by one.
#
# With large holdouts, labelings hardly repeat and their entropy cannot be estimated; that of single points still can.


MOST_POINTS = 500


def overall_ceiling(labels: NDArray[np.integer], holdouts: NDArray[np.int64], n_classes: int, level: float) -> float:
    """An upper limit of expressivity: mean over holdouts of the sum of the points' entropies, with its error."""
    n_subsets, _, n_points = labels.shape
    bits, seen = np.zeros((2, n_points))
    surprise = np.zeros((n_subsets, n_points))
    for code in range(n_classes):
        by_subset = (labels == code).mean(axis=1)
        share = by_subset.mean(axis=0)
        log2_share = np.log2(np.where(share > 0, share, 1))
        bits -= share * log2_share
        seen += share > 0
        surprise -= by_subset * log2_share
    # Miller and Madow's correction, with subsets as the number of draws, because refits on one subset are similar.
    bits += (seen - 1) / (2 * n_subsets * math.log(2))
    sums = surprise[:, holdouts].sum(axis=2)
    error = crossed_standard_error(sums)
    return around(float(bits[holdouts].sum(axis=1).mean()), error, level, draws=n_subsets).high


def within_from_points(
    labels: NDArray[np.integer], holdouts: NDArray[np.int64], n_classes: int, level: float
) -> Estimate:
    """Stochasticity if, on a fixed training sample, points varied independently: an upper limit, and often close.

    Holdout size times the mean entropy of single points, over at most `MOST_POINTS` of those in holdouts.
    """
    size = int(holdouts.shape[1])
    points = np.unique(holdouts)
    # Spread evenly over the points, which may be sorted by class.
    points = points[np.linspace(0, points.size - 1, min(points.size, MOST_POINTS)).astype(int), None]
    single = within(count(number_labelings(labels, points, n_classes)), math.log2(n_classes), level)
    return Estimate(size * single.value, size * single.low, size * single.high, level, single.kind)
