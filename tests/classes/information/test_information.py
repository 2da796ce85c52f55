import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classay import (
    InputError,
    accuracy_curve,
    bayes_accuracy_bound,
    fano_information,
    implied_information,
    information_bound,
)
from classay.classes.information.channel import (
    c_of_mean,
    fano,
    fit_channel,
    fit_mean_top,
    least_information,
    log_spaced_sizes,
    mean_top,
)
from classay.classes.information.information import shares_of_alpha


def curve(n_classes=30, rows=6, lead=2.0, seed=0, **options):
    """Scores of the model itself: normal ones, and the true class ahead by `lead`; ι = lead²/2."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), rows)
    return accuracy_curve(rng.normal(size=(y.size, n_classes)) + lead * np.eye(n_classes)[y], y, **options)


@pytest.mark.parametrize("c", [-1.0, 0.0, 0.3, 2.0, 5.0])
@pytest.mark.parametrize("n_classes", [2, 7, 500])
def test_the_fit_finds_its_own_curve(c, n_classes):
    sizes = log_spaced_sizes(n_classes)
    assert fit_mean_top(mean_top(c, sizes), sizes) == pytest.approx(c, abs=1e-9)
    weights = np.ones(sizes.size) / sizes.size
    assert c_of_mean(float(weights @ mean_top(c, sizes)), sizes, weights) == pytest.approx(c, abs=1e-8)


def test_the_fit_is_the_least_of_squares():
    found = curve(40, 3)
    fitted = fit_channel(found)
    accuracy = found.accuracy[fitted.sizes - 1]

    def squares(c):
        return ((accuracy - mean_top(c, fitted.sizes)) ** 2).sum()

    assert all(squares(fitted.c) <= squares(fitted.c + step) for step in (-0.1, -1e-3, 1e-3, 0.1))
    # The one number that its interval is made from is where the fitted curve has it.
    assert fitted.mean == pytest.approx(fitted.weights @ mean_top(fitted.c, fitted.sizes), abs=1e-10)


def test_implied_information_of_the_model_itself():
    for lead in (0.5, 2.0, 4.0):
        found = implied_information(curve(100, 10, lead))
        assert found.nats.low < lead**2 / 2 < found.nats.high
        assert found.nats.value == pytest.approx(lead**2 / 2, rel=0.1)
        assert found.bits.value == pytest.approx(found.nats.value / math.log(2))
        assert found.kind == "implied"
        assert "not a guaranteed lower bound" in str(found)


def test_wider_at_a_higher_level():
    narrow, wide = (implied_information(curve(), level).nats for level in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.value == wide.value < narrow.high < wide.high


def test_all_right_is_not_identified():
    found = implied_information(accuracy_curve(np.eye(20)[np.arange(100) % 20], np.arange(100) % 20))
    assert math.isnan(found.nats.value)
    assert 1 < found.nats.low < found.bits.low < math.inf == found.nats.high
    assert "every prediction was right" in found.nats.kind
    assert "unknown" in str(found)
    more = implied_information(accuracy_curve(np.eye(200), np.arange(200)))
    assert more.nats.low > found.nats.low


def test_at_chance_and_below():
    chance = implied_information(accuracy_curve(np.zeros((60, 20)), np.arange(60) % 20))
    assert chance.nats.value == pytest.approx(0, abs=1e-12)
    guessing = implied_information(curve(lead=0.0)).nats
    assert guessing.low == 0
    assert guessing.high < 0.2
    wrong = implied_information(accuracy_curve(-np.eye(20), np.arange(20))).nats
    assert (wrong.value, wrong.low) == (0, 0)


def test_two_classes_have_no_spread():
    found = implied_information(curve(2, 20)).nats
    assert found.value > 0
    assert (found.low, found.high) == (0, math.inf)
    assert "too few classes" in found.kind


def test_one_class_with_rows():
    scores = np.random.default_rng(0).normal(size=(30, 10))
    found = implied_information(accuracy_curve(scores, np.zeros(30, int))).nats
    assert found.low == 0
    assert found.high == math.inf


def test_ties_as_they_were_counted():
    scores = curve(lead=2.0).ranks
    random, wrong = (implied_information(accuracy_curve(scores, ties=ties)).nats.value for ties in ("random", "wrong"))
    assert random == wrong  # there are none
    coarse = np.round(np.random.default_rng(0).normal(size=(90, 30)) + 2 * np.eye(30)[np.arange(90) % 30])
    values = [
        implied_information(accuracy_curve(coarse, np.arange(90) % 30, ties=ties)).nats.value
        for ties in ("wrong", "random", "right")
    ]
    assert values == sorted(values)
    assert values[0] < values[2]


def test_the_order_of_classes_and_rows_does_not_matter():
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(12), 4)
    scores = rng.normal(size=(48, 12)) + 2 * np.eye(12)[y]
    rows, columns = rng.permutation(48), rng.permutation(12)
    moved = accuracy_curve(scores[rows][:, columns], np.argsort(columns)[y[rows]])
    one, other = implied_information(accuracy_curve(scores, y)).nats, implied_information(moved).nats
    assert other.value == pytest.approx(one.value, rel=1e-9)


def test_the_bound_is_the_inverse_at_the_accuracy():
    found = information_bound(correct=318, trials=500, n_classes=50)
    assert found.nats.value == pytest.approx(float(least_information(0.636, 50)))
    accuracy = bayes_accuracy_bound(correct=318, trials=500, n_classes=50).low
    assert found.nats.low == pytest.approx(float(least_information(accuracy, 50)))
    assert found.bits.low == pytest.approx(found.nats.low / math.log(2))
    assert found.nats.high == math.inf
    assert found.kind == "lower bound"
    assert found.n_classes == 50


def test_the_best_of_several_sizes():
    found = curve(400, 2, 2.0)
    best, all_of_them = information_bound(found), information_bound(found, k=400)
    assert best.n_classes in shares_of_alpha(400)
    assert best.n_classes < 400 == all_of_them.n_classes
    assert all_of_them.nats.low < best.nats.low < 2.0
    # Half of the level is for all 400; 3, 10, 30 and 100 share the rest.
    assert best.nats.low == information_bound(found, k=best.n_classes, alpha=0.05 / 8).nats.low
    assert sum(shares_of_alpha(400).values()) == pytest.approx(1)
    assert shares_of_alpha(5) == {5: 1.0}


def test_the_bound_at_its_ends():
    perfect = information_bound(accuracy_curve(np.eye(30), np.arange(30)))
    assert math.isnan(perfect.nats.value)
    assert 1 < perfect.nats.low < math.inf
    nothing = information_bound(curve(lead=0.0))
    assert nothing.nats.low == 0


def test_more_tried_is_less_sure():
    found = curve()
    alone, jackknife, of_ten = (
        information_bound(found, **o).nats.low for o in ({}, {"method": "jackknife"}, {"tried": 10})
    )
    assert of_ten < alone < jackknife


def test_fano_by_hand():
    assert fano(1.0, 8) == pytest.approx(math.log(8))
    assert fano(1 / 8, 8) == 0
    assert fano(0.05, 8) == 0
    # 4 classes, a quarter wrong: 2 − .8113 − .25·log2 3 bits.
    assert fano(0.75, 4) / math.log(2) == pytest.approx(2 - 0.8112781 - 0.25 * 1.5849625, abs=1e-7)


@given(st.floats(0, 1), st.integers(2, 1000))
def test_fano_is_never_above_the_least_information(accuracy, k):
    assert fano(accuracy, k) <= least_information(accuracy, k) + 1e-9


def test_fano_of_a_curve():
    found = fano_information(curve())
    assert found.kind == "Fano"
    assert 0 < found.nats.low < found.nats.value < math.log(30)
    assert found.nats.value == pytest.approx(fano(curve().accuracy[-1], 30))
    assert fano_information(curve(), level=0.99).nats.low < found.nats.low


def test_the_result_reads_and_travels():
    for found in (implied_information(curve()), information_bound(curve()), fano_information(curve())):
        frame = found.to_frame()
        assert frame["unit"].tolist() == ["bits", "nats"]
        assert frame["value"].tolist() == [found.bits.value, found.nats.value]
        assert json.loads(json.dumps(found.to_dict()))["nats"]["low"] == found.nats.low
        assert "bits" in str(found)
    assert information_bound(curve()).to_dict()["bits"]["high"] is None


def test_bad_input():
    with pytest.raises(InputError, match="of type ndarray"):
        implied_information(np.eye(3))
    with pytest.raises(InputError, match="`level`"):
        implied_information(curve(), level=95)
    with pytest.raises(InputError, match="`k`"):
        information_bound(curve(), k="all")
    with pytest.raises(InputError, match="of type NoneType"):
        fano_information(None)
    one = replace(curve(), accuracy=np.ones(1), low=np.ones(1), high=np.ones(1))
    with pytest.raises(InputError, match="1 class"):
        implied_information(one)
