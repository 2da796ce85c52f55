"""`rank_networks`: one table over many networks, best first, and how each figure correlates with true accuracy."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from ...arrays import Floats
from ...expect import InputError, one_of, shown
from ...intervals import Estimate, normal_quantile, of_proportion
from ...result import Result
from ..prototypes.record import Prototypes
from ..prototypes.walks import normalize_of
from ..split.trace import frozen
from .quality import NetworkQuality, network_quality

if TYPE_CHECKING:
    from ..split.split import Split

MAIN_FIGURES = ("estimate", "classifier_quality", "within", "between", "lower_bound", "upper_bound", "converged")
"""Figures that every quality has; the others are its dataless `figures`."""
FEWEST = 4
"""With fewer networks of known accuracy a correlation has no interval."""
NAMES = (("x", "y"), ("x_test", "y_test"), ("X", "y"), ("images", "labels"))
BATCH = 256


@dataclass(frozen=True)
class Ranking(Result, chart="network.accuracy_bounds:accuracy_bounds"):
    """Networks compared, best first by the figure `by`.

    `names` in that order; `table` has one row per network and one column per figure; `estimates`, `bounds` (the
    paper's) and `accuracy` (true, if known) by name. `correlations` are Spearman's rank correlations of each figure
    with true accuracy, over the networks for which it is known: 1: the same order, 0: none, −1: the reverse. `enclosed`
    is the share of those networks whose true accuracy is within the paper's bounds, and `estimate_enclosed` within the
    estimate's interval.
    """

    names: tuple[str, ...]
    by: str
    table: pd.DataFrame
    estimates: dict[str, Estimate]
    bounds: dict[str, tuple[float, float]]
    accuracy: dict[str, float]
    correlations: dict[str, Estimate]
    enclosed: float
    estimate_enclosed: float
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row per network and figure: rank, network, figure, value."""
        long = self.table.melt(id_vars=["rank", "network"], var_name="figure", value_name="value")
        return long.dropna(subset="value").sort_values("rank", kind="stable").reset_index(drop=True)

    def __str__(self) -> str:
        best, last = self.names[0], self.names[-1]
        called = self.by.replace("_", " ")
        values = dict(zip(self.table["network"], self.table[self.by]))
        if not math.isfinite(values[best]):
            text = f"{len(self.names)} networks, not ranked, because none has a known {called}."
        else:
            text = f"Of {len(self.names)} networks, {best} is first by {called} ({values[best]:.3f})"
            text += f", {last} last ({values[last]:.3f})." if math.isfinite(values[last]) else "."
        own = self.correlations.get(self.by)
        if own is not None:
            text += f" Rank correlation of that with true accuracy, over {len(self.accuracy)} networks: {own:.2f}."
        return " ".join([text, *self.notes])


def rank_networks(
    networks: Mapping[str, Any], accuracy: Mapping[str, float] | None = None, by: str = "estimate", **options: Any
) -> Ranking:
    """Put networks into one table, best first, to show which of them deserve testing.

    If true accuracies are given, Spearman's rank correlation of every figure with them shows which figure to trust on
    networks like these; its interval is Fisher's, with the standard error of Bonett & Wright, √((1 + ρ²/2)/(n − 3)).
    Between −1 and 1; 0 means no relation. With a dozen networks the interval is wide.

    It misleads across data sets and architectures: a figure that orders the checkpoints of one training run may be
    uninformative between runs.

    Parameters
    ----------
    networks : name -> what `network_quality` returned, or a network, split or record to be measured
    accuracy : name -> true accuracy, of all networks or some
    by : the figure to rank by, higher first; unknown ones come last
    options : as in `network_quality`, for those that are to be measured

    Examples
    --------
    >>> from torch import manual_seed, nn
    >>> _ = manual_seed(0)
    >>> nets = {name: nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3)) for name in "ab"}
    >>> ranking = rank_networks(nets, by="between", input_shape=(5,), starts=2, compare_fresh=False)
    >>> sorted(ranking.names), ranking.by
    (['a', 'b'], 'between')

    References
    ----------
    Bonett & Wright, Sample size requirements for estimating Pearson, Kendall and Spearman correlations (2000).

    """
    if not isinstance(networks, Mapping) or not networks:
        raise InputError("`networks` must be a dict of at least one network, name -> network or its quality.")
    truths = _true_accuracies(accuracy, networks)
    qualities = {
        str(name): each if isinstance(each, NetworkQuality) else _measure(str(name), each, options)
        for name, each in networks.items()
    }
    rows = {name: figures_of(quality) for name, quality in qualities.items()}
    columns = list(dict.fromkeys([*MAIN_FIGURES, *(figure for row in rows.values() for figure in row)]))
    one_of(by, "by", columns)
    # A stable sort keeps the given order of equals; unknown values come last.
    names = sorted(rows, key=lambda name: -rows[name].get(by, math.nan) if _finite(rows[name].get(by)) else math.inf)
    table = pd.DataFrame(
        [{"rank": place + 1, "network": name, **{column: rows[name].get(column, math.nan) for column in columns}}
         for place, name in enumerate(names)]
    )  # fmt: skip
    if truths:
        table.insert(2, "accuracy", [truths.get(name, math.nan) for name in names])
    estimates = {name: qualities[name].estimate for name in names}
    bounds = {name: qualities[name].accuracy_bounds for name in names}
    return Ranking(
        names=tuple(names),
        by=by,
        table=table,
        estimates=estimates,
        bounds=bounds,
        accuracy=truths,
        correlations=_correlations(table, columns) if truths else {},
        enclosed=_enclosed(truths, bounds),
        estimate_enclosed=_enclosed(
            truths, {name: (each.low, each.high) for name, each in estimates.items() if each.known}
        ),
        notes=_notes(qualities, truths, by),
    )


def _measure(name: str, network: Any, options: dict[str, Any]) -> NetworkQuality:
    named = {} if isinstance(network, Prototypes) else {"name": name}
    return network_quality(network, **{**named, **options})


def figures_of(quality: NetworkQuality) -> dict[str, float]:
    """The figures of one network, by name."""
    main = {
        "estimate": quality.estimate.value,
        "classifier_quality": quality.classifier_quality,
        "within": quality.within.value,
        "between": quality.between.value,
        "lower_bound": quality.accuracy_bounds[0],
        "upper_bound": quality.accuracy_bounds[1],
        "converged": quality.converged.value,
    }
    return {**quality.figures, **main}


def rank_correlation(figure: Floats, accuracy: Floats, level: float = 0.95) -> Estimate:
    """Spearman's rank correlation with Fisher's interval. Unknown if one of the two is constant.

    >>> rank_correlation(np.array([1.0, 2, 3, 5]), np.array([0.1, 0.2, 0.3, 0.4])).value
    1.0
    """
    both = np.isfinite(figure) & np.isfinite(accuracy)
    x, y = figure[both], accuracy[both]
    kind = f"of a rank correlation over {x.size} networks"
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Estimate(math.nan, -1.0, 1.0, level, kind)
    value = float(np.clip(np.corrcoef(stats.rankdata(x), stats.rankdata(y))[0, 1], -1, 1))
    value = float(np.round(value, 12))  # so that the same order is 1 and not 0.9999999999999999
    if x.size < FEWEST:
        return Estimate(value, -1.0, 1.0, level, kind)
    # Ranks are steps: the same order counts as half a step short of it, or four networks in order would prove all.
    most = 1 - 6 / (x.size**3 - x.size)
    inner = min(max(value, -most), most)
    reach = normal_quantile(level) * math.sqrt((1 + inner**2 / 2) / (x.size - 3))
    low, high = (math.tanh(math.atanh(inner) + side * reach) for side in (-1, 1))
    return Estimate(value, min(low, value), max(high, value), level, kind)


def _true_accuracies(accuracy: Mapping[str, float] | None, networks: Mapping[str, Any]) -> dict[str, float]:
    if accuracy is None:
        return {}
    strange = [str(name) for name in accuracy if name not in networks]
    if strange:
        raise InputError(f"`accuracy` has {shown(strange)}, which is not one of the networks: {shown(networks)}.")
    known = {str(name): float(value) for name, value in accuracy.items()}
    wrong = [name for name, value in known.items() if not 0 <= value <= 1]
    if wrong:
        raise InputError(f"`accuracy` of {shown(wrong)} is not between 0 and 1. Pass shares, not percentages.")
    return known


def _correlations(table: pd.DataFrame, columns: list[str]) -> dict[str, Estimate]:
    accuracy = table["accuracy"].to_numpy(dtype=float)
    if np.isfinite(accuracy).sum() < 2:
        return {}
    return {column: rank_correlation(table[column].to_numpy(dtype=float), accuracy) for column in columns}


def _enclosed(known: dict[str, float], intervals: Mapping[str, tuple[float, float]]) -> float:
    inside = [low <= known[name] <= high for name, (low, high) in intervals.items() if name in known]
    return float(np.mean(inside)) if inside else math.nan


def _finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _notes(qualities: dict[str, NetworkQuality], known: dict[str, float], by: str) -> tuple[str, ...]:
    notes = []
    classes = sorted({each.classes for each in qualities.values()})
    if len(classes) > 1:
        notes.append(f"The networks have {shown(classes)} classes: their figures are not comparable.")
    slow = [name for name, each in qualities.items() if each.converged.value < 0.9]
    if slow:
        notes.append(f"Doubtful, because less than 90 % of their walks arrived: {shown(slow, 5)}.")
    if 0 < len(known) < FEWEST:
        notes.append(f"Rank correlations over {len(known)} known accuracies are not informative.")
    return tuple(notes)


# True accuracy of a network, if there are labelled rows after all.


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Inputs (n, ...) and the class number of each (n,)."""

    inputs: NDArray[Any]
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.labels)


def read_labelled_rows(path: str | Path) -> LabelledRows:
    """Inputs and labels of a NumPy file with arrays x and y."""
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            names = list(file.files) if hasattr(file, "files") else []
            pair = next((pair for pair in NAMES if set(pair) <= set(names)), None)
            if pair is None:
                raise InputError(f"{path} has arrays {shown(names) or 'none'}; expected x (inputs) and y (labels).")
            inputs, labels = (file[name] for name in pair)
    except FileNotFoundError:
        raise InputError(f"There is no file {path}. Is the path right?") from None
    except (OSError, EOFError, TypeError, ValueError, zipfile.BadZipFile) as error:  # TypeError: one array alone
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} cannot be read as a NumPy file of arrays ({error}).") from None
    if inputs.ndim < 2 or labels.shape != (len(inputs),) or not len(inputs):
        raise InputError(
            f"{path} has inputs of shape {inputs.shape} and labels of shape {labels.shape}; expected (n, ...) and (n,)."
        )
    if inputs.dtype.kind not in "uif" or labels.dtype.kind not in "ui":
        raise InputError(
            f"{path} has inputs of {inputs.dtype} and labels of {labels.dtype}; expected numbers, and classes counted "
            "from 0."
        )
    return LabelledRows(inputs, labels.astype(np.int64))


def true_accuracy(split: Split, labelled: LabelledRows, normalize: Any = None) -> Estimate:
    """The share of labelled rows that the network predicts correctly, with Wilson's interval.

    Bytes are treated as images of 0 to 255 and scaled to 0..1; with `normalize` (mean, std) inputs are scaled by it.
    Images with the channels last are transposed.
    """
    import torch

    least, most = int(labelled.labels.min()), int(labelled.labels.max())
    if least < 0 or most >= split.classes:
        raise InputError(
            f"The labels of the test set run from {least} to {most}, but the network has {split.classes} classes, "
            "counted from 0."
        )
    inputs = _network_inputs(labelled.inputs, split.input_shape)
    scale = normalize_of(normalize, split.input_shape)
    like = split.inputs(1)
    right = 0
    with frozen(split.network), torch.no_grad():
        for first in range(0, len(labelled), BATCH):
            part = np.asarray(inputs[first : first + BATCH])
            values = part / np.float32(255) if part.dtype == np.uint8 else part
            if scale is not None:
                sides = (-1, *[1] * (values.ndim - 2))
                values = (values - np.reshape(scale.mean, sides)) / np.reshape(scale.std, sides)
            rows = torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32)).to(like)
            answers = split.logits(rows).argmax(1).cpu().numpy()
            right += int((answers == labelled.labels[first : first + BATCH]).sum())
    return of_proportion(right, len(labelled))


def _network_inputs(inputs: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The inputs in the network's shape: channels first, and a channel for grey images."""
    own = inputs.shape[1:]
    if own == shape:
        return inputs
    if len(own) == 3 and len(shape) == 3 and (own[2], *own[:2]) == shape:
        return np.moveaxis(inputs, 3, 1)
    if len(own) == 2 and (1, *own) == shape:
        return inputs[:, None]
    raise InputError(f"The inputs of the test set have shape {own}, but those of the network {shape}.")
