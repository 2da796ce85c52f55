"""Bias, expressivity and its two parts: closed forms, what cannot be counted, and entropies by number of points."""

import dataclasses
import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.tree import DecisionTreeClassifier

import classay
from classay import InputError, Labelings
from classay.learner.orientation.entropy_parts import HoldoutLabels, countable_size, parts
from classay.learner.records.codecs import MISSING


def noisy(seed, shape, flip, classes=2):
    """Truth and predictions (K, R, n) that are wrong with probability `flip`, each on its own."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=shape[-1])
    wrong = (truth + rng.integers(1, classes, size=shape)) % classes
    return np.where(rng.random(shape) < flip, wrong, truth), truth


def measured(predictions, holdout_size=None, holdouts=100, **options):
    return classay.orientation(Labelings.from_arrays(*predictions, **options), holdout_size, holdouts)


def test_a_guesser_has_no_bias_and_no_capacity():
    rng = np.random.default_rng(1)
    o = measured((rng.integers(2, size=(60, 10, 200)), rng.integers(2, size=200)))
    assert all(abs(estimate.value) < 0.03 for estimate in o.bias.values())
    assert o.stochasticity.value == pytest.approx(5, abs=0.1)
    assert o.capacity.value < 0.1
    assert o.plugin.capacity.value > 1.5  # what the correction is for
    # The plain estimates are means over holdouts.
    assert o.plugin.capacity.value == pytest.approx(o.per_holdout["capacity"].mean())
    assert o.bias[4].value == pytest.approx(o.per_holdout["bias_4"].mean())
    assert len(o.per_holdout) == 100


def test_randomness_alone_and_data_alone():
    bits = 5 * (-0.1 * math.log2(0.1) - 0.9 * math.log2(0.9))
    o = measured(noisy(2, (60, 10, 300), 0.1))
    assert o.stochasticity.low <= bits <= o.stochasticity.high
    assert o.stochasticity.value == pytest.approx(bits, abs=0.12)
    assert o.capacity.low <= 0.03
    labels, truth = noisy(2, (60, 1, 300), 0.1)
    o = measured((np.repeat(labels, 10, axis=1), truth))
    assert o.stochasticity.value == 0
    assert o.capacity.value == pytest.approx(bits, abs=0.12)


def test_bias_of_independent_errors_is_binomial():
    o = measured(noisy(3, (80, 4, 400), 0.3, 4), 5)
    for z, estimate in o.bias.items():
        expected = binom.sf(z - 1, 5, 0.7) - binom.sf(z - 1, 5, 0.25)
        assert estimate.value == pytest.approx(expected, abs=0.02)
        assert estimate.low <= expected + 0.01
        assert estimate.high >= expected - 0.01


def test_one_refit_leaves_stochasticity_unknown_unless_deterministic():
    answers = noisy(4, (30, 1, 40), 0.2)
    o = measured(answers)
    assert not any(estimate.known for estimate in (o.stochasticity, o.capacity, o.plugin.stochasticity))
    assert o.per_holdout["stochasticity"].isna().all()
    assert "unknown" in str(o)
    assert any("repeats" in note for note in o.notes)
    o = measured(answers, deterministic=True)
    assert (o.stochasticity.value, o.stochasticity.high) == (0.0, 0.0)
    assert o.capacity.value == o.expressivity.value


def test_a_holdout_of_fifty_works_and_says_what_it_cannot_tell():
    o = measured(noisy(6, (40, 5, 120), 0.2, 3), 50)
    assert len(o.bias) == 50
    assert any("not identified" in note for note in o.notes)
    # Answers vary point by point on their own here, so the limit from single points is the truth itself.
    bits = 50 * (-0.8 * math.log2(0.8) - 2 * 0.1 * math.log2(0.1))
    assert o.expressivity.low < bits < o.expressivity.high < 1.1 * bits
    assert o.stochasticity.low < bits < o.stochasticity.high


def test_ten_classes_and_five_refits_are_told_from_single_points():
    o = measured(noisy(11, (40, 5, 300), 0.2, 10), 5)
    bits = 5 * (-0.8 * math.log2(0.8) - 0.2 * math.log2(0.2 / 9))
    assert o.stochasticity.value == pytest.approx(bits, rel=0.15)
    assert o.stochasticity.low <= bits <= o.stochasticity.high


def test_points_sorted_by_class_make_no_difference():
    truth = np.repeat([0, 1], 1000)
    flipped = np.random.default_rng(12).random((30, 5, 2000)) < 0.5
    o = measured((np.where((truth == 1) & flipped, 0, truth), truth), holdouts=400)  # one class is a coin flip
    assert o.stochasticity.value == pytest.approx(2.5, abs=0.2)


def test_kinds_say_what_intervals_are():
    answers = noisy(13, (60, 1, 100), 0.05)
    o = measured(answers, deterministic=True)
    assert o.stochasticity.kind == "exact: deterministic"
    assert o.capacity.kind == "of these training rows, over subsets and holdouts"
    o = measured(answers, 40, deterministic=True)
    assert o.expressivity.kind.startswith("at least")
    assert o.capacity.kind.startswith("at least")
    assert str(o.capacity).startswith("at least ")


def test_kinds_name_the_population():
    """One table, fresh samples and tables of predictions were all "over subsets and holdouts"."""

    def source(generator, n):
        X = generator.normal(size=(n, 2))
        return X, (X[:, 0] + generator.normal(size=n) > 0).astype(int)

    X, y = source(np.random.default_rng(0), 120)
    tree = DecisionTreeClassifier()
    table = classay.record(tree, X, y, classay.Subsets(20), repeats=2, executor=1)
    fresh = classay.record(tree, source=source, scheme=classay.Subsets(20, 30), repeats=2, test_size=40, executor=1)
    for record, population in ((table, "of these training rows"), (fresh, "of data like these")):
        o = classay.orientation(record, holdout_size=3)
        kind = f"{population}, over subsets and holdouts"
        assert {o.expressivity.kind, o.capacity.kind, o.bias[2].kind, o.bias(target=2).kind} == {kind}
        assert kind in set(o.to_frame()["kind"])
        assert o.to_dict()["capacity"]["kind"] == kind
        assert classay.orientation(record, [1, 2]).capacity[2].kind == kind


@pytest.mark.parametrize(("classes", "size"), [(2, 20), (10, 5), (26, 6)])
@pytest.mark.parametrize("refits", [3, 10])
def test_stochasticity_that_cannot_be_counted_is_a_lower_limit(classes, size, refits):
    """Of guessers it saturated at 11.4 bits, as if that were an estimate; the truth is up to 33 bits."""
    rng = np.random.default_rng(0)
    truth = np.arange(50) % classes
    labels = rng.integers(classes, size=(60, refits, 50))
    o = measured((labels, truth), size, 30)
    bits = size * math.log2(classes)
    assert o.stochasticity.kind.startswith("at least")
    assert 3 < o.stochasticity.value == o.stochasticity.low < bits <= o.stochasticity.high + 1e-9
    assert o.expressivity.low >= o.stochasticity.low
    assert f"at least {o.stochasticity.value:.3g}" in str(o)
    assert "at least" in o.conclusion()
    assert any("Stochasticity is at least" in note for note in o.notes)


@pytest.mark.slow
@pytest.mark.parametrize("patterns", [8, 256])
def test_the_lower_limit_of_stochasticity_holds_where_holdouts_repeat_together(patterns):
    """A refit is one of a few patterns of its subset, on all points at once: holdouts are no independent evidence."""
    above = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        own = rng.integers(10, size=(40, patterns, 60))
        labels = np.stack([each[rng.integers(patterns, size=3)] for each in own])
        o = measured((labels, np.arange(60) % 10), 5, 10)
        above += o.stochasticity.low > math.log2(patterns)
    assert above <= 1


@pytest.mark.parametrize(("n_subsets", "refits"), [(8, 1), (8, 3), (100, 5)])
def test_what_never_varied_may_vary_and_no_interval_is_without_width(n_subsets, refits):
    """Capacity was 0 [0, 0], with one refit per subset unknown [0, 0]."""
    o = measured((np.zeros((n_subsets, refits, 20), dtype=int), np.arange(20) % 2))
    for figures in (o, o.plugin):
        assert (figures.expressivity.value, figures.capacity.value, figures.stochasticity.value) == (0, 0, 0)
    share = 1 - 0.05 ** (1 / n_subsets)
    most = -share * math.log2(share) - (1 - share) * math.log2(1 - share) + share * math.log2(31)
    assert (o.expressivity.high, o.capacity.high) == pytest.approx((most, most))
    frame = o.to_frame().query("figure != 'train_accuracy'")
    assert (frame["high"] > frame["low"]).all()


@pytest.mark.parametrize(("share", "n_subsets"), [(0.02, 50), (0.05, 20), (0.5, 10)])
def test_few_subsets_that_deviate_everywhere_are_covered(share, n_subsets):
    """A subset deviates on all points or none. Expressivity covered .63 to .67, and was 1.07 [1.07, 1.07] of 1 bit."""
    bits, held = -share * math.log2(share) - (1 - share) * math.log2(1 - share), 0
    for seed in range(40):
        deviates = np.random.default_rng(seed).random((n_subsets, 1, 1)) < share
        answers = np.broadcast_to(deviates, (n_subsets, 1, 12)).astype(int)
        o = measured((answers, np.arange(12) % 2), 3, 4, deterministic=True, classes=[0, 1])
        held += o.expressivity.low <= bits <= o.expressivity.high
        assert o.expressivity.value <= 1
    assert held >= 35


@pytest.mark.parametrize("refits", [5, 10])
def test_a_subset_has_no_labelings_but_those_of_all_subsets(refits):
    """Capacity was 0 [0, 1.15] where it is .56: the seed picks a labeling by Zipf's law, the sample shifts the law."""
    rng = np.random.default_rng(0)
    labelings, p = rng.integers(0, 4, (40, 60)), 1 / np.arange(1, 41) ** 1.2
    drawn = np.stack([rng.choice(40, refits, p=p / p.sum()) + 20 * (subset % 2) for subset in range(50)])
    o = measured((labelings[drawn % 40], labelings[0]), 5, 20)
    assert o.capacity.value == pytest.approx(0.56, abs=0.3)
    assert o.capacity.high < 2.3


