"""A tree cut at a depth: its nodes are those of the full tree, and its answers have the distribution of a grown one."""

import numpy as np
import pytest
from cut_trees import LEARNERS, assert_alike, cut, grown
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from classay.learner.fitting.paths import path_for


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: str(learner)[:60])
def test_cut_trees_answer_as_grown_ones_do(learner):
    assert_alike(learner, 30)  # of many more fits in tests/long


def test_the_deepest_is_the_fit_itself():
    for depths in ([2, 3, None], [2, 3, 4]):
        for learner in (DecisionTreeClassifier(), RandomForestClassifier(5)):
            found = dict(zip(depths, cut(learner, depths, 7), strict=True))
            assert (found[depths[-1]] == grown(learner, depths[-1], 7)).all()


def test_where_splits_are_not_left_to_chance_cut_and_grown_are_one():
    # Of continuous columns, all looked at, one split is best while nodes are large.
    learner = DecisionTreeClassifier(min_samples_leaf=8)
    found = cut(learner, [1, 2, 3, 4, 5], 3)
    for depth, labels in zip([1, 2, 3, 4, 5], found, strict=True):
        assert (labels == grown(learner, depth, 3)).all()


def test_the_tree_is_grown_once_and_no_deeper_than_asked(monkeypatch):
    seen, before = [], DecisionTreeClassifier.fit

    def fit(self, *given):
        seen.append(self.max_depth)
        return before(self, *given)

    monkeypatch.setattr(DecisionTreeClassifier, "fit", fit)
    cut(DecisionTreeClassifier(), [1, 5, 3], 0)
    cut(DecisionTreeClassifier(), [1, None, 3], 0)
    assert seen == [5, None]


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, ExtraTreeClassifier, RandomForestClassifier])
def test_it_is_not_taken_where_it_does_not_hold(kind):
    assert not path_for(kind(), "max_depth", [1, 2, None]).EXACT
    assert not path_for(kind(min_impurity_decrease=0.1, min_samples_leaf=3), "max_depth", [1, 2]).EXACT
    # What is left is one fit past the full depth, which is exact; not even that of a pruned tree.
    for frozen in ({"random_state": 0}, {"random_state": np.random.RandomState(0)}):
        assert path_for(kind(**frozen), "max_depth", [1, 2]).EXACT
    for other in ({"max_leaf_nodes": 9}, {"monotonic_cst": [1, 0, 0, 0, 0, 0]}):
        assert path_for(kind(**other), "max_depth", [1, 2]).EXACT
    assert path_for(kind(ccp_alpha=0.01), "max_depth", [1, 2]) is None
