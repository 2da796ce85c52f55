import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from classay import InputError
from classay.classes.information import average_bayes_accuracy, channel, least_information, most_accuracy
from classay.classes.information.channel import inverse_mean_top, mean_top

sizes = st.floats(2, 1e6)


def test_mean_top_where_it_is_known():
    c = np.linspace(-4, 9, 27)
    assert np.abs(mean_top(c, 1) - 1).max() < 1e-14
    assert np.abs(mean_top(c, 2) - stats.norm.cdf(c / math.sqrt(2))).max() < 1e-14
    k = np.array([1, 2, 3, 10, 1e3, 1e6, 1e9, 1e12])
    assert mean_top(0.0, k) == pytest.approx(1 / k, rel=1e-12)
    assert mean_top([-math.inf, math.inf], [[1], [5]]) == pytest.approx(np.array([[1, 1], [0, 1]]), abs=1e-15)


def test_mean_top_is_a_probability_however_the_weights_round(monkeypatch):
    values = mean_top(np.linspace(-40, 40, 401)[:, None], [1, 2, 5, 100, 1e12])
    assert values.min() >= 0
    assert values.max() <= 1
    monkeypatch.setattr(channel, "_BOTH", channel._BOTH * (1 + 1e-15))
    assert mean_top(9.0, [1, 2]).max() <= 1


@pytest.mark.parametrize(
    ("c", "k"), [(-2, 3), (1, 10), (3, 100), (0, 10**4), (5, 10**8), (0, 10**12), (1, 10**12), (6, 10**12), (9, 10**12)]
)
def test_mean_top_against_exact_arithmetic(c, k):
    mpmath = pytest.importorskip("mpmath")

    def density(z):
        # Far to the right 1 − Φ is small, and k may be large.
        log_cdf = mpmath.log1p(-mpmath.ncdf(-z)) if z > 0 else mpmath.log(mpmath.ncdf(z))
        return mpmath.npdf(z - c) * mpmath.exp((k - 1) * log_cdf)

    with mpmath.workdps(20):
        exact = mpmath.quad(density, [c - 9, c - 3, c, c + 3, c + 6, c + 9])
        assert abs(mean_top(c, k) - exact) < 1e-12


def test_mean_top_in_blocks_and_any_shape(monkeypatch):
    c, k = np.linspace(0, 5, 7)[:, None], np.array([1, 2, 5, 30.5])
    whole = mean_top(c, k)
    monkeypatch.setattr(channel, "_BLOCK", 3)
    assert whole.shape == (7, 4)
    assert mean_top(c, k) == pytest.approx(whole, rel=1e-14)
    assert whole[3, 2] == pytest.approx(float(mean_top(c[3, 0], 5)), rel=1e-14)


@given(st.floats(-3, 8), sizes)
def test_the_inverse_of_mean_top(c, k):
    accuracy = float(mean_top(c, k))
    assert float(mean_top(inverse_mean_top(accuracy, k), k)) == pytest.approx(accuracy, abs=1e-13)
    if accuracy < 1 - 1e-6:
        assert float(inverse_mean_top(accuracy, k)) == pytest.approx(c, abs=1e-7)


def test_the_inverse_of_mean_top_at_its_ends():
    assert inverse_mean_top([0.0, 1.0], 7).tolist() == [-math.inf, math.inf]
    assert inverse_mean_top(1 / 7, 7) == pytest.approx(0, abs=1e-14)
    assert inverse_mean_top([0.2, 0.7], [[2], [9]]).shape == (2, 2)


def test_least_information_of_the_thesis():
    # C_k(1 nat) in METHODS, to three digits.
    np.testing.assert_allclose(least_information([0.865, 0.513, 0.314, 0.263], [2, 10, 50, 100]), 1.0, atol=5e-3)


@pytest.mark.parametrize(("k", "c"), [(2, 0.7), (2, 12.0), (5, 3.0), (30, 20.0)])
def test_least_information_is_the_integral_of_its_definition(k, c):
    total = quad(lambda t: math.exp(c * t ** (k - 1)), 0, 1, epsabs=0, epsrel=1e-12)[0]

    def q(t):
        return math.exp(c * t ** (k - 1)) / total

    nats = quad(lambda t: q(t) * math.log(q(t)), 0, 1, epsabs=0, epsrel=1e-11)[0]
    accuracy = quad(lambda t: q(t) * t ** (k - 1), 0, 1, epsabs=0, epsrel=1e-11)[0]
    assert least_information(accuracy, k) == pytest.approx(nats, rel=1e-8)
    assert most_accuracy(nats, k) == pytest.approx(accuracy, rel=1e-8)


def test_tilted_against_exact_arithmetic():
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(60):
        for k in (2, 3, 100, 10**6, 10**12):
            for log_c in (-25, -8, -1, 1, 3, 4.5, 4.7, 8, 40):
                a, c = 1 / (mpmath.mpf(k) - 1), mpmath.exp(mpmath.mpf(log_c))
                low = mpmath.hyp1f1(1, 1 + a, -c)
                accuracy = (1 / low - 1) * a / c
                exact = (accuracy - 1 / mpmath.mpf(k), 1 - accuracy, c * accuracy - c - mpmath.log(low))
                for ours, theirs in zip(channel._tilted_channel(log_c, 1 / (k - 1)), exact):
                    assert abs(ours / theirs - 1) < 1e-12


def test_least_information_at_its_ends():
    assert least_information([0.0, 0.05, 0.1, 1.0], 10).tolist() == [0, 0, 0, math.inf]
    assert 30 < least_information(1 - 1e-15, 10) < 40
    assert most_accuracy([0.0, 1e-60, 700.0, math.inf], 10) == pytest.approx([0.1, 0.1, 1, 1])


@given(st.floats(0, 1), st.floats(0, 1), sizes)
def test_least_information_rises_with_accuracy(one, other, k):
    low, high = sorted([one, other])
    assert least_information(low, k) <= least_information(high, k) + 1e-9


@given(st.floats(0.01, 8), st.integers(2, 10_000))
def test_no_channel_is_above_the_highest(nats, k):
    """The Gaussian channel of high dimension is one of those that need at least this much."""
    assert least_information(mean_top(math.sqrt(2 * nats), k), k) <= nats + 1e-9
    assert least_information(most_accuracy(nats, k), k) == pytest.approx(nats, rel=1e-6)


@pytest.mark.parametrize("k", [1, 2, 4, 7])
def test_average_bayes_accuracy_is_that_of_all_sets(k):
    table = np.random.default_rng(k).dirichlet(np.full(5, 0.5), size=7)
    sets = [table[list(chosen)].max(axis=0).sum() / k for chosen in combinations(range(7), k)]
    assert average_bayes_accuracy(table, k) == pytest.approx(np.mean(sets), rel=1e-12)


def test_bad_input():
    with pytest.raises(InputError, match="classes from 2 up"):
        least_information(0.5, 1)
    with pytest.raises(InputError, match="classes from 1 up"):
        mean_top(1.0, [0.5])
    with pytest.raises(InputError, match="from 0 to 1"):
        least_information(1.2, 5)
    with pytest.raises(InputError, match="nats from 0 up"):
        most_accuracy(-1.0, 5)
    for table, k in (([[0.5, 0.4]], 1), ([[0.5, 0.5]], 2)):
        with pytest.raises(InputError, match="channel"):
            average_bayes_accuracy(table, k)
    with pytest.raises(InputError, match="from 0 to 1"):
        inverse_mean_top(math.nan, 5)
