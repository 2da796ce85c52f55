"""`judges`: whether raters agree, whether a rater agrees with itself when asked again, and what that does to scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from ... import expect
from ...arrays import AnyInts, Floats
from ...expect import InputError, shown
from ...frames import pandas_of
from ...intervals import ROUNDING, Estimate, of_mean, positive_around
from ...result import Result, parts_of
from ..records.labelings import Labelings
from ..records.prediction_table import NOTHING_PREDICTED, expect_column, labelings_of_table, spare_name
from .repeats import repeats_needed

OVER, SHARE = "over items", (0.0, 1.0)
MOST_PAIRS = 12
"""Pairs of raters that are drawn."""


@dataclass(frozen=True)
class Rater:
    """One rater: how often it gives the same rating when asked again, and the share of items on which it changed.

    `changed` is what was seen in these runs; it grows with their number, `self_agreement` does not.
    """

    name: str
    n_runs: int
    self_agreement: Estimate
    self_kappa: Estimate
    changed: Estimate


@dataclass(frozen=True)
class RaterPair:
    """Two raters on the same items: the share of equal ratings, and Cohen's kappa, the same beyond chance."""

    one: str
    other: str
    n_items: int
    agreement: Estimate
    kappa: Estimate


@dataclass(frozen=True)
class SystemScore:
    """The mean rating of a system by one rater. `again` is by how much asking once more moves it (SD)."""

    rater: str
    system: str
    score: Estimate
    again: float


@dataclass(frozen=True)
class SystemPair:
    """The difference in score of two systems by one rater, paired by item where both were rated.

    `again` is by how much asking once more moves the difference (SD), `reversal` the probability that a single new
    rating of every item orders the two the other way round than all ratings together.
    """

    rater: str
    one: str
    other: str
    difference: Estimate
    again: float
    reversal: float


