"""Thirty-six things that users bring, as docs/bring.md lists them: one test for each row of its table."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, StackingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, ShuffleSplit, TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import classay
from classay import InputError
from classay.cli.app import run
from classay.estimators.trial import ready
from classay.tables.read import read_table

FEW = {"scheme": classay.Subsets(3, size=0.5), "repeats": 1, "executor": 1}
PAGE = Path(__file__).parent.parent / "docs" / "bring.md"


def rows_of(cell, count=60):
    """A table whose column a is written by `cell`, b is a number, and y follows from a."""
    return "\n".join(["a,b,y", *(f"{cell(i)},{i % 7},{'high' if i >= count // 2 else 'low'}" for i in range(count))])


def labelled(label, count=60):
    return "\n".join(["a,y", *(f"{i},{label(i)}" for i in range(count))])


@pytest.fixture(scope="module")
def mixed():
    """A table with numbers, gaps, categories, and its labels."""
    generator = np.random.default_rng(0)
    hue = generator.choice(["red", "green", "blue"], 160)
    size = generator.normal(size=160)
    size[::11] = np.nan
    table = pd.DataFrame({"size": size, "hue": pd.Categorical(hue), "count": generator.integers(0, 9, 160)})
    return table, np.where((hue == "red") | (table["count"] > 6), "yes", "no")


# Files


def evenly_spaced(table):
    return table.X["a"].dtype.kind in "if" and np.allclose(np.diff(table.X["a"]), np.diff(table.X["a"])[0])


FILES = {
    "01 a header": (rows_of(str), lambda table: table.audit.classes == (("high", 30), ("low", 30))),
    "02 semicolons": (rows_of(str).replace(",", ";"), evenly_spaced),
    "02 packed": (gzip.compress(rows_of(str).replace(",", "\t").encode()), evenly_spaced),
    "03 a question mark": (
        rows_of(lambda i: "?" if i == 7 else i),
        lambda table: table.X["a"].dropna().tolist() == [i for i in range(60) if i != 7],
    ),
    "04 a word among numbers": (
        rows_of(lambda i: "broken" if i == 7 else i),
        lambda table: any("row 8" in loss and "broken" in loss for loss in table.audit.losses),
    ),
    "05 percent": (rows_of(lambda i: f"{i}%"), evenly_spaced),
    "05 dollars": (rows_of(lambda i: f"${i}"), evenly_spaced),
    "05 thousands": (rows_of(lambda i: f'"{1000 + i:,}"'), evenly_spaced),
    "05 decimal commas": (rows_of(lambda i: f'"{i},5"'), evenly_spaced),
    "05 euros": (rows_of(lambda i: f"{i} €"), evenly_spaced),
    "06 beyond 64 bits": (rows_of(lambda i: 2**70 + i * 2**20), evenly_spaced),
    "07 leading zeros": (
        rows_of(lambda i: f"0{i % 4}1"),
        lambda table: set(table.X["a"]) == {"001", "011", "021", "031"},
    ),
    "09 row numbers of pandas": (
        pd.DataFrame({"a": range(40), "y": list("pq") * 20}).to_csv(),
        lambda table: list(table.X) == ["a"] and any("unique" in loss for loss in table.audit.losses),
    ),
    "10 labels as spelled": (labelled(lambda i: "01" if i % 2 else "1"), lambda table: set(table.y) == {"01", "1"}),
    "11 a row without a label": (
        labelled(lambda i: "" if i == 3 else "pq"[i % 2]),
        lambda table: len(table.y) == 59 and any("row 4" in loss for loss in table.audit.losses),
    ),
    "12 UTF-16": (rows_of(str).encode("utf-16"), lambda table: list(table.X) == ["a", "b"]),
}


@pytest.mark.parametrize("name", FILES)
def test_files(tmp_path, name):
    content, is_right = FILES[name]
    path = tmp_path / ("table.tsv.gz" if "packed" in name else "table.csv")
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert is_right(read_table(path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("a,y,y\n1,p,p\n2,q,q\n", "same name", id="08 a header twice"),
        pytest.param(rows_of(lambda i: "x\0y" if i == 3 else "z"), "NUL character in line 5", id="13 NUL bytes"),
        pytest.param(
            "@relation r\n@attribute a numeric\n@attribute y {p,q}\n@data\n1,p\n2,q\n3,p,4\n4,q\n",
            "3 values in line 7",
            id="14 ARFF rows with too many values",
        ),
    ],
)
def test_files_that_are_refused(tmp_path, content, message):
    path = tmp_path / ("table.arff" if content.startswith("@") else "table.csv")
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_table(path)


def test_15_parquet_with_categories_and_dates(tmp_path, mixed):
    table, y = mixed
    dated = table.assign(day=pd.date_range("2024-01-01", periods=len(table)), y=y)
    dated.to_parquet(tmp_path / "table.parquet")
    kinds = {each.name: each.kind for each in read_table(tmp_path / "table.parquet").audit.columns}
    assert (kinds["size"], kinds["hue"], kinds["day"]) == ("number", "category", "date")


def test_16_complex_numbers_are_refused(tmp_path):
    np.savez(tmp_path / "table.npz", X=np.ones((40, 2)) * 1j, y=np.arange(40) % 2)
    with pytest.raises(InputError, match="complex"):
        read_table(tmp_path / "table.npz")


# Learners


def pipeline():
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = make_column_transformer((numbers, ["size", "count"]), (OneHotEncoder(handle_unknown="ignore"), ["hue"]))
    return make_pipeline(columns, LogisticRegression())


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [
        pytest.param(pipeline(), id="17 a Pipeline with a ColumnTransformer"),
        pytest.param(
            HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=5),
            id="18 gradient boosting with categories",
        ),
        pytest.param(
            GridSearchCV(pipeline(), {"logisticregression__C": [0.1, 1.0]}, cv=3), id="19 a search over settings"
        ),
        pytest.param(CalibratedClassifierCV(pipeline(), cv=3), id="20 a calibrated classifier"),
        pytest.param(TunedThresholdClassifierCV(pipeline(), cv=3), id="21 a tuned threshold"),
        pytest.param(
            StackingClassifier([("a", pipeline()), ("b", pipeline())], final_estimator=GaussianNB(), cv=3),
            id="22 a stack of learners",
        ),
    ],
)
def test_17_to_22_get_the_table_untouched(mixed, learner):
    assert ready(learner, *mixed).wrapped == ""
    assert classay.record(learner, *mixed, **FEW).present.all()


def test_23_boosters_of_other_packages_with_categories(mixed):
    lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    small = {"n_estimators": 3, "n_jobs": 1}
    boosters = [lightgbm.LGBMClassifier(verbose=-1, **small), xgboost.XGBClassifier(enable_categorical=True, **small)]
    for booster in boosters:
        assert ready(booster, *mixed).wrapped == ""
        assert classay.record(booster, *mixed, **FEW).present.all()


def test_24_a_learner_of_numbers_on_mixed_columns_is_wrapped_and_named(mixed):
    tried = ready(KNeighborsClassifier(), *mixed)
    assert "hue" in tried.wrapped
    assert "size" in tried.wrapped


def test_25_a_fitted_learner_is_cloned():
    X, y = load_iris(return_X_y=True)
    fitted = GaussianNB().fit(X[:100], y[:100])
    classay.record(fitted, X, y, **FEW)
    assert fitted.class_count_.tolist() == [50.0, 50.0]


@pytest.mark.slow
def test_26_one_learner_or_a_list_instead_of_a_dict():
    X, y = load_iris(return_X_y=True)
    settings = {"splits": 4, "repeats": 1, "n_probes": 50, "executor": 1}
    for learners in (GaussianNB(), [GaussianNB(), GaussianNB()]):
        assay = classay.characterize(learners, X, y, **settings)
        assert len(assay.learners) == len(learners if isinstance(learners, list) else [learners])


# Tables in Python


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


def same_records(one, other):
    return np.array_equal(one.labels, other.labels)


def test_27_polars_and_arrow(iris):
    import polars
    import pyarrow

    X, y = iris
    expected = classay.record(GaussianNB(), X, y, **FEW)
    for table in (polars.from_pandas(X), pyarrow.Table.from_pandas(X)):
        assert same_records(classay.record(GaussianNB(), table, y, **FEW), expected)
        assert classay.slices(table, y == 1).to_frame()["feature"].isin(X.columns).all()


def test_28_a_sparse_matrix(iris):
    X, y = iris
    learner = LogisticRegression(max_iter=20)
    assert classay.record(learner, sparse.csr_matrix(X.to_numpy()), y, **FEW).present.all()
    assert classay.complexity(sparse.csr_matrix(X.to_numpy()), y).values.size == 150


@pytest.fixture(scope="module")
def texts():
    songs = [f"please play the song number {i} again" for i in range(30)]
    alarms = [f"wake me up at {i} in the morning" for i in range(30)]
    return songs + alarms, np.repeat(["music", "alarm"], 30)


def test_29_texts_and_a_text_pipeline(texts):
    rows, y = texts
    learner = make_pipeline(TfidfVectorizer(), MultinomialNB())
    for X in (rows, pd.Series(rows), np.array(rows, dtype=object)):
        labelings = classay.record(learner, X, y, **FEW)
        assert (labelings.labels == labelings.truth).all()
    assert ready(learner, pd.DataFrame({"text": rows}), y).takes_texts


def test_30_a_column_of_sentences_in_a_file_is_not_lost(tmp_path, texts, capsys):
    rows, y = texts
    frame = pd.DataFrame({"utterance": rows, "length": [len(row) for row in rows], "intent": y})
    frame.to_csv(tmp_path / "texts.csv", index=False)
    assert run(["data", str(tmp_path / "texts.csv")]) == 2
    assert "--text utterance" in capsys.readouterr().err
    only = frame.drop(columns="length")
    only.to_csv(tmp_path / "only.csv", index=False)
    assert read_table(tmp_path / "only.csv").text == "utterance"


# Rows that are not alike


def test_31_groups_never_straddle_a_split():
    generator = np.random.default_rng(0)
    patients = np.repeat(np.arange(40), 6)
    X = np.repeat(generator.normal(size=(40, 5)), 6, axis=0) + generator.normal(scale=1e-3, size=(240, 5))
    y = np.repeat(generator.integers(0, 2, 40), 6)
    forest = RandomForestClassifier(10, random_state=0)
    alike = classay.record(forest, X, y, classay.HalfSplits(4), 1, executor=1)
    apart = classay.record(forest, X, y, classay.HalfSplits(4), 1, executor=1, groups=patients)
    assert np.intersect1d(patients[apart.test_rows], patients[np.concatenate(apart.train_rows)]).size == 0
    assert (alike.labels == alike.truth).mean() > 0.9
    assert (apart.labels == apart.truth).mean() < 0.75


def test_32_time_trains_on_the_past(iris):
    X, y = iris
    time = pd.date_range("2024-01-01", periods=150)[np.random.default_rng(0).permutation(150)]
    labelings = classay.record(GaussianNB(), X, y, **FEW, time=time)
    assert time[np.concatenate(labelings.train_rows)].max() < time[labelings.test_rows].min()


def test_33_weights_reach_the_fits(iris):
    X, y = iris
    weights = np.where(y == 0, 1e-9, 1.0)
    labelings = classay.record(GaussianNB(), X, y, **FEW, sample_weight=weights)
    plain = classay.record(GaussianNB(), X, y, **FEW)
    assert labelings.present.all()
    assert not same_records(labelings, plain)
    with pytest.raises(InputError, match="weight"):
        classay.record(KNeighborsClassifier(), X, y, **FEW, sample_weight=weights)


def test_34_a_given_test_part_and_any_splitter(iris):
    X, y = iris
    odd = np.arange(150) % 2 == 1
    labelings = classay.record(GaussianNB(), X[~odd], y[~odd], **FEW, X_test=X[odd], y_test=y[odd])
    assert labelings.truth.size == odd.sum()
    scheme = classay.Folds(ShuffleSplit(4, train_size=0.3, random_state=0))
    assert classay.record(GaussianNB(), X, y, scheme, executor=1).labels.shape[0] == 4


# What a classifier's measures are not for


def test_35_several_labels_per_row_are_refused_with_what_to_do(iris):
    X, y = iris
    several = np.column_stack([y == 0, y == 1])
    for verb in (
        lambda: classay.record(DecisionTreeClassifier(), X, several, **FEW),
        lambda: classay.complexity(X, several),
        lambda: classay.characterize({"tree": DecisionTreeClassifier()}, X, several),
    ):
        with pytest.raises(InputError, match=r"(?i)one label|each (label|column)"):
            verb()


def test_36_a_continuous_target(tmp_path, iris):
    X, _ = iris
    numbers = X["sepal length (cm)"] + np.random.default_rng(0).random(150)
    with pytest.raises(InputError, match="regress"):
        classay.characterize({"tree": DecisionTreeClassifier()}, X, numbers)
    predictions = classay.record(LinearRegression(), X, numbers, classay.HalfSplits(4), 1, executor=1)
    assert 0 <= classay.stability(predictions).stability.value <= 1


# The page


def test_every_row_of_the_page_has_its_test():
    rows = [int(number) for number in re.findall(r"^\| (\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)]
    assert rows == list(range(1, 37))
    source = Path(__file__).read_text(encoding="utf-8")
    for number in rows:
        assert re.search(rf"def test_{number:02}_|\"{number:02} ", source), number
