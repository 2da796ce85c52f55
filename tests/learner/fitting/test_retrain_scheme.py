"""Samples of a retraining: what they share, in time, with groups, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from classay import InputError, Retrain, record
from classay.splits import per_row

X, Y = make_classification(500, random_state=0)


def rows(labelings):
    return [set(each.tolist()) for each in labelings.train_rows]


@pytest.mark.parametrize("replaced", [0.05, 0.1, 0.3])
def test_two_samples_share_the_rest_of_their_rows(replaced):
    samples = rows(record(GaussianNB(), X, Y, Retrain(10, replaced), executor=1))
    assert {len(each) for each in samples} == {round((1 - replaced) * 400)}
    shared = [len(a & b) / len(a) for place, a in enumerate(samples) for b in samples[:place]]
    assert np.mean(shared) == pytest.approx(1 - replaced, abs=0.01)


def test_with_time_the_oldest_rows_make_room_for_newer_ones():
    time = np.random.default_rng(0).permutation(500)
    labelings = record(GaussianNB(), X, Y, Retrain(6), executor=1, time=time)
    windows = [np.sort(time[each]) for each in labelings.train_rows]
    size = int(400 / 1.2)
    assert all(window.size == size and np.ptp(window) == size - 1 for window in windows)
    lag = Retrain(6).lag
    assert lag == 3
    for before, after in zip(windows, windows[lag:]):
        assert len(np.setdiff1d(after, before)) == pytest.approx(0.1 * size, abs=1.5)
    assert windows[-1].max() < 400
    assert windows[0].min() == 0


def test_with_groups_whole_groups_are_drawn():
    groups = np.arange(500) // 10
    labelings = record(GaussianNB(), X, Y, Retrain(4), executor=1, groups=groups)
    for each in labelings.train_rows:
        assert all((np.bincount(groups[each])[np.unique(groups[each])] == 10).tolist())


def test_what_is_refused():
    with pytest.raises(InputError, match=r"`Retrain\(n\)` is 1"):
        Retrain(1)
    with pytest.raises(InputError, match=r"`Retrain\(replaced\)` is 1.5"):
        Retrain(5, 1.5)
    with pytest.raises(InputError, match="would replace 0 of"):
        Retrain(5, 0.001).check(np.arange(50) % 2)
    codes = np.repeat([0, 1], 50)
    with pytest.raises(InputError, match="windows in time have rows of one class only"):
        Retrain(5, 0.9).check(codes, per_row(time=np.arange(100), rows=100))
    with pytest.raises(InputError, match=r"expected Subsets\(...\), HalfSplits\(...\), Retrain\(...\)"):
        record(GaussianNB(), X, Y, "retrain")
