"""`repeats_needed`: how often to ask again, from how much answers were found to vary."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ... import expect, seeds
from ...arrays import Floats
from ...intervals import Estimate, bounded, normal_quantile
from ...result import Result, parts_of
from ..records.labelings import expect_record

SHOWN = (1, 2, 3, 5, 10, 20, 50)
RESAMPLES = 200


@dataclass(frozen=True)
class Variances:
    """Parts of the variance of one answer being right: between items, of whole runs, and of single answers.

    The variance of accuracy over n items and R runs is items/n + runs/R + answers/(n·R).
    """

    items: float
    runs: float
    answers: float

    def of_accuracy(self, n_items: float, n_runs: float) -> float:
        """The variance of accuracy over this many items and runs."""
        return self.items / n_items + self.by_runs(n_items, n_runs)

    def by_runs(self, n_items: float, n_runs: float) -> float:
        """The part of it that more runs reduce."""
        return self.runs / n_runs + self.answers / (n_items * n_runs)


@dataclass(frozen=True)
class Repeats(Result, unit="half-width of the interval of accuracy"):
    """The result of `repeats_needed`: `repeats` runs, with the range that other items of the same kind would give.

    With that many, asking again gives at most `share` of the variance of accuracy, or moves it by at most `precision`;
    the rest comes from the choice of items, which only more items reduce. `half_widths` has the half-width of the
    interval of accuracy by number of runs, `items_for_half_width` how many items the asked `half_width` needs with
    `repeats` runs, if one was asked for.
    """

    name: str
    n_items: int
    n_runs: int
    n_variants: int
    share: float
    precision: float
    repeats: Estimate
    variances: Variances
    half_widths: dict[int, Estimate]
    half_width: float | None
    items_for_half_width: int | None
    notes: tuple[str, ...]

    def summary(self) -> dict[str, Estimate]:
        """The half-width of the interval of accuracy by number of runs."""
        return {expect.counted(runs, "run"): width for runs, width in self.half_widths.items()}

    def to_frame(self) -> pd.DataFrame:
        """One row per number of runs: runs, value (half-width), low, high, level, kind, share by runs."""
        rows = []
        for runs, width in self.half_widths.items():
            total = self.variances.of_accuracy(self.n_items, runs)
            by_runs = self.variances.by_runs(self.n_items, runs)
            rows.append({"runs": runs, **parts_of(width), "share_by_runs": by_runs / total if total else 0.0})
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        number = int(self.repeats.value)
        text = (
            f"{self.name}: {expect.counted(number, 'run')} suffice{'s' * (number == 1)} (between "
            f"{self.repeats.low:.0f} and {self.repeats.high:.0f}): then asking again gives at most {self.share:.0%} of "
            f"the variance of accuracy over {self.n_items:,} items, or moves it by at most {self.precision:g}. With "
            f"that many, accuracy is known to within {self.half_widths[number].value:.2g}; with one run, to within "
            f"{self.half_widths[1].value:.2g}."
        )
        if self.half_width is not None:
            text += f" To within {self.half_width:g} takes {self.items_for_half_width:,} items."
        return " ".join([text, *self.notes])


def repeats_needed(
    ratings: Any,
    share: float = 0.1,
    *,
    precision: float = 0.01,
    half_width: float | None = None,
    level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> Repeats:
    """How many runs suffice, so that asking again hardly moves accuracy: of ratings whose truth is known.

        Variance of accuracy = B/n + S/R + W/(n·R): B between items, S of whole runs, W of single answers, each
        estimated without bias from the runs that are there (W = mean of R/(R−1)·p(1−p) over items, p the share of right
        answers). The answer is the smallest R at which S/R + W/(n·R) is at most `share` of the total, or so small that
        asking again moves accuracy by at most `precision` (at the given level).

        From 1 up; 1: asking once is enough. It misleads if the runs were not independent: one seed, a cache, or
        temperature 0 gives runs that agree because nothing was asked again. It is about accuracy over all items; single
        items may still change. S is hardly known from few runs.

        ratings : a record of predictions with their truth, or the result of `judges` on it
    share : how much of the variance may come from asking again
        precision : by how much asking again may move accuracy in any case
        half_width : half-width of the interval of accuracy to reach; the result then says how many items that takes
        level : confidence level of the intervals
        random_state : seed of the resampled items
    """
    record = expect_record(getattr(ratings, "record", ratings), "ratings")
    if (record.truth < 0).any():
        raise expect.InputError("The ratings have no truth, so accuracy is unknown; expected a record with a truth.")
    expect.fraction(share, "share")
    expect.fraction(level, "level")
    expect.fraction(precision, "precision")
    if half_width is not None:
        expect.fraction(half_width, "half_width")
    labels = record.complete()
    if labels.shape[1] < 2:
        raise expect.InputError(
            f"The record has 1 run per variant; at least 2 are needed to see how much answers vary. Ask some items "
            f"again{', and name the column with run=' if record.of_predictions else ''}."
        )
    right = (labels == record.truth).astype(float)
    n_items, notes = right.shape[2], list(record.notes)
    found = variances(right)
    generator = seeds.generator(seeds.settle(random_state), "repeats")
    quantile = normal_quantile(level)
    moved = (precision / quantile) ** 2
    drawn = [
        variances(right[:, :, generator.integers(n_items, size=n_items)])
        for _ in range(RESAMPLES if n_items <= 100_000 else 20)
    ]
    value, ends = _needed(found, n_items, share, moved), [0.5 - level / 2, 0.5 + level / 2]
    low, high = np.quantile([_needed(each, n_items, share, moved) for each in drawn], ends)
    # If no answer changed, answers to a few items may, and then most of all.
    rare = replace(found, answers=max(found.answers, 0.25 * bounded(0.0, 0.0, n_items, level).high))

    def width_with(runs: int) -> Estimate:
        own = bounded(float(right.mean()), math.sqrt(found.of_accuracy(n_items, runs)), n_items, level)
        width = max(own.high - own.value, own.value - own.low)
        spread = quantile * np.sqrt(np.quantile([each.of_accuracy(n_items, runs) for each in drawn], ends))
        return Estimate(width, min(float(spread[0]), width), max(float(spread[1]), width), level, "over items")

    needed = None
    if half_width is not None:
        # By runs as a whole, no number of items helps.
        room = (half_width / quantile) ** 2 - found.runs / value
        # However alike items are, it takes some to show that no other one differs.
        alike = math.log(1 - level) / math.log(1 - half_width)
        needed = math.ceil(max((found.items + found.answers / value) / room, alike)) if room > 0 else None
        if needed is None:
            notes.append("No number of items reaches that: whole runs differ by more. Use more runs.")
            half_width = None
    if right.shape[1] < 5:
        notes.append(f"{right.shape[1]} runs say little about how much whole runs differ.")
    return Repeats(
        name=record.name,
        n_items=n_items,
        n_runs=right.shape[1],
        n_variants=right.shape[0],
        share=share,
        precision=precision,
        repeats=Estimate(
            value, min(float(low), value), max(float(high), _needed(rare, n_items, share, moved)), level, "over items"
        ),
        variances=found,
        half_widths={runs: width_with(runs) for runs in sorted({*SHOWN, int(value)})},
        half_width=half_width,
        items_for_half_width=needed,
        notes=tuple(notes),
    )


def variances(right: Floats) -> Variances:
    """The parts of the variance, mean over variants, from (K, R, n) answers that are right (1) or not (0)."""
    _, runs, items = right.shape
    by_item, by_run = right.mean(axis=1), right.mean(axis=2)
    residual = right - by_item[:, None, :] - by_run[:, :, None] + right.mean(axis=(1, 2), keepdims=True)
    answers = float((residual**2).sum(axis=(1, 2)).mean()) / ((runs - 1) * max(items - 1, 1))
    of_runs = max(float(by_run.var(axis=1, ddof=1).mean()) - answers / items, 0.0)
    of_items = max(float(by_item.var(axis=1, ddof=1).mean()) - answers / runs, 0.0)
    return Variances(of_items, of_runs, answers)


def _needed(found: Variances, n_items: int, share: float, moved: float) -> float:
    """The smallest R at which runs give at most `share` of the variance, or at most a variance of `moved`."""
    once, rest = found.by_runs(n_items, 1), found.items / n_items
    enough = once / moved
    if rest > 0:
        enough = min(enough, once * (1 - share) / (share * rest))
    return float(max(math.ceil(enough - 1e-9), 1))
