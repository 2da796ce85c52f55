"""Reading tables: every source, every decision said aloud, every mistake explained."""

import bz2
import gzip
import io
import lzma
import pickle
import sys
import warnings
from urllib.error import HTTPError, URLError

import numpy as np
import pandas as pd
import pytest
from one_source import read, refused
from sklearn.datasets import load_breast_cancer
from sklearn.utils import Bunch

from classay.expect import InputError
from classay.tables.read import read_table

FLOWERS = "width,height,kind\n1.5,2,rose\n2.5,3,tulip\n3.5,4,rose\n"
LAST = "Target: last column 'kind'. Use --target to choose another."


def is_flowers(table):
    return (
        list(table.X.columns) == ["width", "height"]
        and table.X["width"].to_list() == [1.5, 2.5, 3.5]
        and table.y.to_list() == ["rose", "tulip", "rose"]
        and table.target == "kind"
    )


# Built-in tables


@pytest.mark.parametrize(
    ("name", "shape", "labels"),
    [
        ("iris", (150, 4), ["setosa", "versicolor", "virginica"]),
        ("wine", (178, 13), ["class_0", "class_1", "class_2"]),
        ("breast_cancer", (569, 30), ["benign", "malignant"]),
        ("digits", (1797, 64), list(range(10))),
        ("random", (2000, 4), [0, 1]),
    ],
)
def test_built_in_tables_have_their_labels(name, shape, labels):
    table = read(name)
    assert (table.audit.source, table.X.shape, table.notes) == (name, shape, ())
    assert sorted(set(table.y)) == labels
    assert "target" not in table.X
    assert len(table.audit.columns) == shape[1] + 1
    if name == "breast_cancer":
        data = load_breast_cancer()
        assert (table.y.to_numpy() == data.target_names[data.target]).all()


# Text files


@pytest.mark.parametrize("pack", [None, gzip, bz2, lzma], ids=["plain", "gz", "bz2", "xz"])
@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_text_files_plain_and_packed(written, kind, pack):
    text = FLOWERS if kind == "csv" else FLOWERS.replace(",", "\t")
    ending = {None: "", gzip: ".gz", bz2: ".bz2", lzma: ".xz"}[pack]
    table = read(written(pack.compress(text.encode()) if pack else text, name=f"flowers.{kind}{ending}"))
    assert is_flowers(table)
    assert table.audit.source == f"flowers.{kind}{ending}"
    assert table.notes == (LAST,)


@pytest.mark.parametrize(
    "text",
    [
        FLOWERS.replace(",", ";"),
        FLOWERS.replace(",", "\t"),
        "\ufeff\n" + FLOWERS.replace(",", ", "),
        "width,height,kind\n1.5,2,rose,\n2.5,3,tulip,\n3.5,4,rose,\n",
    ],
    ids=["semicolons", "tabs", "mark, blank line, spaces", "separator at the end"],
)
def test_forms_of_a_text_file(written, text):
    assert is_flowers(read(written(text)))


def test_a_chosen_target(written):
    table = read(written(FLOWERS.replace("4,", "3,")), target="height")
    assert (table.target, table.y.to_list(), table.notes) == ("height", [2, 3, 3], ())
    assert list(table.X) == ["width", "kind"]


def test_separators_in_quotes_do_not_count(written):
    for mark in ("", "\ufeff"):
        assert list(read(written(f'{mark}"a;b;c;d",kind\n1,x\n2,y\n')).X) == ["a;b;c;d"]


@pytest.mark.slow
def test_a_very_long_header(written):
    names = [f"column_{i}" for i in range(15_000)]
    table = read(written(",".join([*names, "kind"]), *(",".join(["1"] * 15_000 + [k]) for k in "xy")))
    assert table.X.shape == (2, 15_000)


def test_decimal_commas_with_semicolons_and_missing_features(written):
    table = read(written("size;share;kind\n1,5;-0,25;rose\n2;0,5;tulip\n"))
    assert table.X.to_dict("list") == {"size": [1.5, 2], "share": [-0.25, 0.5]}
    missing = read(written("a,b,kind\n1,NA,x\n,q,y\n")).X.isna()
    assert missing.to_numpy().tolist() == [[False, True], [True, False]]


