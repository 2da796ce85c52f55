"""How far concepts from batches of one source differ by chance: what drift has to exceed.

The reference is cut into blocks of the size of a batch, at random, again and again. The concept of a block is compared
with that of the rest of the reference, as a batch will be with the reference, and with those of the other blocks, as a
batch will be with the one before it. Every such agreement is distributed as that of batches without change.
"""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .. import expect, seeds
from ..engine import work
from ..intervals import Estimate
from . import examine
from .refit import Bench, refit
from .refits import LEAST_SHARE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Block = tuple[int, int, Ints]  # number of the cutting, of the block in it, and the rows of the block

LEAST_BLOCKS = 3
MOST_PAIRS = 2_000


@dataclass(frozen=True, eq=False)
class Calibration:
    """Agreements without change at one batch size, sorted.

    `reference` are agreements of a block's concept with that of the rest, `last` those of two blocks; `accuracy` is
    that of the rest's concept on the block. `blocks` is how many batches the reference holds, `chance` the agreement of
    a concept that has nothing to do with the reference.
    """

    size: int
    blocks: float
    reference: Floats
    last: Floats
    accuracy: Floats
    chance: float

    def p_value(self, agreement: float, against: str) -> float:
        """How often a batch without change agrees so little. See `p_value`."""
        return p_value(getattr(self, against), agreement, self.blocks)

    def alarm_below(self, rate: float, against: str) -> float:
        """The agreement below which the p-value is at most `rate`; 0 if the blocks are too few for any alarm."""
        values = getattr(self, against)
        allowed = math.floor(_needed(rate, self.blocks) * (values.size + 1) - 1 + 1e-9)
        return float(values[allowed]) if allowed >= 0 else 0.0

    def usual(self, figure: str, level: float = 0.95) -> Estimate:
        """Mean of a figure over blocks, and the range in which a share `level` of them lies."""
        values: Floats = getattr(self, figure)
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
        of = "pairs" if figure == "last" else "batches"
        return Estimate(float(values.mean()), float(low), float(high), level, f"{level:.0%} of {of}")


def p_value(values: Floats, agreement: float, blocks: float) -> float:
    """The chance of so little agreement without change: q = (1 + values not above it)/(1 + values), made cautious.

    p = Φ(Φ⁻¹(q)/√(1 + 1/blocks)): the values come from one reference, whose own error, one part in `blocks` of a
    batch's variance, they all share and a new batch does not.

    >>> round(p_value(np.arange(99) / 100, 0.03, blocks=10), 3)
    0.058
    """
    share = (1 + int(np.searchsorted(values, agreement, side="right"))) / (values.size + 1)
    return float(stats.norm.cdf(stats.norm.ppf(share) / math.sqrt(1 + 1 / blocks))) if share < 1 else 1.0


def draws_needed(rate: float, blocks: float) -> int:
    """How many blocks to fit, so that an alarm at this rate does not hang on the very lowest of them."""
    return max(math.ceil(3 / _needed(rate, blocks)), 100)


def fewest_draws(rate: float, blocks: float) -> int:
    """How many blocks it takes for the lowest of them to be an alarm at this rate."""
    return math.ceil(1 / _needed(rate, blocks) - 1e-9) - 1


def _needed(rate: float, blocks: float) -> float:
    """The share q at which the p-value is `rate`."""
    return float(stats.norm.cdf(stats.norm.ppf(rate) * math.sqrt(1 + 1 / blocks)))


def calibrate(
    bench: Bench, size: int, draws: int, executor: Executor | int | None, progress: bool, label: str
) -> Calibration:
    """Fit blocks and rests of the reference, which is the bench's data, and compare their concepts."""
    rows = len(bench.y)
    if rows < LEAST_BLOCKS * size:
        raise expect.InputError(
            f"The reference has {rows} rows; batches of {size} rows need at least {LEAST_BLOCKS * size} to tell how "
            "much concepts differ by chance. Use a larger reference, or smaller batches."
        )
    tasks = list(_blocks(bench, size, draws))
    if len(tasks) < draws / 2:
        raise expect.InputError(
            f"Most random batches of {size} reference rows have one class only, so that no concept can be learnt from "
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
    done = {place: found for place, found in outcome.results.items() if not isinstance(found, str)}
    if len(done) < LEAST_SHARE * len(tasks):
        errors = [found for found in outcome.results.values() if isinstance(found, str)]
        why = (errors or [str(failure) for failure in outcome.failures.values()])[0]
        raise expect.InputError(
            f"{label} failed in {len(tasks) - len(done)} of {len(tasks)} fits on batches of {size} reference rows: "
            f"{why}{examine.advice(bench.X, why)}"
        )
    own, rest, accuracy = (np.array(part) for part in zip(*done.values()))
    cuttings = np.array([tasks[place][0] for place in done])
    n_classes = int(max(own.max(), rest.max())) + 1
    chance = float(_shares(own, n_classes) @ _shares(rest, n_classes))
    pairs = [_pairs(own[cuttings == cutting]) for cutting in np.unique(cuttings)]
    return Calibration(
        size=size,
        blocks=rows / size,
        reference=np.sort((own == rest).mean(axis=1)),
        last=np.sort(np.concatenate(pairs)),
        accuracy=np.sort(accuracy),
        chance=chance,
    )


def compare(bench: Bench, block: Block) -> tuple[NDArray[np.integer], NDArray[np.integer], float] | str:
    """Answers of the block's concept and of the rest's on the probes, and the accuracy of the rest's on the block.

    Runs in a worker. What a learner raises is the answer.
    """
    cutting, number, rows = block
    others = np.setdiff1d(np.arange(len(bench.y)), rows)
    own = refit(bench, (cutting, rows, (2 * number,)))
    rest = refit(replace(bench, test=rows), (cutting, others, (2 * number + 1,)))
    for error in (*own.errors.values(), *rest.errors.values()):
        return error
    assert own.probes is not None
    assert rest.probes is not None
    right = rest.test[0] == bench.answers.truth(bench.y[rows])
    return own.probes[0], rest.probes[0], float(right.mean())


def _blocks(bench: Bench, size: int, draws: int) -> list[Block]:
    """Blocks of random cuttings of the reference, `draws` in all; those of one class, which no batch has, left out."""
    in_all = len(bench.y) // size
    found: list[Block] = []
    for cutting in range(math.ceil(draws / in_all)):
        order = seeds.generator(bench.seed, "cutting", cutting).permutation(len(bench.y))
        for number in range(min(in_all, draws - cutting * in_all)):
            rows = np.sort(order[number * size : (number + 1) * size])
            if (bench.y[rows] != bench.y[rows[0]]).any():
                found.append((cutting, number, rows))
    return found


def _pairs(answers: NDArray[np.integer]) -> Floats:
    """Agreements of blocks of one cutting with each other; not all pairs where they are many."""
    number = len(answers)
    shifts = range(1, min(number // 2, math.ceil(MOST_PAIRS / max(number, 1))) + 1)
    found = []
    for shift in shifts:
        other = np.roll(answers, shift, axis=0)
        alike = (answers == other).mean(axis=1)
        # Half way round, every pair comes twice.
        found.append(alike[: number // 2] if 2 * shift == number else alike)
    return np.concatenate([*found, np.empty(0)])


def _shares(answers: NDArray[np.integer], n_classes: int) -> Floats:
    counts: Floats = np.bincount(answers.ravel(), minlength=n_classes) / answers.size
    return counts
