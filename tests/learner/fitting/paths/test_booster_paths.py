"""Trees of LightGBM and XGBoost: the first n of the longest fit, bit for bit the labels of separate fits."""

import pytest
from separate_fits import TABLES, compare, drawn, fits_of
from sklearn.base import clone

from classay.learner.fitting.paths import path_for

lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed")
xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")
LGBMClassifier, XGBClassifier = lightgbm.LGBMClassifier, xgboost.XGBClassifier

pytestmark = pytest.mark.filterwarnings("ignore")

TREES = [1, 4, 0, 30, 12]
PLAIN = [
    LGBMClassifier(verbose=-1, n_jobs=1),
    LGBMClassifier(verbose=-1, n_jobs=1, colsample_bytree=0.5, random_state=3, class_weight="balanced"),
    # So few rows that some rounds leave no tree.
    LGBMClassifier(verbose=-1, n_jobs=1, subsample=0.5, subsample_freq=1, random_state=3),
    XGBClassifier(n_jobs=1),
    XGBClassifier(n_jobs=1, subsample=0.5, colsample_bynode=0.5, random_state=3),
    XGBClassifier(n_jobs=1, num_parallel_tree=3, tree_method="exact", max_depth=2),
    XGBClassifier(n_jobs=1, gamma=5.0),
]
ODD = [
    LGBMClassifier(boosting_type="dart"),
    LGBMClassifier(boosting_type="rf", subsample=0.5, subsample_freq=1),
    LGBMClassifier(num_iterations=5),
    LGBMClassifier(early_stopping_round=3),
    XGBClassifier(booster="dart"),
    XGBClassifier(booster="gblinear"),
    XGBClassifier(early_stopping_rounds=3),
    XGBClassifier(callbacks=[xgboost.callback.LearningRateScheduler(lambda round: 0.5**round)]),
    XGBClassifier(eta=0.3),
    type("Own", (XGBClassifier,), {})(),
]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("learner", PLAIN, ids=range(len(PLAIN)))
def test_the_first_trees_answer_as_a_fit_of_so_many(learner, table):
    X, y = TABLES[table]
    path = path_for(learner, "n_estimators", TREES)
    assert (path.KIND, path.ONE_FIT) == ("prefixes of the trees", True)
    compare(learner, "n_estimators", TREES, *drawn(X, y), X)


def test_one_fit_answers_for_all_unless_rounds_left_no_tree(monkeypatch):
    X, y = TABLES["iris"]
    for number, expected in ((0, [12]), (2, [12, 3, 7]), (3, [12])):
        with monkeypatch.context() as patch:
            fits = fits_of(patch, PLAIN[number], "n_estimators")
            path = path_for(PLAIN[number], "n_estimators", [3, 7, 12])
            list(path.answers(clone(PLAIN[number]), "n_estimators", [3, 7, 12], *drawn(X, y), X))
        assert fits == expected


@pytest.mark.parametrize("learner", ODD, ids=range(len(ODD)))
def test_where_earlier_trees_depend_on_later_ones_there_is_no_path(learner):
    assert path_for(learner, "n_estimators", TREES) is None


def test_only_whole_numbers_of_trees():
    assert path_for(PLAIN[3], "n_estimators", [1.5, 3]) is None
    assert path_for(PLAIN[3], "max_depth", [1, 3]) is None