@pytest.mark.parametrize(
    ("spelled", "labels"),
    [
        (["0", "1", "1 "], [0, 1, 1]),
        (["0", "-1", "-1"], [0, -1, -1]),
        (["0.0", "1.0", "1.0"], ["0.0", "1.0", "1.0"]),
        (["True", "False"], ["True", "False"]),
        (["no", "yes"], ["no", "yes"]),
        (["01", "1", "001"], ["01", "1", "001"]),
        (["0.5", "1.5", "0.5", "1.5"], ["0.5", "1.5", "0.5", "1.5"]),
        (["7", "seven"], ["7", "seven"]),
    ],
)
def test_labels_are_spelled_as_in_the_file_and_whole_numbers_are_numbers(written, spelled, labels):
    assert read(written("a,y", *(f"{i},{label}" for i, label in enumerate(spelled)))).y.to_list() == labels


def test_columns_without_values_are_left_out_and_said(written):
    table = read(written("a,void,kind,\n1,,x,\n2,,y,\n"))
    assert (list(table.X), table.target) == (["a"], "kind")
    assert "Dropped, without any value: void, Unnamed: 3." in table.notes


@pytest.mark.parametrize(
    ("rows", "kind", "columns"),
    [(21, "row-{}", ["a"]), (20, "row-{}", ["id", "a"]), (30, "{}", ["id", "a"]), (30, "row-{}", ["id", "a"])],
    ids=["unique", "few rows", "numbers", "one value twice"],
)
def test_identifiers_are_left_out_and_said(written, rows, kind, columns):
    names = [kind.format(8 if rows == 30 and i == 7 and kind != "{}" else i) for i in range(rows)]
    table = read(written("id,a,kind", *(f"{name},{i % 3},{'xy'[i % 2]}" for i, name in enumerate(names))))
    assert list(table.X) == columns
    assert ("Dropped, because every value is unique: id." in table.notes) == (columns == ["a"])


def test_a_header_of_numbers_is_said(written):
    rows = [f"{i},{i * 2.5},{i % 2}" for i in range(32)]
    refused(written(*rows), r"same name \(0\).*If the first line is a row, add a header line")
    assert any("add a header line" in note for note in read(written(*rows[2:])).notes)
    assert not any("header" in note for note in read(written("a,b,y", *rows)).notes)


# Mistakes in text files


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("a,b,kind\n", r"has a header \(a, b, kind\) but no rows"),
        ("kind\nx\ny\n", r"has one column with values \(kind\).*separator"),
        ("a,kind\n,x\n,y\n", r"has one column with values \(kind\)"),
        ("a,kind\n1,x\n2,\n3,y\n4,None\n", "'kind' is missing in 2 of 4 rows .row 2, 4, counted from 1.*Drop"),
        ("a,kind\n1,x,3\n2,y,4\n", "more fields than its header. Name every column"),
        ("a,kind\n1,x\n2,y,4\n", "cannot be read as .csv .*Expected 2 fields in line 3"),
        ("\n".join(["id,kind", *(f"r{i},{'xy'[i % 2]}" for i in range(30))]), "nothing to learn from.*id"),
        ("\n".join(["a,n", *(f"{i % 2},{i * i}" for i in range(50))]), "looks like a regression target"),
        ("\n".join(["a,n", *(f"{i},{i * 1.37 + 0.01}" for i in range(6))]), "'n' has 6 different values in 6 rows"),
        ("\n".join(["a,n", *(f"{i % 2},t{i}" for i in range(50))]), "looks like text or an identifier"),
    ],
)
def test_mistakes_in_a_file(written, content, message):
    refused(written(content), message)


def test_mistakes_in_the_names(tmp_path, written):
    refused("iriss", "no file 'iriss'.*Did you mean iris.*breast_cancer, digits")
    refused("nowhere/zzzzzzzz.csv", r"no file 'nowhere/zzzzzzzz.csv'[^?]*expected .*openml:NAME, or - for")
    refused(tmp_path, "is a folder")
    refused(written(FLOWERS), "no column 'kinds'. Did you mean kind.* It has width, height, kind", target="kinds")
    refused(written("a,b,kind\n1,,x\n2,,y\n"), "'b' is missing in 2 of 2 rows", target="b")
    for name in ("table.xlsx", "table.pkl", "table.npz.gz", "table"):
        refused(written("x", name=name), "unknown type; expected a .csv or .tsv")
    with pytest.raises(InputError, match=r"`y` has 1 class \('1.0'\); at least 2 are needed. Is the target column"):
        read_table(written("a,kind\n1,1.0\n2,1.0\n"))


def test_many_classes_with_several_rows_are_classes(written):
    assert read(written("a,n", *(f"{i},c{i % 40}" for i in range(120)))).y.nunique() == 40


