"""The geometry of features, by brute force."""

import itertools

import numpy as np
import pytest

from classay.network.cosines import cosines, separations


def test_three_ways_to_count_separation():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(4), 5)
    features = rng.normal(size=(20, 6)) + 2 * np.eye(4, 6)[codes]
    units = features / np.linalg.norm(features, axis=1, keepdims=True)
    means = np.stack([units[codes == one].mean(axis=0) for one in range(4)])
    members = [units[a] @ units[b] for a, b in itertools.permutations(range(20), 2) if codes[a] != codes[b]]
    others = [units[a] @ means[c] for a in range(20) for c in range(4) if codes[a] != c]
    directions = means / np.linalg.norm(means, axis=1, keepdims=True)
    both = [directions[a] @ directions[b] for a, b in itertools.combinations(range(4), 2)]
    found = separations(features, codes, 4)
    for name, values in zip(("members", "means of others", "means"), (members, others, both)):
        assert found[name] == pytest.approx((1 - np.mean(values), np.std(values))), name
    measured = cosines(features, codes, 4)
    assert found["means of others"][0] - 2 * found["means of others"][1] == pytest.approx(measured.bounds[0])
