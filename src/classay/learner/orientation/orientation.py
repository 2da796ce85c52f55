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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ... import expect
from ...intervals import BETWEEN, Estimate
from ...notes import Note
from ...result import Result, parts_of
from ..records.labelings import Labelings, expect_record
from .bias import Biases, Bounds, bias_of, bounds, chance, distribution_matrix
from .entropy import draw_holdouts, interval_kind
from .entropy_parts import (
    FIGURES,
    HoldoutLabels,
    PluginOrientation,
    parts,
    plugin_orientation,
    rising_parts,
    usual_size,
)

SIZES = 'a sweep over "size" shows how capacity changes with more rows'
HARDLY = 0.05
"""Below this share of the possible bits, predictions hardly vary."""


def usual_threshold(holdout_size: int) -> int:
    """Four of five, or as close as the holdout allows."""
    return math.ceil(0.8 * holdout_size)


@dataclass(frozen=True)
class Orientation(Result, chart="orientation:ORIENTATION"):
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
        """Two sentences: how good its predictions are, how much they vary, and on what that depends.

        It says what this record shows, at its number of training rows; a sweep over "size" shows what more rows change.
        """
        size, middle = self.holdout_size, usual_threshold(self.holdout_size)
        guessing = self.bounds[middle - 1].chance
        if size == 1:
            usual = f"where guessing is on {100 * guessing:.1f} %."
        else:
            every = "both" if size == 2 else f"all {size}"
            wanted = every if middle == size else f"at least {middle} of {size}"
            hits = 100 * (self.bias[middle].value + guessing)
            usual = f"and gets {wanted} right {hits:.0f} times in 100, where guessing does {100 * guessing:.0f} times."
        first = (
            f"{self.learner} is right on {100 * self.accuracy.value:.1f} % of test points "
            f"({100 * self.accuracy.low:.1f} to {100 * self.accuracy.high:.1f}), {usual}"
        )
        return f"{first} {self._why_it_varies()}"

    def _why_it_varies(self) -> str:
        whole, data, own = self.expressivity, self.capacity, self.stochasticity
        much = f"{whole.prefix}{whole.value:.2f} of {self.log2_labelings:.3g} bits"
        by_data, by_seed = f"{data.prefix}{data.value:.2f} bits", f"{own.prefix}{own.value:.2f} bits"
        by_data = f"{data:.2f} bits" if data.kind.startswith(BETWEEN) else by_data
        fixed = any(isinstance(note, Note) and note.code == "seed-fixed" for note in self.notes)
        if whole.value < HARDLY * self.log2_labelings:
            other = "training sample" if self.deterministic else "training sample or seed"
            seed = "; its seed is fixed (random_state)" if fixed else ""
            limit = f"{much}, up to {whole.high:.2f} possible"
            return f"Its predictions hardly vary ({limit}): another {other} mostly gives the same ones{seed}."
        vary = f"Its predictions vary by {much}"
        if not own.known:
            return f"{vary}; one refit per subset cannot show whether with the data or by training randomness."
        if self.deterministic:
            why = "its seed is fixed (random_state)" if fixed else "refits on the same rows do not differ"
            return f"{vary}, only with the training sample, because {why}; {SIZES}."
        if not data.known:
            return f"{vary}, {by_seed} of it by training randomness; {by_data} depend on the training sample."
        if data.low > own.high:
            return f"{vary} and depend more on the training sample ({by_data}) than on the seed ({by_seed}); {SIZES}."
        if own.low > data.high:
            return (
                f"{vary} and depend more on the seed ({by_seed}) than on the training sample ({by_data}); averaging "
                f"several refits reduces the first, and {SIZES}."
            )
        return (
            f"{vary}: {by_data} with the training sample and {by_seed} by training randomness; the intervals of the "
            "two overlap, so neither is shown to be larger."
        )

    @property
    def log2_labelings(self) -> float:
        """log2|Ω|: the highest possible entropy."""
        return self.holdout_size * math.log2(self.n_classes)

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: learner, figure, threshold, value, low, high, level, least and most possible, kind."""
        rows = [
            {"figure": "test_accuracy", **parts_of(self.accuracy), "least": 0.0, "most": 1.0},
            {"figure": "train_accuracy", **parts_of(self.train_accuracy), "least": 0.0, "most": 1.0},
        ]
        for prefix, estimates in (("", self), ("plugin_", self.plugin)):
            for name in ("expressivity", "stochasticity", "capacity"):
                row = {"figure": prefix + name, **parts_of(getattr(estimates, name))}
                rows.append({**row, "least": 0.0, "most": self.log2_labelings})
        for bound in self.bounds:
            row = {"figure": f"bias_{bound.threshold}", "threshold": bound.threshold}
            row |= parts_of(self.bias[bound.threshold])
            rows.append({**row, "least": bound.bias_low, "most": bound.bias_high})
        frame = pd.DataFrame(rows).assign(learner=self.learner).astype({"threshold": "Int64"})
        return frame[["learner", "figure", "threshold", "value", "low", "high", "level", "least", "most", "kind"]]

    def __str__(self) -> str:
        middle = usual_threshold(self.holdout_size)
        bias, guessing = self.bias[middle], self.bounds[middle - 1].chance
        hits, low, high = (100 * (end + guessing) for end in (bias.value, bias.low, bias.high))
        text = (
            f"{self.learner}: accuracy {self.accuracy} on test points ({self.train_accuracy:.3g} on its own rows). "
            f"On {expect.counted(self.holdout_size, 'point')} it gets {middle} or more right in {hits:.0f} "
            f"[{low:.0f}, {high:.0f}] of 100 cases, guessing in {100 * guessing:.0f}. Its predictions vary by "
            f"{self.expressivity} of "
            f"{self.log2_labelings:.3g} bits: {self.capacity} with the training data (capacity), {self.stochasticity} "
            "by training randomness (stochasticity)."
        )
        return " ".join([text, *self.notes])


@dataclass(frozen=True)
class OrientationBySize(Result, chart="orientation:BY_SIZE"):
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
        split = all(estimate.known for estimate in self.stochasticity.values())
        name, figure = ("capacity", self.capacity) if split else ("expressivity", self.expressivity)
        curve = ", ".join(f"{size}: {figure[size]}" for size in self.sizes)
        limit = "Not even single points can be counted."
        if self.identified:
            limit = f"Up to {expect.counted(self.identified, 'point')} can be counted."
        if not split:
            limit += " Capacity and stochasticity are unknown: there is one refit per subset. Record with repeats=10."
        return " ".join([f"{self.learner}: {name} in bits by number of points, {curve}. {limit}", *self.notes])


@overload
def orientation(
    labelings: Labelings, holdout_size: int | None = ..., holdouts: int = ..., random_state: Any = ..., level: Any = ...
) -> Orientation: ...
@overload
def orientation(
    labelings: Labelings, holdout_size: Sequence[int], holdouts: int = ..., random_state: Any = ..., level: float = ...
) -> OrientationBySize: ...
def orientation(
    labelings: Labelings,
    holdout_size: int | Sequence[int] | None = None,
    holdouts: int = 100,
    random_state: int | np.random.Generator | None = 0,
    level: float = 0.95,
) -> Orientation | OrientationBySize:
    """Measure a learner's bias, and how its predictions vary with the data and with its own training randomness.

    bias_z = share of refits with at least z of h labels right − p_z, p_z the chance of that when guessing;
    expressivity = H(P_D), stochasticity = mean H(P_F), capacity = their difference (bits).

    Bias runs from −p_z to 1 − p_z; 0: as good as guessing, higher is better. Entropies run from 0 (always the same
    predictions) to h·log2 c (all predictions equally likely). High capacity means that another sample gives another
    classifier; high stochasticity means that the same sample does.

    It misleads with few refits: the plain estimates (`plugin`) then attribute training randomness to the data. The
    default ones are corrected, and their intervals cover what the counts cannot identify. With one refit per subset
    stochasticity is unknown, unless the learner is deterministic. Intervals are of these rows, over subsets of them and
    holdouts of these test points; of data like these, if `record` drew fresh samples from a source. The larger the
    holdout, the rarer each labeling: where labelings hardly repeat, entropies are not identified. They are then lower
    limits, "at least" the low end of an interval, or unknown. Several sizes, such as holdout_size=[1, 2, 5], show how
    the three grow with the number of points.

    Parameters
    ----------
    labelings : what `record` returned
    holdout_size : h, number of points whose labelings are counted together; None: five, as in the paper, or with many
        classes as many as can be counted; `notes` says so. Several: the entropies by size, an `OrientationBySize`
    holdouts : number of random holdouts to average over
    random_state : seed for the choice of holdouts
    level : confidence level of the intervals

    Examples
    --------
    >>> answers = np.tile([0, 1, 1, 0, 1, 0], (10, 3, 1))
    >>> o = orientation(Labelings.from_arrays(answers, [0, 1, 1, 0, 1, 1]), holdout_size=3)
    >>> float(o.expressivity), float(o.stochasticity)
    (0.0, 0.0)
    >>> orientation(Labelings.from_arrays(answers, [0, 1, 1, 0, 1, 1]), holdout_size=[1, 2, 3]).identified
    3

    References
    ----------
    Pang-Naylor, Chen & Montañez, Model Characterization with Inductive Orientation Vectors.

    """
    labels = expect_record(labelings, "labelings").complete()
    n_subsets, n_refits, n_points = labels.shape
    if n_subsets < 2:
        raise expect.InputError(
            f"The record has {n_subsets} subset; at least 2 are needed to separate training randomness from data. "
            "Record more subsets."
        )
    sizes = []
    if isinstance(holdout_size, Iterable):
        sizes = sorted({expect.whole(size, "holdout_size", at_least=1) for size in holdout_size})
        if not sizes:
            raise expect.InputError(
                "`holdout_size` is empty; expected a number of points, or several such as [1, 2, 5]."
            )
        holdout_size = sizes[-1]
    drawn = draw_holdouts(n_points, holdout_size, holdouts, random_state)
    n_classes, kind = len(labelings.classes), interval_kind(labelings)
    held = HoldoutLabels(labels, drawn, n_classes, labelings.deterministic, level, kind)
    if sizes:
        return _by_size(labelings, held, sizes)
    notes = list(labelings.notes)
    if labels.shape != labelings.labels.shape:
        refits = expect.counted(n_refits, "refit")
        notes.append(f"Refits are missing; {n_subsets} subsets with {refits} each were used.")
    if holdout_size is None and (size := usual_size(held)) < held.size:
        notes.append(
            f"Holdouts have {expect.counted(size, 'point')}, not {held.size}: labelings of more points hardly "
            f"repeat over {n_subsets} subsets, so their entropy cannot be counted."
        )
        held = held.first(size)

    entropies, plugin = parts(held), plugin_orientation(held)
    overall, within = held.plain()
    raw = {"holdout": np.arange(len(drawn)), "expressivity": overall, "stochasticity": within}
    raw["capacity"] = overall - within
    # (M, K, R) labels right of h; bias only needs a share per holdout and subset.
    right = np.moveaxis((labels == labelings.truth)[:, :, held.holdouts].sum(axis=3), 2, 0)
    bias, limits = {}, []
    for z in range(1, held.size + 1):
        share, guessing = (right >= z).mean(axis=2), chance(z, held.size, n_classes)
        bias[z] = bias_of(share, guessing, level, kind)
        raw[f"bias_{z}"] = share.mean(axis=1) - guessing
        limits.append(bounds(share, plugin.stochasticity.value, z, held.size, n_classes))
    return Orientation(
        learner=labelings.name,
        n_classes=n_classes,
        n_subsets=n_subsets,
        n_refits=n_refits,
        holdout_size=held.size,
        deterministic=labelings.deterministic,
        accuracy=labelings.accuracy("test", level),
        train_accuracy=labelings.accuracy("train", level),
        bias=Biases(bias, labelings, held.holdouts, level),
        expressivity=entropies.expressivity,
        stochasticity=entropies.stochasticity,
        capacity=entropies.capacity,
        plugin=plugin,
        bounds=tuple(limits),
        per_holdout=pd.DataFrame(raw),
        holdouts=held.holdouts,
        notes=(*notes, *entropies.notes),
    )


def _by_size(record: Labelings, held: HoldoutLabels, sizes: list[int]) -> OrientationBySize:
    by_size = {size: held.first(size) for size in sorted({1, *sizes})}
    measured = {size: parts(of_size) for size, of_size in by_size.items()}
    plugin = {size: plugin_orientation(by_size[size]) for size in sizes}
    curves = rising_parts(measured, sizes, held.level)
    return OrientationBySize(
        learner=record.name,
        n_classes=held.n_classes,
        sizes=tuple(sizes),
        identified=max((size for size, of_size in measured.items() if of_size.identified), default=0),
        expressivity=curves["expressivity"],
        capacity=curves["capacity"],
        stochasticity=curves["stochasticity"],
        plugin={name: {size: getattr(plugin[size], name) for size in sizes} for name in FIGURES},
        ceiling={size: size * measured[1].capacity.value for size in sizes},
        notes=tuple(record.notes),
    )
