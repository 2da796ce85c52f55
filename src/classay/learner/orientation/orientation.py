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

from ... import expect
from ...intervals import Estimate, of_mean
from ...result import Result
from ..records.base import TRAINING
from ..records.labelings import Labelings, expect_record
from . import entropy
from .entropy import Bounds, bounds, chance, count, number_labelings
from .entropy_parts import parts, usual_size
from .holdouts import draw_holdouts
from .labeling_distribution import Biases, bias_of, distribution_matrix

OF_REFITS = "of these refits, over holdouts"


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
    `bias[z]` is the bias at threshold z, `bias(target=...)` that to any other set of labelings. `bounds` compares every
    plain estimate with what is possible. `per_holdout` has the raw plain figures. `notes` lists what the figures cannot
    identify. `vector()` and `matrix()` are the distributions of labelings from which all of this comes.
    """

    learner: str
    n_classes: int
    n_subsets: int
    n_refits: int
    holdout_size: int
    deterministic: bool
    accuracy: Estimate
    train_accuracy: Estimate
    bias: Biases
    expressivity: Estimate
    stochasticity: Estimate
    capacity: Estimate
    plugin: PluginOrientation
    bounds: tuple[Bounds, ...]
    per_holdout: pd.DataFrame
    holdouts: NDArray[np.int64]
    notes: tuple[str, ...]

    def matrix(self, holdout: int = 0, every: bool = False) -> pd.DataFrame:
        """The label distribution matrix of a holdout: P_F of each subset, labelings x subsets.

        Rows are the labelings that occur, by the class of each point; `every=True` lists all c^h. A column sums to 1.
        """
        place = expect.whole(holdout, "holdout", at_least=0)
        if place >= len(self.holdouts):
            raise expect.InputError(
                f"`holdout` is {place}, but there are {len(self.holdouts)}: 0 to {len(self.holdouts) - 1}."
            )
        return distribution_matrix(self.bias.own_record(), self.holdouts[place], every)

    def vector(self, holdout: int = 0, every: bool = False) -> pd.Series[float]:
        """The inductive orientation vector of a holdout: P_D, the mean of the columns of `matrix`. It sums to 1."""
        return self.matrix(holdout, every).mean(axis=1).rename("probability")

    def detached(self) -> Orientation:
        """The same without its record, to be sent from one process to another."""
        return replace(self, bias=Biases(self.bias))

    def attached(self, record: Labelings) -> Orientation:
        """The same with the record that it was measured from."""
        return replace(self, bias=Biases(self.bias, record, self.holdouts, self.accuracy.level))

    def conclusion(self) -> str:
        """Two sentences: how good its predictions are, and how much they vary, why, and what would help."""
        size, middle = self.holdout_size, usual_threshold(self.holdout_size)
        hits = 100 * (self.bias[middle].value + self.bounds[middle - 1].chance)
        first = (
            f"{self.learner} is right on {100 * self.accuracy.value:.1f} % of test points "
            f"({100 * self.accuracy.low:.1f} to {100 * self.accuracy.high:.1f}), and gets {middle} of {size} right "
            f"{hits:.0f} times in 100, where guessing does {100 * self.bounds[middle - 1].chance:.0f} times."
        )
        return f"{first} {self._why_it_varies()}"

    def _why_it_varies(self) -> str:
        whole, data, own = self.expressivity, self.capacity, self.stochasticity
        much = f"{whole.prefix}{whole.value:.2f} of {self.log2_labelings:.3g} bits"
        by_data, by_chance = f"{data.prefix}{data.value:.2f} bits", f"{own.value:.2f} bits"
        if whole.high < HARDLY * self.log2_labelings:
            return f"Its predictions hardly vary ({much}): another training sample or seed gives nearly the same ones."
        if not own.known or not data.known:
            why = "one refit per subset" if not own.known else "labelings that hardly repeat"
            return f"Its predictions vary by {much}; {why} cannot show whether with the data or by training randomness."
        if self.deterministic:
            return f"Its predictions vary by {much}, all of it with the training sample: more rows would steady it."
        if data.low > own.high:
            return (
                f"Its predictions vary by {much}, mostly with the training sample ({by_data}): more rows or a stronger "
                "bias would steady it, another seed would not."
            )
        if own.low > data.high:
            return (
                f"Its predictions vary by {much}, mostly by training randomness ({by_chance}): averaging more members "
                "would steady it, more rows would not."
            )
        return (
            f"Its predictions vary by {much}: {by_data} with the training sample, {by_chance} by training randomness, "
            "and the intervals of the two overlap."
        )

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
            f"On {expect.counted(self.holdout_size, 'point')} it gets {middle} or more right "
            f"{self.bias[middle]:+.3g} more often than chance. Its predictions vary by {self.expressivity} of "
            f"{self.log2_labelings:.3g} bits: {self.capacity} with the training data (capacity), {self.stochasticity} "
            "by training randomness (stochasticity)."
        )
        return " ".join([text, *self.notes])


def orientation(
    labelings: Labelings,
    holdout_size: int | None = None,
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
    and over holdouts of these test points. The larger the holdout, the rarer each labeling: where labelings hardly
    repeat, entropies are not identified. Expressivity and capacity are then lower limits, "at least", from as many
    points as can be counted; `orientation_by_size` shows them for every number of points.

    Parameters
    ----------
    labelings : what `record` returned
    holdout_size : h, number of points whose labelings are counted together; None: five, as in the paper, or with many
        classes as many as can be counted; `notes` says so
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
    wanted = chosen.shape[1]
    if holdout_size is None:
        chosen = chosen[:, : usual_size(labels, chosen, n_classes)]
    holdout_size = int(chosen.shape[1])
    log2_labelings = holdout_size * math.log2(n_classes)
    counts = count(number_labelings(labels, chosen, n_classes))
    notes = list(labelings.notes)
    if labels.shape != labelings.labels.shape:
        notes.append(f"Refits are missing; {n_subsets} subsets with {n_refits} refits each were used.")
    if holdout_size < wanted:
        notes.append(
            f"Holdouts have {expect.counted(holdout_size, 'point')}, not {wanted}: labelings of more points hardly "
            f"repeat over {n_subsets} subsets, so their entropy cannot be counted."
        )

    # (M, K, R) labels right of h; bias only needs a share per holdout and subset.
    right = np.moveaxis((labels == labelings.truth)[:, :, chosen].sum(axis=3), 2, 0)
    shares = {threshold: (right >= threshold).mean(axis=2) for threshold in range(1, holdout_size + 1)}
    biases = {z: bias_of(share, chance(z, holdout_size, n_classes), level) for z, share in shares.items()}
    bias = {z: labelings.named(estimate, TRAINING) for z, estimate in biases.items()}

    plain_overall, plain_within = entropy.plugin_overall(counts), entropy.plugin_within(counts).mean(axis=1)
    entropies = parts(counts, labels, chosen, n_classes, labelings.deterministic, level)

    known = n_refits > 1 or labelings.deterministic
    unknown = Estimate(math.nan, 0.0, log2_labelings, level, "unknown: one refit per subset")
    plugin = PluginOrientation(
        of_mean(plain_overall, level, OF_REFITS),
        of_mean(plain_within, level, OF_REFITS) if known else unknown,
        of_mean(plain_overall - plain_within, level, OF_REFITS) if known else unknown,
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
        bias=Biases(bias, labelings, chosen, level),
        expressivity=labelings.named(entropies.expressivity, TRAINING),
        stochasticity=labelings.named(entropies.stochasticity, TRAINING),
        capacity=labelings.named(entropies.capacity, TRAINING),
        plugin=plugin,
        bounds=tuple(
            bounds(share, plugin.expressivity.value, plugin.stochasticity.value, z, holdout_size, n_classes)
            for z, share in shares.items()
        ),
        per_holdout=raw,
        holdouts=chosen,
        notes=(*notes, *entropies.notes),
    )


HARDLY = 0.05
"""Below this share of the possible bits, predictions hardly vary."""


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
