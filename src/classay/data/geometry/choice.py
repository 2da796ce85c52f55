"""The choice of a distance on a sample of rows: by the lowest mean h, or by the ranking of classifiers' errors."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ...arrays import Floats, Ints
from ...inputs import take
from ...seeds import generator
from .cross_fit import CrossFit, Pair, fit_temperature, row_complexities
from .distances import BY_CLASS
from .moments import Geometry

TRIED_COLUMNS = ["distance", "covariance", "temperature", "mean_complexity", "accuracy", "error_auc", "rows"]
AIMS = ("fit", "errors")
"""What the best distance is best at: describing the labels (lowest mean h), or ranking the errors of a classifier."""
PILOT, PILOT_CELLS = 3000, 10**7
"""Distance and temperature are chosen on at most this many rows, and on fewer with very many classes."""
LEAST_PILOT, MOST_ERRORS_BEHIND = 200, 4.0
"""A distance is dropped if it is this many standard errors behind the best, after this many rows."""
PILOT_TREES = 50
MOST_COLUMNS = 2000
MOST_WORK = 10**13
"""Distances with one covariance per class are not tried beyond this many columns, or operations (minutes)."""


@dataclass(frozen=True)
class DistanceChoice:
    """A distance with its covariance and temperature, the table of all that were tried, and notes."""

    distance: str
    covariance: str
    temperature: float
    tried: pd.DataFrame
    notes: tuple[str, ...] = ()


def choose_distance(
    cross_fit: CrossFit,
    distance: str,
    covariance: str,
    temperature: float | None,
    n_rows: int,
    seed: int,
    aim: str = "fit",
) -> DistanceChoice:
    """The given distance and temperature; if "auto" or None, those that are best on a pilot sample of rows.

    n_rows : number of rows to measure afterwards, which decides what is affordable
    aim : "fit", the lowest mean h; "errors", the highest AUC of h for the errors of two classifiers in 5 folds
    """
    if distance != "auto" and temperature is not None:
        return DistanceChoice(distance, covariance, temperature, pd.DataFrame(columns=TRIED_COLUMNS))
    pairs, notes = [(distance, covariance)], list[str]()
    if distance == "auto":
        pairs, notes = _candidates(cross_fit.geometry, n_rows, covariance)
    tried = _try_distances(cross_fit, pairs, seed, aim if distance == "auto" else "fit")
    best = tried.iloc[0]
    return DistanceChoice(
        str(best["distance"]),
        str(best["covariance"]),
        float(best["temperature"]) if temperature is None else temperature,
        tried,
        tuple(notes),
    )


def _candidates(geometry: Geometry, n_rows: int, covariance: str) -> tuple[list[Pair], list[str]]:
    """(distance, covariance) pairs that are worth trying, and notes."""
    d, c = geometry.n_features, geometry.classes.size
    simple = [("euclidean", covariance), ("cosine", covariance)]
    if geometry.detail == "diagonal" or d > MOST_COLUMNS:
        return simple, [f"{d} columns are too many for distances with a covariance; euclidean and cosine were tried."]
    tried = [*simple, ("whitened_cosine", covariance)]
    if covariance in ("shared", "diagonal"):
        return [*tried, *((distance, covariance) for distance in BY_CLASS)], []
    tried += [("mahalanobis", "shared"), ("gaussian", "shared")]
    median = float(np.median(geometry.counts[geometry.counts > 0]))
    if median < d:
        why = f"half of the classes have no more than {median:g} rows for {d} columns"
    elif geometry.detail != "full" or c * n_rows * d**2 > MOST_WORK:
        why = f"{c} classes x {d} columns is too much work"
    else:
        return [*tried, *((distance, covariance) for distance in BY_CLASS)], []
    return tried, [f"Distances with one covariance per class were not tried: {why}."]


def _try_distances(cross_fit: CrossFit, pairs: list[Pair], seed: int, aim: str) -> pd.DataFrame:
    """One row per (distance, covariance) pair, the best first. By mean h, pairs far behind are dropped on the way."""
    measured: dict[Pair, list[Floats]] = {pair: [] for pair in pairs}
    rows: list[Ints] = []
    table: dict[Pair, tuple[float, float, float, float, int]] = {}
    promising = list(pairs)
    most = min(PILOT, max(PILOT_CELLS // cross_fit.geometry.classes.size, 500))
    for number, group in enumerate(cross_fit.groups):
        quota = most - sum(part.size for part in rows)
        if quota <= 0:
            break
        rows.append(generator(seed, "pilot", number).permutation(group)[:quota])
        for covariance in dict.fromkeys(covariance for _, covariance in promising):
            names = tuple(distance for distance, other in promising if other == covariance)
            by_distance = cross_fit.measure(cross_fit.metric(number, names, covariance), rows[-1])
            for distance, distances in by_distance.items():
                measured[distance, covariance].append(distances)
        codes = cross_fit.codes[np.concatenate(rows)]
        order = generator(seed, "pilot order", number).permutation(codes.size)
        by_row = {}
        for pair in promising:
            distances = np.concatenate(measured[pair])[order]
            temperature, mean, by_row[pair] = fit_temperature(distances, codes[order])
            right = float((distances.argmin(axis=1) == codes[order]).mean())
            table[pair] = (temperature, mean, right, math.nan, codes.size)
        promising = _still_promising(by_row) if aim == "fit" else promising
    if aim == "errors":
        return _by_errors(cross_fit, np.concatenate(rows), measured, table, seed)
    tried = pd.DataFrame([(*pair, *figures) for pair, figures in table.items()], columns=TRIED_COLUMNS)
    # Those dropped earlier were measured on fewer rows, and are sorted last.
    tried["left"] = [pair in promising for pair in table]
    tried = tried.sort_values(["left", "mean_complexity"], ascending=[False, True], ignore_index=True, kind="stable")
    return tried.drop(columns="left")


def _by_errors(
    cross_fit: CrossFit,
    rows: Ints,
    measured: dict[Pair, list[Floats]],
    table: dict[Pair, tuple[float, float, float, float, int]],
    seed: int,
) -> pd.DataFrame:
    """The table of tried pairs, the highest AUC for errors first; by mean h if there is no error, or nothing else."""
    codes, lines = cross_fit.codes[rows], []
    of_classifiers = _pilot_errors(take(cross_fit.table, rows), codes, seed)
    for pair, (temperature, mean, right, _, count) in table.items():
        measured_rows = row_complexities(np.concatenate(measured[pair]), codes, temperature)
        usable = measured_rows.known
        aucs = [
            float(roc_auc_score(wrong[usable], measured_rows.values[usable]))
            for wrong in of_classifiers
            if 0 < int(wrong[usable].sum()) < int(usable.sum())
        ]
        lines.append((*pair, temperature, mean, right, float(np.mean(aucs)) if aucs else math.nan, count))
    tried = pd.DataFrame(lines, columns=TRIED_COLUMNS)
    by, ascending = (["mean_complexity"], True) if tried["error_auc"].isna().any() else (["error_auc"], False)
    return tried.sort_values(by, ascending=ascending, ignore_index=True, kind="stable")


def _pilot_errors(table: Any, codes: Ints, seed: int) -> list[NDArray[np.bool_]]:
    """Which rows classifiers on the other folds predict wrongly: a linear one and trees.

    One alone prefers the distances that are like itself: the linear one those with a shared covariance.
    """
    folds = KFold(5, shuffle=True, random_state=seed % 2**32)
    linear = make_pipeline(StandardScaler(with_mean=False), LogisticRegression(max_iter=200))
    trees = ExtraTreesClassifier(PILOT_TREES, random_state=seed % 2**32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not converged: its errors are all that is needed
        return [
            np.asarray(cross_val_predict(classifier, table, codes, cv=folds) != codes) for classifier in (linear, trees)
        ]


def _still_promising(by_row: dict[Pair, Floats]) -> list[Pair]:
    """Those that may still turn out best: not far behind on the rows so far."""
    if not next(iter(by_row.values())).size:  # no row so far has a class with other rows
        return list(by_row)
    best = min(by_row, key=lambda pair: float(by_row[pair].mean()))
    behind = {pair: values - by_row[best] for pair, values in by_row.items()}
    return [
        pair
        for pair, gap in behind.items()
        if pair == best or gap.size < LEAST_PILOT or gap.mean() <= MOST_ERRORS_BEHIND * gap.std() / np.sqrt(gap.size)
    ]
