"""Splits of rows by class: train and test, folds, and fewer rows with the same class shares."""

from __future__ import annotations

import numpy as np

from .. import seeds
from ..arrays import Ints


def split_by_share(codes: Ints, test_size: float, seed: int) -> tuple[Ints, Ints]:
    """Training and test rows, in order; each class gives its share, by largest remainders, so that shares add up.

    A class with one row goes to the training part.
    """
    counts = np.bincount(codes)
    wanted = max(round(test_size * codes.size), 1)
    share = test_size * counts
    taken = np.floor(share).astype(np.int64)
    most = np.maximum(counts - 1, 0)
    for code in np.argsort(-(share - taken), kind="stable")[: wanted - int(taken.sum())]:
        taken[code] += 1
    taken = np.minimum(taken, most)
    generator = seeds.generator(seed, "split")
    test = np.zeros(codes.size, dtype=bool)
    for code, number in enumerate(taken):
        test[generator.permutation(np.flatnonzero(codes == code))[:number]] = True
    return np.flatnonzero(~test), np.flatnonzero(test)


def split_every_class(codes: Ints, test_size: float, seed: int) -> tuple[Ints, Ints]:
    """Training and test rows, in order; every class has at least one of each, but a class of one row none to test."""
    order = sorted_by_class(codes, seeds.generator(seed, "split by class"))
    counts = np.bincount(codes)
    taken = np.clip(np.round(test_size * counts).astype(np.int64), 1, np.maximum(counts - 1, 1))
    taken[counts == 1] = 0
    place = np.arange(codes.size) - np.repeat(np.cumsum(counts) - counts, counts)
    is_test = place < np.repeat(taken, counts)
    return np.sort(order[~is_test]), np.sort(order[is_test])


def folds_by_class(codes: Ints, folds: int, generator: np.random.Generator) -> Ints:
    """The fold of every row: at random, of equal size, and with equal shares of each class."""
    fold = np.empty(codes.size, dtype=np.int64)
    fold[sorted_by_class(codes, generator)] = np.arange(codes.size) % min(folds, codes.size)
    return fold


def sorted_by_class(codes: Ints, generator: np.random.Generator) -> Ints:
    """Row numbers by class, in random order within each class."""
    order = generator.permutation(codes.size)
    return order[np.argsort(codes[order], kind="stable")]


def at_even_steps(rows: Ints, wanted: int, generator: np.random.Generator) -> Ints:
    """Some of the rows, at even steps from a random start: of rows sorted by class, every class keeps its share."""
    return rows[((np.arange(wanted) + generator.random()) * rows.size / wanted).astype(np.int64)]
