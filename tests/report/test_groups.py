"""Groups, times and weights in a report: they reach every figure, and the printed call."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import classay
from classay import InputError

FEW = {"budget": None, "splits": 4, "repeats": 1, "n_probes": 20, "executor": 1}


@pytest.fixture(scope="module")
def patients():
    """Rows of 40 patients, nearly the same within each, and labels of patients at random."""
    generator = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 6)
    X = pd.DataFrame(
        {"a": generator.normal(size=40)[groups] + 0.01 * generator.normal(size=240), "b": generator.normal(size=240)}
    )
    return X, generator.integers(0, 2, 40)[groups], groups


@pytest.mark.slow
def test_groups_reach_every_figure_and_the_printed_call(patients):
    X, y, groups = patients
    learners = {"tree": DecisionTreeClassifier(random_state=0), "bayes": GaussianNB()}
    made = classay.characterize(learners, X, y, groups=groups, test_size=0.4, **FEW)
    assert (
        made.report.figure("tree", "accuracy").kind
        != classay.characterize(learners, X, y, **FEW).report.figure("tree", "accuracy").kind
    )
    assert not [each for each in made.findings if each.code == "S301" and each.level == "warning"]
    expected = classay.complexity(X, y, groups=groups).baseline_accuracy
    assert made.parts.complexity.baseline_accuracy == expected
    call = made.report.settings["command"].replace("random_state", "executor=1, random_state")
    again = eval(call, {"classay": classay, "learners": learners, "X": X, "y": y, "groups": groups})
    figures = [each.query("figure != 'seconds_per_fit'") for each in (made.to_frame(), again.to_frame())]
    pd.testing.assert_frame_equal(*figures)


def test_missing_groups_of_a_test_part_are_refused(patients):
    X, y, groups = patients
    values = [*map(float, groups), *(100.0 + np.arange(60))]
    values[-1] = float("nan")
    with pytest.raises(InputError, match="`groups` is missing in 1 row"):
        classay.characterize(GaussianNB(), X, y, X_test=X[:60], y_test=y[:60], groups=values, **FEW)


@pytest.mark.slow
def test_with_time_the_baseline_is_not_compared(patients):
    X, y, _ = patients
    made = classay.characterize({"bayes": GaussianNB()}, X, y, time=np.arange(240), **FEW)
    assert "D201" in [each.code for each in made.report.unasked]
