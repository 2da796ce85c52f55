import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classay.classes.extrapolate.methods import (
    METHODS,
    CurveFamily,
    best_bandwidth,
    combine,
    family_of_scores,
    fit_family,
    logit_of,
    moments,
    normal_family,
    shrunk_normal,
)
from classay.classes.information.channel import mean_top
from classay.classes.ranks.evidence import Evidence

SIZES = np.array([2, 3, 5, 8, 13, 21, 34, 60])
LATER = np.array([100, 1000, 10**6])


class Known(Evidence):
    """Evidence whose curve is given, not counted."""

    def accuracy(self, k=None):
        return self.curve(np.asarray(k, dtype=float))  # type: ignore[attr-defined]


def known(curve, n_classes=60, z=None):
    rows = 2 if z is None else len(z)
    evidence = Known(n_classes, np.zeros(rows, int), np.zeros(rows, int), np.full(rows, 1 / rows), z)
    object.__setattr__(evidence, "curve", curve)
    return evidence


def foreseen(name, evidence, sizes):
    return combine([make(evidence).accuracy(sizes) for make in METHODS[name]])


def test_the_normal_family_with_spread_one_is_the_curve_of_implied_information():
    family = normal_family()
    np.testing.assert_allclose(family.member(1.7, 0.0).accuracy(SIZES), mean_top(1.7, SIZES), atol=1e-13)
    np.testing.assert_allclose(family.member(1.7, 0.0).accuracy(LATER), mean_top(1.7, LATER), atol=1e-13)


def test_two_places_by_hand():
    family = CurveFamily(np.array([-1.0, 1.0]), np.array([0.5, 0.5]))
    # Φ(0) = .5 and Φ(2) = .97725: with three classes both count squared.
    assert family.member(1.0, 0.0).accuracy([1, 2, 3]) == pytest.approx(
        [1, 0.738625, (0.25 + 0.97725**2) / 2], abs=1e-5
    )


@given(st.floats(-0.5, 4.5), st.floats(-1, 0.7))  # beyond, the weak prior for a pulls by more
def test_fit_recovers_a_member(a, log_b):
    family = normal_family()
    found = fit_family(family, SIZES, family.member(a, log_b).accuracy(SIZES))
    np.testing.assert_allclose(
        family.member(*found).accuracy(SIZES), family.member(a, log_b).accuracy(SIZES), atol=2e-4
    )


def test_a_strong_prior_holds_the_spread():
    family = normal_family()
    wide = family.member(1.5, np.log(2.5)).accuracy(SIZES)
    free, held = (fit_family(family, SIZES, wide, shrink)[1] for shrink in (np.inf, 0.01))
    assert free > 0.5
    assert abs(held) < 0.1


def test_scores_are_standardised_and_gathered():
    scores = np.random.default_rng(0).gamma(2, size=5000)
    family = family_of_scores(scores, np.full(5000, 1 / 5000))
    assert family.places.size == 150
    assert family.weights @ family.places == pytest.approx(0, abs=1e-12)
    assert family.weights @ family.places**2 == pytest.approx(1)
    moved = family_of_scores(3 * scores + 7, np.full(5000, 1 / 5000))
    np.testing.assert_allclose(moved.places, family.places, atol=1e-9)


@pytest.mark.parametrize("scores", [[np.nan, np.nan, 1.0], [2.0, 2.0, 2.0]])
def test_scores_that_tell_no_shape(scores):
    assert family_of_scores(np.array(scores), np.full(3, 1 / 3)) is None


def test_implied_is_exact_where_its_model_is_true():
    evidence = known(lambda k: mean_top(2.0, k))
    np.testing.assert_allclose(foreseen("implied", evidence, LATER), mean_top(2.0, LATER), atol=1e-9)


def test_two_parameters_are_exact_where_their_model_is_true():
    evidence = known(lambda k: normal_family().member(2.0, 0.5).accuracy(k))
    truth = normal_family().member(2.0, 0.5).accuracy(LATER)
    np.testing.assert_allclose(foreseen("two_parameter", evidence, LATER), truth, atol=5e-3)


def test_calibrated_is_exact_where_its_model_is_true():
    z = np.random.default_rng(1).gamma(3, size=400)
    family = family_of_scores(z, np.full(400, 1 / 400))
    evidence = known(lambda k: family.member(1.8, 0.3).accuracy(k), z=z)
    np.testing.assert_allclose(
        foreseen("calibrated", evidence, LATER), family.member(1.8, 0.3).accuracy(LATER), atol=5e-3
    )


def test_calibrated_without_scores_takes_a_normal_shape():
    evidence = known(lambda k: mean_top(2.0, k))
    np.testing.assert_allclose(
        foreseen("calibrated", evidence, LATER), foreseen("two_parameter", evidence, LATER), atol=1e-12
    )


def test_moments_follow_the_curve_and_go_on():
    evidence = known(lambda k: mean_top(2.0, k))
    np.testing.assert_allclose(moments(evidence).accuracy(SIZES), mean_top(2.0, SIZES), atol=3e-3)
    assert moments(evidence).accuracy([120])[0] == pytest.approx(float(mean_top(2.0, 120)), abs=0.02)


def test_the_bandwidth_that_foresees_best_is_taken():
    truth = normal_family().member(1.0, np.log(0.1)).accuracy(np.array([60.0]))[0]
    part = known(lambda k: normal_family().member(1.0, np.log(0.1)).accuracy(k), n_classes=30)
    misses = {width: abs(moments(part, width).accuracy([60])[0] - truth) for width in (0.1, 1.0)}
    assert misses[0.1] < misses[1.0]
    assert best_bandwidth([part], 60, truth) < 1.0


@pytest.mark.parametrize("name", METHODS)
def test_more_classes_are_never_easier_and_accuracy_stays_possible(name):
    z = np.random.default_rng(2).normal(2, 1, size=300)
    evidence = known(lambda k: mean_top(1.5, k), z=z)
    found = foreseen(name, evidence, np.array([61, 100, 1000, 10**5, 10**9]))
    assert (np.diff(found) <= 1e-12).all()
    assert (found >= 0).all()
    assert (found <= 1).all()


def test_combined_is_the_mean_of_two_on_the_logit_scale():
    evidence = known(lambda k: mean_top(1.5, k), z=np.random.default_rng(2).normal(2, 1, size=300))
    middle = (logit_of(shrunk_normal(evidence).accuracy(LATER)) + logit_of(foreseen("calibrated", evidence, LATER))) / 2
    np.testing.assert_allclose(logit_of(foreseen("combined", evidence, LATER)), middle, atol=1e-6)
