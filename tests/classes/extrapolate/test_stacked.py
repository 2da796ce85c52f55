"""Several methods together: weights by back-test, a mixture by likelihood, and classes that come in pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from class_worlds import class_ranks, easy_and_hard, heavy_tails, twins
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, poisson

import classay
from classay.classes.extrapolate.class_pairs import class_pairs, pair_ratio, rival_share, without_rivals
from classay.classes.extrapolate.mixture import likelihood, likelihood_share
from classay.classes.extrapolate.stacked import PRIOR, Stack, StackedMethod, stack_members, stack_of, stacked
from classay.classes.information.channel import mean_top
from classay.classes.ranks.ranks import Evidence


def exact_evidence(shares, weights, n_classes=60):
    """Rows that beat each class with chance u: the expected histogram."""
    beaten = sum(w * binom.pmf(np.arange(n_classes), n_classes - 1, u) for u, w in zip(shares, weights))
    lower = np.arange(n_classes)
    return Evidence(n_classes, lower, np.zeros_like(lower), beaten / beaten.sum())


def test_likelihood_finds_two_kinds_of_rows():
    evidence = exact_evidence([0.999, 0.6], [0.5, 0.5], 200)
    found = likelihood_share(evidence)
    assert found.below(0.9) == pytest.approx(0.5, abs=0.03)
    # With 400 classes the poor rows are lost: half, of which the good ones win .999^399.
    assert likelihood(evidence, [400])[0] == pytest.approx(0.5 * 0.999**399, abs=0.05)
    assert found.weights.sum() == pytest.approx(1)


def test_likelihood_continues_a_normal_curve():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(80), 10)
    scores = rng.normal(size=(800, 80)) + 2 * np.eye(80)[y]
    found = likelihood(classay.Ranks.from_scores(scores, y).evidence(), [300])[0]
    assert found == pytest.approx(float(mean_top(2.0, 300)), abs=0.05)


def test_equal_members_are_their_mean():
    evidence = class_ranks(heavy_tails, 40, np.random.default_rng(0)).evidence()
    only = Stack({name: float(name == "two_parameter") for name in PRIOR})
    alone = stack_members(evidence)["two_parameter"].accuracy([200])
    # There are enough errors that the line has almost no part.
    np.testing.assert_allclose(stacked(evidence, [200], only), alone, atol=0.02)


def test_weights_follow_the_back_test():
    curve = classay.accuracy_curve(class_ranks(easy_and_hard, 60, np.random.default_rng(1)))
    found = stack_of(curve, 0)
    assert sum(found.weights.values()) == pytest.approx(1)
    relative = {name: found.weights[name] / PRIOR[name] for name in PRIOR}
    assert max(relative, key=relative.get) == min(found.errors, key=found.errors.get)
    assert stack_of(curve, 0) == found


def test_few_classes_have_the_weights_of_the_prior():
    curve = classay.accuracy_curve(class_ranks(heavy_tails, 6, np.random.default_rng(1)))
    assert stack_of(curve, 0).weights == pytest.approx(PRIOR)
    assert classay.extrapolate(curve, 12, method="stacked").low >= 0


def test_methods_that_differ_and_back_tests_that_lean_are_doubt():
    evidence = class_ranks(easy_and_hard, 40, np.random.default_rng(0)).evidence()
    sizes = np.array([41.0, 400.0])
    calm, leaning = (StackedMethod(Stack(lean=lean)).doubt(evidence, sizes) for lean in (0.0, -0.5))
    assert calm[1] > calm[0]
    assert (leaning >= calm).all()
    assert leaning[1] == pytest.approx(math.hypot(calm[1], 0.35 * 0.5 * math.log(10)))


@given(st.lists(st.tuples(st.floats(0.01, 8), st.floats(0.05, 1)), min_size=1, max_size=6))
def test_mixtures_of_poisson_numbers_have_a_ratio_of_at_most_one(parts):
    rates, weights = np.array(parts).T
    chances = poisson.pmf(np.arange(400)[:, None], rates) @ (weights / weights.sum())
    assert pair_ratio(chances[::-1] / chances.sum()) <= 1 + 1e-9


def test_rivals_are_taken_out_again():
    plain = poisson.pmf(np.arange(100)[:, None], [0.05, 0.5, 3.0]) @ np.array([0.6, 0.25, 0.15])
    plain /= plain.sum()
    for share in (0.1, 0.3):
        mixed = (1 - share) * plain + share * np.concatenate([[0.0], plain[:-1]])
        mixed /= mixed.sum()
        np.testing.assert_allclose(without_rivals(mixed[::-1], share)[::-1][:20], plain[:20], atol=1e-9)
        found = rival_share(mixed[::-1])
        assert pair_ratio(without_rivals(mixed[::-1], found)) == pytest.approx(0.5, abs=1e-6)


def test_twins_are_found_and_others_are_not():
    found = [
        class_pairs(classay.accuracy_curve(class_ranks(twins, 150, np.random.default_rng(d)))).found for d in range(4)
    ]
    assert sum(found) >= 3
    for source in (easy_and_hard, heavy_tails):
        for seed in range(4):
            curve = classay.accuracy_curve(class_ranks(source, 60, np.random.default_rng(seed)))
            assert not class_pairs(curve).found


def test_twins_are_said_and_stacked_corrects_them():
    curve = classay.accuracy_curve(class_ranks(twins, 150, np.random.default_rng(0)))
    assert class_pairs(curve).found
    ahead = classay.extrapolation(curve, [1000])
    assert "come in pairs" in str(ahead)
    assert ahead.by_method["stacked"][0] > ahead.by_method["combined"][0]
