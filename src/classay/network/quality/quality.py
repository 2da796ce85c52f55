"""`network_quality`: was a network trained well? From architecture and weights alone, without any data.

The head's rows, the features of prototypes, the paper's bounds on accuracy, which classes are similar for the network,
what training changed, and an estimate of accuracy with a known error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...arrays import Floats
from ...expect import InputError
from ...intervals import Estimate, of_mean, of_proportion
from ...result import Result
from ..cosines import Cosines, cosines, unit
from ..prototypes.prototypes import prototypes
from ..prototypes.record import Prototypes
from ..split.split import Split
from ..split.split import split as split_network
from .features import distributions, per_class, per_pair, sign_note
from .figures import figures
from .fresh_record import record_with_fresh
from .head import HeadQuality, head_quality

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import nn

EXPLAINED = ("within", "between")
CONVERGED = 0.9
"""If a smaller share of walks arrived, figures are reported as doubtful."""
SENSITIVE = 0.05
"""Above this range of M_bt over three steps, it is reported to depend on the step."""
FORMED = (
    "This describes the shape of head and features, not the accuracy of the network: the estimate ranks checkpoints "
    "of one task, and its level is rough."
)


@dataclass(frozen=True)
class NetworkQuality(Result, chart="network.cosines:draw_network_quality"):
    """What can be measured about a network without data.

    `classifier_quality` is H_w, `within` M_in and `between` M_bt of the prototypes' features, means over starts with
    their intervals; `accuracy_bounds` the paper's lower and upper bound; `estimate` the accuracy estimated from a
    combination of figures, with an interval from networks of other data sets. `per_class`, `per_pair` (closest first)
    and `cosines` (c, c) show which classes are similar for the network; `closest_rows` is the pair of classes whose
    rows of the head are closest, with their cosine; `per_start` has the raw figures. `figures` are all dataless
    figures, `fresh` the same for the architecture freshly initialised. `sensitivity` is M_bt by factor of the step.
    """

    name: str
    classes: int
    walked: tuple[int, ...]
    output: str
    classifier_quality: float
    within: Estimate
    within_std: float
    between: Estimate
    between_std: float
    accuracy_bounds: tuple[float, float]
    estimate: Estimate
    converged: Estimate
    nonnegative: bool
    head: HeadQuality
    per_class: pd.DataFrame
    per_pair: pd.DataFrame
    closest_rows: tuple[str, str, float]
    per_start: pd.DataFrame
    cosines: Floats
    distributions: pd.DataFrame
    figures: dict[str, float]
    fresh: dict[str, float]
    sensitivity: dict[str, float]
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: figure, value, low, high, and the value for a fresh initialisation."""
        rows: list[dict[str, Any]] = [
            {"figure": "classifier_quality", "value": self.classifier_quality},
            {"figure": "lower_bound", "value": self.accuracy_bounds[0]},
            {"figure": "upper_bound", "value": self.accuracy_bounds[1]},
        ]
        for name in ("within", "between", "estimate", "converged"):
            estimate: Estimate = getattr(self, name)
            rows.append({"figure": name, "value": estimate.value, "low": estimate.low, "high": estimate.high})
        rows += [{"figure": name, "value": value} for name, value in self.figures.items() if name not in EXPLAINED]
        frame = pd.DataFrame(rows, columns=["figure", "value", "low", "high"])
        frame["fresh"] = [self.fresh.get(name, np.nan) for name in frame["figure"]]
        frame.insert(0, "network", self.name)
        return frame

    def __str__(self) -> str:
        first, second, cosine = self.closest_rows
        text = (
            f"{self.name}: {self.classes} classes, H_w {self.classifier_quality:.3f}, features of one class at cosine "
            f"{self.within:.3f} (M_in), of different ones {self.between:.3f} apart (M_bt). The paper's bounds on "
            f"accuracy: {self.accuracy_bounds[0]:.2f} to {self.accuracy_bounds[1]:.2f}. Estimated accuracy "
            f"{self.estimate:.2f}. "
            f"The head's rows are closest for {first} and {second} (cosine {cosine:.2f}). "
            f"{FORMED}"
        )
        return " ".join([text, *self.notes])