def test_a_capacity_at_the_edge_of_what_counts_show_is_a_range():
    o = measured((np.random.default_rng(2).integers(2, size=(20, 2, 30)), np.arange(30) % 2), 3)
    assert 0 == o.capacity.low <= o.capacity.value < 0.05
    assert str(o.capacity) == f"between 0 and {o.capacity.high:.3g}"
    assert str(o.capacity) in str(o)


def test_conclusions_say_on_what_predictions_depend():
    once, truth = noisy(3, (60, 1, 200), 0.2)
    X, y = np.random.default_rng(0).normal(size=(200, 3)), np.arange(200) % 2
    fixed = classay.record(DecisionTreeClassifier(random_state=0), X, y, classay.Subsets(20), executor=1)
    for o, words in (
        (measured((np.repeat(once, 5, axis=1), truth)), "depend more on the training sample"),
        (measured(noisy(3, (60, 5, 200), 0.2)), "depend more on the seed"),
        (
            measured((once, truth), deterministic=True),
            "only with the training sample, because refits on the same rows do not differ",
        ),
        (measured((once, truth)), "one refit per subset cannot show"),
        (
            measured((np.zeros((30, 5, 40), dtype=int), np.arange(40) % 2)),
            "another training sample or seed mostly gives the same",
        ),
        (classay.orientation(fixed), "its seed is fixed (random_state)"),
    ):
        assert words in o.conclusion()
        assert "at least 4 of 5 right" in o.conclusion()
        assert len(o.conclusion().split(". ")) == 2


