import math

import numpy as np
import pytest

import classay
from classay import InputError, accuracy_curve, bayes_accuracy_bound
from classay.classes.information.bayes import lower_bound


def curve(n_classes=30, rows=6, lead=2.0, seed=0, **options):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), rows)
    return accuracy_curve(rng.normal(size=(y.size, n_classes)) + lead * np.eye(n_classes)[y], y, **options)


def test_counts_in_total_and_by_class_are_the_same():
    total = bayes_accuracy_bound(correct=318, trials=500, n_classes=50)
    by_class = bayes_accuracy_bound(correct=[6] * 32 + [7] * 18, trials=[10] * 50)
    assert (total.value, total.high, total.level) == (0.636, 1.0, 0.95)
    assert by_class.low == pytest.approx(total.low, abs=1e-12)
    assert total.low == pytest.approx(lower_bound(0.636, math.log(0.05), 50, np.full(50, 10)))
    assert "guaranteed" in total.kind


def test_a_curve_and_its_counts_are_the_same():
    found = curve()
    right = np.bincount(found.ranks.truth[found.ranks.lower == 29], minlength=30)
    counted = bayes_accuracy_bound(correct=right, trials=[6] * 30)
    assert bayes_accuracy_bound(found).low == pytest.approx(counted.low, abs=1e-12)


def test_classes_weigh_alike():
    assert bayes_accuracy_bound(correct=[10, 0], trials=[10, 90]).value == 0.5


def test_several_classifiers_tried():
    counts = {"correct": 450, "trials": 500, "n_classes": 50}
    assert (
        bayes_accuracy_bound(**counts, tried=10).low
        == bayes_accuracy_bound(**counts, alpha=0.005).low
        < bayes_accuracy_bound(**counts).low
    )
    assert bayes_accuracy_bound(**counts, tried=10).level == 0.95


def test_fewer_classes_in_a_set():
    found = curve()
    few = bayes_accuracy_bound(found, k=5)
    assert few.value == found.accuracy[4]
    assert bayes_accuracy_bound(found).low < few.low < few.value


def test_a_class_without_rows_counts_as_wrong():
    scores, y = np.eye(10)[np.arange(90) % 9], np.arange(90) % 9
    found = bayes_accuracy_bound(accuracy_curve(scores, y))
    assert found.value == 1
    assert found.low < bayes_accuracy_bound(correct=90, trials=90, n_classes=9).low


def test_nothing_learnt_is_one_in_k():
    assert bayes_accuracy_bound(correct=0, trials=100, n_classes=20).low == 0.05
    assert bayes_accuracy_bound(curve(lead=0.0)).low == pytest.approx(1 / 30)
    assert bayes_accuracy_bound(curve(lead=0.0), method="jackknife").low >= 1 / 30


def test_all_right_is_not_certain():
    found = bayes_accuracy_bound(correct=1000, trials=1000, n_classes=50)
    assert 0.85 < found.low < 0.95
    perfect = accuracy_curve(np.eye(50), np.arange(50))
    assert bayes_accuracy_bound(perfect, method="jackknife").low == pytest.approx(0.05 ** (1 / 50))


def test_jackknife_is_tighter_and_says_what_it_is():
    found = curve(50, 20)
    guaranteed, jackknife = (bayes_accuracy_bound(found, method=method) for method in ("guaranteed", "jackknife"))
    assert guaranteed.low < jackknife.low < found.accuracy[-1]
    assert "jackknife" in jackknife.kind
    assert bayes_accuracy_bound(found, method="jackknife", alpha=0.4).low > jackknife.low
    assert bayes_accuracy_bound(found, method="jackknife", tried=3).low < jackknife.low


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"correct": 5, "trials": 4, "n_classes": 2}, "between 0 and"),
        ({"correct": 5, "trials": 10}, "`n_classes` is missing"),
        ({"correct": 5, "trials": 10, "n_classes": 3}, "not the same number for each"),
        ({"correct": 5, "trials": 10, "n_classes": 1}, "at least 2"),
        ({"correct": [5], "trials": [10]}, "at least 2"),
        ({"correct": [5, 5], "trials": [10, 10], "n_classes": 3}, "they must match"),
        ({"correct": [5, 5], "trials": 10}, "shape"),
        ({"correct": [1, 1], "trials": [1.5, 2]}, "whole numbers"),
        ({"correct": [0, 0], "trials": [0, 0]}, "whole numbers"),
        ({"correct": 5, "trials": 10, "n_classes": 5, "k": 3}, "fewer than all need a curve"),
        ({"correct": 5, "trials": 10, "n_classes": 5, "method": "jackknife"}, "needs a curve"),
        ({"correct": 5, "trials": 10, "n_classes": 5, "method": "jacknife"}, "Did you mean jackknife"),
        ({"correct": 5, "trials": 10, "n_classes": 5, "alpha": 0}, "`alpha`"),
        ({"correct": 5, "trials": 10, "n_classes": 5, "tried": 0}, "`tried`"),
        ({"correct": 5}, "expected a curve"),
        ({}, "expected a curve"),
        ({"curve": np.eye(3)}, "of type ndarray"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(InputError, match=message):
        bayes_accuracy_bound(**options)


def test_bad_input_with_a_curve():
    found = curve(5)
    with pytest.raises(InputError, match="5 classes were observed"):
        bayes_accuracy_bound(found, k=6)
    with pytest.raises(InputError, match="expected a curve"):
        bayes_accuracy_bound(found, correct=3, trials=5)
    with pytest.raises(InputError, match="no classifier can reach"):
        bayes_accuracy_bound(curve(5, ties="right"))
    with pytest.raises(InputError, match="at least 3 classes"):
        bayes_accuracy_bound(curve(2), method="jackknife")
    assert classay.bayes_accuracy_bound(curve(2)).low >= 0.5


def test_the_bound_of_the_thesis_by_hand():
    # Theorem 2.5.2: .635 − √(log(4/.05)/(2·500)) − 1/√(2·.05·50)
    found = bayes_accuracy_bound(correct=317.5, trials=500, n_classes=50, method="thesis")
    assert found.low == pytest.approx(0.635 - math.sqrt(math.log(80) / 1000) - 1 / math.sqrt(5), abs=1e-12)
    assert found.low < bayes_accuracy_bound(correct=317.5, trials=500, n_classes=50).low
    assert bayes_accuracy_bound(correct=10, trials=50, n_classes=5, method="thesis").low == pytest.approx(0.2)


def test_fixed_classes_have_a_tighter_bound():
    random, fixed = (
        bayes_accuracy_bound(correct=320, trials=500, n_classes=50, method=method)
        for method in ("guaranteed", "fixed_classes")
    )
    assert random.low < fixed.low < fixed.value
    assert "these classes" in fixed.kind
