import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import classay
from classay import InputError
from classay.learner.sweep.presets import TABLE_2, preset_range


def test_table_2_has_eight_ranges_of_the_paper():
    ranges = {(name, parameter): values for name, one in TABLE_2.items() for parameter, values in one.items()}
    assert len(ranges) == 8
    assert ranges["DecisionTreeClassifier", "max_depth"][-1] == 66
    assert list(ranges["LinearSVC", "max_iter"][:2]) == [1, 51]
    assert len(ranges["KNeighborsClassifier", "n_neighbors"]) == 40


def test_a_preset_stands_for_parameter_and_values():
    X, y = load_iris(return_X_y=True)
    w = classay.sweep(
        DecisionTreeClassifier(), X, y, preset="table-2", scheme=classay.Subsets(4), repeats=2, executor=1
    )
    assert w.parameters == ("max_depth",)
    assert w.values == tuple(range(1, 71, 5))


def test_a_pipeline_counts_as_its_last_step():
    steps = make_pipeline(StandardScaler(), KNeighborsClassifier())
    assert preset_range("table-2", steps, None)[0] == "kneighborsclassifier__n_neighbors"
    assert preset_range("table-2", steps, "kneighborsclassifier__n_neighbors")[1][0] == 1


@pytest.mark.parametrize(
    ("learner", "options", "message"),
    [
        (RandomForestClassifier(), {"preset": "table-2"}, "give param_name"),
        (GaussianNB(), {"preset": "table-2"}, "no range for GaussianNB"),
        (DecisionTreeClassifier(), {"preset": "table-3"}, "table-2"),
        (DecisionTreeClassifier(), {"preset": "table-2", "param_range": [1]}, "Drop one"),
        (DecisionTreeClassifier(), {"preset": "table-2", "param_name": "min_samples_leaf"}, "max_depth"),
        (DecisionTreeClassifier(), {"preset": "table-2", "param_name": ("max_depth", "a")}, "one parameter"),
        (DecisionTreeClassifier(), {}, "param_range"),
    ],
)
def test_what_a_preset_does_not_have(learner, options, message):
    with pytest.raises(InputError, match=message):
        classay.sweep(learner, np.zeros((20, 2)), [0, 1] * 10, **options)