@pytest.mark.parametrize(
    ("size", "words"), [(1, ", where guessing is on 50.0 %. "), (2, "gets both right"), (3, "gets all 3 right")]
)
def test_conclusions_of_few_points(size, words):
    labels = np.random.default_rng(0).integers(2, size=(30, 5, 40))
    assert words in measured((labels, np.arange(40) % 2), size).conclusion()


def test_missing_refits_are_left_out_and_said():
    full = Labelings.from_arrays(*noisy(7, (20, 4, 40), 0.2))
    labels = full.labels.copy()
    labels[3, 1] = MISSING
    o = classay.orientation(dataclasses.replace(full, labels=labels))
    assert (o.n_subsets, o.n_refits) == (19, 4)
    assert any("missing" in note for note in o.notes)
    assert any("19 subsets are few" in note for note in o.notes)
    labels[:5] = MISSING
    with pytest.raises(InputError, match="80%"):
        classay.orientation(dataclasses.replace(full, labels=labels))


def test_the_seed_decides():
    record = Labelings.from_arrays(*noisy(8, (10, 3, 40), 0.2))
    a, b, c = (classay.orientation(record, random_state=seed) for seed in (1, 1, 2))
    assert json.dumps(a.to_dict()) == json.dumps(b.to_dict())
    assert not np.array_equal(a.holdouts, c.holdouts)
    assert all(np.unique(row).size == 5 for row in a.holdouts)


