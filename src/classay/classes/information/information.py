"""`information`: how much predictions say about the class. An estimate, a guaranteed lower bound, and Fano's bound."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import overload

import numpy as np
import pandas as pd

from ... import expect
from ...intervals import Estimate, difference
from ...result import Result, parts_of
from ..curve.curve import Curve, expect_curve
from .bayes import FIXED, achieved_accuracy, lower_bound_fixed_classes, rows_by_class, set_size, unbounded
from .channel import ChannelFit, fano, fit_channel, least_information


@dataclass(frozen=True)
class Information(Result, chart="curve:information_chart"):
    """The result of `information`, in bits; `nats` has the same figures in nats, by name.

    `implied` is an estimate. For the two bounds, `bound` (any classes, from sets of `bound_classes`) and `fano` (these
    classes), `low` is the bound with its confidence, `value` the same formula at the measured accuracy, and `high` is
    infinite: there is no upper bound. A `value` of NaN is not identified: every prediction was right; or not supported:
    the curve has another shape than any that is fitted (`implied.kind` says where), and its `low` is then the bound.
    `gap` is the number of classes at which measured and fitted curve are farthest apart, and both accuracies there.
    """

    implied: Estimate
    bound: Estimate
    fano: Estimate
    nats: dict[str, Estimate]
    n_classes: int
    bound_classes: int
    gap: tuple[int, float, float]

    def summary(self) -> dict[str, Estimate]:
        """The three figures, in bits."""
        figures = (self.implied, self.bound, self.fano)
        return dict(zip(("implied information, bits", "information bound, bits", "Fano's bound, bits"), figures))

    def __str__(self) -> str:
        at, accuracy, fitted = self.gap
        text = f"Implied information is {self.implied.kind}."
        if not self.implied.kind.startswith("not supported"):
            text = (
                f"Implied information {self.implied} bits ({self.nats['implied']} nats), from sets of up to "
                f"{self.n_classes} classes: an estimate, not a guaranteed lower bound."
            )
            # One size, or no error, is fitted exactly by any shape.
            looked = self.n_classes > 2 and self.implied.known
            missed = f"misses accuracies by at most {abs(accuracy - fitted):.2g} (with {at})"
            text += f" The fitted curve {missed}." if looked else " Whether its shape fits cannot be checked."
        for name, size in (("bound", self.bound_classes), ("fano", self.n_classes)):
            bits, nats = getattr(self, name), self.nats[name]
            if bits.kind.startswith("none"):
                continue
            measured = f" ({bits.value:.3g} bits at the measured accuracy)" if bits.known else ""
            text += (
                f" {'Information' if name == 'bound' else 'Fano: information'} at least {bits.low:.3g} bits "
                f"({nats.low:.3g} nats) at level {bits.level:.3g}{measured}, from sets of {size} classes."
            )
        return text


@dataclass(frozen=True)
class DecoderFigures:
    """One decoder: its accuracy with all its classes and with the common number of classes, and its information.

    `ahead` is how many bits its implied information is above that of the next in order; None for the last.
    """

    name: str
    n_classes: int
    accuracy: Estimate
    accuracy_in_common: Estimate
    information: Information
    ahead: Estimate | None

    @property
    def told_apart(self) -> bool:
        """Whether the next in order is significantly behind."""
        return self.ahead is not None and self.ahead.low > 0


@dataclass(frozen=True)
class Decoders(Result, chart="curve:decoders_chart"):
    """The result of `information` for several curves: `decoders`, from the most implied information to the least.

    `k` is the number of classes that all of them have.
    """

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

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: decoder, place, n_classes, figure, value, low, high, level, kind."""
        rows = []
        for place, each in enumerate(self.decoders, start=1):
            figures = [(self.k, "accuracy", each.accuracy_in_common), (each.n_classes, "accuracy", each.accuracy)]
            figures += [(each.n_classes, name, bits) for name, bits in each.information.summary().items()]
            figures += [] if each.ahead is None else [(each.n_classes, "ahead of the next, bits", each.ahead)]
            rows += [
                {"decoder": each.name, "place": place, "n_classes": k, "figure": name, **parts_of(estimate)}
                for k, name, estimate in figures[1 if each.n_classes == self.k else 0 :]
            ]
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        bits = [(each.name, each.information.implied) for each in self.decoders]
        ordered = ", ".join(f"{name} {each if each.known else f'at least {each.low:.3g}'}" for name, each in bits)
        alike = [names for names in self.groups() if len(names) > 1]
        text = f"Implied information in bits, most first: {ordered}."
        for names in alike:
            each = "" if len(names) == 2 else ", each from the next"
            text += f" {', '.join(names[:-1])} and {names[-1]} are indistinguishable{each}."
        if not alike:
            text += " Each is significantly ahead of the next."
        return " ".join([text, *self.notes])


@overload
def information(
    curve: Curve, alpha: float = 0.05, *, k: int | str = "best", method: str = "guaranteed", tried: int = 1
) -> Information: ...


