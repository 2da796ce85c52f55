"""Where the curves of two classifiers cross."""

from __future__ import annotations

import math

import numpy as np
import pytest

import classay
from classay.classes.extrapolate.overtake import _crossings
from classay.expect import InputError
from classay.intervals import Estimate


def curve_of(leads, seed=0, n_classes=40, rows=15, name="scores", classes=None):
    y = np.repeat(np.arange(n_classes), rows)
    noise = np.random.default_rng(seed).normal(size=(y.size, n_classes))
    names = None if classes is None else classes[:n_classes]
    return classay.accuracy_curve(
        noise + np.asarray(leads)[y % 2][:, None] * np.eye(n_classes)[y],
        y if names is None else names[y],
        classes=names,
        name=name,
    )


def test_a_steady_and_an_uneven_classifier_cross():
    # Half of the rows lead by 4 and half by .6: better with many classes, worse with few.
    found = curve_of((1.8, 1.8), 0, name="steady").crossing(curve_of((4.0, 0.6), 1, name="uneven"), 1000)
    (place,) = found.crossings
    assert found.paired
    assert 2 < place.value < 40
    assert place.low <= place.value <= place.high
    assert found.difference[0].value > 0 > found.difference[-1].value
    assert "have the same accuracy with about" in str(found)


def test_one_that_is_always_ahead_never_crosses():
    found = curve_of((3.0, 3.0), 0, name="a").crossing(curve_of((1.0, 1.0), 1, name="b"), 500)
    assert found.crossings == ()
    assert "a is ahead for every number of classes" in str(found)
    assert found.to_frame()["figure"].unique().tolist() == ["difference"]


def test_the_difference_changes_its_sign_with_the_order():
    one, two = curve_of((2.2, 2.2), 0, name="a"), curve_of((4.0, 0.6), 1, name="b")
    there, back = one.crossing(two, 300), two.crossing(one, 300)
    np.testing.assert_allclose([each.value for each in there.difference], [-each.value for each in back.difference])
    assert there.crossings[0].value == pytest.approx(back.crossings[0].value)


def test_a_curve_and_itself_do_not_differ():
    curve = curve_of((2.0, 2.0))
    found = curve.crossing(curve, 100)
    assert found.crossings == ()
    assert all(each.value == 0 == each.low == each.high for each in found.difference)
    assert (found.first, found.second) == ("scores (1)", "scores (2)")


def test_other_classes_are_not_paired():
    names = np.array([f"c{number}" for number in range(40)])
    found = curve_of((2.0, 2.0)).crossing(curve_of((1.0, 3.0), 1, classes=names, name="b"), 100)
    assert not found.paired
    assert "different classes" in str(found)


def test_crossings_by_hand():
    sizes = np.array([2, 8, 32, 128])
    values = [(0.2, 0.1), (0.1, 0.15), (-0.1, 0.15), (-0.3, 0.1)]
    difference = tuple(Estimate(v, v - r, v + r) for v, r in values)
    (found,) = _crossings(sizes, difference, 0.95)
    assert found.value == pytest.approx(16)  # halfway between 8 and 32 on a log scale
    assert (found.low, found.high) == (2, 128)
    open_ended = _crossings(sizes[:3], difference[:3], 0.95)[0]
    assert open_ended.high == math.inf


def test_bad_input():
    with pytest.raises(InputError, match="`most`"):
        curve_of((2.0, 2.0)).crossing(curve_of((2.0, 2.0)), 2)
