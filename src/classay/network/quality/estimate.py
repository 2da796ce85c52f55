"""What dataless figures say about accuracy, and when they say nothing.

A linear combination of figures, logit(accuracy) = intercept + Σ coefficient · (figure − centre) / scale, was fitted on
small networks whose accuracy is known and whose factors of training (rows, steps, wrong labels, width, augmentation,
decay) were varied apart. `calibration.json` has it with everything that was measured on data sets left out, the choice
of figures included; `benchmarks/network_calibration.py --write` makes the file. A network unlike those of the
calibration gets no number, and neither does any network if the level was not shown to be informative.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ...expect import shown
from ...intervals import Estimate

FILE = Path(__file__).with_name("calibration.json")
LEVEL = 0.9
KIND = "of networks on data sets left out of the calibration"
CONVERGED = 0.9
"""With a smaller share of walks arrived there is no number."""
INFORMATIVE = 0.5
"""Rank correlation across data sets left out, below which a level of accuracy is not reported."""
UNTRAINED = "its weights look untrained: their largest singular values are those of random numbers"
FEWEST_PAIRS = 10
"""Fewer pairs that differ in one factor of training show nothing about it."""
RIGHT = 0.8
"""Share of orders that must have been right on data sets left out, at the lower end of its interval."""


FACTORS = {
    "share": "the number of training rows",
    "steps": "the length of training",
    "wrong": "wrong labels",
    "width": "width",
    "augment": "augmentation",
    "decay": "weight decay",
}


@dataclass(frozen=True)
class Term:
    """One figure's part in the score."""

    figure: str
    centre: float
    scale: float
    coefficient: float


@dataclass(frozen=True)
class Fit:
    """A linear combination of figures: the logit of accuracy."""

    intercept: float
    terms: tuple[Term, ...]

    def logit(self, figures: Mapping[str, float]) -> float:
        """The value for a network."""
        return self.intercept + sum(
            term.coefficient * (figures[term.figure] - term.centre) / term.scale for term in self.terms
        )


@dataclass(frozen=True)
class Order:
    """Two networks of one data set whose scores are at least `gap` apart: how often their order was right.

    `right` and its lower end `low` are over data sets left out, `worst` the worst data set, `pairs` how many pairs.
    """

    gap: float
    pairs: int
    right: float
    low: float
    worst: float


@dataclass(frozen=True, eq=False)
class Calibration:
    """Fits for the order of networks of one task and for the level of accuracy, and what is known about them.

    `within` and `across` are rank correlations with their 90 % intervals, on data sets left out: of orders within one
    data set and architecture, and of levels across data sets. `strength` is the weight of the level in labelled rows
    as a prior, and `worth` how many rows that saves at 20 rows; `factors` the share of pairs ordered rightly that
    differ in one factor of training, by a fit that saw neither the data set nor that factor.
    """

    networks: int
    data_sets: tuple[str, ...]
    families: tuple[str, ...]
    classes: tuple[int, int]
    within: tuple[float, float, float]
    across: tuple[float, float, float]
    error: float
    constant_error: float
    reach: tuple[float, float]
    by_order: Fit
    by_level: Fit
    orders: tuple[Order, ...]
    strength: float
    worth: float
    factors: Mapping[str, float]
    figures: tuple[str, ...]
    centres: Mapping[str, tuple[float, ...]]
    inverse: tuple[tuple[float, ...], ...]
    limit: float

    @property
    def knows_level(self) -> bool:
        """Whether the level of accuracy was informative across data sets left out."""
        return self.across[0] >= INFORMATIVE and self.across[1] > 0 and self.error < self.constant_error

    @property
    def order(self) -> Order | None:
        """The smallest gap of scores at which orders were right often enough, or None if at no gap."""
        if not self.factors or min(self.factors.values()) < 0.5:
            return None  # networks that differ in a factor that was not seen are ordered the wrong way round
        return next((each for each in self.orders if each.low >= RIGHT and each.worst >= 0.5), None)

    def distance(self, figures: Mapping[str, float], family: str) -> float:
        """How far a network's figures are from those of the calibration's networks of its family, in their spreads."""
        away = np.array([figures[name] for name in self.figures]) - np.array(self.centres[family])
        return float(np.sqrt(max(away @ np.array(self.inverse) @ away, 0.0)))


@dataclass(frozen=True)
class Verdict:
    """What can be said about the accuracy of a network without data.

    `estimate` is unknown if nothing can be; `reason` says why. `score` orders networks of one task, and is NaN where no
    order was shown to be right; `prior` are the mean and the weight, in labelled rows, of what the figures say, NaN and
    0 where they save no rows.
    """

    estimate: Estimate
    score: float
    prior: tuple[float, float]
    reason: str


@cache
def calibrations() -> dict[str, Calibration]:
    """The calibrations for images and for any input."""
    return {kind: _calibration(part) for kind, part in json.loads(FILE.read_text(encoding="utf-8")).items()}


