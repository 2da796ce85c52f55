"""Ridge by generalised cross-validation, and the covariance of what it leaves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classay import seeds
from classay.classes.identify.encoders import PENALTIES, explained_variance, ridge
from classay.classes.identify.responses import AMOUNTS, choose_covariance, shrink_covariance


def world(n=30, p=4, q=3, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    stimuli = rng.normal(size=(n, p)) * [1, 10, 0.1, 3][:p] + 5
    return stimuli, stimuli @ rng.normal(size=(p, q)) + noise * rng.normal(size=(n, q))


def hat(stimuli, penalty):
    """The matrix that maps responses to their ridge fit, written out."""
    x = (stimuli - stimuli.mean(axis=0)) / stimuli.std(axis=0)
    n, p = x.shape
    return 1 / n + x @ np.linalg.solve(x.T @ x + penalty * np.eye(p), x.T)


def penalties_of(stimuli, responses, fitted):
    """The penalties tried, and the place of each response's: that of the ridge fit which is the prediction."""
    values = np.linalg.svd((stimuli - stimuli.mean(axis=0)) / stimuli.std(axis=0), compute_uv=False)
    tried = PENALTIES * (values[values > 1e-8] ** 2).mean()
    away = [np.abs(hat(stimuli, penalty) @ responses - fitted.predict(stimuli)).max(axis=0) for penalty in tried]
    assert np.min(away, axis=0) == pytest.approx(0, abs=1e-8)
    return tried, np.argmin(away, axis=0)


@pytest.mark.parametrize("shape", [(12, 3), (9, 8), (8, 15)])
def test_the_fit_is_ridge_with_the_penalty_that_minimises_the_definition_of_gcv(shape):
    rng = np.random.default_rng(1)
    stimuli = rng.normal(size=shape)
    responses = stimuli[:, :2] @ rng.normal(size=(2, 5)) + rng.normal(size=(shape[0], 5))
    tried, place = penalties_of(stimuli, responses, ridge(stimuli, responses))
    criterion = np.empty((tried.size, 5))
    for row, penalty in enumerate(tried):
        away = np.eye(shape[0]) - hat(stimuli, penalty)
        criterion[row] = shape[0] * ((away @ responses) ** 2).sum(axis=0) / np.trace(away) ** 2
    # Above the rank, the smallest penalties are compared by what rounding leaves of 0 / 0 in the definition.
    np.testing.assert_allclose(criterion[place, np.arange(5)], criterion.min(axis=0), rtol=1e-5)


def test_residuals_are_those_of_rows_left_out():
    stimuli, responses = world()
    fitted = ridge(stimuli, responses)
    x = (stimuli - stimuli.mean(axis=0)) / stimuli.std(axis=0)
    tried, place = penalties_of(stimuli, responses, fitted)
    for row in (0, 7, 29):
        others = np.arange(30) != row
        for target in range(3):
            # Refitted without the row, with an intercept that is not penalised.
            design = np.column_stack([np.ones(29), x[others]])
            penalty = np.diag([0.0, *[tried[place[target]]] * 4])
            beta = np.linalg.solve(design.T @ design + penalty, design.T @ responses[others, target])
            expected = responses[row, target] - np.r_[1, x[row]] @ beta
            assert fitted.residuals[row, target] == pytest.approx(expected, rel=1e-9)


def test_constant_columns_and_units_make_no_difference():
    stimuli, responses = world()
    plain = ridge(stimuli, responses)
    padded = np.column_stack([np.full(30, 1e9 + 0.1), stimuli, np.zeros(30)])
    fitted = ridge(padded, np.column_stack([responses, np.full(30, 7.3)]))
    np.testing.assert_allclose(fitted.predict(padded)[:, :3], plain.predict(stimuli), rtol=1e-7)
    np.testing.assert_allclose(fitted.predict(padded)[:, 3], 7.3, rtol=1e-12)
    np.testing.assert_allclose(fitted.residuals[:, 3], 0, atol=1e-12)
    other = ridge(stimuli * [100, 1, 1e-3, 7] + 3, responses * [1, 1e-4, 1e5] - 2)
    np.testing.assert_allclose(other.residuals, plain.residuals * [1, 1e-4, 1e5], rtol=1e-5, atol=1e-9)
    same = ridge(np.ones((5, 2)), np.arange(10.0).reshape(5, 2))
    np.testing.assert_allclose(same.predict(np.array([[3.0, 9.0]])), [[4.0, 5.0]])


