"""What users bring as learners reaches their table untouched where it can, and is wrapped where it cannot."""

import warnings
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_info, threadpool_limits

import classay
from classay.estimators import trial
from classay.estimators.adapters import free_seeds, short_name
from classay.estimators.encoder import encoded
from classay.estimators.scores import fit_scorer, scores_of
from classay.estimators.trial import ready
from classay.expect import InputError
from classay.learner.fitting.groups import parameter
from classay.learner.fitting.schemes import HalfSplits


def mixed(n: int = 240, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A quantity with gaps, a category, a flag and a count; the first two decide the class."""
    rng = np.random.default_rng(seed)
    hue = np.array(["red", "green", "blue"])[rng.integers(3, size=n)]
    size = rng.normal(size=n)
    y = np.where((size > 0) == (hue == "red"), "yes", "no")
    X = pd.DataFrame({"size": np.where(rng.random(n) < 0.1, np.nan, size), "hue": hue, "flag": size > 1, "n": range(n)})
    return X, y


def texts(n: int = 240) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    about = {"music": ["play", "song", "jazz"], "travel": ["book", "flight", "train"]}
    y = np.array(list(about))[rng.integers(2, size=n)]
    lines = [f"please {about[label][rng.integers(3)]} it for me now {place}" for place, label in enumerate(y)]
    return pd.DataFrame({"text": lines}), y


def by_name(last: object = None) -> Pipeline:
    prepare = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["size", "n"]),
            ("words", OneHotEncoder(handle_unknown="ignore"), ["hue"]),
        ]
    )
    return make_pipeline(prepare, last or LogisticRegression())


def by_selector() -> Pipeline:
    prepare = make_column_transformer(
        (SimpleImputer(), make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    )
    return make_pipeline(prepare, DecisionTreeClassifier(max_depth=4))


OWN_ENCODING = {
    "selector": by_selector,
    "voting": lambda: VotingClassifier([("a", by_name()), ("b", by_selector())]),
    "calibrated search": lambda: CalibratedClassifierCV(
        GridSearchCV(by_name(), {"logisticregression__C": [0.1, 1]}, cv=3), cv=3
    ),
    "encoded already": lambda: encoded(GaussianNB(), mixed()[0]),
    "constant": DummyClassifier,
}
"""Besides those of `test_bring`."""


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN_ENCODING)
def test_a_learner_with_its_own_encoding_gets_the_table_untouched(name):
    X, y = mixed()
    learner = OWN_ENCODING[name]()
    tried = ready(learner, X, y)
    assert tried.learner is learner
    assert (tried.wrapped, tried.notes) == ("", ())
    assert fit_scorer(tried.learner, X, y, 0).predict(X).shape == y.shape


class Spy(ClassifierMixin, BaseEstimator):
    """Keeps what it was fitted on."""

    seen: ClassVar[list[object]] = []

    def fit(self, X, y):
        self.seen.append(X)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_the_table_of_a_trial_has_the_columns_and_types_of_the_user():
    X, y = mixed(1000)
    X["hue"] = X["hue"].astype("category")
    Spy.seen.clear()
    assert ready(Spy(), X, y).wrapped == ""
    (seen,) = Spy.seen
    pd.testing.assert_series_equal(seen.dtypes, X.dtypes)
    assert list(seen["hue"].cat.categories) == list(X["hue"].cat.categories)
    assert trial.FEW <= len(seen) <= trial.FEW + 50


LEARNERS_OF_NUMBERS = [LogisticRegression(), KNeighborsClassifier(3), make_pipeline(StandardScaler(), GaussianNB())]


@pytest.mark.parametrize("dtype", ["category", "string", "str", object])
@pytest.mark.parametrize("learner", LEARNERS_OF_NUMBERS)
def test_what_cannot_take_the_table_is_encoded_and_keeps_its_name(learner, dtype):
    X, y = mixed()
    X["hue"] = X["hue"].astype(dtype)
    tried = ready(learner, X, y)
    assert tried.wrapped == "one-hot encoding of 1 column (hue), medians for missing numbers in 1 column (size)"
    assert tried.notes == (f"It does not take the table as it is; changed inside each fit: {tried.wrapped}.",)
    assert short_name(tried.learner) == short_name(learner)
    assert is_classifier(tried.learner)
    assert classay.record(tried.learner, X, y, HalfSplits(2), 1, executor=1).present.all()


def test_seeds_and_parameters_of_a_wrapped_learner_are_found():
    X, y = mixed()
    tried = ready(RandomForestClassifier(n_estimators=3), X, y)
    assert free_seeds(tried.learner) == ["learner__random_state"]
    assert parameter(tried.learner, "max_depth") == "learner__max_depth"
    untouched = ready(by_name(), X, y).learner
    assert parameter(untouched, "logisticregression__C") == "logisticregression__C"


def test_native_categories_reach_gradient_boosting():
    X, y = mixed()
    X["hue"] = X["hue"].astype("category")
    learner = HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=5)
    tried = ready(learner, X[["size", "hue", "n"]], y)
    assert tried.learner is learner
    fitted = fit_scorer(tried.learner, X[["size", "hue", "n"]], y, 0).estimator
    assert fitted.n_features_in_ == 3
    assert fitted.is_categorical_.tolist() == [False, True, False]


BOOSTERS = {
    "xgboost": ("XGBClassifier", {"n_estimators": 3, "enable_categorical": True, "n_jobs": 1}),
    "lightgbm": ("LGBMClassifier", {"n_estimators": 3, "verbose": -1, "n_jobs": 1}),
    "catboost": ("CatBoostClassifier", {"iterations": 3, "allow_writing_files": False, "cat_features": ["hue"]}),
}


@pytest.mark.parametrize("package", BOOSTERS)
def test_boosters_take_categories_and_texts_are_encoded_for_them(package, capfd):
    name, settings = BOOSTERS[package]
    learner = getattr(pytest.importorskip(package), name)(**settings)
    X, y = mixed()
    assert ready(learner, X.astype({"hue": "category"}), y).learner is learner
    assert capfd.readouterr().out == ""
    if package != "catboost":  # it takes texts, too
        assert ready(learner, X.astype({"hue": object}), y).wrapped.startswith("one-hot encoding of 1 column (hue)")


def test_pipelines_of_other_packages():
    X, y = mixed()
    skrub = pytest.importorskip("skrub")
    learner = skrub.tabular_pipeline(LogisticRegression())
    assert ready(learner, X, y).learner is learner


def test_missing_numbers_are_left_to_learners_that_take_them():
    X, y = mixed()
    numbers = X[["size", "n"]]
    tree = DecisionTreeClassifier()
    assert ready(tree, numbers, y).learner is tree
    assert ready(GaussianNB(), numbers, y).wrapped == "medians for missing numbers in 1 column (size)"


def test_one_missing_value_among_many_rows_is_tried():
    X, y = mixed(10_000)
    X = X[["n"]].astype(float)
    X.iloc[7_777, 0] = np.nan
    assert ready(GaussianNB(), X, y).wrapped == "medians for missing numbers in 1 column (n)"


@pytest.mark.parametrize("kind", [object, "str", "category"])
def test_one_word_among_numbers_as_text_is_tried(kind):
    X, y = mixed(10_000)
    X = X[["n"]].astype(str)
    X.iloc[7_777, 0] = "?"
    assert ready(GaussianNB(), X.astype(kind), y).wrapped.startswith("one-hot encoding")


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([True, None, False] * 40, dtype="boolean"),
        pd.Series([True, None, False] * 40, dtype=object),
        pd.Series([1, None, 3] * 40, dtype="Int64"),
        pd.to_datetime(pd.Series(["2020-01-01", None, "2021-01-01"] * 40)),
        pd.to_timedelta(pd.Series([1, None, 3] * 40), unit="D"),
        pd.Series([1, "b", None] * 40, dtype=object),
    ],
    ids=lambda column: str(column.dtype),
)
@pytest.mark.parametrize("learner", [GaussianNB(), HistGradientBoostingClassifier()])
def test_every_kind_of_column_gets_through(column, learner):
    X, y = pd.DataFrame({"a": column, "n": range(120)}), np.arange(120) % 2
    assert classay.record(ready(learner, X, y).learner, X, y, HalfSplits(1), 1, executor=1).present.all()


def test_plain_numbers_and_arrays_are_not_tried():
    X, y = mixed()
    Spy.seen.clear()
    for table in (X[["n"]], X[["n"]].to_numpy(), X.to_numpy()):
        spy = Spy()
        assert ready(spy, table, y).learner is spy
    assert Spy.seen == []


def test_too_few_rows_in_a_trial_do_not_wrap_a_learner():
    X, y = mixed(3000)
    learner = by_name(KNeighborsClassifier(500))
    assert ready(learner, X, y).learner is learner
    assert ready(KNeighborsClassifier(500), X, y).wrapped.startswith("one-hot encoding of 1 column (hue)")


def test_every_class_has_rows_for_cross_validation_inside():
    X, _ = mixed(5000)
    y = np.where(np.arange(5000) % 500 == 0, "rare", "common")
    learner = CalibratedClassifierCV(by_name(), cv=5)
    assert ready(learner, X, y).learner is learner


def test_many_classes_keep_a_trial_affordable():
    X, _ = mixed(20_000)
    y = np.arange(20_000) % 2000
    Spy.seen.clear()
    ready(Spy(), X, y)
    assert len(Spy.seen[0]) <= trial.MANY


def test_if_everything_fails_the_error_of_the_users_learner_comes_first():
    X, y = mixed()
    wrong = make_pipeline(ColumnTransformer([("a", "passthrough", ["colour"])]), GaussianNB())
    with pytest.raises(InputError, match=r"^Pipeline.* cannot be fitted on this table: .*(colour|given col).*It also"):
        ready(wrong, X, y)
    with pytest.raises(InputError, match=r"fits failed.* … .*(colour|given column)"):
        ready(GridSearchCV(wrong, {}), X, y)


def test_what_is_no_learner_is_left_to_the_measures():
    X, y = mixed()
    for thing in (GaussianNB, "tree", object()):
        assert ready(thing, X, y).learner is thing


def test_a_regressor_is_tried_too():
    X, _ = mixed()
    y = np.linspace(0, 1, len(X))
    assert ready(LinearRegression(), X, y).wrapped.startswith("one-hot")
    assert ready(by_name(LinearRegression()), X, y).wrapped == ""


class Loud(Spy):
    """Prints, warns and draws from the global generator."""

    def fit(self, X, y):
        print("loud")
        warnings.warn("careful", stacklevel=1)
        np.random.random()
        return super().fit(X, y)


def test_a_trial_is_silent_and_leaves_no_trace(capsys, recwarn):
    X, y = mixed()
    before = np.random.get_state()[1].copy()
    learner = Loud()
    ready(learner, X, y)
    assert capsys.readouterr() == ("", "")
    assert len(recwarn) == 0
    assert (np.random.get_state()[1] == before).all()
    assert not hasattr(learner, "classes_")


# Text


def test_a_bare_text_pipeline_gets_the_strings():
    X, y = texts()
    learner = make_pipeline(TfidfVectorizer(), LogisticRegression())
    tried = ready(learner, X, y)
    assert tried.wrapped == "the column text as a series of strings"
    assert short_name(tried.learner) == short_name(learner)
    assert parameter(tried.learner, "logisticregression__C") == "learner__logisticregression__C"
    scorer = fit_scorer(tried.learner, X, y, 0)
    assert (scorer.predict(X) == y).all()
    assert scores_of(scorer.estimator, X).shape == (len(X), 2)
    assert classay.record(tried.learner, X, y, HalfSplits(2), 1, executor=1).present.all()
    search = GridSearchCV(learner, {"tfidfvectorizer__min_df": [1, 2]})
    assert ready(search, X, y).wrapped == tried.wrapped
    X.iloc[3, 0] = None
    assert (fit_scorer(ready(learner, X, y).learner, X, y, 0).predict(X) == y).mean() > 0.9


def test_every_error_of_a_text_pipeline_is_shown():
    X, y = texts()
    wrong = make_pipeline(TfidfVectorizer(min_df=1_000), LogisticRegression())
    with pytest.raises(InputError, match=r"series of strings: ValueError: .*max_df.*; and with latent semantic"):
        ready(wrong, X, y)


def test_a_text_pipeline_by_column_name_gets_the_table():
    X, y = texts()
    X["n"] = range(len(X))
    learner = make_pipeline(ColumnTransformer([("words", TfidfVectorizer(), "text")]), LogisticRegression())
    assert ready(learner, X, y).learner is learner
    assert ready(learner, X[["text"]], y).learner is learner


def test_a_learner_of_numbers_gets_numbers_of_a_text_column():
    X, y = texts()
    tried = ready(GaussianNB(), X, y)
    assert tried.wrapped == "latent semantic analysis of 1 column (text)"
    labelings = classay.record(tried.learner, X, y, HalfSplits(3), 1, executor=1)
    assert (labelings.labels == labelings.truth).mean() > 0.9


@pytest.mark.parametrize("dtype", [object, "category"])
def test_codes_that_merge_as_numbers_are_no_numbers(dtype):
    codes = pd.Series(["01", "1"] * 50).astype(dtype)
    X, y = pd.DataFrame({"code": codes, "x": range(100)}), ["p", "q"] * 50
    tried = ready(DecisionTreeClassifier(max_depth=1), X, y)
    assert "code" in tried.wrapped
    assert tried.learner.fit(X, y).score(X, y) == 1.0


def test_texts_that_are_named_are_text():
    X = pd.DataFrame({"u": [f"{'play' if i % 2 else 'stop'} song{i}" for i in range(200)]})
    y = np.arange(200) % 2
    tried = ready(LogisticRegression(), X, y, texts=["u"])
    assert "latent semantic analysis of 1 column (u)" in tried.wrapped
    assert tried.learner.fit(X[:100], y[:100]).score(X[100:], y[100:]) == 1.0


def test_missing_dates_are_not_the_distant_past():
    days = pd.Series(pd.date_range("2020-01-01", periods=100))
    days[3] = pd.NaT
    assert "days" in ready(DecisionTreeClassifier(), pd.DataFrame({"a": days}), ["p", "q"] * 50).wrapped


def test_a_trial_uses_one_thread():
    threads = []

    class Counts(Spy):
        def fit(self, X, y):
            threads.extend(library["num_threads"] for library in threadpool_info())
            return super().fit(X, y)

    with threadpool_limits(2):
        ready(Counts(), *mixed(60))
    assert set(threads) == {1}
