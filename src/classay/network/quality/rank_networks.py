"""`rank_networks`: one table over many networks, best first, with ties where nothing separates them.

Networks stand in one tie group unless labelled rows separate them. Copies of one network are named.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from ...arrays import Floats
from ...expect import InputError, one_of, shown
from ...intervals import Estimate, normal_quantile
from ...result import Result
from ..prototypes.prototypes import Prototypes
from .quality import CONVERGED, NetworkQuality, network_quality

MAIN_FIGURES = ("labelled", "classifier_quality", "within", "between", "lower_bound", "upper_bound", "converged")
"""Figures that every quality has; the others are its dataless `figures`."""
COPY, NEAR_COPY = 1e-6, 0.98
"""Heads whose cosines differ by less are copies; those whose cosines correlate by more are near-copies."""
FEWEST = 4
"""With fewer networks of known accuracy a correlation has no interval."""


@dataclass(frozen=True)
class Ranking(Result, chart="network:accuracy_bounds"):
    """Networks compared, best first by the figure `by`.

    `names` in that order; `groups` the same names in tie groups: the order within a group means nothing, and
    `group_basis` says what separates groups, and how often such an order was right. `copies` are sets of networks with
    the same or nearly the same head. `table` has one row per network and one column per figure; `labelled`, `bounds`
    (the paper's) and `accuracy` (true, if known) by name. `correlations` are Spearman's rank correlations of each
    figure with true accuracy, over the networks for which it is known: 1: the same order, 0: none, −1: the reverse.
    `enclosed` is the share of those networks whose true accuracy is within the paper's bounds.
    """

    names: tuple[str, ...]
    by: str
    groups: tuple[tuple[str, ...], ...]
    group_basis: str
    copies: tuple[tuple[str, ...], ...]
    table: pd.DataFrame
    labelled: dict[str, Estimate]
    bounds: dict[str, tuple[float, float]]
    accuracy: dict[str, float]
    correlations: dict[str, Estimate]
    enclosed: float
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row per network and figure: rank, network, figure, value."""
        long = self.table.melt(id_vars=["rank", "group", "network"], var_name="figure", value_name="value")
        return long.dropna(subset="value").sort_values("rank", kind="stable").reset_index(drop=True)

    def __str__(self) -> str:
        count = len(self.names)
        if count == 1:
            text = "1 network, so there is nothing to rank."
        elif len(self.groups) == 1:
            text = f"{count} networks, not ranked: {self.group_basis}"
        else:
            best = shown(self.groups[0], 5)
            are = "is" if len(self.groups[0]) == 1 else "are"
            text = f"Of {count} networks in {len(self.groups)} groups, {best} {are} first. {self.group_basis}"
        if self.copies:
            text += " Copies or near-copies of one network: " + "; ".join(shown(each, 5) for each in self.copies) + "."
        own = self.correlations.get(self.by)
        if own is not None:
            text += f" Rank correlation of that with true accuracy, over {len(self.accuracy)} networks: {own:.2f}."
        return " ".join([text, *self.notes])


def rank_networks(
    networks: Mapping[str, Any], accuracy: Mapping[str, float] | None = None, by: str | None = None, **options: Any
) -> Ranking:
    """Put networks into one table, best first, with ties where nothing separates them.

    With labelled rows (`X` and `y`, as in `network_quality`) two networks are separated if the intervals of their
    accuracies do not overlap. Without, nothing separates them: no figure put more than 62 % of pairs into the right
    order on data sets left out.

    If true accuracies are given, Spearman's rank correlation of every figure with them shows which figure to trust on
    networks like these; its interval is Fisher's, with the standard error of Bonett & Wright, √((1 + ρ²/2)/(n − 3)).
    Between −1 and 1; 0 means no relation. With a dozen networks the interval is wide.

    It misleads across data sets and architectures: a figure that orders the checkpoints of one training run may be
    uninformative between runs.

    Parameters
    ----------
    networks : name -> what `network_quality` returned, or a network, split or record to be measured
    accuracy : name -> true accuracy, of all networks or some
    by : the figure to rank by, higher first; unknown ones come last. None: accuracy by labelled rows if there are any,
        else `between`
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
    if by is None:
        by = "labelled" if all(_finite(row["labelled"]) for row in rows.values()) else "between"
    one_of(by, "by", columns)
    # A stable sort keeps the given order of equals; unknown values come last.
    names = sorted(rows, key=lambda name: -rows[name].get(by, math.nan) if _finite(rows[name].get(by)) else math.inf)
    groups, basis = tie_groups(names, qualities, by)
    number = {name: at + 1 for at, group in enumerate(groups) for name in group}
    table = pd.DataFrame(
        [{"rank": place + 1, "group": number[name], "network": name}
         | {column: rows[name].get(column, math.nan) for column in columns}
         for place, name in enumerate(names)]
    )  # fmt: skip
    if truths:
        table.insert(3, "accuracy", [truths.get(name, math.nan) for name in names])
    bounds = {name: qualities[name].accuracy_bounds for name in names}
    return Ranking(
        names=tuple(names),
        by=by,
        groups=groups,
        group_basis=basis,
        copies=_copies(qualities),
        table=table,
        labelled={name: by_rows for name in names if (by_rows := qualities[name].labelled) is not None},
        bounds=bounds,
        accuracy=truths,
        correlations=_correlations(table, columns) if truths else {},
        enclosed=_enclosed(truths, bounds),
        notes=_notes(qualities, truths),
    )


def _measure(name: str, network: Any, options: dict[str, Any]) -> NetworkQuality:
    named = {} if isinstance(network, Prototypes) else {"name": name}
    return network_quality(network, **{**named, **options})


# Ties.


def tie_groups(
    names: list[str], qualities: Mapping[str, NetworkQuality], by: str
) -> tuple[tuple[tuple[str, ...], ...], str]:
    """Names in groups that labelled rows separate, and what separates them.

    A group ends only where every network after it is separated from every network in it.
    """
    if by == "labelled":
        basis = "Groups are those whose 90% intervals, by labelled rows, do not overlap."
        ends = [qualities[name].labelled or Estimate(math.nan, 0.0, 1.0) for name in names]
        cuts = [
            at for at in range(1, len(names))
            if min(each.low for each in ends[:at]) > max(each.high for each in ends[at:])
        ]  # fmt: skip
        groups = tuple(tuple(names[first:last]) for first, last in pairwise([0, *cuts, len(names)]))
        return groups, basis if cuts else "the 90% intervals of their accuracies, by labelled rows, overlap."
    figure = by.replace("_", " ")
    return (tuple(names),), f"no gap in {figure} was shown to order networks by accuracy. Pass labelled rows."


def _copies(qualities: Mapping[str, NetworkQuality]) -> tuple[tuple[str, ...], ...]:
    """Sets of networks whose heads have the same cosines, or nearly."""
    sets: list[list[str]] = []
    for name, quality in qualities.items():
        same = next((group for group in sets if _alike(qualities[group[0]], quality)), None)
        if same is None:
            sets.append([name])
        else:
            same.append(name)
    return tuple(tuple(group) for group in sets if len(group) > 1)


def _alike(one: NetworkQuality, other: NetworkQuality) -> bool:
    if one.fingerprint and one.fingerprint == other.fingerprint:
        return True
    if one.walked != other.walked or len(one.walked) < FEWEST:
        return False
    pairs = np.triu_indices(len(one.walked), 1)
    first, second = one.row_cosines[pairs], other.row_cosines[pairs]
    if float(np.abs(first - second).max()) < COPY:
        return True
    spread = float(first.std() * second.std())
    return bool(spread > 0 and float(((first - first.mean()) * (second - second.mean())).mean()) / spread > NEAR_COPY)


def figures_of(quality: NetworkQuality) -> dict[str, float]:
    """The figures of one network, by name."""
    values = quality.to_frame().set_index("figure")["value"]
    return quality.figures | {name: float(values.get(name, math.nan)) for name in MAIN_FIGURES}


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


def _notes(qualities: dict[str, NetworkQuality], known: dict[str, float]) -> tuple[str, ...]:
    notes = []
    classes = sorted({each.classes for each in qualities.values()})
    if len(classes) > 1:
        notes.append(f"The networks have {shown(classes)} classes: their figures are not comparable.")
    slow = [name for name, each in qualities.items() if each.converged.value < CONVERGED]
    if slow:
        notes.append(f"Doubtful, because less than 90 % of their walks arrived: {shown(slow, 5)}.")
    if 0 < len(known) < FEWEST:
        notes.append(f"Rank correlations over {len(known)} known accuracies are not informative.")
    return tuple(notes)
