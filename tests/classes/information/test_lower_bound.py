import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from scipy.integrate import quad

from classay.classes.information import bayes
from classay.classes.information.bayes import SampleDesign, lower_bound, lower_bound_fixed_classes

ALPHA = math.log(0.05)


@st.composite
def channels(draw):
    """A handful of classes, each a distribution over a few responses, and how likely each is to be drawn."""
    n_kinds, n_responses = draw(st.integers(2, 4)), draw(st.integers(2, 5))
    positive = hnp.arrays(float, (n_kinds, n_responses), elements=st.floats(0, 1, allow_subnormal=False)).filter(
        lambda p: p.sum(1).min() > 0
    )
    kinds = draw(positive)
    shares = draw(hnp.arrays(float, n_kinds, elements=st.floats(0.05, 1)))
    return kinds / kinds.sum(axis=1, keepdims=True), shares / shares.sum()


def all_sets(channel, k):
    """The Bayes accuracy of every set of k classes, and its chance to be drawn."""
    kinds, shares = channel
    sets = list(itertools.product(range(len(kinds)), repeat=k))
    best = np.array([kinds[list(chosen)].max(axis=0).sum() / k for chosen in sets])
    return best, np.array([shares[list(chosen)].prod() for chosen in sets])


@given(channels(), st.integers(2, 4), st.floats(-3, 3))
def test_no_draw_of_classes_varies_more(channel, k, log_theta):
    best, chance = all_sets(channel, k)
    mean, theta = float(best @ chance), np.array([10.0**log_theta])
    exact = math.log(chance @ np.exp(theta[0] * (best - mean)))
    assert exact <= SampleDesign(k, np.ones(k, int))._class_term(theta, mean)[0] + 1e-9


@given(channels(), st.integers(2, 3), st.integers(1, 5))
def test_the_tail_holds_for_the_best_classifier(channel, k, rows):
    """Exactly: over all sets of classes, the rows right are a sum of binomials, one a class."""
    kinds, _ = channel
    counts = np.zeros(k * rows + 1)
    sets = list(itertools.product(range(len(kinds)), repeat=k))
    best, chance = all_sets(channel, k)
    for chosen, share in zip(sets, chance):
        answers = kinds[list(chosen)].argmax(axis=0)
        right = np.array([1.0])
        for place, kind in enumerate(chosen):
            accuracy = min(kinds[kind][answers == place].sum(), 1.0)
            right = np.convolve(right, stats.binom.pmf(np.arange(rows + 1), rows, accuracy))
        counts += share * right
    mean, design = float(best @ chance), SampleDesign(k, np.full(k, rows))
    for number, tail in enumerate(counts[::-1].cumsum()[::-1]):
        assert tail <= math.exp(design.log_tail(mean, number / (k * rows))) + 1e-9


def test_weakened_is_the_integral_and_concave():
    def lost(u):
        doubled = 2 * (math.expm1(u) - u)
        return doubled / (u * (u + doubled))

    for s in (0.1, 1.0, 6.0):
        exact = s * math.exp(-quad(lost, 1e-9, s)[0])
        assert bayes.error_exponent(np.array([s]))[0] == pytest.approx(exact, rel=1e-6)
    assert bayes.error_exponent(np.array([1e3]))[0] == pytest.approx(0.62077, abs=1e-5)
    places = np.linspace(0, 50, 500)
    values = bayes.error_exponent(places)
    assert (np.diff(values, 2) <= 1e-12).all()
    # A looser bound in closed form: that of a Poisson variable of half the mean.
    assert (values >= -np.expm1(-2 * places) / 2 - 1e-12).all()


def two_steps(accuracy, n, k):
    """Clopper–Pearson for the rows, then the better of two tails for the classes, half of the level each."""
    right = round(accuracy * n)
    here = stats.beta.ppf(0.025, right, n - right + 1)
    total, wanted = k * here, math.log(40)
    low, high = 1e-9, total
    for _ in range(100):
        middle = (low + high) / 2
        if total * math.log(total / middle) - total + middle > wanted:
            low = middle
        else:
            high = middle
    return max(here - math.sqrt(wanted / (2 * k)), low / k, 1 / k)


