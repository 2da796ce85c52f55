"""`network_quality`: was a network trained well? From architecture and weights alone, without any data.

The head's rows, the features of prototypes, the paper's bounds on accuracy, which classes are similar for the network,
what training changed, which layers are like fresh ones and which classes no input reaches. Accuracy only by labelled
rows: a linear combination of the figures, fitted on 302 small networks whose accuracy is known and whose factors of
training were varied apart, had a rank correlation of .22 [.07, .38] with accuracy on data sets left out, and put 62 %
of 3,403 pairs of networks into the right order.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...arrays import Floats
from ...expect import InputError, shown
from ...intervals import Estimate, of_mean, of_proportion
from ...result import Result
from ..cosines import Cosines, cosines, pair_cosines, separations, unit
from ..prototypes.prototypes import Prototypes, fresh_network, prototypes, split_of
from ..prototypes.split import Split
from ..prototypes.split import split as split_network
from .features import cosine_figures, definition_1, distributions, per_class, per_pair, sign_note
from .figures import cosines_by_start, figures, rows_by_start
from .head import HeadQuality, head_quality
from .labelled_rows import LabelledRows, accuracy_by_rows, labelled_rows, rows_right

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import nn

EXPLAINED = ("within", "between")
FRESH_STARTS, FRESH_ORIGINS, FRESH_STEPS = 2, 3, 60
SENSITIVE = 0.05
"""Above this range of M_bt over three steps, it is reported to depend on the step."""
CONVERGED = 0.9
"""With a smaller share of walks arrived, figures are doubtful."""
WITHOUT_DATA = "Its accuracy cannot be known without labelled rows."
WITHIN = (
    "by largest singular value and sum of rows, within the range of fresh initialisations (all layers of 95% of fresh "
    "networks are). This does not show that"
)
FORMED = "This describes the shape of head and features, not the accuracy of the network."


@dataclass(frozen=True)
class NetworkQuality(Result, chart="network:NETWORK"):
    """What can be measured about a network without data.

    `classifier_quality` is H_w, `within` M_in and `between` M_bt of the prototypes' features, means over starts with
    their intervals; `separations` M_bt by the paper's three ways to count; `accuracy_bounds` the paper's lower and
    upper bound. `labelled` is the accuracy by labelled rows, if rows were given. `per_class` has the paper's
    definition 1 for each class, `per_pair` (closest first), `cosines` and `row_cosines` (c, c) show which classes are
    similar by their features and by the head's rows; `closest_rows` is the pair of classes whose rows of the head are
    closest, with their cosine; `like_fresh` is whether the weights of all layers lie within the range of fresh
    initialisations, which does not show that the network is untrained; `unreached` are classes that no walk arrived at;
    `per_start` has the raw figures. `layers` has the same by layer. `figures` are all dataless figures, `fresh` the
    same for the architecture freshly initialised. `sensitivity` is M_bt by factor of the step. `right` says of each
    labelled row whether it was predicted correctly, `rows` which rows they are; `fingerprint` is that of the weights.
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
    labelled: Estimate | None
    converged: Estimate
    nonnegative: bool
    head: HeadQuality
    per_class: pd.DataFrame
    per_pair: pd.DataFrame
    closest_rows: tuple[str, str, float]
    like_fresh: bool
    unreached: tuple[str, ...]
    per_start: pd.DataFrame
    separations: pd.DataFrame
    layers: pd.DataFrame
    row_cosines: Floats
    fingerprint: str
    cosines: Floats
    distributions: pd.DataFrame
    figures: dict[str, float]
    fresh: dict[str, float]
    sensitivity: dict[str, float]
    notes: tuple[str, ...]
    rows: str = ""
    right: NDArray[np.bool_] | None = field(default=None, repr=False)

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: figure, value, low, high, and the value for a fresh initialisation."""
        lower, upper = self.accuracy_bounds
        main = {"classifier_quality": self.classifier_quality, "lower_bound": lower, "upper_bound": upper}
        rows: list[dict[str, Any]] = [{"figure": name, "value": value} for name, value in main.items()]
        for name in ("within", "between", "converged", "labelled"):
            estimate: Estimate | None = getattr(self, name)
            if estimate is not None:
                rows.append({"figure": name, "value": estimate.value, "low": estimate.low, "high": estimate.high})
        rows += [{"figure": name, "value": value} for name, value in self.figures.items() if name not in EXPLAINED]
        frame = pd.DataFrame(rows, columns=["figure", "value", "low", "high"])
        frame["fresh"] = [self.fresh.get(name, np.nan) for name in frame["figure"]]
        frame.insert(0, "network", self.name)
        return frame

    def __str__(self) -> str:
        first, second, cosine = self.closest_rows
        accuracy = WITHOUT_DATA
        if self.labelled is not None:
            accuracy = f"Accuracy by labelled rows: {self.labelled:.2f} ({self.labelled.kind})."
        several = len(self.per_start) > 1
        alone = "" if several else ", from one start, so without intervals"
        within, between = (f"{each:.3f}" if several else f"{each.value:.3f}" for each in (self.within, self.between))
        figures = (
            f"H_w {self.classifier_quality:.3f}, features of one class at cosine {within} (M_in), of different ones "
            f"{between} apart (M_bt){alone}. The paper's bounds on accuracy, which failed for most "
            f"networks: {self.accuracy_bounds[0]:.2f} to {self.accuracy_bounds[1]:.2f}. The head's rows are closest "
            f"for {first} and {second} (cosine {cosine:.2f}). {FORMED}"
        )
        return " ".join([f"{self.name}: {self.classes} classes.", accuracy, figures, *self.notes])


def network_quality(
    network: nn.Module | Split | Prototypes,
    input_shape: Sequence[int] | None = None,
    normalize: Any = None,
    starts: int = 5,
    *,
    compare_fresh: bool = True,
    class_names: Sequence[str] | None = None,
    X: Any = None,
    y: Any = None,
    **options: Any,
) -> NetworkQuality:
    """Measure how well a network was trained, from architecture and weights alone.

    H_w = 1 − mean cosine of rows of the head. On features of prototypes: M_in = mean cosine within classes, M_bt = 1 −
    mean cosine with other classes' means; accuracy at most M_in − 2·std and at least M_bt − 2·std, by the paper. Higher
    is better for each; ideal features have 1.

    It misleads as an accuracy: none of these figures, and no combination of them, had a useful rank correlation with
    accuracy across data sets (see the page on networks). Pass 20 or more labelled rows as `X` and `y` for an accuracy
    with an interval. Rows that the network was trained on make it too high.

    Parameters
    ----------
    network : any nn.Module that ends in a linear layer, the result of `split`, or a record of `prototypes`
    input_shape : shape of one input, as (3, 32, 32)
    normalize : (mean, std) by channel, for a box and pictures
    starts : draws of random inputs; intervals are over them
    compare_fresh : also measure the same architecture freshly initialised
    class_names : names of the head's classes, in order
    X, y : a few labelled rows that the network was not trained on, as the network takes them (bytes are images of 0 to
        255, scaled by `normalize`), and their class numbers
    options : as in `prototypes`, such as step, walks, head, store

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
    if not isinstance(network, Prototypes):
        network = split_of(network, input_shape, options.pop("head", None), options.pop("call", None))
    if (X is None) != (y is None):
        raise InputError(f"`{'y' if y is None else 'X'}` is missing; labelled rows need both `X` and `y`.")
    known: dict[str, Any] = {}
    if X is not None:
        if isinstance(network, Prototypes):
            raise InputError("`X` is given with a record of prototypes; expected the network, to predict its rows.")
        known = by_labelled_rows(network, labelled_rows(X, y), normalize)
    names = _names(class_names, network.classes)
    head = head_quality(network.weight, network.bias)  # before the walks, since a head without direction is refused
    if isinstance(network, Prototypes):
        return quality_of_record(network, head, names)
    options = {**options, "normalize": normalize, "starts": starts}
    record, fresh, notes = record_with_fresh(network, options, prototypes, compare_fresh)
    measured = quality_of_record(record, head, names)
    of_fresh = {} if fresh is None else figures(fresh)
    return replace(measured, **known, fresh=of_fresh, notes=(*measured.notes, *notes))