@dataclass(frozen=True)
class Judges(Result, unit="share of items rated the same"):
    """The result of `judges`: `raters` alone, `pairs` of them, and the `systems` they rate.

    `agreement` and `kappa` are the means over pairs of raters, unknown for one rater. `items` has a row per item and
    rater: how often two of its ratings differ, those that change most first.
    """

    n_items: int
    categories: tuple[str, ...]
    agreement: Estimate
    kappa: Estimate
    raters: tuple[Rater, ...]
    pairs: tuple[RaterPair, ...]
    systems: tuple[SystemScore, ...]
    system_pairs: tuple[SystemPair, ...]
    notes: tuple[str, ...]
    items: pd.DataFrame = field(repr=False, compare=False)
    record: Labelings = field(repr=False, compare=False)

    repeats_needed = repeats_needed

    def summary(self) -> dict[str, Estimate]:
        """How often each rater agrees with itself, and the first pairs of raters with each other."""
        alone = {f"{rater.name} asked again": rater.self_agreement for rater in self.raters}
        return alone | {f"{pair.one} and {pair.other}": pair.agreement for pair in self.pairs[:MOST_PAIRS]}

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: rater, other, figure, value, low, high, level, kind."""
        figures: list[tuple[str, str, Any, tuple[str, ...]]] = [
            *((each.name, each.name, each, ("self_agreement", "changed")) for each in self.raters),
            *((each.one, each.other, each, ("agreement", "kappa")) for each in self.pairs),
            *((each.rater, each.system, each, ("score",)) for each in self.systems),
            *((each.rater, f"{each.one} − {each.other}", each, ("difference",)) for each in self.system_pairs),
        ]
        return pd.DataFrame(
            [
                {"rater": one, "other": other, "figure": name, **parts_of(getattr(each, name))}
                for one, other, each, names in figures
                for name in names
            ]
        )

    def __str__(self) -> str:
        sentences = []
        if self.pairs:
            least = min(self.pairs, key=lambda pair: pair.kappa.value)
            sentences.append(
                f"Raters agree on {self.agreement:.3g} of {self.n_items:,} items, kappa (beyond chance) "
                f"{self.kappa:.2g}; least {least.one} and {least.other} ({least.kappa:.2g})."
            )
        again = [each for each in self.raters if each.self_agreement.known]
        if again:
            worst = min(again, key=lambda each: each.self_agreement.value)
            sentences.append(
                f"Asked again, {worst.name} gives the same rating in {worst.self_agreement:.3g} of the items; it "
                f"changed {worst.changed.value:.1%} of them in {worst.n_runs} runs."
            )
        else:
            sentences.append("Every item was rated once, so how often a rater changes its mind is unknown.")
        doubtful = [each for each in self.system_pairs if each.reversal > 0.05]
        if doubtful:
            most = max(doubtful, key=lambda each: each.reversal)
            sentences.append(
                f"Asked once more, {most.rater} would order {most.one} and {most.other} the other way round with "
                f"probability {most.reversal:.2g}."
            )
        return " ".join([*sentences, *self.notes])


def judges(
    ratings: Any,
    *,
    item: str | None = None,
    rater: str | None = None,
    rating: str | list[str] | None = None,
    run: str | None = None,
    system: str | None = None,
    values: Mapping[Any, float] | None = None,
    normalise: bool | Mapping[str, str] = False,
    level: float = 0.95,
) -> Judges:
    """Measure raters (models, people) on the same items: agreement beyond chance, and what asking again changes.

    agreement = mean over items of Σ_c p_c q_c, p and q the shares of rating c in the runs of two raters;
    kappa = (agreement − e)/(1 − e), e = Σ_c P_c Q_c with the shares over all items (Cohen). The agreement of a rater
    with itself leaves out pairs of a run with itself, so that it does not depend on the number of runs.

    Agreement runs from 0 to 1, kappa from −1 to 1: 0 is chance, 1 full agreement. The score of a system is the mean
    rating; its interval is over items, with the raters as they are. `again` is the part of its error that asking again
    shows: √(Σ within-item variance)/n.

    It misleads where nearly all ratings are the same: kappa is then low or unknown although raters agree. Agreement is
    not accuracy: raters can share a mistake. Runs must be asked again, not copied from a cache.

    Parameters
    ----------
    ratings : a table with one row per rating (or a wide one: several rating columns are raters), or a record whose
        variants are the raters
    item : column that names the item; with `system`, the question that all systems answered
    rater : column that names the rater; default: the rating columns
    rating : column of the ratings, or several columns or a pattern
    run : column that names the repetition; default: repeated ratings are numbered in their order
    system : column that names the system that was rated
    values : the number for each rating, for scores of systems; default: ratings that are numbers, as they are
    normalise : True to ignore case, spaces, and quotes or punctuation at the ends; a dict also replaces words
    level : confidence level of the intervals

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> quality = rng.random(200) < 0.5
    >>> table = pd.DataFrame({f"judge{j}": np.where(rng.random(200) < 0.1, ~quality, quality) for j in range(2)})
    >>> round(float(judges(table.astype(int), rating="judge*").kappa), 1)
    0.7

    References
    ----------
    Cohen, A coefficient of agreement for nominal scales (1960).

    """
    expect.fraction(level, "level")
    if isinstance(ratings, Labelings):
        ratings.expect_same_points()
        table, items, systems, questions = ratings, ratings.items, None, None
        if system is not None:
            raise InputError("`system` names a column; pass the table of ratings, not a record.")
    else:
        frame, key = _with_key(ratings, item, system)
        table = labelings_of_table(
            frame, truth=None, prediction=rating, item=key, run=run, variant=rater, normalise=normalise, name="ratings"
        )
        assert table.columns is not None
        items = table.items
        systems = None if system is None else table.columns[system].astype(str).to_numpy()
        questions = None if system is None or item is None else table.columns[item].to_numpy()
    shares, runs = _shares(table)
    names = table.variants
    pairs = tuple(
        RaterPair(names[one], names[other], *_agreement(shares[[one, other]], runs[[one, other]], level))
        for one, other in combinations(range(len(shares)), 2)
    )
    unknown = Estimate(math.nan, -1.0, 1.0, level, "unknown: one rater")
    _, agreement, kappa = _agreement(shares, runs, level) if pairs else (0, unknown, unknown)
    scores: list[SystemScore] = []
    system_pairs: list[SystemPair] = []
    if systems is not None:
        numbers = np.append(_numbers(table, values), np.nan)  # the last is that of no answer
        ends = [*numbers[np.isfinite(numbers)], *map(float, (values or {}).values())]
        # If all ratings are one number, so is every mean.
        scale = (min(ends), max(ends)) if min(ends) < max(ends) else (-math.inf, math.inf)
        for rater, labels in zip(names, table.labels):
            _add_systems(scores, system_pairs, rater, numbers[labels], systems, questions, scale, level)
    return Judges(
        n_items=table.labels.shape[2],
        categories=tuple(str(name) for name in table.classes),
        agreement=agreement,
        kappa=kappa,
        raters=tuple(_rater(*each, level) for each in zip(names, shares, runs)),
        pairs=pairs,
        systems=tuple(scores),
        system_pairs=tuple(system_pairs),
        notes=tuple(map(str, table.notes)),
        items=_flips(table, items, shares, runs),
        record=table,
    )


# The table of ratings


def _with_key(ratings: Any, item: str | None, system: str | None) -> tuple[Any, str | None]:
    """The table with a column that names what was rated: the item, or the answer of a system to it."""
    frame = pandas_of(ratings, "ratings")
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"`ratings` is {type(frame).__name__}; expected a table with one row per rating, or a record.")
    if system is None:
        return frame, item
    for role, name in (("system", system), ("item", item)):
        expect_column(frame, name, role)
    if item is None:
        raise InputError(
            "`system` is given without `item`: name the column of the question, so that systems are paired."
        )
    key = spare_name("rated", frame)
    return frame.assign(**{key: frame[item].astype(str) + " · " + frame[system].astype(str)}), key


def _shares(table: Labelings) -> tuple[Floats, AnyInts]:
    """(K, n, C) shares of each rating in the runs of each rater at each item, and (K, n) runs that gave one."""
    counts = np.stack([(table.labels == code).sum(axis=1) for code in range(table.classes.size)], axis=2)
    counts[:, :, table.classes.astype(str) == NOTHING_PREDICTED] = 0
    runs = counts.sum(axis=2)
    return counts / np.maximum(runs, 1)[:, :, None], runs


# Raters and pairs of them


def _rater(name: str, shares: Floats, runs: AnyInts, level: float) -> Rater:
    several = runs > 1
    most = int(runs.max(initial=0))
    if not several.any():
        unknown = Estimate(math.nan, 0.0, 1.0, level, "unknown: rated once")
        return Rater(name, most, unknown, Estimate(math.nan, -1.0, 1.0, level, "unknown: rated once"), unknown)
    same = _same_again(shares[several], runs[several])
    overall = shares[several].mean(axis=0)
    expected = 2 * shares[several] @ overall
    changed = (shares[several].max(axis=1) < 1).astype(float)
    beyond = _beyond(same, expected, float(overall @ overall), level)
    return Rater(name, most, of_mean(same, level, OVER, SHARE), beyond, of_mean(changed, level, OVER, SHARE))


def _same_again(shares: Floats, runs: AnyInts) -> Floats:
    """How often two different runs agree at each item."""
    return np.asarray((runs * (shares**2).sum(axis=1) - 1) / (runs - 1))


def _agreement(shares: Floats, runs: AnyInts, level: float) -> tuple[int, Estimate, Estimate]:
    """How many items all of some raters rated, and the mean over pairs of raters of agreement and kappa there."""
    common = (runs > 0).all(axis=0)
    n_items = int(common.sum())
    if n_items < 2:
        unknown = Estimate(math.nan, -1.0, 1.0, level, "unknown: fewer than 2 items in common")
        return n_items, unknown, unknown
    parts = [_parts(*pair) for pair in combinations(shares[:, common], 2)]
    same, expected, chance = (np.mean(each, axis=0) for each in zip(*parts))
    return n_items, of_mean(same, level, OVER, SHARE), _beyond(same, expected, float(chance), level)


def _parts(first: Floats, second: Floats) -> tuple[Floats, Floats, float]:
    """Agreement at each item, each item's share in the expected agreement, and the expected agreement."""
    own, others = first.mean(axis=0), second.mean(axis=0)
    return (first * second).sum(axis=1), first @ others + second @ own, float(own @ others)


