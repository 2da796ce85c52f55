"""`network_quality`: was a network trained well? From architecture and weights alone, without any data.

The head's rows, the features of prototypes, the paper's bounds of accuracy, which classes the network takes for alike,
what training changed, and an estimate of accuracy whose error is known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..expect import InputError
from ..intervals import Estimate, of_mean, of_proportion
from ..result import Result
from .applicability import applicability
from .by_class import by_class, by_pair
from .cosines import Cosines, cosines
from .estimate import FORMED, estimate_accuracy
from .feature_quality import distributions
from .figures import figures
from .head import HeadQuality, head_quality
from .prototypes import prototypes
from .record import Prototypes
from .split import Split
from .split import split as split_network
from .untrained import both_records

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import nn

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NetworkQuality(Result):
    """What can be told of a network without data.

    `classifier_quality` is H_w, `within` M_in and `between` M_bt of the prototypes' features, means over starts with
    their intervals; `accuracy_bounds` the paper's lower and upper bound; `estimate` the accuracy told by a combination
    of figures, with an interval from networks of other data sets. `per_class`, `per_pair` (closest first) and `cosines`
    (c, c) tell which classes the network takes for alike; `closest_rows` is the pair of classes whose rows of the
    head are closest, with their cosine; `per_start` has the raw figures. `figures` are all dataless figures,
    `fresh` the same for the architecture freshly initialised. `sensitivity` is M_bt by factor of the step.
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
        """One row a figure: figure, value, low, high, and the value for a fresh initialisation."""
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
            f"{self.within:.3f} (M_in), of different ones {self.between:.3f} apart (M_bt). The paper's bounds of "
            f"accuracy: {self.accuracy_bounds[0]:.2f} to {self.accuracy_bounds[1]:.2f}. Estimated accuracy "
            f"{self.estimate:.2f}. "
            f"The head's rows are closest for {first} and {second} (cosine {cosine:.2f}). "
            f"{FORMED}"
        )
        return " ".join([text, *self.notes])


EXPLAINED = ("within", "between")


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
    """Tell how well a network was trained, from architecture and weights alone.

    H_w = 1 − mean cosine of rows of the head. On features of prototypes: M_in = mean cosine within classes, M_bt = 1 −
    mean cosine with other classes' means; accuracy at most M_in − 2·std and at least M_bt − 2·std, by the paper. Higher
    is better for each, 1 the ideal of features.

    It misleads as an accuracy. On 252 networks whose length of training, amount of data and label noise were varied
    apart, the paper's bounds enclosed the true accuracy of 47 %, and M_in did not rank checkpoints at all. `estimate`
    ranks checkpoints of one task fairly, hardly tells the level, and does not see wrong labels; neither replaces a test
    set. What is unlike the networks of the calibration is said in `notes`.

    Parameters
    ----------
    network : any nn.Module that ends in a linear layer, what `split` made of it, or a record of `prototypes`
    input_shape : shape of one input, as (3, 32, 32)
    normalize : (mean, std) by channel, for a box and pictures
    starts : draws of random inputs; intervals are over them
    compare_fresh : measure the same architecture freshly initialised, too
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
            raise InputError("`input_shape` is missing: the shape of one input is expected, such as (3, 32, 32).")
        network = split_network(network, input_shape, options.pop("head", None), options.pop("call", None))
    names = _names(class_names, network.classes)
    head = head_quality(network.weight, network.bias)  # before the walks, as a head without direction is refused
    fresh: Prototypes | None = None
    remarks: list[str] = []
    if isinstance(network, Prototypes):
        record = network
    else:
        options = {**options, "normalize": normalize, "starts": starts}
        record, fresh, remarks = both_records(network, options, prototypes, compare_fresh)
    whole, by_start = _measured(record)
    targets = np.unique(record.target)
    walked = tuple(names[one] for one in targets)
    first, second, cosine = head.closest[0]
    known = figures(record)
    estimate, doubts = estimate_accuracy(known, record.classes)
    frame = pd.DataFrame(
        [
            {
                "start": int(start), "within": found.m_in, "within_std": found.within_std, "between": 1 - found.cs_bt,
                "between_std": found.between_std, "lower": found.bounds[0], "upper": found.bounds[1],
            }
            for start, found in by_start.items()
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
        cosines=whole.of_pairs(),
        distributions=distributions(*by_start.values()),
        figures=known,
        fresh={} if fresh is None else figures(fresh),
        sensitivity=dict(record.sensitivity),
        notes=(*record.notes, *applicability(record, output, *bounds), *doubts, *remarks),
    )


def _over_starts(values: pd.Series[float], least: float, most: float) -> Estimate:
    """The mean with its interval, which of one start is all that there can be."""
    mean = of_mean(values, kind="over starts")
    return replace(mean, low=max(mean.low, least), high=min(mean.high, most))


def _names(given: Sequence[str] | None, classes: int) -> tuple[str, ...]:
    if given is None:
        return tuple(str(one) for one in range(classes))
    names = tuple(str(one) for one in given)
    if len(names) != classes:
        raise InputError(f"`class_names` has {len(names)} names, but the head has {classes} classes. Give one a class.")
    if len(set(names)) < len(names):
        raise InputError("`class_names` names two classes alike; every class needs a name of its own.")
    return names


def _measured(record: Prototypes) -> tuple[Cosines, dict[int, Cosines]]:
    """The cosines of all prototypes together, and of each start by itself."""
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