def network_quality(
    network: nn.Module | Split | Prototypes,
    input_shape: Sequence[int] | None = None,
    normalize: Any = None,
    starts: int = 5,
    *,
    compare_fresh: bool = True,
    class_names: Sequence[str] | None = None,
    **options: Any,
) -> NetworkQuality:
    """Measure how well a network was trained, from architecture and weights alone.

    H_w = 1 − mean cosine of rows of the head. On features of prototypes: M_in = mean cosine within classes, M_bt = 1 −
    mean cosine with other classes' means; accuracy at most M_in − 2·std and at least M_bt − 2·std, by the paper. Higher
    is better for each; ideal features have 1.

    It misleads as an accuracy. On 252 networks whose length of training, amount of data and label noise were varied
    separately, the paper's bounds contained the true accuracy of 47 %, and M_in did not rank checkpoints at all.
    `estimate` ranks checkpoints of one task fairly well, but its level is hardly informative, and it does not detect
    wrong labels; neither replaces a test set. `notes` lists where the network differs from those of the calibration.

    Parameters
    ----------
    network : any nn.Module that ends in a linear layer, the result of `split`, or a record of `prototypes`
    input_shape : shape of one input, as (3, 32, 32)
    normalize : (mean, std) by channel, for a box and pictures
    starts : draws of random inputs; intervals are over them
    compare_fresh : also measure the same architecture freshly initialised
    class_names : names of the head's classes, in order
    options : as in `prototypes`, such as step, budget, head, store

    Examples
    --------
    >>> from torch import manual_seed, nn
    >>> _ = manual_seed(0)
    >>> network = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
    >>> q = network_quality(network, (5,), starts=2, compare_fresh=False)
    >>> 0 < q.within.value <= 1, q.nonnegative
    (True, True)

    References
    ----------
    Dean & Sarkar, Novel Deep Neural Network Classifier Characterization Metrics with Applications to Dataless
    Evaluation (2024).

    """
    if not isinstance(network, (Prototypes, Split)):
        if input_shape is None:
            raise InputError("`input_shape` is missing; expected the shape of one input, such as (3, 32, 32).")
        network = split_network(network, input_shape, options.pop("head", None), options.pop("call", None))
    names = _names(class_names, network.classes)
    head = head_quality(network.weight, network.bias)  # before the walks, since a head without direction is refused
    fresh: Prototypes | None = None
    fresh_notes: list[str] = []
    if isinstance(network, Prototypes):
        record = network
    else:
        options = {**options, "normalize": normalize, "starts": starts}
        record, fresh, fresh_notes = record_with_fresh(network, options, prototypes, compare_fresh)
    whole, by_start = _cosines_of(record)
    targets = np.unique(record.target)
    walked = tuple(names[one] for one in targets)
    first, second, cosine = head.closest[0]
    dataless = figures(record)
    estimate, doubts = estimate_accuracy(dataless, record.classes)
    frame = pd.DataFrame(
        [
            {
                "start": int(start), "within": measured.m_in, "within_std": measured.within_std,
                "between": 1 - measured.cs_bt, "between_std": measured.between_std,
                "lower": measured.bounds[0], "upper": measured.bounds[1],
            }
            for start, measured in by_start.items()
        ]
    )  # fmt: skip
    bounds = float(frame["lower"].mean()), float(frame["upper"].mean())
    output = str(record.about.get("output", "unknown"))
    return NetworkQuality(
        name=record.name,
        classes=record.classes,
        walked=tuple(int(one) for one in targets),
        output=output,
        classifier_quality=head.classifier_quality,
        within=_over_starts(frame["within"], -1.0, 1.0),
        within_std=float(frame["within_std"].mean()),
        between=_over_starts(frame["between"], 0.0, 2.0),
        between_std=float(frame["between_std"].mean()),
        accuracy_bounds=bounds,
        estimate=estimate,
        converged=of_proportion(int(record.converged.sum()), len(record)),
        nonnegative=bool((record.features >= 0).all()),
        head=head,
        per_class=by_class(whole, walked, record, targets),
        per_pair=by_pair(whole, walked, record.weight[targets]),
        closest_rows=(names[first], names[second], float(cosine)),
        per_start=frame,
        cosines=whole.class_cosines(),
        distributions=distributions(*by_start.values()),
        figures=dataless,
        fresh={} if fresh is None else figures(fresh),
        sensitivity=dict(record.sensitivity),
        notes=(*record.notes, *applicability(record, output, *bounds), *doubts, *fresh_notes),
    )