def test_damaged_packed_files(written):
    whole = gzip.compress(("a,kind\n" + "".join(f"{i * 7919 % 1009},x\n" for i in range(5000))).encode())
    refused(written(whole[: len(whole) // 2], name="half.csv.gz"), "half.csv.gz' cannot be read")
    for ending in ("gz", "xz", "bz2"):
        refused(written(b"plain text", name=f"fake.csv.{ending}"), "cannot be read")
    refused(written(gzip.compress(b""), name="void.csv.gz"), "is empty")


# Parquet


def test_parquet(tmp_path, written, monkeypatch):
    pytest.importorskip("pyarrow")
    frame = pd.read_csv(io.StringIO(FLOWERS)).astype({"kind": pd.CategoricalDtype(["rose", "tulip", "unused"])})
    frame.set_axis(pd.Index([5, 6, 7])).to_parquet(tmp_path / "flowers.parquet")
    table = read(tmp_path / "flowers.parquet")
    assert is_flowers(table)
    assert not isinstance(table.y.dtype, pd.CategoricalDtype)
    assert table.X.index.to_list() == [0, 1, 2]
    refused(written(FLOWERS, name="fake.parquet"), "cannot be read as .parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    refused(written(b"PAR1", name="t.parquet"), r'pip install "classay\[parquet\]"')


# ARFF

ARFF = """% flowers
@RELATION flowers
@ATTRIBUTE width NUMERIC
@ATTRIBUTE colour {red, blue}
@ATTRIBUTE code {1, 2}
@ATTRIBUTE kind {rose,tulip}
@DATA
1.5,red,1,rose
?,blue,2,tulip
3.5,?,1,rose
"""


@pytest.mark.parametrize("name", ["flowers.arff", "flowers.arff.gz"])
def test_arff(written, name):
    table = read(written(gzip.compress(ARFF.encode()) if name.endswith("gz") else ARFF, name=name))
    assert table.y.to_list() == ["rose", "tulip", "rose"]
    assert table.X["width"].isna().to_list() == [False, True, False]
    assert table.X["colour"].isna().to_list() == [False, False, True]
    assert table.X["code"].to_list() == ["1", "2", "1"]  # declared as categories
    assert table.notes[0] == LAST


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (ARFF.replace("NUMERIC", "STRING"), "cannot be read as .arff .*save it as CSV"),
        ("@RELATION x\nnonsense\n", "cannot be read as .arff"),
        (ARFF.replace("1.5,red,1,rose", "{0 1.5, 2 rose}"), "cannot be read as .arff"),
        (ARFF.split("1.5")[0], "no rows"),
        (ARFF.replace("1,rose", "1,rose,5", 1), "5 values in line 8; expected 4"),
        (ARFF.replace("1,rose", "1", 1), "3 values in line 8; expected 4"),
    ],
)
def test_arff_that_cannot_be_read(written, content, message):
    refused(written(content, name="t.arff"), message)


# NumPy archives


def test_npz(tmp_path):
    X, y = np.arange(6.0).reshape(3, 2), np.array(["a", "b", "a"])
    for keys in (("X", "y"), ("x", "y"), ("X", "Y")):
        np.savez(tmp_path / "t.npz", **dict(zip(keys, (X, y))))
        table = read(tmp_path / "t.npz")
        assert table.X.to_dict("list") == {"0": [0, 2, 4], "1": [1, 3, 5]}
        assert (table.y.to_list(), table.target, table.notes) == (["a", "b", "a"], "y", ())
    np.savez(tmp_path / "t.npz", X=np.eye(2), y=np.array([b"no", b"yes"]))
    assert read(tmp_path / "t.npz").y.to_list() == ["no", "yes"]


def test_npz_of_images_in_two_parts(tmp_path):
    images = np.arange(5 * 3 * 3, dtype=np.uint8).reshape(5, 3, 3)
    labels = np.array([[0], [1], [0], [1], [1]])
    parts = {"x_train": images[:3], "y_train": labels[:3], "x_test": images[3:], "y_test": labels[3:]}
    np.savez_compressed(tmp_path / "t.npz", **parts)
    table = read(tmp_path / "t.npz")
    assert table.X.to_numpy().tolist() == images.reshape(5, 9).tolist()
    assert table.y.to_list() == [0, 1, 0, 1, 1]
    np.savez(tmp_path / "t.npz", x_train=images, y_train=labels)
    assert len(read(tmp_path / "t.npz").X) == 5


class Trap:
    def __reduce__(self):
        return print, ("unpickled",)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": [1], "b": [2]}, "has arrays a, b; expected X and y"),
        ({"x_test": [[1]], "y_test": [1]}, "expected X and y"),
        ({"X": np.eye(3), "y": [0, 1]}, r"X of shape \(3, 3\) and y of shape \(2,\)"),
        ({"X": [1, 2], "y": [0, 1]}, r"X of shape \(2,\)"),
        ({"X": np.eye(2), "y": np.eye(2)}, r"y of shape \(2, 2\)"),
        ({"X": np.eye(2), "y": np.array([Trap(), Trap()], dtype=object)}, "has pickled Python objects"),
    ],
)
def test_mistakes_in_npz(tmp_path, arrays, message, capfd):
    np.savez(tmp_path / "t.npz", **arrays)
    refused(tmp_path / "t.npz", message)
    assert capfd.readouterr().out == ""  # nothing is unpickled


