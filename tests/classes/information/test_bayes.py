import itertools
import math

import numpy as np
import pytest
from class_worlds import led_scores
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from scipy.integrate import quad

from classay import InputError, accuracy_curve
from classay.classes.information import bayes
from classay.classes.information.bayes import SampleDesign, lower_bound, lower_bound_fixed_classes

ALPHA = math.log(0.05)
TRIED = ((1, 1), (1, 7), (7, 1))


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


@given(channels(), st.integers(2, 3), st.integers(1, 5), st.sampled_from([1, 2, 30]))
def test_the_tail_holds_for_the_best_classifier(channel, k, rows, tried):
    """Exactly: over all sets of classes, the rows right are a sum of binomials, one a class; the most of some tries."""
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
        counts += share * np.diff(np.minimum(right.cumsum(), 1) ** tried, prepend=0)
    mean, design = float(best @ chance), SampleDesign(k, np.full(k, rows), tried=tried)
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


# `Curve.bayes_bound`


def curve(n_classes=30, rows=6, lead=2.0, **options):
    return accuracy_curve(*led_scores(n_classes, rows, lead), **options)


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
    assert made.bayes_bound(alpha=0.005).low <= made.bayes_bound(tried=10).low < made.bayes_bound().low
    assert made.bayes_bound(tried=10).level == 0.95
    # With many rows trying costs little: the classes are the same for all.
    alone, of_seven, divided = (lower_bound(0.635, math.log(0.05 / n), 50, np.full(50, 200), t) for n, t in TRIED)
    assert alone - of_seven < 0.01 < 0.04 < alone - divided


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
