"""The words of the data page say no more than the results do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import classay


def clouds(rows, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 2
    X = pd.DataFrame(rng.normal(size=(rows, 2)) + 3 * y[:, None], columns=["u", "v"])
    return X, np.array(["a", "b"])[y]


def section(made, key):
    return next(each for each in made.report.sections if each.key == key)


@pytest.mark.parametrize("case", ["groups", "few known rows"])
def test_unknown_is_not_called_like_the_training_rows(case):
    known = 12 if case == "few known rows" else 200
    X, y = clouds(known)
    X_test, y_test = clouds(60, 1)
    groups = np.arange(known + 60) // 4 if case == "groups" else None
    made = classay.data_report(X, y, X_test=X_test, y_test=y_test, groups=groups, checks=False)
    verdict = " ".join(made.report.verdict.sentences)
    assert "like the training rows" not in verdict
    assert str(made.parts.unlike) in verdict
    assert section(made, "unlike").lead == str(made.parts.unlike)


def test_rows_of_the_same_kind_are_not_shown_to_be_unlike():
    X, y = clouds(200)
    made = classay.data_report(X, y, X_test=clouds(60, 1)[0], y_test=clouds(60, 1)[1], checks=False)
    assert "are not shown to be unlike the training rows" in made.report.verdict.sentences[-1]
    far = classay.data_report(X, y, X_test=clouds(60, 1)[0] + 50, y_test=clouds(60, 1)[1], checks=False)
    assert "are unlike the training rows" in far.report.verdict.sentences[-1]
