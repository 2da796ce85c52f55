"""`decoders`: one table that ranks decoders over their whole range, from all near chance to all at 99 %."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from ... import expect
from ...intervals import Estimate, difference
from ...result import Result
from ..curve.curve import Curve, expect_curve
from .channel import ChannelFit, fit_channel
from .information import Information, fano_information, implied_from, in_bits, information_bound


@dataclass(frozen=True)
class DecoderFigures:
    """One decoder: its accuracy with all its classes and with the common number of classes, and its information.

    `ahead` is how many bits its implied information is above that of the next in order; None for the last.
    """

    name: str
    n_classes: int
    accuracy: Estimate
    accuracy_in_common: Estimate
    implied: Information
    bound: Information
    fano: Information
    ahead: Estimate | None

    @property
    def told_apart(self) -> bool:
        """Whether the next in order is significantly behind."""
        return self.ahead is not None and self.ahead.low > 0


@dataclass(frozen=True)
class Decoders(Result, chart="classes.information:decoders_chart"):
    """The result of `decoders`: `decoders` from the most implied information to the least, and the common size `k`."""

    decoders: tuple[DecoderFigures, ...]
    k: int
    alpha: float
    notes: tuple[str, ...] = ()

    def groups(self) -> list[list[str]]:
        """Names in order; neighbours that are indistinguishable are together."""
        groups: list[list[str]] = [[]]
        for decoder in self.decoders:
            groups[-1].append(decoder.name)
            if decoder.told_apart:
                groups.append([])
        return groups

    def table(self) -> pd.DataFrame:
        """One row per decoder, for reading: information in bits, accuracies, bounds."""
        rows = [
            {
                "decoder": each.name,
                "implied_bits": each.implied.bits.value,
                "low": each.implied.bits.low,
                "high": each.implied.bits.high,
                "ahead_of_next": each.told_apart if each.ahead is not None else None,
                f"accuracy_at_{self.k}": each.accuracy_in_common.value,
                "accuracy": each.accuracy.value,
                "classes": each.n_classes,
                "bound_bits": each.bound.bits.low,
                "fano_bits": each.fano.bits.low,
            }
            for each in self.decoders
        ]
        return pd.DataFrame(rows)

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: decoder, place, figure, unit, k, value, low, high, level, kind."""
        rows = []
        for place, each in enumerate(self.decoders, start=1):
            figures = [
                ("accuracy", "", each.n_classes, each.accuracy),
                ("accuracy", "", self.k, each.accuracy_in_common),
            ]
            for name, information in (("implied", each.implied), ("bound", each.bound), ("Fano", each.fano)):
                figures += [
                    (name, "bits", information.n_classes, information.bits),
                    (name, "nats", information.n_classes, information.nats),
                ]
            if each.ahead is not None:
                figures.append(("ahead of the next", "bits", each.n_classes, each.ahead))
            for figure, unit, k, estimate in figures[1 if each.n_classes == self.k else 0 :]:
                rows.append(
                    {
                        "decoder": each.name,
                        "place": place,
                        "figure": figure,
                        "unit": unit,
                        "k": k,
                        "value": estimate.value,
                        "low": estimate.low,
                        "high": estimate.high,
                        "level": estimate.level,
                        "kind": estimate.kind,
                    }
                )
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        ordered = ", ".join(f"{each.name} {each.implied.bits}" for each in self.decoders)
        alike = [names for names in self.groups() if len(names) > 1]
        text = f"Implied information in bits, most first: {ordered}."
        for names in alike:
            each = "" if len(names) == 2 else ", each from the next"
            text += f" {', '.join(names[:-1])} and {names[-1]} are indistinguishable{each}."
        if not alike:
            text += " Each is significantly ahead of the next."
        return " ".join([text, *self.notes])