def test_frame_is_tidy():
    o = measured(noisy(9, (10, 3, 40), 0.2), name="mine")
    frame = o.to_frame().set_index("figure")
    assert frame.loc["expressivity", "value"] == o.expressivity.value
    assert frame.loc["bias_4", "threshold"] == 4
    assert pd.isna(frame.loc["capacity", "threshold"])
    assert frame.loc["bias_4", "most"] == pytest.approx(1 - 0.1875)
    assert set(frame["learner"]) == {"mine"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"holdout_size": 41}, "40 test points"),
        ({"holdout_size": 0}, "holdout_size"),
        ({"holdout_size": ()}, "`holdout_size` is empty"),
        ({"holdout_size": (1, 41)}, "40 test points"),
        ({"holdout_size": (1.5,)}, "holdout_size"),
        ({"holdouts": 0}, "holdouts"),
        ({"holdouts": 2.5}, "holdouts"),
        ({"random_state": "x"}, "random_state"),
        ({"level": 95}, "level"),
        ({"labelings": "x"}, "expected a record"),
        ({"labelings": np.zeros((3, 2, 4))}, "expected a record"),
        ({"labelings": Labelings.from_arrays(np.zeros((1, 5, 2), dtype=int), [0, 1])}, "1 subset"),
    ],
)
def test_wrong_options(options, message):
    record = Labelings.from_arrays(np.zeros((3, 2, 40), dtype=int), [0, 1] * 20)
    with pytest.raises(InputError, match=message):
        classay.orientation(**{"labelings": record} | options)


# By the number of points


FIVE = (1, 2, 3, 4, 5)


