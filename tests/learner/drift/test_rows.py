"""Groups, time and weights of a drift monitor."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from classay import DriftMonitor, InputError
from classay.learner.drift.calibration import _blocks_of_groups


def process(n, seed):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, (X[:, 0] > 0).astype(int)


def monitor(learner=None, **options):
    return DriftMonitor(learner or LogisticRegression(), draws=30, n_probes=100, executor=1, **options)


def test_blocks_of_whole_groups():
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat(np.arange(40), rng.integers(1, 9, 40)))
    block = _blocks_of_groups(groups, 25, np.random.default_rng(1))
    assert all(len(set(block[groups == group])) == 1 for group in range(40))
    sizes = np.bincount(block)[:-1]
    assert np.abs(sizes - 25).max() <= 9


def test_rows_that_come_in_groups_agree_less_by_chance():
    """Groups that share their rows: a block of 60 rows in whole groups has 6 different rows, and not 60."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(60), 10)
    X = rng.normal(size=(60, 2))[group]
    y = (X[:, 0] + rng.normal(size=60)[group] > 0).astype(int)
    plain, grouped = (monitor().fit(X, y, 60, groups=given) for given in (None, group))
    chance = [each._fitted().calibrations[60].usual("reference").value for each in (plain, grouped)]
    assert chance[1] < chance[0] - 0.02


def test_groups_larger_than_a_batch_are_refused():
    X, y = process(300, 0)
    with pytest.raises(InputError, match="a group of 60 rows, more than a batch of 50"):
        monitor().fit(X, y, 50, groups=np.arange(300) // 60)


def test_batches_come_in_the_order_of_time():
    X, y = process(400, 0)
    days = pd.Series(pd.date_range("2020-01-01", periods=400))
    watch = monitor().fit(X[:300], y[:300], 50, time=days[:300])
    watch.update(X[300:350], y[300:350], time=days[300:350])
    with pytest.raises(InputError, match=r"begins at 2020-10-27.*before the end of what came before it"):
        watch.update(X[300:350], y[300:350], time=days[300:350])
    with pytest.raises(InputError, match="expected dates in both or numbers in both"):
        watch.update(X[350:], y[350:], time=np.arange(50))
    with pytest.raises(InputError, match="`time` is given for the reference but not for the batch"):
        watch.update(X[350:], y[350:])
    assert len(watch.history.updates) == 1
    watch.update(X[350:], y[350:], time=days[350:])


def test_a_saved_monitor_knows_groups_time_and_weights(tmp_path):
    X, y = process(400, 0)
    weights = np.linspace(0.1, 1, 400)
    rows = {"groups": np.arange(300) // 5, "time": np.arange(300), "sample_weight": weights[:300]}
    watch = monitor(GaussianNB()).fit(X[:300], y[:300], 50, **rows)
    watch.update(X[300:350], y[300:350], time=np.arange(300, 350), sample_weight=weights[300:350])
    watch.save(tmp_path / "watch.classay")
    again = DriftMonitor.load(tmp_path / "watch.classay", GaussianNB(), executor=1)
    last = {"time": np.arange(350, 400), "sample_weight": weights[350:]}
    assert again.update(X[350:], y[350:], **last) == watch.update(X[350:], y[350:], **last)
    with pytest.raises(InputError, match="before the end"):
        again.update(X[300:350], y[300:350], time=np.arange(300, 350), sample_weight=weights[300:350])


def test_weights_are_for_both_and_for_learners_that_take_them():
    X, y = process(300, 0)
    with pytest.raises(InputError, match="cannot use weights of rows"):
        monitor(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(300))
    watch = monitor().fit(X[:250], y[:250])
    with pytest.raises(InputError, match="`sample_weight` is given for the batch but not for the reference"):
        watch.update(X[250:], y[250:], sample_weight=np.ones(50))
    heavy = monitor().fit(X, y, sample_weight=np.ones(300))._fitted().reference_answers
    assert np.array_equal(heavy, monitor().fit(X, y)._fitted().reference_answers)
