"""How much concepts from batches of the same source differ by chance: the level that drift has to exceed.

The reference is split at random into blocks of batch size, many times. The concept of a block is compared with that of
the rest of the reference, as a batch will be compared with the reference, and the rest's concept predicts the block, as
the reference's will predict a batch. Blocks are also compared with each other, as a batch will be with the previous
one. These figures follow the distribution of batches without change.
"""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api import types
from scipy import stats

from ... import expect, seeds
from ...arrays import Floats, Ints
from ...engine import work
from ...expect import InputError, nearest, shown
from ...frames import pandas_of
from ...inputs import is_sparse
from ...intervals import Estimate
from ..fitting import checks
from ..fitting.task import Bench, refit
from ..records.base import LEAST_SHARE

Block = tuple[int, int, Ints]  # number of the random split, of the block in it, and the rows of the block

LEAST_BLOCKS = 3
WEIGHT = 2.0
"""How much the accuracy of the old concept counts, relative to agreement: see `Calibration.evidence`."""
LEAST_SPREAD = 1e-3
"""Standard deviation of accuracy over blocks that are all alike."""
MOST_PAIRS = 2_000


@dataclass(frozen=True, eq=False)
class Calibration:
    """Figures without change at one batch size.

    `reference[i]` is the agreement of the concept of block i with that of the rest, `accuracy[i]` that of the rest's
    concept on the block; `last` are agreements of two blocks. `blocks` is how many batches fit into the reference,
    `chance` the agreement of a concept that is unrelated to the reference.
    """

    size: int
    blocks: float
    reference: Floats
    last: Floats
    accuracy: Floats
    chance: float

    def p_value(self, value: float, figure: str) -> float:
        """How often a batch without change has a figure this low. See `p_value`."""
        return p_value(getattr(self, figure), value, self.blocks)

    def low_below(self, rate: float, figure: str) -> float:
        """The value below which the p-value of a figure alone is at most `rate`; 0 if there are too few blocks."""
        values = np.sort(getattr(self, figure))
        allowed = math.floor(_needed(rate, self.blocks) * (values.size + 1) - 1 + 1e-9)
        return float(values[allowed]) if allowed >= 0 else 0.0

    def evidence(self, agreement: float, accuracy: float) -> float:
        """Evidence for an unchanged concept: how usual the agreement is, plus twice how usual the accuracy is.

        Each in standard scores of the blocks. Accuracy counts twice, and below all blocks by how far below: rows that
        move lower the agreement where a batch has no rows, but not the accuracy of the old concept.
        """
        far = (accuracy - float(self.accuracy.mean())) / max(float(self.accuracy.std()), LEAST_SPREAD)
        usual = _score(self.accuracy, accuracy)
        usual = min(usual, far) if accuracy < self.accuracy.min() else usual
        return _score(self.reference, agreement) + WEIGHT * usual

    def joint_p_value(self, agreement: float, accuracy: float) -> float:
        """How often a batch without change shows as much evidence of another concept."""
        blocks = _own_scores(self.reference) + WEIGHT * _own_scores(self.accuracy)
        return p_value(blocks, self.evidence(agreement, accuracy), self.blocks)

    def usual(self, figure: str, level: float = 0.95) -> Estimate:
        """Mean of a figure over blocks, and the range that contains a share `level` of them."""
        values: Floats = getattr(self, figure)
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
        of = "pairs" if figure == "last" else "batches"
        return Estimate(float(values.mean()), float(low), float(high), level, f"{level:.0%} of {of}")


def _own_scores(values: Floats) -> Floats:
    """The standard score of every block by its rank among all of them."""
    ranks = np.searchsorted(np.sort(values), values, side="right")
    scores: Floats = stats.norm.ppf(ranks / (values.size + 1))
    return scores


def _score(values: Floats, value: float) -> float:
    """The standard score of a batch by its rank among the blocks."""
    return float(stats.norm.ppf((1 + int((values <= value).sum())) / (values.size + 2)))


