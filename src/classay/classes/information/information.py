"""How much information predictions carry about the class: implied information, a guaranteed lower bound, Fano's."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd
from numpy.typing import ArrayLike

from ... import expect
from ...intervals import Estimate
from ...result import Result
from ..curve.curve import Curve, expect_curve
from .bayes import bayes_accuracy_bound, lower_bound_fixed_classes, measure_accuracy
from .channel import fano, fit_channel, least_information


@dataclass(frozen=True)
class Information(Result, chart="classes.information:draw_information"):
    """Information between class and prediction, in `nats` and in `bits`, from sets of up to `n_classes` classes.

    `kind` is "implied" (an estimate), "lower bound" or "Fano". For the two bounds `low` is the bound with its
    confidence, `value` the same formula at the measured accuracy, and `high` is infinite: there is no upper bound.
    A `value` of NaN is not identified: every prediction was right. `notes` says what the figure cannot show.
    """

    kind: str
    nats: Estimate
    bits: Estimate
    n_classes: int
    notes: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """One row per unit: figure, unit, value, low, high, level, kind, n_classes."""
        rows = [
            {
                "figure": _FIGURES[self.kind],
                "unit": unit,
                "value": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "level": estimate.level,
                "kind": estimate.kind,
                "n_classes": self.n_classes,
            }
            for unit, estimate in (("bits", self.bits), ("nats", self.nats))
        ]
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        bits, nats = self.bits, self.nats
        if self.kind == "implied":
            text = f"Implied information {bits} bits ({nats} nats)"
        else:
            text = (
                f"{'Information' if self.kind == 'lower bound' else 'Fano: information'} at least {bits.low:.3g} bits "
                f"({nats.low:.3g} nats) at level {bits.level:.3g}"
            )
            text += f" ({bits.value:.3g} bits at the measured accuracy)" if bits.known else ""
        up_to = "up to " if self.kind == "implied" else ""
        return " ".join([f"{text}, from sets of {up_to}{self.n_classes} classes.", *self.notes])


_FIGURES = {"implied": "implied information", "lower bound": "information bound", "Fano": "Fano's bound"}


def implied_information(curve: Curve, level: float = 0.95) -> Information:
    """Estimate the information of a channel whose best classifier has this curve.

    In high dimension the curve of the best classifier depends on the information ι alone: accuracy_k = π̄_k(√(2ι)),
    with π̄_k(c) = ∫ φ(z − c) Φ(z)^(k−1) dz. ι is fitted to the whole curve, by least squares over sizes k evenly spaced
    on a log scale: the least biased choice on Gaussian channels (`benchmarks/information_benchmark.py`).

    0: the predictions carry no information; there is no upper limit, and higher is better. It distinguishes decoders
    that are all at 99 %, or all near chance. The interval is over classes.

    It is *not* a guaranteed lower bound. In few dimensions it misleads: with one it was up to half too low near chance
    and a third too high near 1; with ten within 15 %, with fifty within 4 %. Use `information_bound` for a claim. If
    every prediction is right it is not identified, and only `low` is reported.

    Parameters
    ----------
    curve : from `accuracy_curve`
    level : confidence level of the interval

    Examples
    --------
    >>> import numpy as np
    >>> from classay.classes.curve import accuracy_curve
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(400, 40)) + 2 * np.eye(40)[np.arange(400) % 40]
    >>> implied_information(accuracy_curve(scores, np.arange(400) % 40)).nats    # c = 2: ι = 2
    2.03 [1.76, 2.31]

    References
    ----------
    Zheng & Benjamini (2016), Estimating mutual information in high dimensions via classification error.

    """
    nats = fit_channel(expect_curve(curve)).nats(expect.fraction(level, "level"))
    return implied_from(nats, curve.n_classes)


def implied_from(nats: Estimate, n_classes: int) -> Information:
    """Implied information as a result."""
    return _information("implied", nats, n_classes, ("It is an estimate, not a guaranteed lower bound.",))


def information_bound(
    curve: Curve | None = None,
    *,
    correct: ArrayLike | None = None,
    trials: ArrayLike | None = None,
    n_classes: int | None = None,
    k: int | str = "best",
    alpha: float = 0.05,
    method: str = "guaranteed",
    tried: int = 1,
) -> Information:
    """Bound from below the mutual information between what the classes represent and the responses.

    No channel of information ι lets any classifier reach more than C_k(ι) with k random classes (`most_accuracy`). So
    the information is at least C_k⁻¹ of the average Bayes accuracy, and with confidence 1 − `alpha` at least C_k⁻¹ of
    its lower bound, which is `low`.

    0: nothing shown; there is no upper limit. It needs no model of the data and no large sample (with
    method="guaranteed"), only classes drawn at random from those the information is about, and test rows separate from
    the training rows. It can be far below the truth: a poor classifier wastes information, and few classes cannot show
    much of it. Nor can many classes if it is mostly wrong on them, so k = "best" takes the best of all K and of 3, 10,
    30, 100, … up to K/2, which share half of `alpha`, fixed beforehand.

    Parameters
    ----------
    curve, correct, trials, n_classes, alpha, method, tried : as in `bayes_accuracy_bound`
    k : classes in a set: "best", or a number chosen before looking at the results. With counts it is always all K

    Examples
    --------
    >>> information_bound(correct=318, trials=500, n_classes=50).bits
    4.15 [2.51, inf]

    References
    ----------
    Zheng (2017), Information, Prediction, and Supervised Learning, Theorem 4.3.1.

    """
    measured = measure_accuracy(curve, correct, trials, n_classes, None if k == "best" else k)  # type: ignore[arg-type]
    level = 1 - expect.fraction(alpha, "alpha")
    n_all = measured.rows.size
    shares = shares_of_alpha(n_all) if k == "best" and curve is not None else {measured.k: 1.0}
    bounds = []
    for size, share in shares.items():
        accuracy = bayes_accuracy_bound(
            curve,
            correct=correct,
            trials=trials,
            n_classes=n_classes,
            k=size,
            alpha=alpha * share,
            method=method,
            tried=tried,
        )
        value, low = (float(least_information(one, size)) for one in (accuracy.value, accuracy.low))
        bounds.append((low, size, value, accuracy.kind))
    low, size, value, kind = max(bounds)
    value = value if math.isfinite(value) else math.nan
    return _information("lower bound", Estimate(value, low, math.inf, level, kind), size)


def shares_of_alpha(n_classes: int) -> dict[int, float]:
    """Candidate sizes for the best, and the share of the level that each gets: half for all classes.

    >>> shares_of_alpha(50)
    {50: 0.5, 3: 0.25, 10: 0.25}
    """
    fewer = [size for power in range(12) for size in (3 * 10**power, 10 ** (power + 1)) if size <= n_classes / 2]
    if not fewer:
        return {n_classes: 1.0}
    return {n_classes: 0.5, **dict.fromkeys(fewer, 0.5 / len(fewer))}


def fano_information(curve: Curve, level: float = 0.95) -> Information:
    """Bound from below the information that the responses carry about which of *these* K classes it was.

    Fano's inequality: I ≥ log K − H(e) − e·log(K − 1), e the error and H(e) = −e·log e − (1 − e)·log(1 − e), all K
    classes equally likely. `low` uses the lower confidence limit of the accuracy, guaranteed for any number of rows.

    From 0 to log K: it cannot exceed what K classes need, however much information there is. It says nothing about
    other classes; `information_bound` does, and without that ceiling.

    Parameters
    ----------
    curve : from `accuracy_curve`
    level : confidence level of the bound

    Examples
    --------
    >>> import numpy as np
    >>> from classay.classes.curve import accuracy_curve
    >>> fano_information(accuracy_curve(np.eye(8)[np.arange(400) % 8], np.arange(400) % 8)).bits
    3 [2.92, inf]

    References
    ----------
    Cover & Thomas (2006), Elements of Information Theory, Section 2.10.

    """
    expect_curve(curve)
    measured = measure_accuracy(curve)
    low = lower_bound_fixed_classes(measured.achieved, math.log(1 - expect.fraction(level, "level")), measured.rows)
    ends = [fano(share, measured.k) for share in (measured.achieved, low)]
    kind = "lower bound for these classes, guaranteed for any number of rows"
    return _information("Fano", Estimate(ends[0], ends[1], math.inf, level, kind), measured.k)


def in_bits(nats: Estimate) -> Estimate:
    """The same in bits."""
    value, low, high = (part / math.log(2) for part in (nats.value, nats.low, nats.high))
    return Estimate(value, low, high, nats.level, nats.kind)


def _information(kind: str, nats: Estimate, n_classes: int, notes: tuple[str, ...] = ()) -> Information:
    return Information(kind, nats, in_bits(nats), n_classes, notes)