def by_labelled_rows(network: Split, rows: LabelledRows, normalize: Any) -> dict[str, Any]:
    """The fields of a quality that labelled rows determine."""
    right = rows_right(network, rows, normalize)
    return {"labelled": accuracy_by_rows(int(right.sum()), len(rows)), "right": right, "rows": rows.digest}


def quality_of_record(record: Prototypes, head: HeadQuality, names: tuple[str, ...]) -> NetworkQuality:
    """Every measure of a record, whose head and names of classes are these."""
    whole, by_start = _cosines_of(record)
    targets = np.unique(record.target)
    walked = tuple(names[code] for code in targets)
    first, second, cosine = head.closest[0]
    per_start = pd.DataFrame([{"start": start, **cosine_figures(measured)} for start, measured in by_start.items()])
    mean = per_start.mean()
    bounds = float(mean["lower"]), float(mean["upper"])
    output, within = str(record.about.get("output", "unknown")), record.about.get("like_fresh", [])
    layers, structure = list(record.layers), np.array(list(record.layers.values()), dtype=float)
    codes, counts = np.searchsorted(targets, record.target), np.unique(record.target, return_counts=True)[1]
    by_class = per_class(whole, walked).assign(
        prototypes=counts,
        converged=np.bincount(codes, record.converged) / counts,
        way=np.bincount(codes, record.distance) / counts,
    )
    return NetworkQuality(
        name=record.name,
        classes=record.classes,
        walked=tuple(targets.tolist()),
        output=output,
        classifier_quality=head.classifier_quality,
        within=of_mean(per_start["within"], kind="over starts", limits=(-1.0, 1.0)),
        within_std=float(mean["within_std"]),
        between=of_mean(per_start["between"], kind="over starts", limits=(0.0, 2.0)),
        between_std=float(mean["between_std"]),
        accuracy_bounds=bounds,
        labelled=None,
        converged=of_proportion(int(record.converged.sum()), len(record)),
        nonnegative=bool((record.features >= 0).all()),
        head=head,
        per_class=pd.concat([by_class, definition_1(record, targets)], axis=1),
        per_pair=_by_pair(whole, walked, record.weight[targets]),
        closest_rows=(names[first], names[second], float(cosine)),
        like_fresh=like_fresh(record),
        unreached=tuple(by_class["class"][by_class["converged"] == 0]),
        per_start=per_start,
        separations=_separations(record),
        layers=pd.DataFrame({"layer": layers, "structure": structure, "like_fresh": np.isin(layers, within)}),
        row_cosines=pair_cosines(record.weight[targets].astype(float)),
        fingerprint=str(record.about.get("fingerprint", "")),
        cosines=whole.class_cosines(),
        distributions=distributions(*by_start.values()),
        figures=figures(record),
        fresh={},
        sensitivity=dict(record.sensitivity),
        notes=(*record.notes, *applicability(record, output, *bounds)),
    )


