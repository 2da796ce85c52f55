"""How much concepts from batches of the same source differ by chance: the level that drift has to exceed.

The reference is split at random into blocks of batch size, many times. The concept of a block is compared with that of
the rest of the reference, as a batch will be compared with the reference, and the rest's concept predicts the block, as
the reference's will predict a batch. Blocks are also compared with each other, as a batch will be with the previous
one. These figures follow the distribution of batches without change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ... import expect, seeds
from ...arrays import Floats, Ints
from ...engine import work
from ...intervals import Estimate
from ..fitting import checks
from ..fitting.schemes import Sample
from ..fitting.task import Bench, refit
from ..records.base import LEAST_SHARE
from ..records.codecs import LabelCodec, NumberCodec

CAP = 3.0
"""Absolute errors count up to this many times the usual (median) one. Chosen by simulation: see docs/change.md."""
ROUNDING = 1e-9
"""Errors of at most this many standard deviations of the target are rounding errors."""
ENOUGH_BLOCKS = 5


@dataclass(frozen=True, eq=False)
class Target:
    """What is predicted, and so where two concepts are alike and how good one is.

    With `classes`, concepts are alike where they predict the same one, and as good as their accuracy; predictions are
    codes into the sorted classes. Without, the target is a number: concepts are alike where they differ by at most the
    `tolerance`, and as good as their error is small; `deviation` is the target's standard deviation in the reference.
    """

    classes: NDArray[Any] | None
    tolerance: float = 0.0
    deviation: float = 1.0

    @property
    def codec(self) -> LabelCodec | NumberCodec:
        return NumberCodec() if self.classes is None else LabelCodec(self.classes)

    def alike(self, one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
        """Where the predictions of two concepts are alike."""
        return np.asarray(np.abs(one - other) <= self.tolerance if self.classes is None else one == other)

    def worth(self, blocks: float) -> float:
        """How many independent batches a reference of so many blocks is worth in `p_value`: (blocks − 1)/2 of numbers.

        Blocks of one reference vary less around its mean than batches do around the process's (1 − 1/b of a batch's
        variance), and the reference itself adds 1/b: √((b + 1)/(b − 1)) in all. Of classes, ties of accuracies make up
        for that, but not with 3 blocks: there 6 % of 250 streams alarmed at 5 % with batches of 300 rows. So 3 blocks
        are worth 1, 5 are worth 5, and between them the worth is on a line, so that one row more or less hardly changes
        a p-value.
        """
        if self.classes is None:
            return (blocks - 1) / 2
        return blocks if blocks >= ENOUGH_BLOCKS else 2 * blocks - ENOUGH_BLOCKS

    def cap(self, predicted: Sequence[NDArray[Any]], truth: Sequence[NDArray[Any]]) -> float:
        """The largest error that counts in full: 3 times the median, or the mean if the median is rounding.

        Without it, a rare large error of a heavy-tailed target, which the reference happens to lack, is an alarm. A
        class is right or wrong, so no row can count more than another.
        """
        if self.classes is not None:
            return math.inf
        errors = np.abs(np.concatenate(predicted) - np.concatenate(truth))
        rounding = ROUNDING * self.deviation
        return CAP * next((float(size) for size in (np.median(errors), errors.mean()) if size > rounding), math.inf)

    def quality(self, predicted: NDArray[Any], truth: NDArray[Any], cap: float) -> float:
        """The accuracy, or minus the mean absolute error, none counted above the cap, in deviations of the target."""
        if self.classes is not None:
            return float((predicted == truth).mean())
        return -float(np.minimum(np.abs(predicted - truth), cap).mean()) / self.deviation

    def metric(self, quality: float) -> float:
        """The accuracy, or the error in units of the target, of a quality."""
        return quality if self.classes is not None else -quality * self.deviation

    def chance(self, one: NDArray[Any], other: NDArray[Any]) -> float:
        """How often a prediction of the one and one of the other, for unrelated points, are alike."""
        if self.classes is not None:
            shares = [np.bincount(codes.ravel(), minlength=self.classes.size) / codes.size for codes in (one, other)]
            return float(shares[0] @ shares[1])
        values = np.sort(other, axis=None)
        above = np.searchsorted(values, one.ravel() + self.tolerance, side="right")
        below = np.searchsorted(values, one.ravel() - self.tolerance, side="left")
        return float((above - below).mean()) / values.size


# The concept of some rows.


def predictions(bench: Bench, rows: Ints, number: int, fit: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """What the concept of some rows of a bench predicts on its probes and on its test rows; an error if it fails.

    `number` and `fit` define its seed. Runs in a worker.
    """
    answers = refit(bench, Sample(number, rows), (fit,))
    for error in answers.errors.values():
        raise RuntimeError(error)
    assert answers.probes is not None
    return answers.probes[0], answers.test[0]


# Figures without change.


Block = tuple[int, int, Ints]  # number of the random split, of the block in it, and the rows of the block

LEAST_BLOCKS = 3
WEIGHT = 2.0
"""How much the quality of the old concept counts, relative to agreement: see `Calibration.evidence`."""
LEAST_SPREAD = 1e-3
"""Standard deviation of the old concept's quality over blocks that are all alike."""
MOST_PAIRS = 2_000