@pytest.mark.parametrize(
    ("accuracy", "k", "rows"),
    [(0.635, 50, 10), (0.635, 50, 1), (0.95, 50, 20), (1.0, 50, 20), (0.9, 500, 1), (0.02, 1000, 1), (0.3, 20, 20)],
)
def test_one_step_is_tighter_than_two(accuracy, k, rows):
    bound = lower_bound(accuracy, ALPHA, k, np.full(k, rows))
    thesis = accuracy - math.sqrt(math.log(80) / (2 * k * rows)) - 1 / math.sqrt(0.1 * k)
    assert thesis < two_steps(accuracy, k * rows, k) < bound < accuracy


def test_the_bound_of_the_methods():
    assert lower_bound(0.635, ALPHA, 50, np.full(50, 10)) == pytest.approx(0.4534, abs=1e-4)


@settings(max_examples=50)
@given(st.integers(2, 60), st.integers(1, 30), st.floats(0, 1), st.floats(0, 1))
def test_more_right_is_more_bound(k, rows, one, other):
    low, high = sorted([one, other])
    counts = np.full(k, rows)
    bounds = [lower_bound(accuracy, ALPHA, k, counts) for accuracy in (low, high)]
    assert 1 / k <= bounds[0] <= bounds[1] + 1e-9
    assert bounds[1] <= max(high, 1 / k)
    assert lower_bound(high, math.log(0.01), k, counts) <= bounds[1] + 1e-9
    assert lower_bound(high, ALPHA, k, 2 * counts) >= bounds[1] - 1e-9
    assert lower_bound(high, ALPHA, k, np.full(2 * k, rows)) >= bounds[1] - 1e-9


@settings(max_examples=30)
@given(st.integers(2, 100), st.integers(1, 20), st.floats(0.05, 1))
def test_the_tail_rises_with_the_mean(k, rows, accuracy):
    design = SampleDesign(k, np.full(k, rows))
    means = np.linspace(1 / k, max(accuracy, 1 / k), 60)
    assert (np.diff([design.log_tail(mean, accuracy) for mean in means]) >= -1e-9).all()


def test_a_finer_grid_gains_nothing(monkeypatch):
    cases = [(0.635, 50, 10), (0.99, 500, 1), (0.01, 1000, 2), (0.9, 2, 100)]
    bounds = [lower_bound(accuracy, ALPHA, k, np.full(k, rows)) for accuracy, k, rows in cases]
    monkeypatch.setattr(bayes, "_GRID", np.geomspace(1e-6, 1e6, 20_000))
    finer = [lower_bound(accuracy, ALPHA, k, np.full(k, rows)) for accuracy, k, rows in cases]
    assert finer == pytest.approx(bounds, rel=1e-3)


def test_rows_that_differ_by_class():
    evenness = lower_bound(0.8, ALPHA, 30, np.full(30, 10))
    uneven = lower_bound(0.8, ALPHA, 30, np.repeat([5, 15], 15))
    poor = lower_bound(0.8, ALPHA, 30, np.array([1] + [10] * 29))
    assert uneven < evenness
    # One class with a single row hardly matters.
    assert evenness - 0.01 < poor < evenness
    # Hoeffding's inequality for weights, with the classes: a bound that the better of two must reach.
    spread = (1 / 30 + np.mean(1 / np.repeat([5, 15], 15)) / 30) / 2
    assert uneven >= 0.8 - math.sqrt(math.log(20) * spread) - 1e-4


def test_rows_alone():
    rows = np.full(50, 10)
    here = lower_bound_fixed_classes(0.636, ALPHA, rows)
    # The exact limit is not below a Chernoff bound, and that is not far.
    exact = stats.beta.ppf(0.05, 318, 500 - 318 + 1)
    assert lower_bound(0.636, ALPHA, 50, rows) < here < exact < here + 0.03
    assert lower_bound_fixed_classes(0.0, ALPHA, rows) == 0
    assert lower_bound_fixed_classes(1.0, ALPHA, rows) == pytest.approx(0.05 ** (1 / 500), rel=1e-3)
