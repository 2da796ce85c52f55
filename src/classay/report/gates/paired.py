"""Differences between two learners, or two variants, over the same items: what gates on two learners compare."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...intervals import Estimate
from ...learner.records.labelings import Labelings
from ...learner.versions.compare import compare
from ..findings.differences import accuracy_difference, difference_over_rows, stability_difference
from ..predictions import PredictionResults
from ..results import Results
from .pair_gates import Paired

LEVEL = 0.95


def paired_learners(results: Results) -> Paired:
    """Differences of learners of one assay: on the same test points and subsets, or on the same rows."""

    def gap(one: str, other: str, figure: str) -> Estimate | None:
        held = [results.predicted.get(name) for name in (one, other)]
        if figure == "accuracy" and held[0] is not None and held[1] is not None:
            if not np.array_equal(held[0].tested, held[1].tested):
                return None
            rights = [each.right(results.data.codes) for each in held if each is not None]
            return difference_over_rows(rights[0], rights[1], LEVEL, results.data.groups_of(held[0].tested))
        first, second = results.learners.get(one), results.learners.get(other)
        if first is None or second is None:
            return None
        whole = all(bool(each.labelings.present.all()) for each in (first, second))
        if figure == "refit_accuracy" and whole:
            return accuracy_difference(first, second, LEVEL)
        if figure == "stability" and whole:
            return stability_difference(first, second, LEVEL)
        return None

    return gap


def paired_variants(results: PredictionResults) -> Paired:
    """Differences of variants of one table of predictions, on the same items."""

    def gap(one: str, other: str, figure: str) -> Estimate | None:
        if figure != "accuracy":
            return None
        records = [_variant(results.record, results.table.variants.index(name)) for name in (other, one)]
        return compare(records[0], records[1]).difference

    return gap


def _variant(record: Labelings, place: int) -> Labelings:
    own = slice(place, place + 1)
    return replace(
        record, labels=record.labels[own], train_accuracy=record.train_accuracy[own], seconds=record.seconds[own]
    )