@dataclass(frozen=True, eq=False)
class Calibration:
    """Figures without change at one batch size.

    `reference[i]` is the agreement of the concept of block i with that of the rest, `quality[i]` that of the rest's
    concept on the block, as its target defines it: its accuracy, or minus its error; `last` are agreements of two
    blocks. `blocks` is how many batches the reference is worth, `chance` the agreement of a concept that is unrelated
    to the reference. `cap` is the largest error that counts in full.
    """

    size: int
    blocks: float
    reference: Floats
    last: Floats
    quality: Floats
    chance: float
    cap: float = math.inf

    def p_value(self, value: float, figure: str) -> float:
        """How often a batch without change has a figure this low. See `p_value`; of accuracies, see `_tails` too."""
        return max(p_value(getattr(self, figure), value, self.blocks), self._by_rows(value, figure))

    def low_below(self, rate: float, figure: str) -> float:
        """The value below which the p-value of a figure alone is at most `rate`; −∞ if there are too few blocks."""
        values = np.sort(getattr(self, figure))
        allowed = math.floor(_needed(rate, self.blocks) * (values.size + 1) - 1 + 1e-9)
        by_rank = float(values[allowed]) if allowed >= 0 else -math.inf
        tails = self._tails(figure)
        return min(by_rank, 1 - (int((tails > rate).sum()) - 1) / self.size) if tails.size else by_rank

    def joint_p_value(self, agreement: float, quality: float) -> float:
        """How often a batch without change shows as much evidence of another concept, by Stouffer's method.

        Evidence is the standard score of the agreement plus twice that of the quality: rows that move lower the
        agreement where a batch has no rows, but not the accuracy of the old concept.
        """
        agreements, qualities = self.reference - self.reference.mean(), self.quality - self.quality.mean()
        spread = math.sqrt(float((agreements @ agreements) * (qualities @ qualities)))
        correlation = max(float(agreements @ qualities) / spread, 0.0) if spread else 0.0
        evidence = self._score(agreement, "reference") + WEIGHT * self._score(quality, "quality")
        return float(stats.norm.cdf(evidence / math.sqrt(1 + WEIGHT**2 + 2 * WEIGHT * correlation)))

    def _score(self, value: float, figure: str) -> float:
        """The standard score of a batch by its rank among the blocks; a quality below all of them by how far below."""
        values: Floats = getattr(self, figure)
        rank = (1 + int((values <= value).sum())) / (values.size + 2)
        score = float(stats.norm.ppf(rank))
        if figure == "quality" and value < values.min():
            score = min(score, (value - float(values.mean())) / max(float(values.std()), LEAST_SPREAD))
        score /= math.sqrt(1 + 1 / self.blocks)
        return max(score, float(stats.norm.ppf(min(self._by_rows(value, figure), 1 - 1 / (values.size + 2)))))

    def _by_rows(self, value: float, figure: str) -> float:
        """The p-value of an accuracy by Fisher's exact test, and 0 of any other figure."""
        tails = self._tails(figure)
        return float(tails[round((1 - value) * self.size)]) if tails.size else 0.0

    def _tails(self, figure: str) -> Floats:
        """Of accuracies, the probability of at least 0, 1, … wrong rows in a batch without change, given the blocks.

        A learner that is wrong on no row of the reference may be on one of a batch: by ranks alone, 11 % of batches of
        80 rows raised an alarm at 5 % where .4 % of rows are wrong. The quality of numbers is minus an error.
        """
        if figure != "quality" or self.quality.max() <= 0:
            return np.empty(0)
        rows = self.size * self.blocks
        wrong = (1 - float(self.quality.mean())) * rows
        chances = stats.betabinom.pmf(np.arange(self.size + 1), self.size, wrong + 1, max(rows - wrong, 0.5))
        return np.asarray(np.cumsum(chances[::-1])[::-1])

    def usual(self, figure: str, level: float = 0.95) -> Estimate:
        """Mean of a figure over blocks, and the range that contains a share `level` of them."""
        values: Floats = getattr(self, figure)
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
        of = "pairs" if figure == "last" else "batches"
        return Estimate(float(values.mean()), float(low), float(high), level, f"{level:.0%} of {of}")