def _separations(record: Prototypes) -> pd.DataFrame:
    """M_bt by each way to count: counted, between, spread, lower_bound. Means over starts."""
    by_start = [separations(features, codes, classes) for _, features, codes, classes in rows_by_start(record)]
    values = np.mean([list(each.values()) for each in by_start], axis=0)
    between, spread = values.T
    figures = {"between": between, "spread": spread, "lower_bound": between - 2 * spread}
    return pd.DataFrame({"counted": list(by_start[0]), **figures})


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
        raise InputError("The record has prototypes of 1 class; at least 2 are needed. Allow more `walks`.")
    by_start = cosines_by_start(record)
    if not by_start:
        raise InputError("No start of the record has prototypes of 2 classes. Allow more `walks`.")
    return cosines(record.features, codes, len(classes)), by_start


def applicability(record: Prototypes, output: str, lower: float, upper: float) -> list[str]:
    """The notes that apply. `output` is what follows the head; `lower` and `upper` are the paper's bounds."""
    notes = [note] if (note := sign_note(record.features)) else []
    if output == "sigmoid":
        notes.append("The network ends in a sigmoid, not a softmax; the paper's figures were not derived for that.")
    arrived = float(record.converged.mean())
    if arrived < CONVERGED:
        notes.append(f"Only {arrived:.0%} of the walks reached the loss of {record.settings['delta']:g}: doubtful.")
    within = list(record.about.get("like_fresh", []))
    if like_fresh(record):
        notes.append(f"The weights of all {len(within)} layers are, {WITHIN} the network is untrained.")
    elif within:
        notes.append(f"The weights of {shown(within, 5)} are, {WITHIN} they are untrained.")
    if (zeros := float((~record.features.any(axis=1)).mean())) > 0:
        notes.append(f"The features of {zeros:.0%} of the prototypes are all zero; their cosine counts as 0.")
    values = list(record.sensitivity.values())
    if values and max(values) - min(values) > SENSITIVE:
        notes.append(
            f"M_bt depends on the step: {min(values):.2f} to {max(values):.2f} over a third to three times it."
        )
    if lower > upper:
        notes.append("The paper's lower bound is above its upper one here, so they bound nothing.")
    return notes


