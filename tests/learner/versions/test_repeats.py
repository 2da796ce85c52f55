"""`repeats_needed`: parts of the variance that are known, and the number of runs that follows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from classay import InputError, Labelings
from classay.learner.versions.repeats import Variances, repeats_needed, variances


def record(right) -> Labelings:
    return Labelings.from_arrays(right.astype(int), np.ones(right.shape[-1], dtype=int), classes=[0, 1])


def test_the_parts_of_the_variance_are_unbiased():
    rng = np.random.default_rng(0)
    found = []
    for _ in range(400):
        share = rng.choice([0.2, 1.0], size=60, p=[0.5, 0.5])
        found.append(variances((rng.random((1, 3, 60)) < share).astype(float)))
    # Between items: variance of 0.2 and 1 with equal chance; answers: 0.5·0.2·0.8.
    assert np.mean([each.items for each in found]) == pytest.approx(0.16, rel=0.05)
    assert np.mean([each.answers for each in found]) == pytest.approx(0.08, rel=0.05)
    assert np.mean([each.runs for each in found]) < 0.001


def test_how_many_follow_from_the_parts():
    rng = np.random.default_rng(1)
    share = rng.choice([0.2, 1.0], size=2000)
    result = repeats_needed(record(rng.random((1, 10, 2000)) < share), precision=1e-6)
    # To within one point it takes fewer: 1.96²·0.08/(2000·R) = 0.01² at R = 1.5.
    assert repeats_needed(record(rng.random((1, 10, 2000)) < share)).repeats.value == 2
    # W/(n·R) is a tenth of the total at R = 9·W/B = 9·0.08/0.16 = 4.5, so 5.
    assert result.repeats.value in (5, 6)
    assert result.repeats.low <= 5 <= result.repeats.high
    frame = result.to_frame()
    at_5 = frame.loc[frame.runs == 5]
    assert at_5["value"].item() == pytest.approx(1.96 * math.sqrt(result.variances.of_accuracy(2000, 5)), rel=0.03)
    assert (frame["low"] < frame["high"]).all()
    assert at_5["share_by_runs"].item() == pytest.approx(0.1, abs=0.03)


def test_a_target_and_runs_that_never_differ():
    steady = np.tile(np.arange(100) % 4 > 0, (1, 3, 1))
    result = repeats_needed(record(steady), half_width=0.05)
    assert result.repeats.value == 1
    assert result.items_for_half_width == math.ceil(1.959964**2 * result.variances.items / 0.05**2)
    assert "1 run suffices" in str(result)
    right = repeats_needed(record(np.ones((1, 3, 40), dtype=bool)), half_width=0.05)
    assert right.half_widths[1].value == pytest.approx(1 - 0.05 ** (1 / 40))
    assert right.repeats.low == 1 < right.repeats.high
    assert right.items_for_half_width == 59  # 0.95**59 < 0.05


def test_whole_runs_that_differ_need_more_runs():
    parts = Variances(items=0.2, runs=0.01, answers=0.0)
    assert parts.of_accuracy(100, 1) == pytest.approx(0.012)
    rng = np.random.default_rng(2)
    good = rng.random((1, 12, 1)) < 0.5
    right = np.where(good, rng.random((1, 12, 400)) < 0.95, rng.random((1, 12, 400)) < 0.6)
    result = repeats_needed(record(right), half_width=0.01)
    assert result.repeats.value > 20
    few = repeats_needed(record(right), precision=0.2, half_width=0.01)
    assert few.items_for_half_width is None
    assert "Use more runs" in str(few)


def test_one_run_is_refused():
    with pytest.raises(InputError, match="at least 2 are needed"):
        repeats_needed(record(np.ones((2, 1, 5), dtype=bool)))
