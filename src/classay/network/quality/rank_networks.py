"""`rank_networks`: one table over many networks, best first, with ties where nothing separates them.

Networks are ties unless the same labelled rows separate them, in pairs. Copies of one network are named.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from ... import seeds
from ...arrays import Floats
from ...expect import InputError, one_of, shown
from ...intervals import Estimate, normal_quantile
from ...result import Result
from ..prototypes.prototypes import Prototypes
from .quality import CONVERGED, NetworkQuality, network_quality

MAIN_FIGURES = ("labelled", "classifier_quality", "within", "between", "lower_bound", "upper_bound", "converged")
"""Figures that every quality has; the others are its dataless `figures`."""
NEAR_COPY = 0.02
"""Networks of the same weights by name and shape, each of which differs by less of its length, are near-copies."""
LEVEL = 0.05
"""Probability that any two networks of equal accuracy are separated (Holm, over pairs)."""
FLIPS, BLOCK = 20_000, 1_000
"""Random signs of the weighted test: enough for a thousand pairs; and how many are in memory at once."""
PAIR = ["first", "second", "difference", "p_value", "separated"]
FEWEST = 4
"""With fewer networks of known accuracy a correlation has no interval."""


@dataclass(frozen=True)
class Ranking(Result, chart="network:accuracy_bounds"):
    """Networks compared, best first by the figure `by`.

    `names` in that order; `groups` are ties: all sets, as large as possible, of which no pair is separated, so a
    network may be in several; `group_basis` says what separates pairs. `pairs` has for every two networks the
    difference of their accuracies on the same labelled rows and its p-value, adjusted for the number of pairs (Holm).
    `copies` are sets of networks with the same or nearly the same weights. `table` has one row per network and one
    column per figure, `group` the numbers of its groups; `labelled`, `bounds` (the paper's) and `accuracy` (true, if
    known) by name. `correlations` are Spearman's rank correlations of each figure with true accuracy, over the networks
    for which it is known: 1: the same order, 0: none, −1: the reverse. `enclosed` is the share of those networks whose
    true accuracy is within the paper's bounds.
    """

    names: tuple[str, ...]
    by: str
    groups: tuple[tuple[str, ...], ...]
    group_basis: str
    pairs: pd.DataFrame
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
            best = [name for name in self.names if any({name, self.names[0]} <= {*each} for each in self.groups)]
            text = f"{count} networks in {len(self.groups)} groups of ties. First, or tied with it: {shown(best, 5)}. "
            text += self.group_basis
        if self.copies:
            text += " The same or nearly the same weights: " + "; ".join(shown(each, 5) for each in self.copies) + "."
        own = self.correlations.get(self.by)
        if own is not None:
            text += f" Rank correlation of that with true accuracy, over {len(self.accuracy)} networks: {own:.2f}."
        return " ".join([text, *self.notes])


def rank_networks(
    networks: Mapping[str, Any],
    accuracy: Mapping[str, float] | None = None,
    by: str | None = None,
    weights: ArrayLike | None = None,
    **options: Any,
) -> Ranking:
    """Put networks into one table, best first, with ties where nothing separates them.

    With labelled rows (`X` and `y`, as in `network_quality`, the same for all) two networks are compared on the rows
    that only one of them predicts correctly: McNemar's exact test, adjusted for the number of pairs (Holm, 5 %).
    Without, nothing separates them: no figure put more than 62 % of pairs into the right order on data sets left out.

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
    weights : of the labelled rows, if `rows_to_label` drew them: networks are then ranked by `difference` from their
        mean accuracy, by a test with random signs, and accuracies themselves are unknown
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
    right, missing = _same_rows(qualities)
    shares = None if weights is None else _row_weights(weights, right, missing)
    if shares is not None:
        qualities = {name: replace(quality, labelled=None) for name, quality in qualities.items()}
    rows = {name: figures_of(quality) for name, quality in qualities.items()}
    if shares is not None:
        scores = right @ shares
        for name, score in zip(rows, (scores - scores.mean()).tolist()):
            rows[name]["difference"] = score
    columns = list(dict.fromkeys([*MAIN_FIGURES, *(figure for row in rows.values() for figure in row)]))
    if by is None:
        labelled = "labelled" if all(_finite(row["labelled"]) for row in rows.values()) else "between"
        by = labelled if shares is None else "difference"
    one_of(by, "by", columns)
    # A stable sort keeps the given order of equals; unknown values come last.
    names = sorted(rows, key=lambda name: -rows[name].get(by, math.nan) if _finite(rows[name].get(by)) else math.inf)
    figure = by.replace("_", " ")
    basis, pairs = (
        f"no gap in {figure} was shown to order networks by accuracy. Pass labelled rows.",
        pd.DataFrame(columns=PAIR),
    )
    if by in ("labelled", "difference") and not missing:
        order = [list(qualities).index(name) for name in names]
        pairs = compared_pairs(names, right[order], shares)
        test = "McNemar's exact test" if shares is None else "a weighted test with random signs"
        basis = f"Pairs are compared on the same {right.shape[1]} labelled rows ({test}; Holm, {LEVEL:.0%} over pairs)."
        basis = basis if pairs["separated"].any() else f"no pair is separated. {basis}"
    elif by == "labelled":
        basis = missing
    groups = tie_groups(names, pairs)
    table = pd.DataFrame(
        [{"rank": place + 1, "group": ", ".join(str(at) for at, group in enumerate(groups, 1) if name in group),
          "network": name}
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
        pairs=pairs,
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


def _same_rows(qualities: Mapping[str, NetworkQuality]) -> tuple[NDArray[np.bool_], str]:
    """Whether each network (networks, rows) predicts each labelled row correctly; or why that cannot be compared."""
    if len({each.rows for each in qualities.values()}) > 1 or any(each.right is None for each in qualities.values()):
        return np.zeros((len(qualities), 0), bool), (
            "their labelled rows are not the same, or not known. Pass all networks with the same `X` and `y`."
        )
    return np.stack([np.asarray(each.right, dtype=bool) for each in qualities.values()]), ""


def _row_weights(weights: ArrayLike, right: NDArray[np.bool_], missing: str) -> Floats:
    if missing:
        raise InputError(f"`weights` are given, but {missing}")
    values = np.asarray(weights, dtype=float)
    if values.shape != right.shape[1:] or not np.isfinite(values).all() or (values <= 0).any():
        raise InputError(
            f"`weights` has shape {values.shape}; expected one number above 0 for each of the {right.shape[1]} "
            "labelled rows, as `rows_to_label` returns them."
        )
    return values


def compared_pairs(names: Sequence[str], right: NDArray[np.bool_], weights: Floats | None = None) -> pd.DataFrame:
    """Every two networks: first, second, difference of accuracies, p_value (adjusted by Holm's rule), separated."""
    first, second = np.triu_indices(len(names), 1)
    apart = right[first].astype(float) - right[second]
    if weights is None:
        alone, other = (apart > 0).sum(axis=1), (apart < 0).sum(axis=1)
        p_values = np.minimum(1.0, 2 * stats.binom.cdf(np.minimum(alone, other), alone + other, 0.5))
        difference = apart.mean(axis=1)
    else:
        apart = apart * weights
        difference = apart.sum(axis=1)
        reached = np.ones(first.size)
        for block in range(FLIPS // BLOCK):
            signs = seeds.generator(0, "random signs", block).choice([-1.0, 1.0], (BLOCK, right.shape[1]))
            reached += (np.abs(signs @ apart.T) >= np.abs(difference) * (1 - 1e-9)).sum(axis=0)
        p_values = reached / (FLIPS + 1)
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(first.size)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p_values[order] * np.arange(first.size, 0, -1)))
    columns = (
        [names[at] for at in first.tolist()],
        [names[at] for at in second.tolist()],
        difference,
        adjusted,
        adjusted <= LEVEL,
    )
    return pd.DataFrame(dict(zip(PAIR, columns)))


def tie_groups(names: Sequence[str], pairs: pd.DataFrame) -> tuple[tuple[str, ...], ...]:
    """All sets of names, as large as possible, of which no pair is separated (maximal cliques)."""
    ties = {name: {*names} - {name} for name in names}
    for first, second, separated in zip(pairs["first"], pairs["second"], pairs["separated"]):
        if separated:
            ties[first].discard(second)
            ties[second].discard(first)

    cliques: set[frozenset[str]] = {frozenset()}
    for name in names:
        cliques |= {clique & ties[name] | {name} for clique in cliques}
        cliques = {clique for clique in cliques if not any(clique < other for other in cliques)}
    by_rank = [tuple(sorted(clique, key=names.index)) for clique in cliques]
    return tuple(sorted(by_rank, key=lambda group: [names.index(name) for name in group]))


def _copies(qualities: Mapping[str, NetworkQuality]) -> tuple[tuple[str, ...], ...]:
    """Sets of networks with the same weights, or nearly."""
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
    if not one.weights or one.weights.keys() != other.weights.keys():
        return False
    both = [(np.array(own), np.array(other.weights[name])) for name, own in one.weights.items()]
    return all(np.linalg.norm(own - theirs) <= NEAR_COPY * np.linalg.norm(own) for own, theirs in both)


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
