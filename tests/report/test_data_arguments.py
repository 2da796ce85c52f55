"""Arguments of `data_report` that do not fit are named in a sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

import classay
from classay import InputError

N = 60
Y = np.arange(N) % 2
X = pd.DataFrame(np.random.default_rng(0).normal(size=(N, 2)) + 3 * Y[:, None], columns=["u", "v"])
SHARES = np.where(Y[:, None] == [0, 1], 0.8, 0.2)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"confidence": [0.5] * N}, "`confidence` is given without `predictions`"),
        ({"confidence": [0.5] * N, "learner": GaussianNB()}, "`confidence` is given without `predictions`"),
        ({"confidence": [0.5] * N, "predictions": Y, "probabilities": SHARES}, "`confidence` and `probabilities`"),
        ({"confidence": ["a"] * N, "predictions": Y}, "confidence must be a finite number"),
        ({"y": 5, "predictions": Y}, "`y`"),
        ({"y": None, "predictions": Y}, "`y`"),
        ({"predictions": Y[:3]}, "There are 3 predictions for 60 rows; expected one for each row"),
        ({"rows": np.arange(3)}, "`rows` has 3 values; expected a number for each of the 60 measured rows"),
        ({"learner": GaussianNB}, "`learner` is the class GaussianNB; expected an instance"),
        ({"learner": "GaussianNB"}, "`learner` is 'GaussianNB', which has no fit"),
        ({"learner": LinearRegression()}, "is a regressor; expected a classifier"),
        ({"checks": "no"}, "`checks` is 'no'; expected True or False"),
    ],
)
def test_arguments_that_do_not_fit(given, words):
    with pytest.raises(InputError, match=words):
        classay.data_report(X, **{"y": Y, "checks": False, **given})


@pytest.mark.parametrize("kinds", [(float, int), (int, float), (float, str), (str, int)])
def test_whole_numbers_are_the_same_class_in_any_spelling(kinds):
    labels, predictions = (Y.astype(kind) for kind in kinds)
    made = classay.data_report(X, labels, predictions=predictions, checks=False)
    assert made.report.figure("the model", "accuracy").value == pytest.approx(1)


def test_a_text_is_one_note():
    assert "hello" in classay.data_report(X, Y, notes="hello", checks=False).report.about["notes"]
