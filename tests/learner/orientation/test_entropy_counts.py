from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from classay.learner.orientation.entropy import count, number_labelings

labels_and_holdouts = st.tuples(st.integers(2, 5), st.integers(1, 4), st.integers(2, 6), st.integers(1, 6)).flatmap(
    lambda shape: st.tuples(
        hnp.arrays(np.int8, (*shape[:2], shape[2]), elements=st.integers(0, 2)),
        hnp.arrays(np.int64, (3, shape[3]), elements=st.integers(0, shape[2] - 1)),
    )
)


@given(labels_and_holdouts)
def test_equal_numbers_mean_equal_labels(drawn):
    labels, holdouts = drawn
    numbers = number_labelings(labels, holdouts, 3)
    for holdout, row in zip(holdouts, numbers):
        seen = [tuple(answer[holdout]) for answer in labels.reshape(-1, labels.shape[-1])]
        for i, a in enumerate(seen):
            for j, b in enumerate(seen):
                assert (row.ravel()[i] == row.ravel()[j]) == (a == b)


@given(labels_and_holdouts)
def test_counts_agree_with_counting_by_hand(drawn):
    labels, holdouts = drawn
    n_subsets, n_refits, _ = labels.shape
    counts = count(number_labelings(labels, holdouts, 3))
    for m, holdout in enumerate(holdouts):
        by_subset = [Counter(tuple(labels[k, r][holdout]) for r in range(n_refits)) for k in range(n_subsets)]
        overall = sum(by_subset, Counter())
        here = counts.holdout == m
        cells = [(k, times, overall[labeling]) for k in range(n_subsets) for labeling, times in by_subset[k].items()]
        assert sorted(zip(counts.subset[here], counts.count[here], counts.total[here])) == sorted(cells)
        for k in range(n_subsets):
            for times in range(1, n_refits + 1):
                expected = sum(value == times for value in by_subset[k].values())
                assert counts.histogram[m, k, times] == expected


def test_a_holdout_of_200_points_is_counted_not_enumerated():
    rng = np.random.default_rng(0)
    labels = rng.integers(10, size=(20, 3, 300)).astype(np.int8)
    labels[1] = labels[0]
    numbers = number_labelings(labels, rng.permutation(300)[None, :200], 10)
    np.testing.assert_array_equal(numbers[:, 0], numbers[:, 1])
    assert np.unique(numbers).size == 19 * 3


def test_labels_that_differ_only_in_the_first_of_many_points_stay_apart():
    labels = np.zeros((2, 1, 120), dtype=np.int8)
    labels[1, 0, 0] = 1
    numbers = number_labelings(labels, np.arange(120)[None], 7)
    assert numbers[0, 0, 0] != numbers[0, 1, 0]