def test_explained():
    y = np.array([[1.0, 1.0, 5.0], [2.0, 2.0, 5.0], [3.0, 3.0, 5.0]])
    got = explained_variance(y, np.array([[1.0, 2.0, 5.0], [2.0, 2.0, 5.0], [3.0, 2.0, 4.0]]))
    np.testing.assert_allclose(got, [1.0, 0.0, np.nan])


@settings(max_examples=60)
@given(st.integers(2, 30), st.integers(1, 40), st.sampled_from([0.001, 0.2, 1.0]), st.integers(0, 10**6))
def test_noise_whitens_by_the_shrunk_covariance(n, q, shrinkage, seed):
    rng = np.random.default_rng(seed)
    residuals = rng.normal(size=(n, q)) @ rng.normal(size=(q, q)) * rng.uniform(0.1, 100, q)
    noise = shrink_covariance(residuals, residuals.std(axis=0), shrinkage)
    scale = np.sqrt((residuals**2).mean(axis=0))
    correlation = residuals.T @ residuals / n / np.outer(scale, scale)
    covariance = np.outer(scale, scale) * ((1 - shrinkage) * correlation + shrinkage * np.eye(q))
    between = rng.normal(size=q) * scale
    expected = between @ np.linalg.solve(covariance, between)
    assert (noise.whiten(between[None]) ** 2).sum() == pytest.approx(expected, rel=1e-6)


def test_the_shrinkage_is_the_one_that_identifies_held_out_rows_best():
    rng = np.random.default_rng(2)
    mixing = np.eye(6) + 0.6
    predicted, residuals = 2 * rng.normal(size=(40, 6)), rng.normal(size=(40, 6)) @ mixing
    responses = predicted + residuals
    order = seeds.generator(0, "shrinkage").permutation(40)
    gain = np.zeros(len(AMOUNTS))
    for held in np.array_split(order, 5):
        others = np.setdiff1d(order, held)
        scale = np.sqrt((residuals[others] ** 2).mean(axis=0))
        correlation = residuals[others].T @ residuals[others] / 32 / np.outer(scale, scale)
        for place, amount in enumerate(AMOUNTS):
            covariance = np.outer(scale, scale) * ((1 - amount) * correlation + amount * np.eye(6))
            for row in held:
                away = responses[row] - predicted[held]
                density = np.exp(-0.5 * np.einsum("ij,ij->i", away, np.linalg.solve(covariance, away.T).T))
                gain[place] += np.log(density[held == row][0] / density.sum())
    assert choose_covariance(responses, residuals, np.ones(6)).shrinkage == AMOUNTS[gain.argmax()]
    assert 0 < choose_covariance(responses, residuals, np.ones(6)).shrinkage < 1


def test_shrinkage_follows_what_is_known():
    rng = np.random.default_rng(0)
    mixing = np.eye(10) + 0.7

    def amount(n, mixing):
        residuals = rng.normal(size=(n, 10)) @ mixing
        return choose_covariance(rng.normal(size=(n, 10)) + residuals, residuals, np.ones(10)).shrinkage

    assert amount(3000, mixing) < 0.02
    assert amount(3000, np.eye(10)) > 0.5
    assert amount(3, mixing) == 1


def test_copies_of_a_response_are_no_trouble():
    residuals = np.random.default_rng(0).normal(size=(50, 1)) * [1.0, 2.0]
    for noise in (
        choose_covariance(residuals + 1, residuals, np.array([1.0, 2.0])),
        shrink_covariance(residuals, np.array([1.0, 2.0]), 0),
    ):
        assert 0 < noise.shrinkage <= 1
        assert np.isfinite(noise.whiten(residuals)).all()


def test_responses_that_do_not_vary_have_no_say():
    residuals = np.random.default_rng(0).normal(size=(50, 3))
    noise = shrink_covariance(np.column_stack([residuals, np.zeros(50)]), np.array([1.0, 1.0, 1.0, np.inf]), 0.1)
    white = noise.whiten(np.array([[1.0, 2.0, 3.0, 1e6]]))
    np.testing.assert_allclose(
        white[0, :3], shrink_covariance(residuals, np.ones(3), 0.1).whiten(np.array([[1.0, 2.0, 3.0]]))[0]
    )
    assert white[0, 3] == 0


def test_without_shrinkage_rotations_make_no_difference():
    rng = np.random.default_rng(5)
    residuals, points = rng.normal(size=(40, 6)) @ rng.normal(size=(6, 6)), rng.normal(size=(7, 6))
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]

    def distances(residuals, points):
        white = shrink_covariance(residuals, np.ones(6), 0.0).whiten(points)
        return ((white[:, None] - white) ** 2).sum(axis=2)

    np.testing.assert_allclose(distances(residuals @ turn, points @ turn), distances(residuals, points), rtol=1e-8)
