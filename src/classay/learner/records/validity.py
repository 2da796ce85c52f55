"""Whether what was read from a file can be a record at all: shapes that fit together, codes and numbers in range.

A file can be whole and still be wrong, if its arrays were edited or come from elsewhere. Measures would then give
figures that mean nothing, so this is checked at every read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import Refits
from .codecs import Codec
from .scores import Scores


def expect_valid(record: Refits, codec: Codec, quality: NDArray[Any], probing: NDArray[Any] | None) -> None:
    """Raise a ValueError that says what cannot be right. `quality` is that of each refit on its own rows."""
    answers, truth = record.answers(), record.truth
    _expect(answers.ndim == 3 and 0 not in answers.shape, f"predictions have shape {answers.shape}")
    subsets, refits, points = answers.shape
    _expect(truth.shape == (points,), f"{points} test points but truth has shape {truth.shape}")
    _expect(codec.holds(answers), "predictions are out of range")
    _expect(codec.holds(truth) and bool(codec.known(truth).all()), "the truth is out of range")
    if probing is not None:
        _expect(probing.ndim == 3 and probing.shape[:2] == (subsets, refits), "predictions on probes do not fit")
        _expect(codec.holds(probing), "predictions on probes are out of range")
        rows = None if record.probes is None else len(record.probes)
        _expect(rows is None or rows == probing.shape[2], "probes and predictions on them differ in number")
    for name, values in (("seconds", record.seconds), ("quality on the training rows", quality)):
        _expect(values.dtype.kind == "f" and values.shape == (subsets, refits), f"{name} has shape {values.shape}")
        _expect(not (values < 0).any(), f"{name} has numbers below 0")
    _expect_rows(record, subsets, points)
    on_probes = None if probing is None else probing.shape[2]
    for groups, number in ((record.groups, points), (record.probe_groups, on_probes)):
        _expect(groups is None or groups.shape == (number,), "groups do not match their points")
    outside = [fail for fail in record.failures if not (0 <= fail.subset < subsets and 0 <= fail.refit < refits)]
    # A learner that turned out to be deterministic may have failed in a refit that the record no longer has.
    _expect(record.deterministic or not outside, "it lists failures of refits that it does not have")
    for name in ("deterministic", "interrupted"):
        _expect(isinstance(getattr(record, name), bool), f"{name} is not true or false")
    _expect(isinstance(record.about, dict), "its description is not a mapping")

    mask = record.predicted
    if mask is not None:
        _expect(mask.dtype == bool and mask.shape == (subsets, points), "which rows were predicted has another shape")
        beyond = codec.known(answers) & ~mask[:, None, :]
        _expect(not beyond.any() and bool(mask.any(axis=0).all()), "predictions and the rows predicted do not match")


def _expect_rows(record: Refits, subsets: int, points: int) -> None:
    _expect(len(record.train_rows) in (0, subsets), f"{len(record.train_rows)} sets of training rows")
    _expect(record.test_rows.size in (0, points), f"{record.test_rows.size} test rows")
    for rows in (*record.train_rows, record.test_rows):
        _expect(rows.dtype.kind in "iu" and rows.ndim == 1 and not (rows < 0).any(), "row numbers are out of range")


def expect_classes(classes: NDArray[Any]) -> None:
    """Raise a ValueError if these cannot be the classes of a record."""
    _expect(classes.ndim == 1 and classes.size > 0, f"classes have shape {classes.shape}")
    _expect(np.unique(classes).size == classes.size, "classes are repeated")


def expect_scores(scores: Scores, answers: NDArray[Any] | None, classes: int) -> None:
    """Raise a ValueError if these cannot be the scores of the refits that gave `answers`."""
    values = scores.values
    _expect(answers is not None and values.shape[:3] == answers.shape, f"scores have shape {values.shape}")
    _expect(values.ndim == 4 and values.shape[3] == len(scores.columns), f"scores have shape {values.shape}")
    _expect(values.dtype == np.float32 and not np.isinf(values).any(), "scores are not finite 32-bit numbers")
    numbers, codes = (values[..., :4], values[..., 4:]) if scores.compact else (values, values[..., :0])
    _expect(not scores.probabilities or not ((numbers < 0) | (numbers > 1)).any(), "probabilities are out of range")
    known = codes[~np.isnan(codes)]
    whole = not ((known < 0) | (known >= classes) | (known != np.floor(known))).any()
    _expect(bool(whole), "classes of scores are out of range")


def expect_full_scores(
    scores: NDArray[Any], predicted: NDArray[np.bool_] | None, answers: NDArray[Any], classes: int
) -> None:
    """Raise a ValueError if these cannot be scores and probabilities of the rows that fits predicted."""
    number = answers.shape[0] * answers.shape[2] if predicted is None else int(predicted.sum())
    _expect(
        scores.dtype == np.float64 and scores.shape == (answers.shape[1], number, 2 * classes),
        f"full scores have shape {scores.shape}",
    )
    _expect(not (scores[..., classes:] < 0).any(), "probabilities are out of range")


def _expect(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(problem)
