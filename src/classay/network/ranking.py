"""`rank_networks`: one table over many networks, best first, and how well each figure goes with true accuracy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from ..expect import InputError, one_of, shown
from ..intervals import Estimate, normal_quantile
from ..result import Result
from .quality import NetworkQuality, network_quality
from .record import Prototypes

Floats = NDArray[np.float64]
MAIN = ("estimate", "classifier_quality", "within", "between", "lower_bound", "upper_bound", "converged")
"""Figures that every quality has; the others are its dataless `figures`."""
FEWEST = 4
"""Networks with a known accuracy below which a correlation has no interval."""


@dataclass(frozen=True)
class Ranking(Result):
    """Networks beside each other, best first by the figure `by`.

    `names` in that order; `table` has one row a network and one column a figure; `estimates`, `bounds` (the paper's)
    and `accuracy` (true, where known) by name. `correlations` are Spearman's rank correlations of each figure with true
    accuracy, over the networks for which it is known: 1 the same order, 0 none, −1 the reverse. `enclosed` is the share
    of those networks whose true accuracy lies within the paper's bounds, and `estimate_enclosed` within the estimate's
    interval.
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
        """One row a network and figure: rank, network, figure, value."""
        long = self.table.melt(id_vars=["rank", "network"], var_name="figure", value_name="value")
        return long.dropna(subset="value").sort_values("rank", kind="stable").reset_index(drop=True)

    def __str__(self) -> str:
        best, last = self.names[0], self.names[-1]
        called = self.by.replace("_", " ")
        values = dict(zip(self.table["network"], self.table[self.by]))
        if not math.isfinite(values[best]):
            text = f"{len(self.names)} networks, not ranked, as none has a known {called}."
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
    """Put networks into one table, best first, to tell which of them deserve testing.

    Where true accuracies are given, Spearman's rank correlation of every figure with them tells which figure to trust
    on networks like these; its interval is Fisher's, with the standard error of Bonett & Wright, √((1 + ρ²/2)/(n − 3)).
    Between −1 and 1; 0 says nothing. With a dozen networks the interval is wide.

    It misleads across data sets and architectures: a figure that orders the checkpoints of one training may say nothing
    between trainings.

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
    >>> found = rank_networks(nets, by="between", input_shape=(5,), starts=2, compare_fresh=False)
    >>> sorted(found.names), found.by
    (['a', 'b'], 'between')

    References
    ----------
    Bonett & Wright, Sample size requirements for estimating Pearson, Kendall and Spearman correlations (2000).

    """
    if not isinstance(networks, Mapping) or not networks:
        raise InputError("`networks` must be a dict of at least one network, name -> network or its quality.")
    known = _known(accuracy, networks)
    qualities = {
        str(name): each if isinstance(each, NetworkQuality) else _measured(str(name), each, options)
        for name, each in networks.items()
    }
    rows = {name: figures_of(quality) for name, quality in qualities.items()}
    columns = list(dict.fromkeys([*MAIN, *(figure for row in rows.values() for figure in row)]))
    one_of(by, "by", columns)
    # A sort that keeps the given order of equals; what is unknown comes last.
    names = sorted(rows, key=lambda name: -rows[name].get(by, math.nan) if _finite(rows[name].get(by)) else math.inf)
    table = pd.DataFrame(
        [{"rank": place + 1, "network": name, **{column: rows[name].get(column, math.nan) for column in columns}}
         for place, name in enumerate(names)]
    )  # fmt: skip
    if known:
        table.insert(2, "accuracy", [known.get(name, math.nan) for name in names])
    estimates = {name: qualities[name].estimate for name in names}
    bounds = {name: qualities[name].accuracy_bounds for name in names}
    return Ranking(
        names=tuple(names),
        by=by,
        table=table,
        estimates=estimates,
        bounds=bounds,
        accuracy=known,
        correlations=_correlations(table, columns) if known else {},
        enclosed=_enclosed(known, bounds),
        estimate_enclosed=_enclosed(
            known, {name: (each.low, each.high) for name, each in estimates.items() if each.known}
        ),
        notes=_notes(qualities, known, by),
    )


def _measured(name: str, network: Any, options: dict[str, Any]) -> NetworkQuality:
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
    """Spearman's rank correlation with Fisher's interval. Unknown where one of the two is the same throughout.

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


def _known(accuracy: Mapping[str, float] | None, networks: Mapping[str, Any]) -> dict[str, float]:
    if accuracy is None:
        return {}
    strange = [str(name) for name in accuracy if name not in networks]
    if strange:
        raise InputError(f"`accuracy` has {shown(strange)}, which is none of the networks: {shown(networks)}.")
    known = {str(name): float(value) for name, value in accuracy.items()}
    wrong = [name for name, value in known.items() if not 0 <= value <= 1]
    if wrong:
        raise InputError(f"`accuracy` of {shown(wrong)} is not between 0 and 1. Give shares, not percent.")
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
        notes.append(f"The networks have {shown(classes)} classes: their figures are not of one scale.")
    slow = [name for name, each in qualities.items() if each.converged.value < 0.9]
    if slow:
        notes.append(f"Doubtful, as less than 90 % of their walks arrived: {shown(slow, 5)}.")
    if 0 < len(known) < FEWEST:
        notes.append(f"With {len(known)} known accuracies rank correlations tell nothing.")
    return tuple(notes)