def _beyond(same: Floats, expected: Floats, chance: float, level: float) -> Estimate:
    """Kappa from the agreement and the expected agreement at each item; the interval on the scale of log(1 − kappa)."""
    if chance >= 1:
        return Estimate(math.nan, -1.0, 1.0, level, "undefined: all ratings are the same")
    agreement = float(same.mean())
    value = (agreement - chance) / (1 - chance)
    pulls = (same - agreement) / (1 - chance) - (1 - agreement) / (1 - chance) ** 2 * (expected - 2 * chance)
    error = float(pulls.std(ddof=1)) / math.sqrt(same.size) if same.size > 1 else 0.0
    if error < ROUNDING:  # as agreement, where nothing varied
        share = of_mean(same, level, OVER, SHARE)
        low, high = ((end - chance) / (1 - chance) for end in (share.low, share.high))
    else:
        missing = positive_around(1 - value, error, level, draws=same.size)
        low, high = 1 - missing.high, 1 - missing.low
    return Estimate(value, max(low, -1.0), high, level, OVER)


def _flips(table: Labelings, items: NDArray[Any], shares: Floats, runs: AnyInts) -> pd.DataFrame:
    """How often two ratings of an item by one rater differ, those that change most first."""
    frames = []
    for name, own, times in zip(table.variants, shares, runs):
        several = np.flatnonzero(times > 1)
        differs = 1 - _same_again(own[several], times[several])
        usual = table.classes[own[several].argmax(axis=1)]
        about = {"item": items[several], "rater": name, "runs": times[several], "usual": usual, "value": differs}
        frames.append(pd.DataFrame(about))
    frame = pd.concat(frames, ignore_index=True)
    return frame.sort_values("value", ascending=False, kind="stable", ignore_index=True)