@overload
def information(
    curve: Mapping[str, Curve], alpha: float = 0.05, *, k: int | str = "best", method: str = "guaranteed"
) -> Decoders: ...


def information(
    curve: Curve | Mapping[str, Curve],
    alpha: float = 0.05,
    *,
    k: int | str = "best",
    method: str = "guaranteed",
    tried: int | None = None,
) -> Information | Decoders:
    """Measure how much information the predictions carry about the class: an estimate, and what is guaranteed.

    *Implied*: in high dimension the curve of the best classifier depends on the information ι alone, accuracy_k =
    π̄_k(√(2ι)) with π̄_k(c) = ∫ φ(z − c) Φ(z)^(k−1) dz. ι is fitted to the whole curve, by least squares over sizes k
    evenly spaced on a log scale. *Bound*: no channel of information ι lets any classifier reach more than C_k(ι) with k
    random classes, so the information is at least C_k⁻¹ of the lower bound on the average Bayes
    accuracy (`Curve.bayes_bound`). *Fano*: what responses say about which of *these* K classes it was is at least
    log K − H(e) − e·log(K − 1), e the error.

    0: nothing shown; there is no upper limit, except for Fano's bound, log K. Higher is better. Implied information
    distinguishes decoders that are all at 99 %, or all near chance; its interval is over classes.

    Implied information is *not* a guaranteed lower bound. In few dimensions it misleads: with one it was up to half too
    low near chance and a third too high near 1; with ten within 15 %, with fifty within 4 %. It is withheld if the
    curve is .05 or more off the fitted one and Student's test over classes excludes the fit (p < .01); with few classes
    or rows a wrong shape can pass. The bound needs no model of the data and no large sample, only classes drawn at
    random from those it is about, and test rows apart from the training rows. It can be far below the truth: a poor
    classifier wastes information, few classes cannot show much of it, and nor can many if it is mostly wrong on them.
    So k = "best" takes the best of all K and of 3, 10, 30, 100, … up to K/2, which share half of `alpha`, fixed
    beforehand.

    Several curves are ranked by implied information, or by the bound where it is not supported. On the same classes and
    rows two curves are correlated, and the interval of their difference takes that into account; otherwise they count
    as independent. The level is divided among the comparisons, and among the bounds. Different classes are different
    tasks: a decoder with easier classes is not better.

    Parameters
    ----------
    curve : from `accuracy_curve`; or several by name, for a table that ranks them
    alpha : how often each interval or bound may fail; of several curves, all of a kind together
    k : classes in a set of the bound: "best", or a number chosen before looking at the results
    method : of the bound, as in `Curve.bayes_bound`
    tried : how many classifiers were tried on the same rows: all their bounds hold together

    Examples
    --------
    >>> from classay.classes.curve.curve import accuracy_curve
    >>> rng, y = np.random.default_rng(0), np.arange(400) % 40
    >>> noise, signal = rng.normal(size=(400, 40)), np.eye(40)[y]
    >>> strong = accuracy_curve(noise + 2 * signal, y)
    >>> information(strong).nats["implied"]                      # c = 2: ι = 2
    2.03 [1.76, 2.31]
    >>> ordered = information({"weak": accuracy_curve(noise + signal, y), "strong": strong})
    >>> [each.name for each in ordered.decoders], ordered.decoders[0].told_apart
    (['strong', 'weak'], True)

    References
    ----------
    Zheng & Benjamini (2016), Estimating mutual information in high dimensions via classification error; Zheng (2017),
    Information, Prediction, and Supervised Learning, Theorem 4.3.1; Cover & Thomas (2006), Elements of Information
    Theory, Section 2.10.

    """
    expect.fraction(alpha, "alpha")
    if isinstance(curve, Mapping):
        if len(curve) < 2:
            raise expect.InputError(
                "`curves` must be a dict of at least two curves, name -> curve from `accuracy_curve`."
            )
        named = {str(name): expect_curve(each, f"curves[{name!r}]") for name, each in curve.items()}
        return _ranked(named, alpha, k, method)
    return information_of(fit_channel(expect_curve(curve)), alpha, k, method, 1 if tried is None else tried)


def information_of(
    fit: ChannelFit, alpha: float, k: int | str, method: str, tried: int, others: int = 1, why: str = ""
) -> Information:
    """The figures of one curve. Bounds hold with those `tried` on the same rows, or on `others`; `why` none holds."""
    curve = fit.curve
    if why := why or unbounded(curve):
        none = Estimate(math.nan, 0.0, math.inf, 1 - alpha, f"none: {why}")
        bound, size, by_fano = none, curve.n_classes, none
    else:
        bound, size = _bound(curve, alpha, k, method, tried, others)
        # From the lower confidence limit of the accuracy.
        level, achieved = 1 - alpha / tried / others, achieved_accuracy(curve, curve.n_classes)
        low = lower_bound_fixed_classes(achieved, math.log(1 - level), rows_by_class(curve))
        by_fano = Estimate(fano(achieved, curve.n_classes), fano(low, curve.n_classes), math.inf, level, FIXED)
    implied = fit.nats(1 - alpha)
    nats = {"implied": replace(implied, low=bound.low) if fit.unsupported else implied, "bound": bound, "fano": by_fano}
    implied, bound, by_fano = (in_bits(estimate) for estimate in nats.values())
    return Information(implied, bound, by_fano, nats, curve.n_classes, size, fit.gap)