def p_value(values: Floats, value: float, blocks: float) -> float:
    """The probability of so low a value without change: q = (1 + values not above it)/(1 + values), corrected.

    p = Φ(Φ⁻¹(q)/√(1 + 1/blocks)): all values come from one reference and share its error, which is 1/`blocks` of a
    batch's variance; a new batch does not share it.
    """
    share = (1 + int((values <= value).sum())) / (values.size + 1)
    return float(stats.norm.cdf(stats.norm.ppf(share) / math.sqrt(1 + 1 / blocks))) if share < 1 else 1.0


def draws_needed(rate: float, blocks: float) -> int:
    """How many blocks to fit so that an alarm at this rate does not depend on the single lowest of them."""
    return max(math.ceil(3 / _needed(rate, blocks)), 100)


def fewest_draws(rate: float, blocks: float) -> int:
    """How many blocks are needed before the lowest of them can raise an alarm at this rate."""
    return math.ceil(1 / _needed(rate, blocks) - 1e-9) - 1


def _needed(rate: float, blocks: float) -> float:
    """The share q at which the p-value is `rate`."""
    return float(stats.norm.cdf(stats.norm.ppf(rate) * math.sqrt(1 + 1 / blocks)))


def calibrate(
    bench: Bench,
    target: Target,
    size: int,
    draws: int,
    executor: Executor | int | None,
    progress: bool,
    label: str,
    groups: Ints | None = None,
) -> Calibration:
    """Fit blocks of the reference (the data of the bench) and the rest, and compare their concepts.

    With groups of the rows, blocks are whole groups and have about `size` rows.
    """
    rows = len(bench.y)
    if rows < LEAST_BLOCKS * size:
        raise expect.InputError(
            f"The reference has {rows} rows; batches of {size} rows need at least {LEAST_BLOCKS * size} to measure how "
            "much concepts differ by chance. Use a larger reference, or smaller batches."
        )
    largest = 0 if groups is None else int(np.bincount(groups).max())
    if largest > size:
        raise expect.InputError(
            f"`groups` has a group of {largest} rows, more than a batch of {size}; chance is estimated from blocks of "
            "whole groups. Use larger batches, or leave `groups` out."
        )
    tasks = _blocks(bench, size, draws, groups, of_classes=target.classes is not None)
    if len(tasks) < draws / 2:
        raise expect.InputError(
            f"Most random batches of {size} reference rows have only one class, so no concept can be learned from "
            "them. Use larger batches."
        )
    outcome = work.run(
        compare,
        tasks,
        shared=bench,
        executor=executor,
        progress=progress,
        label=f"{label}, batches of {size}",
        isolate=bench.time_limit is not None and executor is None,
    )
    if outcome.interrupted:
        raise KeyboardInterrupt
    if len(outcome.results) < LEAST_SHARE * len(tasks):
        why = next(iter(outcome.failures.values())).message
        raise expect.InputError(
            f"{label} failed in {len(outcome.failures)} of {len(tasks)} fits on batches of {size} reference rows: "
            f"{why}{checks.advice(bench.X, why)}"
        )
    blocks = [tasks[place] for place in outcome.results]
    on_probes, rest_on_probes, on_blocks = zip(*outcome.results.values())
    own, rest = np.array(on_probes), np.array(rest_on_probes)
    truth = [target.codec.truth(bench.y[block[2]]) for block in blocks]
    cap = target.cap(on_blocks, truth)
    cuttings = np.array([block[0] for block in blocks])
    pairs = [_pairs(own[cuttings == cutting], target.alike) for cutting in np.unique(cuttings)]
    return Calibration(
        size=size,
        blocks=target.worth(rows / size),
        reference=target.alike(own, rest).mean(axis=1),
        last=np.sort(np.concatenate(pairs)),
        quality=np.array([target.quality(*block, cap) for block in zip(on_blocks, truth)]),
        chance=target.chance(own, rest),
        cap=cap,
    )


