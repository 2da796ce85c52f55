"""Paths of ensembles and of logistic regression: bit for bit the labels of separate fits, from the largest alone."""

import numpy as np
import pytest
from separate_fits import TABLES, compare, drawn, fits_of
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

pytestmark = pytest.mark.filterwarnings("ignore")  # learners that are stopped early say so


CASES_OF_LEARNERS = [
    (RandomForestClassifier(random_state=3), "n_estimators", 12),
    (RandomForestClassifier(random_state=np.random.RandomState(3), oob_score=True, max_samples=0.4), "n_estimators", 6),
    (RandomForestClassifier(random_state=3, warm_start=True, class_weight="balanced", max_depth=3), "n_estimators", 6),
    (ExtraTreesClassifier(random_state=3), "n_estimators", 12),
    (ExtraTreesClassifier(random_state=3, bootstrap=True, class_weight="balanced_subsample"), "n_estimators", 6),
    (AdaBoostClassifier(random_state=3), "n_estimators", 12),
    (AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), learning_rate=0.5, random_state=3), "n_estimators", 8),
    (AdaBoostClassifier(GaussianNB()), "n_estimators", 6),
    (GradientBoostingClassifier(random_state=3, max_depth=2), "n_estimators", 6),
    (GradientBoostingClassifier(random_state=3, subsample=0.5, max_features=2, init="zero"), "n_estimators", 5),
    (GradientBoostingClassifier(random_state=3, n_iter_no_change=1, tol=0.1, max_depth=2), "n_estimators", 5),
    (HistGradientBoostingClassifier(random_state=3, max_features=0.5, max_leaf_nodes=4), "max_iter", 6),
    (HistGradientBoostingClassifier(random_state=3, early_stopping=True, n_iter_no_change=1, tol=0.1), "max_iter", 5),
    (LogisticRegression(), "max_iter", 30),
    (LogisticRegression(C=100.0, fit_intercept=False, class_weight="balanced", warm_start=True), "max_iter", 30),
]


# Every family meets every table, every setting every other one.
CASES = [(*case, table) for i, case in enumerate(CASES_OF_LEARNERS) for j, table in enumerate(TABLES) if (i + j) % 2]


@pytest.mark.parametrize(("learner", "param_name", "most", "table"), CASES, ids=lambda part: str(part)[:40])
def test_every_value_is_as_if_fitted_by_itself_but_only_the_largest_is_fitted(
    monkeypatch, learner, param_name, most, table
):
    X, y = TABLES[table]
    fits = fits_of(monkeypatch, learner, param_name)
    values = [most, *range(1, most), most]  # in any order, and one twice
    compare(learner, param_name, values, *drawn(X, y), X)
    # The first fit is the shared one; then come the separate fits to compare with.
    assert fits == [most, *values]