def _over_starts(values: pd.Series[float], least: float, most: float) -> Estimate:
    """The mean with its interval, which for one start is everything possible."""
    mean = of_mean(values, kind="over starts")
    return replace(mean, low=max(mean.low, least), high=min(mean.high, most))


def _names(class_names: Sequence[str] | None, classes: int) -> tuple[str, ...]:
    if class_names is None:
        return tuple(str(one) for one in range(classes))
    names = tuple(str(one) for one in class_names)
    if len(names) != classes:
        raise InputError(f"`class_names` has {len(names)} names but the head has {classes} classes; they must match.")
    if len(set(names)) < len(names):
        raise InputError("`class_names` has the same name twice; every class needs its own name.")
    return names


def _cosines_of(record: Prototypes) -> tuple[Cosines, dict[int, Cosines]]:
    """The cosines of all prototypes together, and of each start separately."""
    classes, codes = np.unique(record.target, return_inverse=True)
    if len(classes) < 2:
        raise InputError("The record has prototypes of 1 class; at least 2 are needed. Allow a longer `budget`.")
    by_start = {}
    for start in record.starts:
        rows = record.start == start
        there, own = np.unique(record.target[rows], return_inverse=True)
        if len(there) > 1:
            by_start[int(start)] = cosines(record.features[rows], own, len(there))
    if not by_start:
        raise InputError("No start of the record has prototypes of 2 classes. Allow a longer `budget`.")
    return cosines(record.features, codes, len(classes)), by_start


def applicability(record: Prototypes, output: str, lower: float, upper: float) -> list[str]:
    """The notes that apply. `output` is what follows the head; `lower` and `upper` are the paper's bounds."""
    notes = [note] if (note := sign_note(record.features)) else []
    if output == "sigmoid":
        notes.append("The network ends in a sigmoid, not a softmax; the paper's figures were not derived for that.")
    arrived = float(record.converged.mean())
    if arrived < CONVERGED:
        notes.append(f"Only {arrived:.0%} of the walks reached the loss of {record.settings['delta']:g}: doubtful.")
    if (zeros := _zeros(record.features)) > 0:
        notes.append(f"The features of {zeros:.0%} of the prototypes are all zero; their cosine counts as 0.")
    values = list(record.sensitivity.values())
    if values and max(values) - min(values) > SENSITIVE:
        notes.append(
            f"M_bt depends on the step: {min(values):.2f} to {max(values):.2f} over a third to three times it."
        )
    if lower > upper:
        notes.append("The paper's lower bound is above its upper one here, so they bound nothing.")
    return notes


def _zeros(features: NDArray[np.floating]) -> float:
    return float((~features.any(axis=1)).mean())


# Figures of single classes and of pairs: which ones are similar for the network.


def by_class(whole: Cosines, names: tuple[str, ...], record: Prototypes, targets: NDArray[np.integer]) -> pd.DataFrame:
    """One row per class, with how its walks went."""
    codes = np.searchsorted(targets, record.target)
    counts = np.bincount(codes)
    return per_class(whole, names).assign(
        prototypes=counts,
        converged=np.bincount(codes, record.converged) / counts,
        way=np.bincount(codes, record.distance) / counts,
    )


def by_pair(whole: Cosines, names: tuple[str, ...], weight: NDArray[np.floating]) -> pd.DataFrame:
    """Pairs of classes by the cosine of their features, closest first, with that of the head's rows.

    On networks with test images the cosines of rows correlated with true confusions (Spearman .57 to .87) more than
    those of features did (.05 to .80).
    """
    units = unit(weight.astype(float))
    place = {name: at for at, name in enumerate(names)}
    frame = per_pair(whole.class_cosines(), names)
    first, second = (frame[side].map(place).to_numpy() for side in ("first", "second"))
    return frame.assign(rows=(units[first] * units[second]).sum(axis=1))


