"""No interval without a width: every estimate of records in which nothing, one point or one subset varies."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

import classay
from classay import Estimate, Labelings

EXACT = ("exact", "deterministic", "count", "no training randomness", "standard deviation", "measured once")
"""How the kind of a figure begins that is exact by construction."""
OF_THESE = ("of these rows", "of these refits")
"""Kinds of figures that are of what was given, and of nothing else."""
SUBSETS, REFITS, POINTS = 12, 3, 40


def records() -> dict[str, Labelings]:
    """Predictions that are all right but for one point, or one subset, or two points in every subset."""
    truth = np.arange(POINTS) % 2
    tables = {name: np.tile(truth, (SUBSETS, REFITS, 1)) for name in ("nothing", "a point", "a subset", "wrong")}
    tables["a point"][3, 1, 5] ^= 1
    tables["a subset"][4] = 1 - truth
    tables["wrong"][..., :2] ^= 1
    made = {}
    for name, labels in tables.items():
        scores = np.stack([0.95 - 0.9 * labels, 0.05 + 0.9 * labels], axis=-1)
        made[name] = Labelings.from_arrays(labels, truth, scores=scores, name=name, retrained=0.1)
    return made


RECORDS = records()
MEASURES = {
    "accuracy": lambda record: record.accuracy(),
    "orientation": lambda record: classay.orientation(record, holdout_size=3, holdouts=10),
    "orientation by size": lambda record: classay.orientation(record, holdout_size=[1, 2], holdouts=10),
    "stability": classay.stability,
    "metrics": classay.metrics,
    "score variance": lambda record: classay.metrics(record).score_variance(),
    "retraining": classay.retraining,
    "judges": classay.judges,
    "compare": lambda record: classay.compare(RECORDS["nothing"], record),
    "compare runs": lambda record: classay.compare(record, record),
    "report": lambda record: classay.characterize(record),
}


def estimates(value: Any, path: str = "") -> Iterator[tuple[str, Estimate]]:
    """Every estimate in a result, with where it is."""
    if isinstance(value, Estimate):
        yield path, value
    elif isinstance(value, pd.DataFrame):
        if {"value", "low", "high", "kind"} <= set(value):
            for row in value.to_dict("records"):
                where = f"{path} {[part for part in row.values() if isinstance(part, str)]}"
                yield where, Estimate(row["value"], row["low"], row["high"], kind=str(row["kind"]))
    elif dataclasses.is_dataclass(value) and not isinstance(value, (type, Labelings)):
        for field in dataclasses.fields(value):
            yield from estimates(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from estimates(part, f"{path}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        for place, part in enumerate(value):
            yield from estimates(part, f"{path}[{place}]")


@pytest.mark.parametrize("varies", RECORDS)
@pytest.mark.parametrize("measure", MEASURES)
def test_every_interval_has_a_width(measure, varies):
    result = MEASURES[measure](RECORDS[varies])
    shown = [*estimates(result), *(estimates(result.to_frame(), "to_frame") if hasattr(result, "to_frame") else ())]
    assert shown
    points = [
        f"{where}: {estimate} {estimate.kind}"
        for where, estimate in shown
        if estimate.low >= estimate.high and not estimate.kind.startswith(EXACT) and estimate.kind not in OF_THESE
    ]
    assert not points