def like_fresh(record: Prototypes) -> bool:
    """Whether the weights of all layers lie within the range of fresh initialisations, and no normalisation moved."""
    within = record.about.get("like_fresh", [])
    return bool(record.layers) and len(within) == len(record.layers) and not record.about.get("normalisation_moved")


def _by_pair(whole: Cosines, names: tuple[str, ...], weight: NDArray[np.floating]) -> pd.DataFrame:
    """Pairs of classes by the cosine of their features, closest first, with that of the head's rows.

    On networks with test images the cosines of rows correlated with true confusions (Spearman .57 to .87) more than
    those of features did (.05 to .80).
    """
    frame = per_pair(whole.class_cosines(), names)
    first, second = (
        unit(weight.astype(float))[pd.Index(names).get_indexer(pd.Index(frame[side]))] for side in ("first", "second")
    )
    return frame.assign(rows=(first * second).sum(axis=1))


# The same architecture freshly initialised, with a sample of walks: which figures come from training?


def record_with_fresh(
    own: Split, options: dict[str, Any], make: Callable[..., Prototypes], compare: bool = True
) -> tuple[Prototypes, Prototypes | None, list[str]]:
    """The record of a network, that of a fresh one if wanted, and notes on the latter.

    `make` makes prototypes with `options`.
    """
    record = make(own, **options)
    if not compare or record.interrupted:
        return record, None, []
    # By another step, as gradients are different, and short walks, as often no input reaches the loss.
    reduced = {
        "starts": min(FRESH_STARTS, options.get("starts", FRESH_STARTS)),
        "origins": min(FRESH_ORIGINS, record.settings["origins"]),
        "step": None,
        "max_steps": min(FRESH_STEPS, record.settings["max_steps"]),
        "sensitivity": False,
        "keep_inputs": False,
        "name": "freshly initialised",
    }
    try:
        copied, not_reset = fresh_network(own.network, record.settings["seed"])
        fresh = make(split_network(copied, own.input_shape, own.name, own.call), **{**options, **reduced})
    except KeyboardInterrupt:
        return replace(record, interrupted=True), None, []
    except InputError as error:
        return record, None, [f"There is no comparison with a fresh network. {error}"]  # the record is kept
    note = f"{', '.join(not_reset[:3])} cannot be reset: the fresh network keeps trained values there."
    return replace(record, interrupted=fresh.interrupted), fresh, [note] * bool(not_reset)
