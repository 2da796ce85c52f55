import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import classay
from classay import InputError, Labelings
from classay.learner.sweep.best_value import compared, utility_table


def paired(seed, flips, n_subsets=30, n_points=80, shared=0.3):
    """Records of values that err together: a subset is hard for all of them, and each adds its own errors."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_points) % 2
    common = rng.random((n_subsets, 1, n_points)) < shared * rng.random((n_subsets, 1, 1))
    records = {}
    for value, flip in flips.items():
        wrong = common | (rng.random((n_subsets, 1, n_points)) < flip)
        records[value] = Labelings.from_arrays(np.where(wrong, 1 - truth, truth), truth, classes=[0, 1])
    return records


def test_accuracy_and_differences_by_hand():
    truth = [0, 0]
    one = Labelings.from_arrays([[[0, 0]], [[0, 1]]], truth, classes=[0, 1])
    other = Labelings.from_arrays([[[0, 1]], [[1, 1]]], truth, classes=[0, 1])
    found = compared("tree", ("depth",), {1: other, 2: one}, None, "smallest", 0.95)
    assert found.best == 2
    assert found.utility[2].value == 0.75
    assert found.difference[1].value == pytest.approx(-0.5)
    assert found.difference[2].value == 0
    assert found.error[2] == 0


def test_stability_is_the_agreement_of_refits_on_different_subsets():
    labels = np.random.default_rng(0).integers(3, size=(5, 2, 12))
    pairs = [
        (labels[k, r] == labels[m, s]) for k, m in itertools.permutations(range(5), 2) for r, s in np.ndindex(2, 2)
    ]
    record = Labelings.from_arrays(labels, np.arange(12) % 3)
    assert utility_table(record, {"stability": 1.0}).mean(axis=0) == pytest.approx(np.mean(pairs, axis=0))
    both = utility_table(record, {"accuracy": 1, "stability": 0.5}).mean()
    assert both == pytest.approx((labels == record.truth).mean() + 0.5 * np.mean(pairs))


def test_cost_is_that_of_each_value():
    """On a shared path all values had the same seconds, so that a cost did nothing."""
    given = RandomForestClassifier(), *load_breast_cancer(return_X_y=True), "n_estimators", [1, 30]
    swept = {
        share: classay.sweep(*given, classay.Subsets(4), 1, executor=1, share_paths=share) for share in (True, False)
    }
    with pytest.raises(InputError, match=r"1 and 30 were fitted together.*share_paths=False"):
        swept[True].compare({"accuracy": 1, "cost": -1})
    assert swept[True].compare({"accuracy": 1, "cost": 0}).best is not None
    found = swept[False].compare({"cost": -1})
    for value, record in swept[False].records.items():
        assert found.utility[value].value == pytest.approx(-record.seconds.mean())
    assert found.best == 1
    assert any("measured in this sweep" in note for note in found.notes)
    with pytest.raises(InputError, match="a cost is a loss: expected a weight below 0, such as -2 "):
        swept[False].compare({"accuracy": 1, "cost": 2})


def test_shared_costs_are_told_from_coincidences():
    """One refit that was fitted again, or not at all, made all seconds differ, and the check was passed."""
    record = Labelings.from_arrays(np.zeros((10, 2, 4), dtype=int), [0, 1, 0, 1], classes=[0, 1])
    seconds = np.arange(1.0, 21.0).reshape(10, 2)
    once = seconds + 0.5
    once[3, 1] = seconds[3, 1]  # two quick fits may take as long as each other
    for other, shared in ((np.where(seconds > 5, np.nan, seconds), True), (seconds + 0.5, False), (once, False)):
        records = {1: replace(record, seconds=seconds), 2: replace(record, seconds=other)}
        if shared:
            with pytest.raises(InputError, match="1 and 2 were fitted together"):
                compared("t", ("p",), records, {"accuracy": 1, "cost": -1}, "smallest", 0.95)
        else:
            assert compared("t", ("p",), records, {"cost": -1}, "smallest", 0.95).best == 1


def test_pairs_are_closer_than_bands():
    found = compared("t", ("p",), paired(0, {1: 0.10, 2: 0.05}), None, "smallest", 0.95)
    one, best = found.utility[1], found.utility[2]
    assert (found.difference[1].high - found.difference[1].low) < 0.7 * math.hypot(
        one.high - one.low, best.high - best.low
    )


def test_the_simplest_that_is_as_good_is_chosen():
    records = paired(1, {1: 0.3, 2: 0.05, 3: 0.05, 4: 0.05})
    for prefer in ("smallest", "largest"):
        found = compared("t", ("p",), records, None, prefer, 0.95)
        within = [v for v in records if found.difference[v].value >= -found.error[v]]
        assert found.chosen == (min if prefer == "smallest" else max)(within)
        assert 1 not in within
        assert 1 not in found.as_good
    frame = found.to_frame()
    assert frame["chosen"].sum() == frame["best"].sum() == 1


def test_words_have_the_order_they_were_given_in():
    records = dict(zip(("gini", "entropy"), paired(2, {1: 0.05, 2: 0.05}).values()))
    found = compared("t", ("criterion",), records, None, "smallest", 0.95)
    assert any("gini is not a number: the first in the given order" in note for note in found.notes)
    records = dict(zip((1, 2, None), paired(2, {1: 0.05, 2: 0.05, 3: 0.05}).values()))
    found = compared("t", ("max_depth",), records, None, "smallest", 0.95)
    assert any("None is not a number" in note for note in found.notes)
    records = dict(zip(((1, 2), (2, 2)), paired(2, {1: 0.05, 2: 0.05}).values()))
    found = compared("t", ("a", "b"), records, None, "smallest", 0.95)
    assert any("Pairs of values have no order" in note for note in found.notes)
    assert found.chosen in records


def test_intervals_of_paired_differences_cover():
    """Over subsets and points that are drawn anew. The full run is in tests/long."""
    covered = 0
    for seed in range(60):
        found = compared("t", ("p",), paired(seed, {1: 0.2, 2: 0.05}), None, "smallest", 0.95)
        # P(wrong) = 1 − (1 − c)(1 − flip), c uniform in [0, .3] over subsets.
        truth = -(1 - 0.15) * 0.15
        covered += found.difference[1].low <= truth <= found.difference[1].high
    assert covered >= 52


@pytest.mark.parametrize("utility", [{}, {"speed": 1}, {"accuracy": 0}, {"accuracy": math.nan}, {"accuracy": "x"}, 3])
def test_utilities_that_cannot_be(utility):
    with pytest.raises(InputError, match="utility"):
        compared("t", ("p",), paired(0, {1: 0.1, 2: 0.1}), utility, "smallest", 0.95)


def test_records_of_other_subsets_are_not_paired():
    records = {**paired(0, {1: 0.1}), **paired(0, {2: 0.1}, n_subsets=20)}
    with pytest.raises(InputError, match="paired"):
        compared("t", ("p",), records, None, "smallest", 0.95)