# Systems


def _numbers(table: Labelings, values: Mapping[Any, float] | None) -> Floats:
    """The number of each rating; NaN for no answer."""
    names = pd.Series(table.classes.astype(str))
    if values is None:
        numbers = pd.to_numeric(names, errors="coerce")
    else:
        numbers = names.map({str(key): float(value) for key, value in values.items()})
    lacking = names[numbers.isna() & (names != NOTHING_PREDICTED)].tolist()
    if lacking and values is not None:
        raise InputError(f"`values` lacks {shown(lacking, 4)}; expected a number for every rating.")
    if lacking:
        raise InputError(
            f"Ratings such as {lacking[0]!r} are not numbers, so systems have no score. Pass the number of each: "
            "values={'good': 1, 'bad': 0}."
        )
    return numbers.to_numpy(dtype=float)


def _add_systems(
    scores: list[SystemScore],
    pairs: list[SystemPair],
    rater: str,
    rated: Floats,
    systems: NDArray[Any],
    questions: NDArray[Any] | None,
    scale: tuple[float, float],
    level: float,
) -> None:
    """The scores of all systems by one rater, and their differences, from the numbers (runs, items) it gave.

    Numbers are within the `scale`.
    """
    runs = np.isfinite(rated).sum(axis=0)
    mean = np.nansum(rated, axis=0) / np.maximum(runs, 1)
    # Variance of a single rating at an item, from its runs; without several, none is known.
    spread = np.nansum((rated - mean) ** 2, axis=0) / np.maximum(runs - 1, 1)
    spread[runs < 2] = np.nan
    by_question: dict[str, pd.DataFrame] = {}
    least, most = scale
    for name in dict.fromkeys(systems.tolist()):
        own = np.flatnonzero((systems == name) & (runs > 0))
        if own.size < 2:
            continue
        score = of_mean(mean[own], level, OVER, (least, most))
        scores.append(SystemScore(rater, name, score, _moved(spread[own], own.size)))
        index = own if questions is None else questions[own]
        by_question[name] = pd.DataFrame({"mean": mean[own], "spread": spread[own]}, index=index)
    for one, other in combinations(by_question, 2):
        both = by_question[one], by_question[other]
        joined = pd.merge(*both, left_index=True, right_index=True, suffixes=("_one", "_other"))
        if len(joined) < 2:
            continue
        gaps = (joined["mean_one"] - joined["mean_other"]).to_numpy()
        difference = of_mean(gaps, level, f"{OVER}, paired", (least - most, most - least))
        again = _moved((joined["spread_one"] + joined["spread_other"]).to_numpy(), len(joined))
        pairs.append(SystemPair(rater, one, other, difference, again, _reversal(difference.value, again)))


def _moved(spread: Floats, items: int) -> float:
    """Standard deviation of a mean over items, when every item is rated once more."""
    known = np.isfinite(spread)
    return math.sqrt(float(spread[known].mean()) / items) if known.any() else math.nan


def _reversal(difference: float, again: float) -> float:
    if math.isnan(again):
        return math.nan
    if again == 0:
        return 0.0 if difference else 0.5
    return float(stats.norm.cdf(-abs(difference) / again))
