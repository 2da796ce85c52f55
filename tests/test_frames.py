"""Tables of other libraries: each verb takes them, and gives the figures of the same table in pandas."""

from __future__ import annotations

import datetime as dt
import sys
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import classay
from classay import InputError
from classay.frames import pandas_of

DAYS = [dt.date(2020, 1, 1), None, dt.date(2021, 6, 1)]
TIMES = [dt.datetime(2020, 1, 1, 12), None, dt.datetime(2021, 6, 1)]
POLARS = pl.DataFrame(
    {
        "whole": [1, 2, 3],
        "whole with gaps": [1, None, 3],
        "large with gaps": [2**60 + 1, None, 3],
        "small": pl.Series([1, 2, 3], dtype=pl.UInt8),
        "wide": pl.Series([1, 2, 3], dtype=pl.Int128),
        "number": [1.5, None, float("nan")],
        "flag": [True, False, True],
        "flag with gaps": [True, None, False],
        "word": ["a", None, "b"],
        "hue": pl.Series(["red", None, "blue"], dtype=pl.Categorical),
        "grade": pl.Series(["low", None, "high"], dtype=pl.Enum(["low", "middle", "high"])),
        "day": DAYS,
        "time": TIMES,
        "zoned": pl.Series(TIMES).dt.replace_time_zone("Europe/Paris"),
        "span": [dt.timedelta(days=1), None, dt.timedelta(hours=1)],
        "price": pl.Series([Decimal("1.50"), None, Decimal("2")], dtype=pl.Decimal(10, 2)),
        "nothing": [None, None, None],
        "list": [[1], [2, 3], None],
    }
)
KINDS = {
    "whole": "int64",
    "whole with gaps": "float64",
    "large with gaps": "Int64",
    "small": "uint8",
    "wide": "int64",
    "number": "float64",
    "flag": "bool",
    "flag with gaps": "boolean",
    "hue": "category",
    "grade": "category",
    "day": "datetime64",
    "time": "datetime64[us]",
    "zoned": "datetime64[us, Europe/Paris]",
    "span": "timedelta64[us]",
    "price": "float64",
    "nothing": "float64",
    "list": "object",
}


def arrow() -> pa.Table:
    return POLARS.drop("wide").to_arrow()


@pytest.mark.parametrize("given", [POLARS, arrow()], ids=["polars", "arrow"])
def test_every_type_has_its_pandas_type(given):
    frame = pandas_of(given)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == list(
        given.schema.names() if hasattr(given.schema, "to_python") else given.schema.names
    )
    assert frame.index.equals(pd.RangeIndex(3))
    for name in frame.columns:
        if name != "word":
            assert str(frame[name].dtype).startswith(KINDS[name]), name
    assert frame.isna().iloc[1].drop(["whole", "small", "flag", "list", "wide"], errors="ignore").all()
    assert frame["large with gaps"].iloc[0] == 2**60 + 1
    assert frame["word"].dropna().tolist() == ["a", "b"]
    assert frame["grade"].cat.categories.tolist() == ["low", "middle", "high"]
    assert frame["hue"].dropna().tolist() == ["red", "blue"]
    assert frame["day"].dropna().tolist() == [pd.Timestamp(DAYS[0]), pd.Timestamp(DAYS[2])]
    assert frame["zoned"].iloc[0] == pd.Timestamp(TIMES[0], tz="Europe/Paris")
    assert frame["price"].dropna().tolist() == [1.5, 2.0]


def test_polars_needs_no_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert pandas_of(POLARS.drop("list")).shape == (3, POLARS.width - 1)


def test_categories_do_not_depend_on_what_was_made_before():
    pl.Series(["z", "y"], dtype=pl.Categorical)
    column = pandas_of(pl.DataFrame({"hue": pl.Series(["red", "blue"], dtype=pl.Categorical)}))["hue"]
    assert column.cat.categories.tolist() == ["blue", "red"]


@pytest.mark.parametrize(
    ("given", "values"),
    [
        (pl.Series("y", ["a", "b"]), ["a", "b"]),
        (pl.Series("y", [1, 2]), [1, 2]),
        (pa.chunked_array([["a"], ["b"]]), ["a", "b"]),
        (pa.array([True, False]), [True, False]),
        (pa.array([Decimal(1), Decimal(2)]), [1.0, 2.0]),
    ],
)
def test_columns(given, values):
    column = pandas_of(given)
    assert isinstance(column, pd.Series)
    assert column.tolist() == values


def test_what_is_no_foreign_table_is_not_touched():
    for given in (None, [1, 2], "a", np.ones((2, 2)), pd.DataFrame({"a": [1]}), pd.Series([1]), GaussianNB()):
        assert pandas_of(given) is given


class OldProtocol:
    """A table of a library that nobody knows."""

    def __init__(self, frame):
        self.frame = frame

    def __dataframe__(self, *args, **keywords):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return self.frame.__dataframe__(*args, **keywords)