def decoders(curves: Mapping[str, Curve], alpha: float = 0.05) -> Decoders:
    """Rank decoders by how much information their predictions carry, wherever on the scale they are.

    The order is by implied information (see `implied_information`), fitted to each whole curve, so that decoders that
    are all at 99 %, all near chance, or tested on different numbers of classes can be compared. The result also has the
    accuracies, the guaranteed lower bound on information (the level divided among the decoders) and Fano's bound.

    `ahead` is the difference to the next in order, in bits, with an interval: if it reaches 0 the two are
    indistinguishable. On the same classes and rows the two curves are correlated, and the interval takes that into
    account; otherwise they count as independent. The level is divided among the comparisons.

    It misleads as implied information does: in few dimensions, and if the curve has another shape than that of a
    high-dimensional channel. Different classes are different tasks: a decoder with easier classes is not better.

    Parameters
    ----------
    curves : name -> curve from `accuracy_curve`, at least two
    alpha : how often bounds and comparisons may fail, each taken together

    Examples
    --------
    >>> from classay.classes.curve import accuracy_curve
    >>> rng, y = np.random.default_rng(0), np.arange(600) % 60
    >>> noise, signal = rng.normal(size=(600, 60)), np.eye(60)[y]
    >>> ordered = decoders({"weak": accuracy_curve(noise + signal, y), "strong": accuracy_curve(noise + 3 * signal, y)})
    >>> [each.name for each in ordered.decoders], ordered.decoders[0].told_apart
    (['strong', 'weak'], True)

    References
    ----------
    Zheng (2017), Information, Prediction, and Supervised Learning, Chapter 5.

    """
    named = _expect_curves(curves)
    level = 1 - expect.fraction(alpha, "alpha")
    fits = {name: fit_channel(curve) for name, curve in named.items()}
    nats = {name: one.nats(level) for name, one in fits.items()}
    # Not identified is above every number; among those, the guaranteed bound decides.
    order = sorted(named, key=lambda name: _sort_key(nats[name]), reverse=True)
    k = min(curve.n_classes for curve in named.values())
    aheads = [_difference(fits[one], fits[other], 1 - alpha / (len(order) - 1)) for one, other in pairwise(order)]
    ordered = tuple(
        DecoderFigures(
            name,
            named[name].n_classes,
            named[name].at(named[name].n_classes),
            named[name].at(k),
            implied_from(nats[name], named[name].n_classes),
            information_bound(named[name], alpha=alpha, tried=len(named)),
            fano_information(named[name], level=1 - alpha / len(named)),
            ahead,
        )
        for name, ahead in zip(order, [*aheads, None])
    )
    return Decoders(ordered, k, alpha, _notes(named))


def _sort_key(nats: Estimate) -> tuple[float, float]:
    return (nats.value if nats.known else math.inf, nats.low)


def _difference(one: ChannelFit, other: ChannelFit, level: float) -> Estimate:
    """How many bits of implied information one is above another, from their intervals and their correlation."""
    first, second = one.c_interval(level), other.c_interval(level)
    if math.isinf(first.value) or math.isinf(second.value):
        # What is not identified has no upper end.
        ours, theirs = in_bits(one.nats(level)), in_bits(other.nats(level))
        return Estimate(math.nan, ours.low - theirs.high, ours.high - theirs.low, level, "not identified")
    correlation = _correlation(one, other)
    kind = "over classes, of the same rows" if correlation is not None else "over classes, taken as independent"
    gap = difference(first, second, kind, correlation or 0.0)
    # a²/2 − b²/2 = (a − b)·(a + b)/2. Near chance, where a + b vanishes, it is what chance makes of it.
    middle = (max(first.value, 0.0) + max(second.value, 0.0)) / 2
    if math.isfinite(gap.high - gap.low):
        middle = max(middle, (gap.high - gap.low) / 4)
    value = in_bits(one.nats(level)).value - in_bits(other.nats(level)).value
    low, high = (end * middle / math.log(2) for end in (gap.low, gap.high))
    return Estimate(value, min(low, value), max(high, value), level, kind)


def _correlation(one: ChannelFit, other: ChannelFit) -> float | None:
    """Correlation of two fits over the choice of classes; None if they have other classes or rows."""
    first, second = one.curve.ranks, other.curve.ranks
    if not (np.array_equal(first.classes, second.classes) and np.array_equal(first.truth, second.truth)):
        return None
    ours, theirs = one.without_each(), other.without_each()
    if not (np.isfinite(ours).all() and np.isfinite(theirs).all() and ours.std() > 0 and theirs.std() > 0):
        return 0.0
    return float(np.clip(np.corrcoef(ours, theirs)[0, 1], -0.99, 0.99))


def _notes(curves: dict[str, Curve]) -> tuple[str, ...]:
    first, *others = curves.values()
    if any(not np.array_equal(first.ranks.classes, curve.ranks.classes) for curve in others):
        return ("Not all decoders were tested on the same classes; the order holds if all classes are equally hard.",)
    return ()


def _expect_curves(curves: Any) -> dict[str, Curve]:
    if not isinstance(curves, Mapping) or len(curves) < 2:
        raise expect.InputError("`curves` must be a dict of at least two curves, name -> curve from `accuracy_curve`.")
    return {str(name): expect_curve(curve, f"curves[{name!r}]") for name, curve in curves.items()}
