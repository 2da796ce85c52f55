import math

import numpy as np
import pytest

from classay import InputError, accuracy_curve
from classay.classes.information.bayes import lower_bound


def curve(n_classes=30, rows=6, lead=2.0, seed=0, **options):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), rows)
    return accuracy_curve(rng.normal(size=(y.size, n_classes)) + lead * np.eye(n_classes)[y], y, **options)


def with_errors(n_classes=50, rows=10, wrong=182):
    """A curve with so many errors, spread evenly over the classes."""
    y = np.tile(np.arange(n_classes), rows)
    predicted = np.where(np.arange(y.size) < wrong, (y + 1) % n_classes, y)
    return accuracy_curve(np.eye(n_classes)[predicted], y, ties="wrong")


def test_it_is_the_lower_bound_of_the_accuracy():
    found = with_errors().bayes_bound()
    assert (found.value, found.high, found.level) == (pytest.approx(0.636), 1.0, 0.95)
    assert found.low == pytest.approx(lower_bound(0.636, math.log(0.05), 50, np.full(50, 10)))
    assert "guaranteed" in found.kind


def test_several_classifiers_tried():
    made = with_errors(wrong=50)
    assert made.bayes_bound(tried=10).low == made.bayes_bound(alpha=0.005).low < made.bayes_bound().low
    assert made.bayes_bound(tried=10).level == 0.95


def test_fewer_classes_in_a_set():
    found = curve()
    few = found.bayes_bound(k=5)
    assert few.value == found.accuracy[4]
    assert found.bayes_bound().low < few.low < few.value


def test_a_class_without_rows_counts_as_wrong():
    scores, y = np.eye(10)[np.arange(90) % 9], np.arange(90) % 9
    found = accuracy_curve(scores, y).bayes_bound()
    assert found.value == 1
    assert found.low < accuracy_curve(scores[:, :9], y).bayes_bound().low


def test_nothing_learnt_is_one_in_k():
    assert with_errors(20, 5, 100).bayes_bound().low == 0.05
    assert curve(lead=0.0).bayes_bound().low == pytest.approx(1 / 30)
    assert curve(lead=0.0).bayes_bound(method="jackknife").low >= 1 / 30


def test_all_right_is_not_certain():
    assert 0.85 < with_errors(rows=20, wrong=0).bayes_bound().low < 0.95
    perfect = accuracy_curve(np.eye(50), np.arange(50))
    assert perfect.bayes_bound(method="jackknife").low == pytest.approx(0.05 ** (1 / 50))


def test_jackknife_is_tighter_and_says_what_it_is():
    found = curve(50, 20)
    guaranteed, jackknife = (found.bayes_bound(method=method) for method in ("guaranteed", "jackknife"))
    assert guaranteed.low < jackknife.low < found.accuracy[-1]
    assert "jackknife" in jackknife.kind
    assert found.bayes_bound(method="jackknife", alpha=0.4).low > jackknife.low
    assert found.bayes_bound(method="jackknife", tried=3).low < jackknife.low


def test_fixed_classes_have_a_tighter_bound():
    random, fixed = (with_errors().bayes_bound(method=method) for method in ("guaranteed", "fixed_classes"))
    assert random.low < fixed.low < fixed.value
    assert "these classes" in fixed.kind


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 6}, "5 classes were observed"),
        ({"k": 3, "method": "fixed_classes"}, "Drop `k`"),
        ({"method": "jacknife"}, "Did you mean jackknife"),
        ({"alpha": 0}, "`alpha`"),
        ({"tried": 0}, "`tried`"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(InputError, match=message):
        curve(5).bayes_bound(**options)


def test_curves_without_a_bound():
    with pytest.raises(InputError, match="no classifier can reach"):
        curve(5, ties="right").bayes_bound()
    with pytest.raises(InputError, match="at least 3 classes"):
        curve(2).bayes_bound(method="jackknife")
    assert curve(2).bayes_bound().low >= 0.5