def following(n_subsets, refits, n_points, n_classes, seed=0, follow=0.5, random=0.0):
    """Each subset has its own label at every point with probability `follow`; a refit then errs with `random`."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_points)
    own = rng.integers(n_classes, size=(n_subsets, 1, n_points))
    base = np.where(rng.random((n_subsets, 1, n_points)) < follow, own, truth)
    noise = rng.integers(n_classes, size=(n_subsets, refits, n_points))
    return Labelings.from_arrays(np.where(rng.random((n_subsets, refits, n_points)) < random, noise, base), truth)


@pytest.fixture(scope="module")
def many_classes():
    """26 classes, as letters: five points cannot be counted."""
    return following(60, 5, 200, 26, follow=0.12, random=0.1)


def test_capacity_is_never_said_to_be_nothing_where_it_cannot_be_counted(many_classes):
    """It was 0.00 [0, 5.27] where one, two and three points had shown more."""
    five = classay.orientation(many_classes, holdout_size=5)
    one = classay.orientation(many_classes, holdout_size=1)
    assert one.capacity.value > 0.1
    assert five.capacity.value == five.capacity.low >= one.capacity.low > 0
    assert five.capacity.kind.startswith("at least")
    assert f"at least {five.capacity.value:.3g}" in str(five)
    assert any("Capacity is at least" in note and "it cannot be less" in note for note in five.notes)


@pytest.mark.slow
def test_a_lower_limit_is_no_estimate():
    """Guessers have no capacity; "at least 0.16 bits, nor be less" was the estimate of one point."""
    wrong = 0
    for seed in range(12):
        labels = np.random.default_rng(seed).integers(10, size=(60, 3, 50))
        o = classay.orientation(Labelings.from_arrays(labels, np.arange(50) % 10), holdout_size=5, holdouts=30)
        wrong += o.capacity.known and o.capacity.value > 0
        assert o.capacity.known or any("Capacity is between 0 and" in note for note in o.notes)
    assert wrong <= 1


def test_the_usual_size_can_be_counted_and_is_said(many_classes):
    o = classay.orientation(many_classes)
    assert o.holdout_size == countable_size(many_classes) < 5
    assert o.capacity.kind == "of these training rows, over subsets and holdouts"
    assert any("not 5: labelings of more points hardly repeat" in note for note in o.notes)
    # The same points as when it is asked for.
    asked = classay.orientation(many_classes, holdout_size=o.holdout_size)
    np.testing.assert_array_equal(o.holdouts, asked.holdouts)
    with pytest.raises(InputError, match="holdout_size=5"):
        o.bias[4]


def test_two_classes_always_have_five_points_if_there_are_as_many():
    o = classay.orientation(following(6, 2, 30, 2, follow=0.8))
    assert o.holdout_size == 5
    assert 4 in o.bias
    assert classay.orientation(following(30, 2, 3, 2)).holdout_size == 3


@pytest.mark.parametrize("seed", range(3))
def test_curves_rise_and_add_up(seed):
    curve = classay.orientation(following(40, 5, 100, 2, seed, follow=0.2, random=0.1), FIVE)
    assert curve.identified >= 3
    for figure in (curve.expressivity, curve.capacity, curve.stochasticity):
        counted = [figure[size].value for size in curve.sizes if size <= curve.identified]
        assert counted == sorted(counted)
    limits = [curve.capacity[size].value for size in curve.sizes if size > curve.identified]
    assert limits == sorted(limits)
    for size in range(1, curve.identified + 1):
        total = curve.capacity[size].value + curve.stochasticity[size].value
        assert curve.expressivity[size].value == pytest.approx(total)


@pytest.mark.parametrize("independent", [True, False])
def test_independent_points_reach_the_ceiling_and_copies_stay_below(independent):
    """Labels that follow the subset on their own: information adds up over points."""
    labels = np.random.default_rng(0).integers(2, size=(2000, 1, 30 if independent else 1))
    labels = np.broadcast_to(labels, (2000, 2, 30))
    curve = classay.orientation(Labelings.from_arrays(labels, np.arange(30) % 2, classes=[0, 1]), FIVE, holdouts=20)
    for size in (1, 2, 3):
        assert curve.capacity[size].value == pytest.approx(size if independent else 1, abs=0.05)
        assert curve.ceiling[size] == pytest.approx(size, abs=0.05)


def test_a_deterministic_learner_has_no_other_part_and_one_refit_leaves_it_unknown():
    record = following(40, 1, 60, 2)
    curve = classay.orientation(dataclasses.replace(record, deterministic=True), holdout_size=(1, 3))
    for size in (1, 3):
        assert curve.capacity[size].value == pytest.approx(curve.expressivity[size].value)
    curve = classay.orientation(record, holdout_size=(2,))
    assert not curve.capacity[2].known
    assert curve.expressivity[2].known
    assert f"expressivity in bits by number of points, 2: {curve.expressivity[2]}" in str(curve)
    assert "Capacity and stochasticity are unknown" in str(curve)


@pytest.fixture(scope="module")
def guesses():
    """Refits that depend on nothing: their entropy is the number of points times log2 of 3."""
    labels = np.random.default_rng(0).integers(3, size=(20, 3, 40))
    return Labelings.from_arrays(labels, np.arange(40) % 3)


def test_the_limit_of_stochasticity_is_at_least_that_of_five_points(guesses):
    """It fell from 10.3 [7.05, 11.8] bits to at least 4.57, though a labeling of more points varies no less."""
    many = classay.orientation(guesses, holdout_size=12, holdouts=20)
    five = parts(HoldoutLabels(guesses.complete(), many.holdouts[:, :5], 3)).stochasticity
    assert many.stochasticity.prefix
    assert many.stochasticity.value == many.stochasticity.low >= five.low
    assert many.expressivity.low >= many.stochasticity.low


@pytest.mark.slow
def test_limits_rise_over_the_sizes_that_were_asked_for(guesses):
    curve = classay.orientation(guesses, holdout_size=(5, 6, 7, 8, 10, 12), holdouts=20)
    assert curve.stochasticity[12].prefix
    for figure in (curve.expressivity, curve.capacity, curve.stochasticity):
        least = 0.0
        for each in figure.values():
            if each.prefix:
                assert each.low <= each.value <= each.high
                assert each.value >= least - 1e-9
            least = max(least, each.low)
    for size in curve.sizes:
        assert curve.expressivity[size].low >= curve.stochasticity[size].low - 1e-9
