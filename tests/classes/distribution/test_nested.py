"""Classes that are added to those that there are."""

from __future__ import annotations

import json

import numpy as np
import pytest

import classay
from classay.expect import InputError


def scores_of(n_classes=30, rows=20, lead=2.0, seed=0):
    truth = np.repeat(np.arange(n_classes), rows)
    noise = np.random.default_rng(seed).normal(size=(truth.size, n_classes))
    return noise + lead * np.eye(n_classes)[truth], truth


@pytest.fixture(scope="module")
def curve():
    return classay.accuracy_curve(*scores_of())


def test_kept_rows_lose_what_the_model_says(curve):
    distribution = classay.u_distribution(curve, method="two_parameter")
    found = classay.nested_accuracy(distribution, 90)
    (member,) = distribution.members
    ratio = float(member.accuracy(90) / member.accuracy(30))
    assert found.kept.value == pytest.approx(curve.accuracy[-1] * ratio)
    assert found.added.value == pytest.approx(float(member.accuracy(90)))
    assert found.accuracy.value == pytest.approx(found.kept.value / 3 + found.added.value * 2 / 3)
    assert found.now.kind == "over rows, these classes fixed"


def test_what_is_known_makes_the_interval_narrower():
    scores, y = scores_of(lead=0.0)
    # Classes differ much, so other classes are uncertain, and these are not.
    scores += np.where(y % 2, 0.5, 4.0)[:, None] * np.eye(30)[y]
    found = classay.nested_accuracy(classay.accuracy_curve(scores, y), 33)
    assert found.kept.high - found.kept.low < found.added.high - found.added.low
    assert found.kept.low < found.kept.value < found.kept.high
    text = str(found)
    assert "3 more like them" in text
    assert len(found.to_frame()) == 4
    json.dumps(found.to_dict(), allow_nan=False)


def test_bad_input(curve):
    with pytest.raises(InputError, match="more than that"):
        classay.nested_accuracy(curve, 30)
