"""Pipelines as users bring them, through `characterize`: the table reaches them as it is, and wrapping is stated."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import classay

SMALL: dict[str, Any] = {"splits": 4, "repeats": 1, "retrains": 0, "n_probes": 20, "executor": 1}


def mixed(n: int = 200) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    hue, size = np.array(["red", "green", "blue"])[rng.integers(3, size=n)], rng.normal(size=n)
    y = np.where((size > 0) == (hue == "red"), "yes", "no")
    gaps = np.where(rng.random(n) < 0.1, np.nan, size)
    return pd.DataFrame({"size": gaps, "hue": pd.Categorical(hue), "n": np.arange(n)}), y


def by_name() -> Any:
    prepare = ColumnTransformer([("size", SimpleImputer(), ["size"]), ("hue", OneHotEncoder(), ["hue"])])
    return make_pipeline(prepare, LogisticRegression())


@pytest.fixture(scope="module")
def assay() -> classay.results.Characterization:
    X, y = mixed()
    learners = {
        "names": by_name(),
        "search": GridSearchCV(by_name(), {"logisticregression__C": [0.1, 1.0]}, cv=3),
        "boosting": HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=5),
        "encoded": classay.encoded(GaussianNB(), X),
        "bayes": GaussianNB(),
    }
    return classay.characterize(learners, X, y, **SMALL)


def test_only_what_does_not_take_the_table_is_wrapped(assay):
    assert assay.report.failed == {}
    assert set(assay.learners) == {"names", "search", "boosting", "encoded", "bayes"}
    wrapped = {name: one.wrapped for name, one in assay.learners.items() if one.wrapped}
    assert wrapped == {"bayes": "one-hot encoding of 1 column (hue), medians for missing numbers in 1 column (size)"}


def test_report_and_page_say_what_was_wrapped(assay, tmp_path):
    assert "one-hot encoding of 1 column (hue)" in json.dumps(assay.report.to_dict())
    assay.save(tmp_path / "page.html")
    assert "one-hot encoding of 1 column (hue)" in (tmp_path / "page.html").read_text()


def test_a_wrapped_learner_gives_the_same_figures_as_one_wrapped_by_hand(assay):
    by_hand, by_trial = (assay.parts.predicted[name].labels for name in ("encoded", "bayes"))
    assert (by_hand == by_trial).all()
