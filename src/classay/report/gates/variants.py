"""Differences between two variants of a table of predictions, over the same items."""

from __future__ import annotations

from dataclasses import replace

from ...intervals import Estimate
from ...learner.records.labelings import Labelings
from ...learner.versions.compare import compare
from ..predictions import PredictionResults


def variant_difference(results: PredictionResults, one: str, other: str, figure: str) -> Estimate | None:
    """Accuracy of one variant minus that of the other; None for other figures."""
    if figure != "accuracy":
        return None
    records = [_variant(results.record, results.table.variants.index(name)) for name in (other, one)]
    return compare(records[0], records[1]).difference


def _variant(record: Labelings, place: int) -> Labelings:
    own = slice(place, place + 1)
    return replace(
        record, labels=record.labels[own], train_accuracy=record.train_accuracy[own], seconds=record.seconds[own]
    )