def compare(bench: Bench, block: Block) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Predictions of the block's and of the rest's concept on the probes, and of the rest's on the block."""
    cutting, number, rows = block
    others = np.setdiff1d(np.arange(len(bench.y)), rows)
    own, _ = predictions(bench, rows, cutting, 2 * number)
    return own, *predictions(replace(bench, test=rows), others, cutting, 2 * number + 1)


def _blocks(bench: Bench, size: int, draws: int, groups: Ints | None, of_classes: bool) -> list[Block]:
    """Blocks of random splits of the reference, `draws` in all, without blocks of one class, which no batch has.

    A batch of one number may occur, so blocks of one are kept.
    """
    in_all = len(bench.y) // size
    blocks: list[Block] = []
    for cutting in range(math.ceil(draws / in_all)):
        generator = seeds.generator(bench.seed, "cutting", cutting)
        if groups is None:
            order = generator.permutation(len(bench.y))
            block_of_row = np.full(len(bench.y), in_all)
            block_of_row[order] = np.arange(len(bench.y)) // size
        else:
            block_of_row = _blocks_of_groups(groups, size, generator)
        for number in range(min(in_all, draws - cutting * in_all)):
            rows = np.flatnonzero(block_of_row == number)
            if rows.size and not (of_classes and (bench.y[rows] == bench.y[rows[0]]).all()):
                blocks.append((cutting, number, rows))
    return blocks


def _blocks_of_groups(groups: Ints, size: int, generator: np.random.Generator) -> Ints:
    """The block of every row: groups in random order, each in the block where its middle is."""
    sizes = np.bincount(groups)
    order = generator.permutation(sizes.size)
    block = np.empty(sizes.size, dtype=np.int64)
    block[order] = (np.cumsum(sizes[order]) - sizes[order] / 2) // size
    return block[groups]


def _pairs(answers: NDArray[Any], alike: Callable[..., NDArray[np.bool_]] = np.equal) -> Floats:
    """Agreements between blocks of the same random split; if there are many pairs, of some of them."""
    pairs = list(combinations(answers, 2))
    step = math.ceil(len(pairs) / MOST_PAIRS) or 1
    return np.array([alike(one, other).mean() for one, other in pairs[::step]], dtype=float)
