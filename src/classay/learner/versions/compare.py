"""`compare`: whether a new version of a classifier is better or worse, where, and what changed beyond a mere refit."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from ... import expect, seeds
from ...arrays import AnyInts, Floats
from ...intervals import Estimate, exact
from ...regions.columns import checked_table
from ...regions.find import FoundRegions, SearchOptions, find_regions, search_options
from ...regions.region import Region, p_value_text
from ...result import Result, figures_frame
from ..records.labelings import Labelings
from ..stability.disagreement import as_frame
from .differences import (
    METRICS,
    DifferenceOutcome,
    Matched,
    apart,
    as_differences,
    between,
    matched,
    metric_difference,
    over_fits,
    slices_of,
    within,
)
from .exchange import LEAST_FITS, BoxFamily, p_changed, p_worse

ALPHA = 0.05
FOUND = 5.0
"""Standard errors of a drop at one value of a column that is found in about 4 of 5 cases (by simulation)."""
MOST_SHARED = 0.5
"""A region of several columns with more of its items in regions of one column is not listed beside them."""
KINDS = {"worse": "It is worse", "better": "It is better", "changed": "More than a refit changes"}
"""What regions are, and how a sentence about them begins."""
FIGURES = (
    "old_accuracy", "new_accuracy", "difference", "regressions", "gains", "churn", "refit_churn", "beyond_refit",
)  # fmt: skip


@dataclass(frozen=True)
class SliceDifference:
    """The accuracy of new − that of old in a slice that the user named; intervals hold for all slices together."""

    condition: str
    size: int
    difference: Estimate
    verdict: str


@dataclass(frozen=True)
class Comparison(Result, unit="share of items"):
    """The result of `compare`: two versions on the same items.

    All differences are new − old; below 0 is worse. `difference` is that in accuracy, paired by item;
    `metric_difference` that in `metric`, from which `answer()` says whether new is better or worse.
    `regressions` is the share of items that old gets right and new wrong, `gains` the other way round. `churn` is the
    share of items whose prediction changes; `refit_churn` what a mere refit of the same learner changes, unknown unless
    a version has two fits; `beyond_refit` is churn − refit_churn, and `p_beyond` the p-value that it is not above 0.
    `worse`, `better` and `changed` are regions in which regressions, gains, and changes beyond a refit gather; `slices`
    those that were asked for. `items` has a row per item: share of fits of each version that are right, and how often
    their predictions differ.
    """

    old: str
    new: str
    n_items: int
    old_fits: int
    new_fits: int
    old_accuracy: Estimate
    new_accuracy: Estimate
    difference: Estimate
    metric: str
    metric_difference: Estimate
    regressions: Estimate
    gains: Estimate
    churn: Estimate
    refit_churn: Estimate
    beyond_refit: Estimate
    p_beyond: float
    worse: tuple[Region, ...]
    better: tuple[Region, ...]
    changed: tuple[Region, ...]
    slices: tuple[SliceDifference, ...]
    n_tested: int
    min_effect: float
    notes: tuple[str, ...]
    items: pd.DataFrame = field(repr=False, compare=False)

    @property
    def beyond_shown(self) -> bool:
        """Whether more changed than a mere refit changes, at 5 %; False if that is unknown."""
        return bool(self.p_beyond <= ALPHA)

    @property
    def regression_shown(self) -> bool:
        """Whether new is shown to be worse by more than `min_effect`: in all items, in a region, or in a slice.

        False if each version has one fit, and for regions if there are too few fits to test them: a refit of the same
        version may be worse by as much.
        """
        in_region = bool(self.worse) and not math.isnan(self.p_beyond)
        worse = {self.verdict, *(part.verdict for part in self.slices)}
        return self.refit_churn.known and (in_region or "worse" in worse)

    @property
    def verdict(self) -> str:
        """In all items, by `metric`: worse (by more than `min_effect`), better, or nothing if neither is shown."""
        return _verdict(self.metric_difference, self.min_effect)

    @property
    def worst_region(self) -> Estimate:
        """The difference in the region or slice that lost most; 0 if none is shown to be worse."""
        if worse := self._places("worse"):
            where, _, gap = min(worse, key=lambda place: place[2].value)
            return replace(gap, kind=f"where {where}, {gap.kind}")
        return exact(0.0, "no region is shown to be worse", self.difference.level)

    def _places(self, verdict: str) -> list[tuple[str, int, Estimate]]:
        """Condition, items and difference of each region, then of each slice, with this verdict."""
        regions = [(each.condition, each.size, each.rate) for each in getattr(self, verdict)]
        return regions + [
            (each.condition, each.size, each.difference) for each in self.slices if each.verdict == verdict
        ]

    def summary(self) -> dict[str, Estimate]:
        """The difference, what changed from one version to the next, and the part that a mere refit changes."""
        figures = {
            "accuracy, new − old": self.difference,
            f"{self.metric}, new − old": self.metric_difference,
            "turn wrong": self.regressions,
            "turn right": self.gains,
            "predictions that change": self.churn,
            "of these by a mere refit": self.refit_churn,
            "beyond a refit": self.beyond_refit,
        }
        return {name: figure for name, figure in figures.items() if figure.known}

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: learner, on, figure, value, low, high, level, kind."""
        figures = {name: getattr(self, name) for name in FIGURES}
        if self.metric != "accuracy":
            figures[f"{self.metric}_difference"] = self.metric_difference
        return figures_frame(f"{self.old} → {self.new}", "items", figures)

    def regions_frame(self) -> pd.DataFrame:
        """A row per region or slice: what is there (worse, better, changed, or slice), its condition and difference."""
        regions = [(what, each) for what in KINDS for each in getattr(self, what)]
        parts = [(what, each, each.rate, each.rest_rate, each.q_value) for what, each in regions]
        parts += [("slice", each, each.difference, math.nan, math.nan) for each in self.slices]
        rows = [
            (what, each.condition, each.size, each.size / self.n_items, gap.value, gap.low, gap.high, *rest)
            for what, each, gap, *rest in parts
        ]
        columns = ["what", "condition", "size", "share", "difference", "low", "high", "elsewhere", "q_value"]
        return pd.DataFrame(rows, columns=columns)

    def __str__(self) -> str:
        return " ".join([*self.sentences(), *self.notes])

    def answer(self) -> str:
        """Whether new is better or worse: the first sentence."""
        gap = self.metric_difference
        figure = f"{self.metric} {gap.value:+.3f} ({gap.low:+.3f} to {gap.high:+.3f})".replace("-", "−")
        if self.metric == "accuracy":
            figure = f"accuracy {_points(gap)}, from {self.old_accuracy.value:.1%} to {self.new_accuracy.value:.1%}"
        beyond = f" by more than {self.min_effect:g}" if self.verdict == "worse" and self.min_effect else ""
        verdict = self.verdict or f"not shown to be better or worse than {self.old}"
        if self.refit_churn.known:
            return f"{self.new} is {verdict}{beyond}: {figure} ({self.n_items:,} items, paired)."
        return (
            f"These two fits: {self.new} is {verdict}{beyond}: {figure}. A refit of one version alone may differ as "
            "much, so nothing is shown about the versions: pass several fits of each, or `refits` of the old one."
        )

    def sentences(self) -> list[str]:
        """Whether new is better or worse, what changed beyond a refit, and where."""
        sentences = [self.answer(), self._changes()]
        for verdict, beginning in KINDS.items():
            # A slice that is also a region is listed once.
            parts = {where: f"{where} ({size:,} items, {_points(gap)})" for where, size, gap in self._places(verdict)}
            more = [f"{len(parts) - 3} more"] if len(parts) > 3 else []
            if parts:
                sentences.append(f"{beginning} where {'; '.join([*list(parts.values())[:3], *more])}.")
        return sentences

    def _changes(self) -> str:
        turned = f"{self.regressions.value:.1%} turn wrong, {self.gains.value:.1%} turn right"
        changed = f"{self.churn.value:.1%} of the predictions change ({turned})"
        if not self.refit_churn.known:
            return f"{changed}."
        base = f"a mere refit or rerun of the same version changes {self.refit_churn.value:.1%}"
        if math.isnan(self.p_beyond):
            needed = f"Whether more changed than a refit changes needs at least {LEAST_FITS} fits of the old version"
            return f"{changed}; {base}. {needed}; pass them as `refits`."
        verdict = "more changed than that" if self.beyond_shown else "no more than that is shown"
        return f"{changed}; {base}, so {verdict} (p {p_value_text(self.p_beyond)})."