def p_value(values: Floats, value: float, blocks: float) -> float:
    """The probability of so low a value without change: q = (1 + values not above it)/(1 + values), corrected.

    p = Φ(Φ⁻¹(q)/√(1 + 1/blocks)): all values come from one reference and share its error, which is 1/`blocks` of a
    batch's variance; a new batch does not share it.

    >>> round(p_value(np.arange(99) / 100, 0.03, blocks=10), 3)
    0.058
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
    tasks = list(_blocks(bench, size, draws, groups))
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
    done = {place: result for place, result in outcome.results.items() if not isinstance(result, str)}
    if len(done) < LEAST_SHARE * len(tasks):
        errors = [result for result in outcome.results.values() if isinstance(result, str)]
        why = (errors or [str(failure) for failure in outcome.failures.values()])[0]
        raise expect.InputError(
            f"{label} failed in {len(tasks) - len(done)} of {len(tasks)} fits on batches of {size} reference rows: "
            f"{why}{checks.advice(bench.X, why)}"
        )
    own, rest, accuracy = (np.array(part) for part in zip(*done.values()))
    cuttings = np.array([tasks[place][0] for place in done])
    n_classes = int(max(own.max(), rest.max())) + 1
    chance = float(_shares(own, n_classes) @ _shares(rest, n_classes))
    pairs = [_pairs(own[cuttings == cutting]) for cutting in np.unique(cuttings)]
    return Calibration(
        size=size,
        blocks=rows / size,
        reference=(own == rest).mean(axis=1),
        last=np.sort(np.concatenate(pairs)),
        accuracy=accuracy,
        chance=chance,
    )


def compare(bench: Bench, block: Block) -> tuple[NDArray[np.integer], NDArray[np.integer], float] | str:
    """Predictions of the block's and of the rest's concept on the probes, and accuracy of the rest's on the block.

    Runs in a worker. If the learner raises, the error message is returned.
    """
    cutting, number, rows = block
    others = np.setdiff1d(np.arange(len(bench.y)), rows)
    own = refit(bench, (cutting, rows, (2 * number,)))
    rest = refit(replace(bench, test=rows), (cutting, others, (2 * number + 1,)))
    for error in (*own.errors.values(), *rest.errors.values()):
        return error
    assert own.probes is not None
    assert rest.probes is not None
    right = rest.test[0] == bench.codec.truth(bench.y[rows])
    return own.probes[0], rest.probes[0], float(right.mean())


def _blocks(bench: Bench, size: int, draws: int, groups: Ints | None) -> list[Block]:
    """Blocks of random splits of the reference, `draws` in all, without blocks of one class, which no batch has."""
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
            if rows.size and (bench.y[rows] != bench.y[rows[0]]).any():
                blocks.append((cutting, number, rows))
    return blocks


def _blocks_of_groups(groups: Ints, size: int, generator: np.random.Generator) -> Ints:
    """The block of every row: groups in random order, each in the block where its middle is."""
    sizes = np.bincount(groups)
    order = generator.permutation(sizes.size)
    block = np.empty(sizes.size, dtype=np.int64)
    block[order] = (np.cumsum(sizes[order]) - sizes[order] / 2) // size
    return block[groups]


def _pairs(answers: NDArray[np.integer]) -> Floats:
    """Agreements between blocks of the same random split; not all pairs if there are many."""
    number = len(answers)
    shifts = range(1, min(number // 2, math.ceil(MOST_PAIRS / max(number, 1))) + 1)
    agreements = []
    for shift in shifts:
        other = np.roll(answers, shift, axis=0)
        alike = (answers == other).mean(axis=1)
        # Beyond half of the shifts every pair would occur twice.
        agreements.append(alike[: number // 2] if 2 * shift == number else alike)
    return np.concatenate([*agreements, np.empty(0)])


def _shares(answers: NDArray[np.integer], n_classes: int) -> Floats:
    counts: Floats = np.bincount(answers.ravel(), minlength=n_classes) / answers.size
    return counts


# Batches that arrive after a reference: the same columns, no new categories, known classes.


TARGET = "Is the target column right?"
ONE_CLASS = "No concept can be learned from such a batch: merge it with the next one, or drop it."


def reference(X: Any, y: ArrayLike, hint: str = TARGET) -> tuple[Any, NDArray[Any], NDArray[Any]]:
    """Rows, labels and classes of a reference; `hint` is the advice if there is only one class."""
    if is_sparse(X):
        raise InputError("`X` is sparse; expected a dense array or a DataFrame. Use X.toarray() if it is small.")
    rows, labels, _ = checks.rows_and_labels(X, y)
    classes = np.unique(labels)
    if classes.size < 2:
        raise InputError(f"`y` has 1 class ({classes[0].item()!r}); at least 2 are needed. {hint}")
    return _detached(rows), labels.copy(), classes


def batch(X: Any, y: ArrayLike, like: Any, classes: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    """Rows and labels of a batch in the form of the reference: columns matched by name, with its categories."""
    X = pandas_of(X)
    if isinstance(like, pd.DataFrame) != isinstance(X, pd.DataFrame):
        kind, wanted = ("array", "DataFrame") if isinstance(like, pd.DataFrame) else ("DataFrame", "array")
        raise InputError(f"The batch has another form than the reference: expected a {wanted}, got {kind}.")
    rows, labels, _ = reference(X, y, ONE_CLASS)
    if isinstance(like, pd.DataFrame):
        rows = _matched(rows, like)
    elif rows.shape[1] != like.shape[1]:
        raise InputError(
            f"The batch has {rows.shape[1]} columns but the reference has {like.shape[1]}; they must match."
        )
    if (labels.dtype.kind == "U") != (classes.dtype.kind == "U"):
        raise InputError(
            f"The batch has labels such as {labels[0].item()!r}, the reference such as {classes[0].item()!r}; expected "
            "the same labels in both."
        )
    strange = np.setdiff1d(labels, classes)
    if strange.size:
        raise InputError(
            f"The batch has classes that the reference does not have: {shown(map(repr, strange.tolist()), 4)}. A new "
            "class is a change in itself: leave these rows out, or fit the monitor again on rows that include it."
        )
    return rows, classes[np.searchsorted(classes, labels)]


def _matched(rows: pd.DataFrame, like: pd.DataFrame) -> pd.DataFrame:
    """The columns of the reference, in its order."""
    known = [str(name) for name in like.columns]
    for name in rows.columns:
        if name not in like.columns:
            raise InputError(
                f"The batch has a column {name!r}, which the reference does not have.{nearest(str(name), known)} Leave "
                "it out, or fit the monitor again."
            )
    lacking = [name for name in like.columns if name not in rows.columns]
    if lacking:
        raise InputError(f"The batch lacks {shown(lacking)}, which the reference has.")
    return pd.DataFrame({name: _column(rows[name], like[name]) for name in like.columns})


def _column(column: pd.Series[Any], like: pd.Series[Any]) -> pd.Series[Any]:
    if column.isna().all():
        return column
    kinds = kind(column), kind(like)
    categories = like.dtype.categories if isinstance(like.dtype, pd.CategoricalDtype) else None
    # Categories may be numbers, which a batch may contain as plain numbers.
    if kinds[0] != kinds[1] and categories is None:
        raise InputError(f"The column {like.name!r} contains {kinds[0]} in the batch but {kinds[1]} in the reference.")
    if kinds[1] != "texts":
        return column
    seen = set(like.dropna().unique() if categories is None else categories)
    strange = [value for value in column.dropna().unique().tolist() if value not in seen]
    if strange:
        raise InputError(
            f"The column {like.name!r} has categories in the batch that the reference does not have: "
            f"{shown(map(repr, strange), 4)}. Map them to known ones, leave these rows out, or fit the monitor again."
        )
    return column.astype(like.dtype)


def kind(column: pd.Series[Any]) -> str:
    """What a column contains: numbers (booleans too), times or text (categories too)."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return "texts"
    if types.is_numeric_dtype(column.dtype) or types.is_bool_dtype(column.dtype):
        return "numbers"
    if types.is_datetime64_any_dtype(column.dtype) or types.is_timedelta64_dtype(column.dtype):
        return "times"
    inferred = types.infer_dtype(column, skipna=True)
    return "numbers" if inferred in ("integer", "floating", "boolean", "mixed-integer-float") else "texts"


def _detached(rows: Any) -> Any:
    """A copy with rows counted from 0, so that later changes to the user's own data have no effect."""
    return rows.reset_index(drop=True).copy() if isinstance(rows, pd.DataFrame) else np.array(rows)