# The estimate of accuracy: a linear combination of dataless figures, fitted on networks whose accuracy is known.
#
# logit(accuracy) = intercept + Σ coefficient · (figure − centre) / scale. The constants below were made by
# `benchmarks/network_claims.py --fit` on 252 small networks (multilayer perceptrons, convolutional ones and ResNet18 of
# width 16, on nine image sets of 10 to 40 classes) whose amount of data, length of training and label noise were varied
# separately. On data sets left out of the fit it orders the checkpoints of one architecture and data set (mean Spearman
# .73; .66 if the figures were also chosen without that data set) and, less well, those of several architectures (.63;
# .49). Its level is hardly informative: its mean error is .24, compared with .28 of a constant. Weights do not show how
# hard a data set is.


LEVEL = 0.9
KIND = "of networks on data sets left out of the calibration"
CLASSES = (10, 40)
"""Fewest and most classes of the calibration."""


@dataclass(frozen=True)
class Term:
    """One figure's part in the estimate, and the least and greatest value it had in the calibration."""

    figure: str
    centre: float
    scale: float
    coefficient: float
    least: float
    most: float


@dataclass(frozen=True)
class Calibration:
    """A fitted estimate. `reach`: how far below and above it the truth was, for 90 % of networks on sets left out."""

    intercept: float
    reach: tuple[float, float]
    terms: tuple[Term, ...]


CALIBRATIONS = (
    Calibration(  # images
        1.0738,
        (-0.689, 0.345),
        (
            Term("row_spread", 0.2119, 0.2096, 0.2449, -0.4006, 0.8516),
            Term("between", 0.5036, 0.1499, 0.6181, 0.1665, 0.8536),
            Term("within", 0.9042, 0.0658, 0.5900, 0.6440, 0.9806),
            Term("norm_growth", 0.3667, 0.1643, 0.5661, 0.0012, 0.9117),
            Term("shift_robustness", 0.7908, 0.2067, 0.2932, 0.0781, 0.9842),
        ),
    ),
    Calibration(  # any input
        1.0225,
        (-0.676, 0.395),
        (
            Term("row_spread", 0.2119, 0.2096, 0.3453, -0.4006, 0.8516),
            Term("between", 0.5036, 0.1499, 0.7023, 0.1665, 0.8536),
            Term("within", 0.9042, 0.0658, 0.7591, 0.6440, 0.9806),
            Term("norm_growth", 0.3667, 0.1643, 0.6199, 0.0012, 0.9117),
        ),
    ),
)
"""The first whose figures are all known is used."""


def estimate_accuracy(figures: Mapping[str, float], classes: int) -> tuple[Estimate, list[str]]:
    """Estimate the accuracy of a network from its dataless figures, and list what makes the estimate doubtful.

    Between 0 and 1, with an interval that contained the truth of 90 % of the networks on data sets left out. It is
    meant for ranking checkpoints of one task. It misleads between tasks, does not detect wrong labels in training, and
    outside of the figures' range in the calibration it is a guess, with a note. Unknown if figures are missing.

    Examples
    --------
    >>> known = {"row_spread": 0.2, "between": 0.5, "within": 0.9, "norm_growth": 0.4}
    >>> estimate, doubts = estimate_accuracy(known, classes=10)
    >>> round(estimate.value, 1), doubts
    (0.7, [])
    >>> estimate_accuracy({**known, "between": 0.7}, classes=10)[0].value > estimate.value
    True

    """
    for calibration in CALIBRATIONS:
        if all(math.isfinite(figures.get(term.figure, math.nan)) for term in calibration.terms):
            break
    else:
        return Estimate(math.nan, 0.0, 1.0, LEVEL, "unknown: figures are missing"), []
    score = calibration.intercept + sum(
        term.coefficient * (figures[term.figure] - term.centre) / term.scale for term in calibration.terms
    )
    value = 1 / (1 + math.exp(-max(min(score, 50.0), -50.0)))
    low, high = (min(max(value + edge, 0.0), 1.0) for edge in calibration.reach)
    strange = [term.figure for term in calibration.terms if not term.least <= figures[term.figure] <= term.most]
    doubts = []
    if strange:
        doubts.append(f"Outside of the calibration in {', '.join(strange)}: the estimate is a guess.")
    if not CLASSES[0] <= classes <= CLASSES[1]:
        doubts.append(
            f"The estimate was calibrated on {CLASSES[0]} to {CLASSES[1]} classes; this network has {classes}."
        )
    return Estimate(value, low, high, LEVEL, KIND), doubts
