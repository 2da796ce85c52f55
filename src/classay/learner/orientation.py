"""`orientation`: what a learner leans to, how much it responds to data, and how much it varies by its own dice.

Take a holdout of h test points. A labeling is what one refit answers on them, one of c^h. P_F is the distribution of
labelings over refits on one subset, P_D its mean over subsets.

- algorithmic bias at threshold z: share of refits with at least z of h labels right, less the chance of that;
- expressivity H(P_D): how spread the answers are, over data and dice, in bits;
- stochasticity, mean H(P_F): how spread they are with the data held still;
- capacity, expressivity − stochasticity: how much an answer tells of the data it was trained on.

All are averaged over random holdouts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .. import expect
from ..intervals import Estimate, around, crossed_standard_error, of_mean, within_limits
from ..result import Result
from . import entropy
from .bounds import Bounds, bounds, chance
from .counts import count, number_labelings
from .holdouts import draw_holdouts
from .labelings import Labelings, expect_record
from .parts import parts


@dataclass(frozen=True)
class PluginOrientation(Result):
    """The paper's plain estimates, with its intervals, which are over holdouts alone. Biased when refits are few."""

    expressivity: Estimate
    stochasticity: Estimate
    capacity: Estimate

    def to_frame(self) -> pd.DataFrame:
        """One row a figure."""
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
class Orientation(Result):
    """What `orientation` finds. Entropies are in bits, between 0 and `holdout_size` · log2(`n_classes`).

    `expressivity`, `stochasticity` and `capacity` are corrected for few refits; `plugin` holds the paper's estimates.
    `bias[z]` is the bias at threshold z. `bounds` puts every plain estimate beside what is possible. `per_holdout` has
    the raw plain figures. `notes` says what the figures cannot tell.
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
        """log2|Ω|: the most that an entropy can be."""
        return self.holdout_size * math.log2(self.n_classes)

    def to_frame(self) -> pd.DataFrame:
        """One row a figure: figure, threshold, value, low, high, level, kind, least and most possible."""
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
            f"than chance. Its answers spread over {self.expressivity} bits of {self.log2_labelings:.3g}: "
            f"{self.capacity} in response to data (capacity), {self.stochasticity} by its own dice (stochasticity)."
        )
        return " ".join([text, *self.notes])


def orientation(
    labelings: Labelings,
    holdout_size: int = 5,
    holdouts: int = 100,
    random_state: int | np.random.Generator | None = 0,
    level: float = 0.95,
) -> Orientation:
    """Tell what a learner leans to, and how its answers vary with the data and with its own dice.

    bias_z = share of refits with at least z of h labels right − p_z, p_z the chance of that when guessing;
    expressivity = H(P_D), stochasticity = mean H(P_F), capacity = their difference (bits).

    Bias runs from −p_z to 1 − p_z; 0: as good as guessing, higher is better. Entropies run from 0 (always the same
    answers) to h·log2 c (all answers alike likely). A high capacity means that another sample gives another classifier;
    a high stochasticity that the same sample does.

    It misleads where refits are few: the plain estimates (`plugin`) then put the dice down to the data. The default
    ones are corrected, and their intervals include what the counts cannot tell. One refit a subset tells nothing of
    stochasticity, which is then unknown, unless the learner is deterministic. Test points are taken as given: the
    interval is over subsets and over holdouts of these test points. The larger the holdout, the rarer each labeling:
    where labelings hardly repeat, `notes` says that an entropy is not identified.

    Parameters
    ----------
    labelings : what `record` returned
    holdout_size : h, points whose labelings are counted together
    holdouts : how many random holdouts to average over
    random_state : seed of the choice of holdouts
    level : of the intervals

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
            f"The record has {n_subsets} subset; at least 2 are needed to tell data from dice. Record more subsets."
        )
    chosen = draw_holdouts(n_points, holdout_size, holdouts, random_state)
    log2_labelings = holdout_size * math.log2(n_classes)
    counts = count(number_labelings(labels, chosen, n_classes))
    notes = list(labelings.notes)
    if labels.shape != labelings.labels.shape:
        notes.append(f"Refits are missing; {n_subsets} subsets with {n_refits} refits each were used.")

    # (M, K, R) labels right of h; a share per holdout and subset is all that bias needs.
    right = np.moveaxis((labels == labelings.truth)[:, :, chosen].sum(axis=3), 2, 0)
    bias = {}
    shares = {}
    for threshold in range(1, holdout_size + 1):
        share = (right >= threshold).mean(axis=2)
        p = chance(threshold, holdout_size, n_classes)
        shares[threshold] = share.mean(axis=1) - p
        estimate = around(float(share.mean()) - p, crossed_standard_error(share), level, entropy.KIND, n_subsets)
        bias[threshold] = within_limits(estimate, -p, 1 - p)

    plain_overall, plain_within = entropy.plugin_overall(counts), entropy.plugin_within(counts).mean(axis=1)
    found = parts(counts, labels, chosen, n_classes, labelings.deterministic, level)

    known = n_refits > 1 or labelings.deterministic
    unknown = Estimate(math.nan, 0.0, log2_labelings, level, "unknown: one refit a subset")
    plugin = PluginOrientation(
        of_mean(plain_overall, level, "over holdouts"),
        of_mean(plain_within, level, "over holdouts") if known else unknown,
        of_mean(plain_overall - plain_within, level, "over holdouts") if known else unknown,
    )
    raw = pd.DataFrame({"holdout": np.arange(len(chosen)), "expressivity": plain_overall})
    raw["stochasticity"] = plain_within if known else np.nan
    raw["capacity"] = raw["expressivity"] - raw["stochasticity"]
    for threshold, values in shares.items():
        raw[f"bias_{threshold}"] = values
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
        expressivity=found.expressivity,
        stochasticity=found.stochasticity,
        capacity=found.capacity,
        plugin=plugin,
        bounds=tuple(
            bounds(estimate.value, plugin.expressivity.value, threshold, holdout_size, n_classes)
            for threshold, estimate in bias.items()
        ),
        per_holdout=raw,
        holdouts=chosen,
        notes=(*notes, *found.notes),
    )


def usual_threshold(holdout_size: int) -> int:
    """Four of five, or as near as the holdout allows."""
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