def _verdict(gap: Estimate, least: float) -> str:
    return "worse" if gap.high < -least else "better" if gap.low > 0 else ""


def _points(gap: Estimate) -> str:
    """A difference of shares in percentage points, with its interval."""
    value, low, high = (f"{100 * end:+.1f}".replace("-", "−") for end in (gap.value, gap.low, gap.high))
    return f"{value} points ({low} to {high})"


def compare(
    old: Labelings,
    new: Labelings,
    table: pd.DataFrame | None = None,
    *,
    refits: Labelings | None = None,
    metric: str = "accuracy",
    min_effect: float = 0.0,
    columns: Iterable[str] | None = None,
    slices: str | Iterable[str] = (),
    max_features: int = 3,
    min_size: int | None = None,
    q: float = 0.05,
    level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> Comparison:
    """Compare two versions of a classifier on the same items: accuracy, churn, regressions and where they gather.

    churn = P(old and new predict differently at an item); refit churn = P(two fits of one version differ), the mean of
    both versions if both have several fits; beyond = churn − refit churn. With p_c and q_c the shares of class c in
    the fits of old and new at an item, beyond = ½ Σ_c (p_c − q_c)² if both have several fits: 0 only if nothing but
    randomness changed.

    Churn and its parts run from 0 to 1; 0: the same predictions. A difference above 0 means that new is better.

    It misleads if the items are those a version was trained on, or if they were chosen because one version fails there;
    and if fits of both versions share a seed or training sample, as two epochs of one run do: they are then more alike
    than a refit is. Fits must be independent of each other.
    Intervals are over items, and over fits for versions that have several; a version with one fit is taken to vary as
    the other one, or as `refits`. With one fit each, all figures are about these two fits, and nothing is shown about
    the versions: `regression_shown` is False. `p_beyond` is exact if fits can be divided in 20 or more ways (5 against
    5, or 1 against 19): under the hypothesis that only the seed or sample changed, each way is equally likely. With
    fewer fits it is Student's t for one more fit, and with fewer than 3 it is unknown. With a `table` it is that of the
    largest change in all items and in every range or category of a column. Regions are searched on half of the items
    and tested on the other half, those of one column with half of `q` and those of several with the other half; those
    of `worse` and `better` must exceed `min_effect`. If a version has several fits, regions are given only where
    exchanging fits between the versions does not explain them, at 5 %. `slices` are tested on all items, and their
    intervals hold for all of them together, with a probability of `level` (Bonferroni).

    Parameters
    ----------
    old, new : records on the same items, from `record`, `Labelings.from_frame` or `from_arrays`
    table : a row for each item of `old`, to find regions in which changes gather
    refits : more fits of the old version on the same items, to know what a mere refit changes
    metric : accuracy, balanced_accuracy, f1_macro or mcc, for `metric_difference`
    min_effect : drop in accuracy that does not matter, 0 to 1
    columns : names of columns of the table to search; default all
    slices : names of columns of the table whose values, or ranges of about equally many items, are slices to test
    max_features : 1 for single columns only, 2 for pairs too, 3 to search the best pairs for a third column
    min_size : fewest items of a region; default 0.5 % of the items, at least 20
    q : the false-discovery rate of the regions
    level : confidence level of the intervals
    random_state : seed of the split of items into halves

    Examples
    --------
    >>> truth = np.arange(200) % 2
    >>> old, new = truth.copy(), truth.copy()
    >>> old[:10], new[:30] = 1 - old[:10], 1 - new[:30]
    >>> c = compare(Labelings.from_arrays([old], truth), Labelings.from_arrays([new], truth))
    >>> round(float(c.difference), 3), round(float(c.churn), 3), c.regression_shown
    (-0.1, 0.1, False)

    References
    ----------
    Milani Fard, Cormier, Canini & Gupta, Launch and Iterate: Reducing Prediction Churn, NIPS (2016). Agresti &
    Coull, Approximate is better than "exact" for interval estimation of binomial proportions (1998).

    """
    expect.fraction(level, "level")
    expect.one_of(metric, "metric", METRICS)
    least = expect.number(min_effect, "min_effect", at_least=0, below=1, why="It is a drop in accuracy.")
    seed = seeds.settle(random_state)
    pair = matched(old, new)
    base = _base(pair, None if refits is None else matched(old, refits, ("old", "refits")))
    search, family = None, BoxFamily(pair.truth.size, None)
    asked = [slices] if isinstance(slices, str) else list(slices)
    if asked and table is None:
        raise expect.InputError(f"`slices` names {asked[0]!r} but there is no `table`; expected a row for each item.")
    if table is not None:
        frame = checked_table(_rows(table, old, pair))
        search = search_options(frame, None, columns, max_features, min_size, q, 10, level, seed)
        family = BoxFamily(pair.truth.size, frame, search.names, search.min_size)
    churned = _churn(pair, base, family, seed, level)
    # Refits, if there are any, say how much a version with one fit varies.
    like = [] if base is pair.old else [base]
    before, after, *more = ((labels == pair.truth).mean(axis=1) for labels in (pair.old, pair.new, *like))
    old_right, new_right = before.mean(axis=0), after.mean(axis=0)
    items = {"truth": pair.classes[pair.truth], "old_right": old_right, "new_right": new_right}

    def gap(part: Any = slice(None), level: float = level) -> Estimate:
        fits, like, groups = [before[:, part], after[:, part]], [own[:, part] for own in more], pair.groups
        change = (new_right - old_right)[part]
        return over_fits(change, fits, None if groups is None else groups[part], like).interval(level)

    difference = gap()
    turned = [[before * (1 - new_right), old_right * (1 - after)], [(1 - before) * new_right, (1 - old_right) * after]]
    shares = [
        over_fits(by_version[-1].mean(axis=0), by_version, pair.groups).interval(level, 0.0)
        for by_version in ([before], [after], *turned)
    ]
    regions: dict[str, tuple[Region, ...]] = {}
    n_tested, notes, tested = 0, list(pair.notes), []
    if search is not None:
        parts = slices_of(frame, asked, search.min_size)
        for condition, mask in parts.items():
            own = gap(mask, 1 - (1 - level) / len(parts))
            tested.append(SliceDifference(condition, int(mask.sum()), own, _verdict(own, least)))
        regions, n_tested, of_regions = _regions(pair, base, churned, frame, search, family, least)
        notes += [note for note in of_regions if note not in notes]
    return Comparison(
        old=pair.names[0],
        new=pair.names[1],
        n_items=pair.truth.size,
        old_fits=len(pair.old),
        new_fits=len(pair.new),
        old_accuracy=shares[0],
        new_accuracy=shares[1],
        difference=difference,
        metric=metric,
        metric_difference=difference if metric == "accuracy" else metric_difference(pair, like, metric, level, seed),
        regressions=shares[2],
        gains=shares[3],
        churn=churned.churn,
        refit_churn=churned.refit,
        beyond_refit=churned.beyond,
        p_beyond=churned.p_value,
        worse=regions.get("worse", ()),
        better=regions.get("better", ()),
        changed=regions.get("changed", ()),
        slices=tuple(sorted(tested, key=lambda part: part.difference.value)),
        n_tested=n_tested,
        min_effect=least,
        notes=tuple(notes),
        items=pd.DataFrame({**items, "changed": churned.table.mean(axis=0)}),
    )


# Regions in which changes gather


def _regions(
    pair: Matched,
    base: AnyInts,
    churned: _Churn,
    frame: pd.DataFrame,
    search: SearchOptions,
    family: BoxFamily,
    least: float,
) -> tuple[dict[str, tuple[Region, ...]], int, list[str]]:
    """Where errors, right predictions, and changes beyond a refit have increased, unless a refit explains it."""
    alone = len(base) == len(pair.new) == 1
    outcomes = {}
    for what in ("worse", "better"):
        old, new = ((labels == pair.truth) == (what == "better") for labels in (base, pair.new))
        p_value = math.nan if alone else p_worse(~old[:, 0], ~new[:, 0], family, search.seed)
        outcomes[what] = DifferenceOutcome(old.mean(axis=1), new.mean(axis=1), pair.groups, least), p_value
    if churned.reference is not None and not math.isnan(churned.p_value):
        changes = DifferenceOutcome(churned.reference, churned.table, pair.groups, 0.0, leave_one_out=True)
        outcomes["changed"] = changes, churned.p_value
    regions: dict[str, tuple[Region, ...]] = {}
    n_tested, notes = 0, []
    for what, (outcome, p_value) in outcomes.items():
        if p_value > ALPHA:  # a refit would change as much somewhere
            continue
        found = _found(frame, search, outcome, f"changed regions: {what}")
        sign = -1 if what == "worse" else 1
        regions[what] = tuple(as_differences(region, sign) for each in found for region in each.regions)
        n_tested += sum(len(each.tested) for each in found)
        notes += [note for each in found for note in each.notes if note not in notes]
    if not regions.get("worse"):
        size, drop = _smallest_found(outcomes["worse"][0].values, search)
        notes.append(
            f"No region is shown to be worse. A drop of about {100 * drop:.0f} points in {size:,} items that share a "
            "value would have been found in about 4 of 5 cases; in a range of numbers it must be larger."
        )
    if math.isnan(churned.p_value):
        notes.append("Regions are about these fits; a refit may also change them.")
    return regions, n_tested, notes


def _smallest_found(values: Floats, search: SearchOptions) -> tuple[int, float]:
    """About which drop is found in a twentieth of the items: `FOUND` standard errors, of which most is its own.

    Items that turn wrong vary by drop · (1 − drop), beside what varies in all items.
    """
    size = max(values.size // 20, search.min_size)
    part = FOUND**2 / size
    drop = (part + math.sqrt(part**2 + 4 * (1 + part) * part * 4 * float(values.var()))) / (2 * (1 + part))
    return size, min(drop, 1.0)


def _found(frame: pd.DataFrame, search: SearchOptions, outcome: DifferenceOutcome, purpose: str) -> list[FoundRegions]:
    """Regions of one column, then of several that are no parts of these, each with its part of the error rate.

    Boxes of two columns are so many that the best of them by chance would take the places of those of one to be tested.
    """
    if search.max_features == 1:
        return [find_regions(frame, search, outcome, outcome, purpose)]
    half = replace(search, q=search.q / 2)
    alone, several = (
        find_regions(frame, each, outcome, outcome, purpose) for each in (replace(half, max_features=1), half)
    )
    taken = np.any([np.zeros(outcome.n, dtype=bool), *alone.masks], axis=0)
    kept = tuple(
        replace(region, rank=region.rank + len(alone.regions), nested_under=None)
        for region, mask in zip(several.regions, several.masks)
        if taken[mask].mean() < MOST_SHARED
    )
    return [alone, replace(several, regions=kept)]


# Churn: what changed, and what a refit changes


@dataclass(frozen=True)
class _Churn:
    """`table` (U, n) is how often each fit of new differs from old ones, `reference` the same among fits of old."""

    churn: Estimate
    refit: Estimate
    beyond: Estimate
    p_value: float
    table: Floats
    reference: Floats | None


def _base(pair: Matched, more: Matched | None) -> AnyInts:
    """The fits of the old version, and those given as `refits`."""
    if more is None:
        return pair.old
    if more.rows.size != pair.rows.size or more.classes.size != pair.classes.size:
        raise expect.InputError("`refits` must be on the same items, with the same classes, as `old` and `new`.")
    refits = min(more.old.shape[1], more.new.shape[1])
    return more.new if len(more.old) == 1 else np.concatenate([more.old[:, :refits], more.new[:, :refits]])


def _churn(pair: Matched, base: AnyInts, family: BoxFamily, seed: int, level: float) -> _Churn:
    size, groups = pair.classes.size, pair.groups
    table, by_old = between(pair.new, pair.old, size), between(pair.old, pair.new, size)
    more = [] if base is pair.old else [between(base, pair.new, size)]
    churn = over_fits(table.mean(axis=0), [table, by_old], groups, more, of_pairs=True).interval(level, 0.0)
    if more:
        table, by_old = between(pair.new, base, size), more[0]
    inside = [within(labels, size) for labels in (base, pair.new) if len(labels) > 1]
    unknown = Estimate(math.nan, 0.0, 1.0, level, "unknown: one fit per version")
    if not inside:
        return _Churn(churn, unknown, replace(unknown, low=-1.0), math.nan, table, None)
    own = np.mean([each.mean(axis=0) for each in inside], axis=0)
    # Each pair has two fits, so each of them counts twice.
    pulls = [2 * apart(each) / len(inside) for each in inside]
    refit = over_fits(own, pulls, groups, of_pairs=True).interval(level, 0.0)
    p_value = p_changed(base[:, 0], pair.new[:, 0], family, seed)
    gap = table.mean(axis=0) - own
    beyond = Estimate(float(gap.mean()), -1.0, 1.0, level, f"unknown: fewer than {LEAST_FITS} fits")
    if len(base) >= LEAST_FITS:
        # What each fit adds (jackknife): how far it is from the other version, and from its own.
        pulls = [across[: len(pull)] - pull for across, pull in zip((by_old, table), pulls)]
        mean = over_fits(gap, [table, *pulls][-2:], groups, of_pairs=True)
        # Distances are skewed, so no more degrees of freedom than the smaller version has.
        beyond = replace(mean, df=min(map(len, inside)) - 1).interval(level)
    return _Churn(churn, refit, beyond, p_value, table, inside[0] if len(base) > 1 else None)


def _rows(table: Any, old: Labelings, pair: Matched) -> Any:
    rows = as_frame(table)
    n_items = old.truth.size
    if hasattr(rows, "iloc") and len(rows) != n_items and len(rows) == old.about.get("data", {}).get("rows"):
        rows = rows.iloc[old.test_rows]
    if not hasattr(rows, "iloc") or len(rows) != n_items:
        raise expect.InputError(
            f"`table` has {len(rows)} rows but `old` has {n_items} items; expected a DataFrame with a row for each."
        )
    return rows.iloc[pair.rows].reset_index(drop=True)
