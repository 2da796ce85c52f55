"""What a retraining changes: by hand, closed forms, by seed and by rows, in time, and widths."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from classay import InputError, Labelings, Retrain, Subsets, record, retraining

X, Y = make_classification(600, 6, flip_y=0.1, random_state=1)


def test_change_by_hand():
    labels = np.array([[[0, 0, 1, 1]], [[0, 1, 1, 1]], [[0, 1, 1, 0]]])
    r = retraining(Labelings.from_arrays(labels, [0, 0, 1, 1], retrained=0.1))
    assert r.change.value == pytest.approx((1 / 4 + 2 / 4 + 1 / 4) / 3)
    np.testing.assert_allclose(r.per_point, [0, 2 / 3, 0, 2 / 3])
    assert r.by_class["0"].value == pytest.approx(1 / 3)
    assert math.isnan(r.by_seed.value)
    assert "one refit" in r.by_seed.kind


def test_seed_and_rows_by_closed_form():
    """Points flip by the rows with probability a and by the seed with b: two refits differ as independent flips do."""
    rng = np.random.default_rng(0)
    rows, chance = 0.04, 0.02
    flips = (rng.random((30, 1, 3000)) < rows) ^ (rng.random((30, 4, 3000)) < chance)
    r = retraining(Labelings.from_arrays(flips, [False, True] * 1500, retrained=0.1))
    either = rows * (1 - chance) + chance * (1 - rows)
    assert r.change.value == pytest.approx(2 * either * (1 - either), abs=0.004)
    assert r.by_seed.value == pytest.approx(2 * chance * (1 - chance), abs=0.003)
    assert r.by_rows.value == pytest.approx(r.change.value - r.by_seed.value)
    assert r.by_rows.low < 2 * either * (1 - either) - 2 * chance * (1 - chance) < r.by_rows.high


@pytest.mark.parametrize("varied", ["nothing", "one point", "one sample", "every point alike"])
def test_every_figure_has_a_width_within_its_range(varied):
    labels = np.tile([0, 1] * 20, (6, 2, 1))
    labels[
        {"nothing": np.s_[:0], "one point": np.s_[:3, :, 0], "one sample": 0, "every point alike": np.s_[::2]}[varied]
    ] ^= 1
    r = retraining(Labelings.from_arrays(labels, [0, 1] * 20, scores=0.2 + 0.6 * labels, retrained=0.1))
    assert "replaces 10% of its training rows" in str(r)
    frame = r.to_frame()
    assert (frame["low"] < frame["high"]).all()
    assert frame[["low", "high"]].abs().to_numpy().max() <= 1
    assert frame["low"][2] > 0 or varied != "every point alike"  # by rows
    if varied == "nothing":  # 3 pairs of samples
        assert frame["high"][0] == pytest.approx(1 - 0.05 ** (1 / 3))


def test_a_deterministic_learner_changes_by_its_rows_alone():
    r = retraining(record(LogisticRegression(), X, Y, Retrain(5), executor=1))
    assert r.by_seed.value == 0
    assert r.by_rows.value == pytest.approx(r.change.value)
    assert r.train_rows == 432
    assert 0 < r.score_change.value < 0.1
    assert "by another seed" not in str(r)


def test_a_forest_changes_by_its_seed_mostly():
    r = retraining(record(RandomForestClassifier(5), X, Y, Retrain(6), repeats=2, executor=1))
    assert r.by_seed.value > 0.5 * r.change.value
    assert r.score_by_seed.value > 0.5 * r.score_change.value
    assert "another seed alone changes" in str(r)


def test_in_time_each_sample_is_compared_with_the_one_a_lag_later():
    labelings = record(KNeighborsClassifier(1), X, Y, Retrain(5), executor=1, time=np.arange(600))
    r = retraining(labelings)
    assert r.in_time
    labels = labelings.labels[:, 0]
    expected = np.mean([labels[place] != labels[place + 2] for place in range(3)])
    assert r.change.value == pytest.approx(expected)


def test_missing_refits_are_left_out():
    labelings = record(RandomForestClassifier(3), X, Y, Retrain(6), repeats=2, executor=1)
    labelings.labels[2] = -1
    labelings.scores.values[2] = np.nan
    r = retraining(labelings)
    assert r.n_samples == 5
    kept = np.delete(labelings.labels, 2, axis=0)
    pairs = list(itertools.combinations(range(5), 2))
    every = np.mean([kept[a, i] != kept[b, j] for a, b in pairs for i in range(2) for j in range(2)])
    assert r.change.value == pytest.approx(every, abs=0.02)


def test_other_records_are_refused():
    with pytest.raises(InputError, match=r"was made with Subsets.*scheme=classay.Retrain\(20\)"):
        retraining(record(LogisticRegression(), X, Y, Subsets(3), executor=1))
    with pytest.raises(InputError, match="`retrained` is 2"):
        Labelings.from_arrays([[0, 1], [1, 1]], [0, 1], retrained=2)
    with pytest.raises(InputError, match="both given"):
        Labelings.from_arrays([[0, 1], [1, 1]], [0, 1], retrained=0.1, halves=True)


def test_a_class_with_few_rows_has_no_interval():
    labels = np.random.default_rng(0).integers(2, size=(4, 1, 50))
    r = retraining(Labelings.from_arrays(labels, [1] * 3 + [0] * 47, retrained=0.1))
    assert (r.by_class["1"].low, r.by_class["1"].high) == (0, 1)


def test_regions_where_predictions_change():
    rng = np.random.default_rng(0)
    heat = np.arange(600) / 600
    changing = (heat < 0.25) & (rng.random((16, 1, 600)) < 0.5)
    r = retraining(Labelings.from_arrays(changing, [False, True] * 300, retrained=0.1))
    found = r.regions(pd.DataFrame({"heat": heat, "hue": rng.random(600)}))
    assert found.regions
    assert "heat" in str(found.regions[0].condition)