class ArrowProtocol:
    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "given",
    [
        OldProtocol(pd.DataFrame({"a": [1, 2]})),
        ArrowProtocol(pa.table({"a": [1, 2]})),
        pa.record_batch({"a": [1, 2]}),
        pa.table({"a": [1, 2]}).to_reader(),
    ],
)
def test_protocols(given):
    assert pandas_of(given).to_dict("list") == {"a": [1, 2]}


def test_the_index_that_pandas_stored_is_no_column():
    table = pa.Table.from_pandas(pd.DataFrame({"a": [1, 2]}, index=["x", "y"]))
    assert list(pandas_of(table).columns) == ["a"]


def test_a_lazy_table_is_refused():
    with pytest.raises(InputError, match=r"`X` is a lazy table of polars.*Call .collect\(\) first"):
        classay.record(GaussianNB(), pl.LazyFrame({"a": [1, 2]}), [0, 1])


def test_columns_of_the_same_name_are_refused():
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(InputError, match="same name"):
        pandas_of(table)
    with pytest.raises(InputError, match=r"same name \(a\)"):
        pandas_of(pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]))


# Every verb: the figures are those of the same table in pandas.


X, Y = load_iris(return_X_y=True, as_frame=True)
FRAMES = {
    "polars": (pl.DataFrame({name: X[name].to_numpy() for name in X}), pl.Series("y", Y.to_numpy())),
    "arrow": (pa.table({name: X[name].to_numpy() for name in X}), pa.chunked_array([Y.to_numpy()])),
}
SCHEME = classay.Subsets(4)


def recorded(X, y):
    learner = make_pipeline(make_column_transformer(("passthrough", list(pandas_of(X).columns[:3:2]))), GaussianNB())
    record = classay.record(learner, X, y, SCHEME, repeats=1, executor=1, probes=X[:9])
    assert list(record.probes.columns) == list(pandas_of(X).columns)
    return record.labels, record.probe_labels, record.about["data"]


def swept(X, y):
    tree = DecisionTreeClassifier(random_state=0)
    return (classay.sweep(tree, X, y, "max_depth", [1, 2], SCHEME, repeats=1, executor=1).to_frame(),)


def measured(X, y):
    found = classay.complexity(X, y)
    return found.values, found.geometry.feature_names, found.score(X[:5])


def sliced(X, y):
    wrong = np.asarray(y) == 1
    found = classay.slices(X, pl.Series("wrong", wrong) if isinstance(X, pl.DataFrame) else pa.array(wrong))
    return found.to_frame()["condition"].tolist(), found.slices[0].rows(X)


def monitored(X, y):
    monitor = classay.DriftMonitor(GaussianNB(), draws=40, n_probes=50, executor=1).fit(X, y, batch_size=40)
    return (monitor.update(X[40:80], y[40:80]).agreement_reference,)


def preferred(X, y):
    concepts = ("`petal length (cm)` < 2", "`sepal width (cm)` < 3")
    found = classay.preference(GaussianNB(), *concepts, attributes=X, n_samples=40, budget=60, executor=1)
    return (found.to_frame(),)


def characterized(X, y):
    settings = {"splits": 4, "repeats": 1, "n_probes": 50, "executor": 1}
    figures = classay.characterize({"bayes": GaussianNB()}, X, y, **settings).to_frame()
    return (figures[~figures["figure"].str.contains("seconds|time")].reset_index(drop=True),)


VERBS = [recorded, swept, measured, sliced, monitored, preferred]


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("verb", [*VERBS, pytest.param(characterized, marks=pytest.mark.slow)])
def test_a_verb_gives_the_figures_of_the_same_table_in_pandas(verb, library):
    table, labels = FRAMES[library]
    for ours, theirs in zip(verb(X, Y), verb(table, labels), strict=True):
        if isinstance(ours, pd.DataFrame):
            pd.testing.assert_frame_equal(ours, theirs)
        else:
            np.testing.assert_array_equal(ours, theirs)


def test_slices_of_a_pandas_table_with_an_index_and_a_foreign_column():
    wrong = (Y == 1).to_numpy()
    table = X.set_axis([f"row {number}" for number in range(len(X))])
    assert len(classay.slices(table, pl.Series(wrong)).slices) == len(classay.slices(X, wrong).slices)


@pytest.mark.parametrize("form", [pl.DataFrame, pa.table])
def test_accuracy_curve_of_scores(form):
    scores = LogisticRegression(max_iter=1000).fit(X, Y).predict_proba(X)
    named = pd.DataFrame(scores, columns=["a", "b", "c"])
    letters = np.array(["a", "b", "c"])[Y]
    ours = classay.accuracy_curve(named, letters).to_frame()
    pd.testing.assert_frame_equal(ours, classay.accuracy_curve(form(named.to_dict("list")), list(letters)).to_frame())


def test_a_learner_with_categories_sees_them():
    table = pl.DataFrame({"hue": ["red", "blue"] * 30, "size": list(range(60))})
    labels = pl.Series(["a", "b"] * 30)
    learner = make_pipeline(make_column_transformer((OneHotEncoder(), ["hue"])), DecisionTreeClassifier())
    found = classay.record(learner, table, labels, SCHEME, executor=1)
    assert classay.stability(found).accuracy.value == 1


