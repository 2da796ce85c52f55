"""Sweeps over the training data: size of subsets, random labels, repeated rows, labels to store, windows in time.

Only the training part changes, before subsets are drawn from it; test points, their labels and all seeds stay. What is
changed at a smaller share is also changed at a larger one, so neighbouring values differ by the rest alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ... import expect, seeds
from ...arrays import Ints
from ...expect import InputError
from ...intervals import Estimate, bounded, difference, within_limits
from ..fitting.checks import Setup
from ..fitting.schemes import HalfSplits, Subsets
from ..orientation.orientation import Orientation, orientation
from ..records.codecs import LabelCodec
from ..records.labelings import Labelings
from ..scores.metrics import RefitSpread

STORED, TIME = "labels_to_store", "time"
WITHOUT_BEST = "random_labels", "repeated_rows", STORED, TIME
"""Changes of which none is a choice to be made: there is no best value."""
Drawn = Subsets | HalfSplits


def of_data(learner: Any, name: Any) -> bool:
    """Whether a name is that of a change of the training data, and not of a parameter of the learner."""
    return isinstance(name, str) and name in (*CHANGES, TIME) and name not in learner.get_params()


def data_setups(setup: Setup, name: str, values: Any) -> dict[Any, Setup]:
    """The setup at each value, its samples drawn; a value that is not possible is refused before any fit."""
    scheme = setup.scheme
    if not isinstance(scheme, (Subsets, HalfSplits)):
        raise InputError(f"`scheme` is {type(scheme).__name__}; a sweep over {name} needs Subsets or HalfSplits.")
    try:
        listed = list(dict.fromkeys(values))
    except TypeError as error:
        raise InputError(f"`param_range` is {values!r}; expected a list of values of {name}.") from error
    if not listed:
        raise InputError(f"`param_range` is empty; expected at least one value of {name}.")
    if name == TIME:
        return _windows(setup, scheme, listed)
    return {value: CHANGES[name](setup, scheme, value) for value in listed}


def _sized(setup: Setup, scheme: Drawn, size: Any) -> Setup:
    return setup.drawn(replace(scheme, size=size))


def _relabelled(setup: Setup, scheme: Drawn, share: Any) -> Setup:
    """A share of the training rows gets labels of which every class is equally likely."""
    expect.number(share, "random_labels", at_least=0, at_most=1)
    assert isinstance(setup.codec, LabelCodec)  # regressors were refused
    generator, train = seeds.generator(setup.seed, "random labels"), setup.train
    order = generator.permutation(train.size)
    labels = generator.choice(np.unique(setup.codes[train]), train.size)
    chosen = order[: round(share * train.size)]
    y, codes = setup.y.copy(), setup.codes.copy()
    codes[train[chosen]] = labels[chosen]
    y[train[chosen]] = setup.codec.classes[labels[chosen]]
    altered = {"random_labels": float(share)} if chosen.size else None
    return replace(setup, y=y, codes=codes, altered=altered).drawn(scheme)


def _repeated(setup: Setup, scheme: Drawn, share: Any) -> Setup:
    """A share of the training rows is replaced by copies of the others, each of which is copied equally often."""
    expect.number(share, "repeated_rows", at_least=0, below=1)
    copies = round(share * setup.train.size)
    if not copies:
        return setup.drawn(scheme)
    left = seeds.generator(setup.seed, "repeated rows").permutation(setup.train)[: setup.train.size - copies]
    _expect_classes(setup, left, f"With repeated_rows={share:g}, the different rows")
    train = np.sort(np.resize(left, setup.train.size))
    return replace(setup, train=train, altered={"repeated_rows": float(share)}).drawn(scheme)


def _windows(setup: Setup, scheme: Drawn, ends: list[Any]) -> dict[Any, Setup]:
    """The training rows from one end to the next, in order of time; rows of the same time stay together."""
    if setup.per_row.time is None:
        raise InputError("A sweep over time needs times: pass `time`, a date or number for each row.")
    if [expect.number(end, "time", above=0, at_most=1) for end in ends] != sorted(ends):
        raise InputError(f"`param_range` is {ends!r}; expected rising shares at which windows end, such as [0.5, 1].")
    order = setup.train[np.argsort(setup.per_row.time[setup.train], kind="stable")]
    times, start, setups = setup.per_row.time[order], 0, {}
    for end in ends:
        last = times[max(round(end * times.size), 1) - 1]
        stop = int(np.searchsorted(times, last, side="right"))
        window = np.sort(order[start:stop])
        _expect_classes(setup, window, f"The {window.size} rows of the window that ends at {end:g}")
        altered = {TIME: [start / times.size, stop / times.size]}
        setups[end] = replace(setup, train=window, altered=altered).drawn(scheme)
        start = stop
    return setups


def _to_store(setup: Setup, scheme: Drawn, size: Any) -> Setup:
    """Subsets without a row that is there twice: it would be one label to store, and count as two."""
    distinct = replace(scheme, replace=False) if isinstance(scheme, Subsets) else scheme
    return _sized(_relabelled(setup, scheme, 1), distinct, size)


CHANGES: dict[str, Callable[[Setup, Drawn, Any], Setup]] = {
    "size": _sized,
    "random_labels": _relabelled,
    "repeated_rows": _repeated,
    STORED: _to_store,
}


def _expect_classes(setup: Setup, rows: Ints, which: str) -> None:
    if np.unique(setup.codes[rows]).size < 2:
        raise InputError(f"{which} have fewer than 2 classes; nothing can be learned from them. Use other values.")


# Figures of these sweeps.


def share_stored(record: Labelings, setup: Setup, level: float) -> tuple[Estimate, RefitSpread]:
    """The share of the labels of its own rows that a refit reproduces, beyond those of the most frequent label.

    (accuracy on its own rows − m)/(1 − m), m the share of the most frequent label, and at least 0: 0 for a constant, 1
    for all labels. Subsets with one label, or without a refit, say nothing.
    """
    most = np.array([np.bincount(setup.codes[rows]).max() / rows.size for rows in record.train_rows])[:, None]
    stored = np.clip((record.train_accuracy - most) / np.where(most < 1, 1 - most, np.nan), 0.0, 1.0)
    by_subset = np.array([np.nanmean(refits) for refits in stored if np.isfinite(refits).any()])
    kind = record.about_population("over subsets")
    if by_subset.size < 2:
        return Estimate(math.nan, 0.0, 1.0, level, kind), RefitSpread.of(stored)
    error = float(by_subset.std(ddof=1)) / math.sqrt(by_subset.size)
    rows = np.unique(np.concatenate(record.train_rows)).size
    return bounded(float(by_subset.mean()), error, rows, level, kind, by_subset.size), RefitSpread.of(stored)


def between(
    orientations: dict[Any, Orientation], records: dict[Any, Labelings], settings: tuple[int, int, int, float]
) -> Estimate | None:
    """By how many bits labelings vary more over all windows than within one, on average: what the stream changes.

    The mutual information of window and labeling: 0 if every window teaches the same, log2(windows) at most. None if
    labelings hardly repeat, so that only limits are known.
    """
    labels = [record.complete() for record in records.values()]
    refits, first = min(each.shape[1] for each in labels), next(iter(records.values()))
    table = first.classes[np.concatenate([each[:, :refits] for each in labels])]
    pooled = replace(Labelings.from_arrays(table, first.classes[first.truth]), groups=first.groups)
    over_all, within = orientation(pooled, *settings).expressivity, [one.expressivity for one in orientations.values()]
    if any(one.prefix for one in (over_all, *within)):
        return None
    value, low, high = np.mean([(one.value, one.low, one.high) for one in within], axis=0).tolist()
    apart = difference(over_all, Estimate(value, low, high, over_all.level, over_all.kind))
    return within_limits(replace(apart, value=max(apart.value, 0.0)), 0.0, math.log2(len(within)))
