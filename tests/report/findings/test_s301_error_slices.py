"""Errors in a slice that a learner's own scores predict are no excess; others are."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from classay.data.model.error_slices import slices
from classay.learner.records.base import OutOfFold
from classay.report.findings.error_slices import ExcessErrors, certainty, excess_errors


def held(error_rate):
    """Two classes, of which 0 is always predicted, with scores that reflect how often that is wrong."""
    with np.errstate(divide="ignore"):
        scores = np.log(np.column_stack([1 - error_rate, error_rate]))
    rows = np.arange(error_rate.size)
    labels = np.zeros(rows.size, dtype=np.int64)
    return OutOfFold(labels, labels, np.arange(2), rows, scores)


@pytest.fixture(scope="module")
def ovens():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"heat": rng.uniform(0, 100, 3000), "time": rng.normal(size=3000)})
    rate = np.where(X["heat"] < 20, 0.3, 0.02)
    wrong = rng.random(3000) < rate
    return X, rate, wrong, slices(X, wrong)


def test_errors_that_scores_predict_are_no_excess(ovens):
    _, rate, wrong, found = ovens
    first = excess_errors(found, held(rate), wrong)[0]
    assert first.rate == pytest.approx(0.3, abs=0.05)
    assert first.p_value > 0.01


def test_errors_that_scores_do_not_predict_are(ovens):
    X, _, wrong, found = ovens
    blind = held(np.full(len(X), 0.05))
    without = replace(blind, scores=None)
    for each in (blind, without):
        first = excess_errors(found, each, wrong)[0]
        # It can only say what is wrong overall.
        assert first.rate == pytest.approx(wrong.mean(), abs=0.02)
        assert first.p_value < 1e-6
        assert first.least > 0


def test_overconfidence_everywhere_is_no_excess_anywhere(ovens):
    _, rate, wrong, found = ovens
    assert excess_errors(found, held(rate**3), wrong)[0].p_value > 0.01


def test_only_rows_that_were_not_searched_count(ovens):
    _, rate, wrong, found = ovens
    first = excess_errors(found, held(rate), wrong)[0]
    assert first.seen / first.rows == pytest.approx(found.slices[0].rate.value)
    assert first.rows < found.slices[0].size


def test_certainty_of_scores_of_any_kind():
    labels = np.zeros(2, dtype=np.int64)
    scores = np.array([[0.0, -np.inf], [math.log(0.6), math.log(0.4)]])
    sure = OutOfFold(labels, labels, np.arange(2), np.arange(2), scores)
    assert certainty(sure) == pytest.approx([1.0, 0.6])
    assert certainty(replace(sure, scores=None)).tolist() == [0.0, 0.0]


def test_chance_of_so_many_errors():
    assert ExcessErrors(3, 5.0, 2.0, 50).p_value == 1
    assert ExcessErrors(0, 0.0, 0.0, 0).p_value == 1
    assert ExcessErrors(9, 1.0, 0.9, 50).p_value == pytest.approx(stats.poisson.sf(8, 1.0))
    assert ExcessErrors(100, 80.0, 10.0, 500).p_value == pytest.approx(stats.norm.sf(1.95))