# Rows that are one text each


WORDS = ["book a flight to", "find trains to", "play some jazz", "stop the music"]
TEXTS = [f"{WORDS[number % 4]} {place}" for number, place in enumerate(["rome", "oslo", "home"] * 20)]
INTENTS = [["travel", "travel", "music", "music"][number % 4] for number in range(60)]
FORMS = [list, np.array, pd.Series, pl.Series, pa.array, lambda texts: np.array(texts, dtype=object)]


@pytest.mark.parametrize("form", FORMS)
def test_a_text_pipeline_gets_texts(form):
    learner = make_pipeline(TfidfVectorizer(), MultinomialNB())
    found = classay.record(learner, form(TEXTS), INTENTS, SCHEME, executor=1, probes=["to rome", "jazz please"])
    assert found.about["data"]["columns"] == 1
    assert found.probe_labels.shape[-1] == 2
    assert classay.stability(found).accuracy.value > 0.9


def test_a_sweep_over_texts():
    learner = make_pipeline(TfidfVectorizer(), MultinomialNB())
    w = classay.sweep(
        learner, TEXTS, INTENTS, "multinomialnb__alpha", [0.1, 1.0], SCHEME, repeats=1, executor=1, probes="data"
    )
    assert len(w.to_frame())


def test_a_store_knows_texts_apart(tmp_path):
    learner = make_pipeline(TfidfVectorizer(), MultinomialNB())
    first = classay.record(learner, TEXTS, INTENTS, SCHEME, executor=1, store=tmp_path)
    again = classay.record(learner, pd.Series(TEXTS), INTENTS, SCHEME, executor=1, store=tmp_path)
    other = classay.record(learner, [text + "!" for text in TEXTS], INTENTS, SCHEME, executor=1, store=tmp_path)
    assert first.about["data"] == again.about["data"] != other.about["data"]


def test_texts_of_complexity_are_embedded_and_said_so():
    found = classay.complexity(TEXTS, INTENTS, distance="cosine")
    assert found.notes[0] == "The rows are texts, measured as vectors of 256 numbers from wordllama."
    assert found.baseline_accuracy.value > 0.9
    assert found.score(["a flight to rome"])["predicted"].tolist() == ["travel"]


def test_characterize_texts():
    learner = make_pipeline(TfidfVectorizer(), MultinomialNB())
    found = classay.characterize({"words": learner}, TEXTS, INTENTS, splits=4, repeats=1, n_probes=50, executor=1)
    assert found.report.figure("words", "accuracy").value > 0.9
    assert "text" in found.parts.data.X.columns
    assert "series of strings" in found.learners["words"].wrapped


def test_accuracy_curve_of_a_learner_of_texts():
    learner = make_pipeline(TfidfVectorizer(), MultinomialNB())
    labels = [f"{intent} {number % 3}" for number, intent in enumerate(INTENTS)]
    assert len(classay.accuracy_curve(pd.Series(TEXTS), labels, learner=learner).to_frame())


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["a", None, 3.5], r"`X` has 3 rows of text, but 2 are no text \(rows 1, 2; first: None\)"),
        (["a", "b"], "`X` has 2 rows but `y` has 3 labels"),
        (["a", "a", "a"], "All 3 texts of `X` are the same"),
    ],
)
def test_bad_texts(texts, message):
    with pytest.raises(InputError, match=message):
        classay.record(make_pipeline(TfidfVectorizer(), MultinomialNB()), texts, [0, 1, 0])


def test_probes_of_texts():
    learner = make_pipeline(TfidfVectorizer(), MultinomialNB())
    with pytest.raises(InputError, match="no columns to draw from"):
        classay.record(learner, TEXTS, INTENTS, probes="uniform")
    with pytest.raises(InputError, match="must be a list of texts"):
        classay.record(learner, TEXTS, INTENTS, probes=[[1.0]])


def test_texts_where_a_table_is_needed():
    with pytest.raises(InputError, match="is a list of texts; expected a table"):
        classay.DriftMonitor(GaussianNB()).fit(TEXTS, INTENTS)


def test_arrow_tables_of_pandas_with_other_names():
    import pyarrow

    years = pd.DataFrame({2021: [1, 2], 2020: [3, 4]}, index=pd.Index([7, 8], name="when"))
    assert pandas_of(pyarrow.Table.from_pandas(years)).to_dict("list") == {2021: [1, 2], 2020: [3, 4]}
    pairs = pd.DataFrame({("a", "b"): [1, 2], ("a", "c"): [3, 4]})
    assert pandas_of(pyarrow.Table.from_pandas(pairs)).to_numpy().tolist() == [[1, 3], [2, 4]]


def test_large_unsigned_numbers_with_gaps():
    import polars
    import pyarrow

    large = 2**63 + 5
    for table in (
        pyarrow.table({"a": pyarrow.array([large, None], pyarrow.uint64())}),
        polars.DataFrame({"a": polars.Series([large, None], dtype=polars.UInt64)}),
    ):
        column = pandas_of(table)["a"]
        assert int(column[0]) == large
        assert pd.isna(column[1])