def test_what_is_no_npz(tmp_path, written, capfd):
    with (tmp_path / "one.npz").open("wb") as file:
        np.save(file, np.eye(2))
    refused(tmp_path / "one.npz", "contains one array")
    refused(written("hello", name="t.npz"), "pickled Python objects, or is not an array")
    refused(written(pickle.dumps(Trap()), name="bare.npz"), "pickled Python objects")
    assert capfd.readouterr().out == ""


# OpenML


@pytest.fixture
def openml(monkeypatch):
    """Answer for OpenML: what it gives back or raises, and what it was asked."""
    queries = []

    def answer(outcome, warning=None):
        def fetch(**query):
            queries.append(query)
            if warning:
                warnings.warn(warning, UserWarning, stacklevel=2)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
        return queries

    return answer


def test_openml_by_name_and_number(openml):
    frame = pd.read_csv(io.StringIO(FLOWERS))[["kind", "width", "height"]]
    queries = openml(Bunch(frame=frame, target_names=["kind"]))
    table = read("openml:flowers")
    assert is_flowers(table)
    assert (table.audit.source, table.notes) == ("openml:flowers", ())
    read("openml:61")
    assert [next(iter(query.items())) for query in queries] == [("name", "flowers"), ("data_id", 61)]


def test_openml_remarks_tables_without_a_target_and_labels_of_mixed_types(openml):
    frame = pd.DataFrame({"a": [1, 2, 3], "kind": pd.Series([1, "b", 1], dtype=object)})
    openml(Bunch(frame=frame, target_names=["kind"]))
    assert read("openml:mixed").y.to_list() == ["1", "b", "1"]
    openml(Bunch(frame=pd.read_csv(io.StringIO(FLOWERS)), target_names=[]), warning="Several\nversions exist.")
    assert read("openml:flowers").notes == ("OpenML: Several versions exist.", LAST)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (URLError("no route to host"), "could not be reached for 'flowers'.*no route.*Check the network"),
        (TimeoutError("timed out"), "could not be reached"),
        (HTTPError("https://openml.org", 404, "Not Found", None, None), "has no table 'flowers'.*404"),
        (ValueError("Sparse ARFF"), "'flowers' cannot be read: Sparse ARFF"),
    ],
)
def test_openml_failures(openml, error, message):
    openml(error)
    refused("openml:flowers", message)


# Chosen columns


def test_texts_are_kept_though_all_differ(written):
    path = written("utterance,intent,text", *(f"say {i},{'ab'[i % 2]},t{i}" for i in range(30)))
    assert list(read(path, "intent", "utterance").X) == ["utterance"]
    assert read(path, text="text").target == "intent"
    refused(path, "uterance", target="intent", text="uterance")
    refused(path, "both", target="intent", text="intent")


def test_a_target_of_numbers(written):
    """As a regressor learns it: any numbers, in the format of the file, and in that of the first table."""
    table = read_table(written("a;price", *(f"{i};1.{i:03},5" for i in range(30))), "price", numbers=True)
    assert table.y.tolist() == [1000.5 + i for i in range(30)]
    assert table.audit.classes == ()
    more = written("a;price\n1;1.250\n2;1.750\n", name="more.csv")  # thousands, as the first table shows
    assert read_table(more, "price", like=table, numbers=True).y.tolist() == [1250.0, 1750.0]
    gap = read(written("a,price", *(f"{i},{'' if i == 3 else i / 7}" for i in range(60))), "price", numbers=True)
    assert len(gap.y) == len(gap.X) == 59
    word = written("a,price", *(f"{i},{'lots' if i == 3 else i}" for i in range(60)))
    refused(word, "1 value that cannot be read as a number .'lots'", target="price", numbers=True)
    words = written("a,price", *(f"{i},{'high' if i % 2 else 'low'}" for i in range(60)))
    refused(words, "a regressor needs numbers", target="price", numbers=True)