def _bound(curve: Curve, alpha: float, k: int | str, method: str, tried: int, others: int) -> tuple[Estimate, int]:
    """The guaranteed lower bound in nats, and the size of the sets that gave it."""
    sizes = shares_of_alpha(curve.n_classes) if k == "best" else {set_size(curve, k): 1.0}  # type: ignore[arg-type]
    bounds = []
    for size, share in sizes.items():
        accuracy = curve.bayes_bound(size, alpha * share / others, method, tried)
        value, low = (float(least_information(each, size)) for each in (accuracy.value, accuracy.low))
        bounds.append((low, size, value, accuracy.kind))
    low, size, value, kind = max(bounds)
    return Estimate(value if math.isfinite(value) else math.nan, low, math.inf, 1 - alpha, kind), size


def shares_of_alpha(n_classes: int) -> dict[int, float]:
    """Candidate sizes for the best, and the share of the level that each gets: half for all classes.

    >>> shares_of_alpha(50)
    {50: 0.5, 3: 0.25, 10: 0.25}
    """
    fewer = [size for power in range(12) for size in (3 * 10**power, 10 ** (power + 1)) if size <= n_classes / 2]
    if not fewer:
        return {n_classes: 1.0}
    return {n_classes: 0.5, **dict.fromkeys(fewer, 0.5 / len(fewer))}


def in_bits(nats: Estimate) -> Estimate:
    """The same in bits."""
    bit = math.log(2)
    return replace(nats, value=nats.value / bit, low=nats.low / bit, high=nats.high / bit)


# Several decoders, ranked.


def _ranked(named: dict[str, Curve], alpha: float, k: int | str, method: str) -> Decoders:
    """The decoders in the order of their implied information."""
    fits = {name: fit_channel(curve) for name, curve in named.items()}
    # Only on the same classes is their choice the same chance for all.
    same = all(_same_rows(*pair) for pair in pairwise(named.values()))
    shared = (len(named), 1) if same else (1, len(named))
    found = {name: information_of(fit, alpha, k, method, *shared) for name, fit in fits.items()}
    order = sorted(named, key=lambda name: _sort_key(found[name].nats["implied"]), reverse=True)
    common = min(curve.n_classes for curve in named.values())
    aheads = [_difference(fits[first], fits[next_], 1 - alpha / (len(order) - 1)) for first, next_ in pairwise(order)]
    ordered = tuple(
        DecoderFigures(name, curve.n_classes, curve.at(curve.n_classes), curve.at(common), found[name], ahead)
        for name, curve, ahead in zip(order, map(named.__getitem__, order), [*aheads, None])
    )
    return Decoders(ordered, common, alpha, _notes(named, [name for name in order if fits[name].unsupported]))


def _sort_key(nats: Estimate) -> tuple[float, float]:
    """All right is above every number; what is not supported stands where its guaranteed bound is."""
    return (nats.value if nats.known else nats.low if nats.kind.startswith("not supported") else math.inf, nats.low)


def _difference(one: ChannelFit, other: ChannelFit, level: float) -> Estimate:
    """How many bits of implied information one is above another, from their intervals and their correlation."""
    first, second = one.c_interval(level), other.c_interval(level)
    if math.isinf(first.value) or math.isinf(second.value) or one.unsupported or other.unsupported:
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
    if not _same_rows(one.curve, other.curve):
        return None
    ours, theirs = one.without_each(), other.without_each()
    if not (np.isfinite(ours).all() and np.isfinite(theirs).all() and ours.std() > 0 and theirs.std() > 0):
        return 0.0
    return float(np.clip(np.corrcoef(ours, theirs)[0, 1], -0.99, 0.99))


def _same_rows(one: Curve, other: Curve) -> bool:
    first, second = one.ranks, other.ranks
    return np.array_equal(first.classes, second.classes) and np.array_equal(first.truth, second.truth)


def _notes(curves: dict[str, Curve], unsupported: list[str]) -> tuple[str, ...]:
    (first, *others), notes = curves.values(), []
    if any(not np.array_equal(first.ranks.classes, curve.ranks.classes) for curve in others):
        notes.append("Not all decoders were tested on the same classes; the order holds if all are equally hard.")
    if unsupported:
        notes.append(f"Placed by the bound, since no implied information is supported: {expect.shown(unsupported, 5)}.")
    return tuple(notes)
