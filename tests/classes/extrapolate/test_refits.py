"""Learners whose training changes with the number of classes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import classay
from classay.classes.curve.retrain import Retrained
from classay.classes.extrapolate.refits import from_refits, training_changes
from classay.classes.information.channel import mean_top
from classay.intervals import Estimate


def curve_with(shift, sizes=(5, 10, 15)):
    truth = np.repeat(np.arange(20), 10)
    scores = np.random.default_rng(0).normal(size=(200, 20)) + 2 * np.eye(20)[truth]
    curve = classay.accuracy_curve(scores, truth)
    refits = []
    for k in sizes:
        value = float(curve.accuracy[k - 1]) + shift
        refits.append(Retrained(k, Estimate(value, value - 0.02, value + 0.02), np.full(3, value)))
    return replace(curve, retrained=tuple(refits))


@pytest.mark.parametrize(("shift", "changes"), [(0.0, False), (0.01, False), (0.06, True), (-0.06, True)])
def test_refits_off_the_curve(shift, changes):
    curve = curve_with(shift)
    assert training_changes(curve) is changes
    text = str(classay.extrapolation(curve, [60]))
    assert ("Training changes with k" in text) is changes


def test_refits_on_a_normal_curve_continue_it():
    curve = curve_with(0.0)
    exact = tuple(replace(one, accuracy=Estimate(float(mean_top(2.0, one.k)), 0.0, 1.0)) for one in curve.retrained)
    found = from_refits(replace(curve, retrained=exact), [60])[0]
    assert found == pytest.approx(float(mean_top(2.0, 60)), abs=0.05)
    assert classay.extrapolation(curve, [10, 60]).by_method["refits"][0] == curve.accuracy[9]


def test_one_size_is_not_enough():
    assert not training_changes(curve_with(0.1, (5,)))
    assert "refits" not in classay.extrapolation(curve_with(0.1, (5,)), [60]).by_method
