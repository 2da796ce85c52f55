"""Definition 1 of the paper, by brute force."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from small_networks import Selects, mlp

import classay
from classay.network.quality.well_trained import definition_1


def test_conditions_by_brute_force():
    record = classay.prototypes(mlp(), (6,), starts=2, sensitivity=False)
    found = definition_1(record, np.arange(4))
    scores = record.features.astype(float) @ record.weight.T.astype(float)
    for one in range(4):
        rows = scores[record.target == one]
        others = np.delete(rows, one, axis=1).max(axis=1)
        margins = rows[:, one] - others
        assert found["margin"][one] == pytest.approx(margins.max())
        second = margins >= np.log(100)
        assert found["condition_2"][one] == second.any()
        assert found["condition_3"][one] == (second & (others <= 0)).any()
        mean = record.features[record.target == one].mean(axis=0)
        cosine = mean @ record.weight[one] / np.linalg.norm(mean) / np.linalg.norm(record.weight[one])
        assert found["row_cosine"][one] == pytest.approx(cosine, rel=1e-5)


def test_a_perfect_head_meets_both():
    q = classay.network_quality(Selects(), (4,), starts=1, compare_fresh=False, sensitivity=False)
    assert q.per_class["condition_2"].all()
    assert q.per_class["condition_3"].all()
    np.testing.assert_allclose(q.per_class["row_cosine"], 1, atol=1e-5)
