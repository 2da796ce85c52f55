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
from ...intervals import Estimate
from ...result import Result
from ..prototypes.prototypes import Prototypes
from .quality import CONVERGED, NetworkQuality, network_quality

MAIN_FIGURES = ("labelled", "classifier_quality", "within", "between", "lower_bound", "upper_bound", "converged")
"""Figures that every quality has; the others are its dataless `figures`."""
LEVEL = 0.05
"""Probability that any two networks of equal accuracy are separated (Holm, over pairs)."""
FLIPS, BLOCK = 20_000, 1_000
"""Random signs of the weighted test: enough for a thousand pairs; and how many are in memory at once."""
PAIR = ["first", "second", "difference", "p_value", "separated"]


@dataclass(frozen=True)
class Ranking(Result, chart="network:accuracy_bounds"):
    """Networks compared, best first by the figure `by`.

    `names` in that order; `groups` are ties: all sets, as large as possible, of which no pair is separated, so a
    network may be in several; `group_basis` says what separates pairs. `pairs` has for every two networks the
    difference of their accuracies on the same labelled rows and its p-value, adjusted for the number of pairs (Holm).
    `copies` are sets of networks with the same weights. `table` has one row per network and one
    column per figure, `group` the numbers of its groups; `labelled`, `bounds` (the paper's) and `accuracy` (true, if
    known) by name.
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
            text += " The same weights: " + "; ".join(shown(each, 5) for each in self.copies) + "."
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

    """
    if not isinstance(networks, Mapping) or not networks:
        raise InputError("`networks` must be a dict of at least one network, name -> network or its quality.")
    truths = _true_accuracies(accuracy, networks)
    qualities = {}
    for name, network in networks.items():
        named = {} if isinstance(network, Prototypes) else {"name": str(name)}
        is_measured = isinstance(network, NetworkQuality)
        qualities[str(name)] = network if is_measured else network_quality(network, **{**named, **options})
    right, missing = _same_rows(qualities)
    shares = None if weights is None else _row_weights(weights, right, missing)
    by_weights: list[dict[str, float]] = [{} for _ in qualities]
    if shares is not None:
        qualities = {name: replace(quality, labelled=None) for name, quality in qualities.items()}
        scores = right @ shares
        by_weights = [{"difference": score} for score in (scores - scores.mean()).tolist()]
    rows = {name: figures_of(quality) | more for (name, quality), more in zip(qualities.items(), by_weights)}
    columns = list(dict.fromkeys([*MAIN_FIGURES, *(figure for row in rows.values() for figure in row)]))
    if by is None:
        labelled = "labelled" if all(_finite(row["labelled"]) for row in rows.values()) else "between"
        by = labelled if shares is None else "difference"
    one_of(by, "by", columns)
    # A stable sort keeps the given order of equals; unknown values come last.
    names = sorted(rows, key=lambda name: -rows[name].get(by, math.nan) if _finite(rows[name].get(by)) else math.inf)
    figure = by.replace("_", " ")
    basis = f"no gap in {figure} was shown to order networks by accuracy. Pass labelled rows."
    pairs = pd.DataFrame(columns=PAIR)
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
    return Ranking(
        names=tuple(names),
        by=by,
        groups=groups,
        group_basis=basis,
        pairs=pairs,
        copies=_copies(qualities),
        table=table,
        labelled={name: by_rows for name in names if (by_rows := qualities[name].labelled) is not None},
        bounds={name: qualities[name].accuracy_bounds for name in names},
        accuracy=truths,
        notes=_notes(qualities),
    )


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
    both = [[names[at] for at in places.tolist()] for places in (first, second)]
    return pd.DataFrame(dict(zip(PAIR, (*both, difference, adjusted, adjusted <= LEVEL))))


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
    """Sets of networks with the same weights."""
    sets: dict[str, list[str]] = {}
    for name, quality in qualities.items():
        sets.setdefault(quality.fingerprint or f"unknown: {name}", []).append(name)
    return tuple(tuple(group) for group in sets.values() if len(group) > 1)


def figures_of(quality: NetworkQuality) -> dict[str, float]:
    """The figures of one network, by name."""
    values = quality.to_frame().set_index("figure")["value"]
    return quality.figures | {name: float(values.get(name, math.nan)) for name in MAIN_FIGURES}


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


def _finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _notes(qualities: dict[str, NetworkQuality]) -> tuple[str, ...]:
    notes = []
    classes = sorted({each.classes for each in qualities.values()})
    if len(classes) > 1:
        notes.append(f"The networks have {shown(classes)} classes: their figures are not comparable.")
    slow = [name for name, each in qualities.items() if each.converged.value < CONVERGED]
    if slow:
        notes.append(f"Doubtful, because less than 90 % of their walks arrived: {shown(slow, 5)}.")
    return tuple(notes)