def _calibration(part: dict[str, Any]) -> Calibration:
    region = part["region"]
    return Calibration(
        networks=part["networks"],
        data_sets=tuple(part["data_sets"]),
        families=tuple(part["families"]),
        classes=tuple(part["classes"]),
        within=tuple(part["spearman"]["within"]),
        across=tuple(part["spearman"]["across"]),
        error=part["error"],
        constant_error=part["constant_error"],
        reach=tuple(part["reach"]),
        by_order=_fit(part["order"]),
        by_level=_fit(part["level"]),
        orders=tuple(
            Order(row["gap"], row["data_pairs"], row["data_right"], row["data_low"], row["data_worst"])
            for row in part["orders"]
            if "data_right" in row
        ),
        strength=part["prior"]["figures"],
        worth=part["worth"][0]["worth"],
        factors={row["factor"]: row["right"] for row in part["factors"] if row["pairs"] >= FEWEST_PAIRS},
        figures=tuple(region["figures"]),
        centres={name: tuple(values) for name, values in region["centres"].items()},
        inverse=tuple(tuple(row) for row in region["inverse"]),
        limit=region["limit"],
    )


def _fit(part: dict[str, Any]) -> Fit:
    return Fit(part["intercept"], tuple(Term(**term) for term in part["terms"]))


def judge_accuracy(
    figures: Mapping[str, float], classes: int, family: str, converged: float, untrained: bool = False
) -> Verdict:
    """Estimate the accuracy of a network from its dataless figures, or say why that is not possible.

    Parameters
    ----------
    figures : the network's dataless figures
    classes : of its head
    family : kind of architecture, as `family_of` names it
    converged : share of its walks that arrived
    untrained : whether its weights look untrained

    Examples
    --------
    >>> verdict = judge_accuracy({}, classes=10, family="MLP", converged=1.0, untrained=True)
    >>> verdict.estimate.known, verdict.reason
    (False, 'its weights look untrained: their largest singular values are those of random numbers')

    """
    calibration = _fitting(figures)
    if reason := UNTRAINED if untrained else _outside(calibration, figures, classes, family, converged):
        return Verdict(_unknown(), math.nan, (math.nan, 0.0), reason)
    assert calibration is not None  # otherwise figures are missing, which is a reason
    score = calibration.by_order.logit(figures) if calibration.order is not None else math.nan
    value = 1 / (1 + math.exp(-max(min(calibration.by_level.logit(figures), 50.0), -50.0)))
    prior = (value, calibration.strength) if calibration.worth > 0 else (math.nan, 0.0)
    if not calibration.knows_level:
        return Verdict(_unknown(), score, prior, without_data(calibration))
    low, high = (min(max(value + edge, 0.0), 1.0) for edge in calibration.reach)
    return Verdict(Estimate(value, low, high, LEVEL, KIND), score, prior, "")


def without_data(calibration: Calibration) -> str:
    """Why no network gets a level."""
    value, low, high = calibration.across
    return (
        f"without data, it cannot be known: on data sets left out of the calibration, figures of weights and walks had "
        f"a rank correlation of {value:.2f} [{low:.2f}, {high:.2f}] with accuracy"
    )


def without_order(calibration: Calibration) -> str:
    """Why networks are not ordered."""
    first = calibration.orders[0]
    worst = min(calibration.factors, key=lambda name: calibration.factors[name], default="")
    text = (
        f"without data, no figure orders networks reliably: on data sets left out of the calibration, "
        f"{first.right:.0%} of {first.pairs} pairs were in the right order ({first.worst:.0%} on the worst data set)"
    )
    if worst:
        text += f", and {calibration.factors[worst]:.0%} of those that differ only in {FACTORS.get(worst, worst)}"
    return text


def _fitting(figures: Mapping[str, float]) -> Calibration | None:
    """The first calibration all of whose figures are known."""
    for calibration in calibrations().values():
        fits = calibration.by_order, calibration.by_level
        needed = {*calibration.figures, *(term.figure for fit in fits for term in fit.terms)}
        if all(math.isfinite(figures.get(name, math.nan)) for name in needed):
            return calibration
    return None


def _outside(
    calibration: Calibration | None, figures: Mapping[str, float], classes: int, family: str, converged: float
) -> str:
    """Why a network is outside of the calibration, or nothing."""
    if converged < CONVERGED:
        return f"only {converged:.0%} of its walks arrived; at least {CONVERGED:.0%} are needed"
    if calibration is None:
        return "some of its figures are unknown"
    if family not in calibration.centres:
        known = shown(calibration.families)
        return f"its architecture ({family or 'unknown'}) is not in the calibration, which has {known}"
    least, most = calibration.classes
    if not least <= classes <= most:
        return f"it has {classes} classes, and the calibration {least} to {most}"
    away = calibration.distance(figures, family)
    if away > calibration.limit:
        return (
            f"its figures are unlike those of the calibration (distance {away:.1f}; 95% of networks of other data sets "
            f"were within {calibration.limit:.1f})"
        )
    return ""


def _unknown() -> Estimate:
    return Estimate(math.nan, 0.0, 1.0, LEVEL, "unknown without data")
