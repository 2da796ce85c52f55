"""Reading tables: every source, every decision said aloud, every mistake explained."""

import bz2
import gzip
import io
import lzma
import sys
import warnings
from urllib.error import HTTPError, URLError

import numpy as np
import pandas as pd
import pytest
from one_source import read
from sklearn.datasets import load_breast_cancer
from sklearn.utils import Bunch

from classay.expect import InputError
from classay.tables.read import read_table

FLOWERS = "width,height,kind\n1.5,2,rose\n2.5,3,tulip\n3.5,4,rose\n"


@pytest.fixture
def written(tmp_path):
    """Write text or bytes to a file and return its path."""

    def write(content, name="flowers.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def refused(source, message, **options):
    with pytest.raises(InputError, match=message):
        read(source, **options)


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
    assert table.audit.source == name
    assert table.X.shape == shape
    assert sorted(set(table.y)) == labels
    assert table.notes == ()
    assert "target" not in table.X


def test_built_in_labels_belong_to_their_rows():
    data = load_breast_cancer()
    assert (read("breast_cancer").y.to_numpy() == data.target_names[data.target]).all()


def test_an_unknown_name_suggests_the_nearest():
    refused("iriss", "no file 'iriss'.*Did you mean iris.*breast_cancer, digits")
    refused("nowhere/zzzzzzzz.csv", r"no file 'nowhere/zzzzzzzz.csv'[^?]*expected .*openml:NAME, or - for")


# Text files


@pytest.mark.parametrize("pack", [None, gzip, bz2, lzma], ids=["plain", "gz", "bz2", "xz"])
@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_text_files_plain_and_packed(written, kind, pack):
    text = FLOWERS if kind == "csv" else FLOWERS.replace(",", "\t")
    ending = {None: "", gzip: ".gz", bz2: ".bz2", lzma: ".xz"}[pack]
    content = pack.compress(text.encode()) if pack else text
    table = read(written(content, f"flowers.{kind}{ending}"))
    assert is_flowers(table)
    assert table.audit.source == f"flowers.{kind}{ending}"


def test_the_last_column_is_the_target_and_said_so(written):
    assert read(written(FLOWERS)).notes == ("Target: last column 'kind'. Use --target to choose another.",)


def test_a_chosen_target(written):
    table = read(written(FLOWERS.replace("4,", "3,")), target="height")
    assert table.target == "height"
    assert table.y.to_list() == [2, 3, 3]
    assert list(table.X) == ["width", "kind"]
    assert table.notes == ()


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_separator_is_found(written, separator):
    assert is_flowers(read(written(FLOWERS.replace(",", separator))))


def test_separators_in_quotes_do_not_count(written):
    table = read(written('"a;b;c;d",kind\n1,x\n2,y\n'))
    assert list(table.X) == ["a;b;c;d"]


@pytest.mark.slow
def test_a_very_long_header(written):
    names = [f"column_{i}" for i in range(15_000)]
    table = read(written("\n".join([",".join([*names, "kind"]), *(",".join(["1"] * 15_000 + [k]) for k in "xy")])))
    assert table.X.shape == (2, 15_000)


def test_decimal_commas_with_semicolons(written):
    table = read(written("size;share;kind\n1,5;-0,25;rose\n2;0,5;tulip\n"))
    assert table.X["size"].to_list() == [1.5, 2]
    assert table.X["share"].to_list() == [-0.25, 0.5]


def test_a_byte_order_mark_blank_lines_and_spaces(written):
    assert is_flowers(read(written("\ufeff\n" + FLOWERS.replace(",", ", "))))
    assert list(read(written('\ufeff"a;b;c;d",kind\n1,x\n2,y\n')).X) == ["a;b;c;d"]


def test_a_separator_at_the_end_of_each_row(written):
    assert is_flowers(read(written("width,height,kind\n1.5,2,rose,\n2.5,3,tulip,\n3.5,4,rose,\n")))


def test_missing_features_stay_missing(written):
    assert read(written("a,b,kind\n1,NA,x\n,q,y\n")).X.isna().to_numpy().tolist() == [
        [False, True],
        [True, False],
    ]


def test_labels_of_every_kind(written):
    """They are spelled as in the file, and whole numbers are numbers."""
    assert read(written("a,y\n1,0\n2,1\n3,1 \n")).y.to_list() == [0, 1, 1]
    assert read(written("a,y\n1,0\n2,-1\n3,-1\n")).y.dtype == np.int64
    assert read(written("a,y\n1,0.0\n2,1.0\n3,1.0\n")).y.to_list() == ["0.0", "1.0", "1.0"]
    assert read(written("a,y\n1,True\n2,False\n")).y.to_list() == ["True", "False"]
    assert read(written("a,y\n1,no\n2,yes\n")).y.to_list() == ["no", "yes"]
    assert read(written("a,y\n1,01\n2,1\n3,001\n")).y.to_list() == ["01", "1", "001"]
    assert read(written("a,y\n1,0.5\n2,1.5\n3,0.5\n4,1.5\n")).y.to_list() == ["0.5", "1.5", "0.5", "1.5"]
    assert read(written("a,y\n1,7\n2,seven\n")).y.to_list() == ["7", "seven"]


def test_columns_without_values_are_left_out_and_said(written):
    table = read(written("a,void,kind,\n1,,x,\n2,,y,\n"))
    assert list(table.X) == ["a"]
    assert table.target == "kind"
    assert "Dropped, without any value: void, Unnamed: 3." in table.notes


def numbered(rows, kind="row-{}"):
    lines = [f"{kind.format(i)},{i % 3},{'xy'[i % 2]}" for i in range(rows)]
    return "\n".join(["id,a,kind", *lines])


def test_identifiers_are_left_out_and_said(written):
    table = read(written(numbered(21)))
    assert list(table.X) == ["a"]
    assert "Dropped, because every value is unique: id." in table.notes


def test_few_rows_or_numbers_make_no_identifier(written):
    assert list(read(written(numbered(20))).X) == ["id", "a"]
    assert list(read(written(numbered(30, kind="{}"))).X) == ["id", "a"]
    assert list(read(written(numbered(30).replace("row-7", "row-8"))).X) == ["id", "a"]


# Mistakes in text files


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("a,b,kind\n", r"has a header \(a, b, kind\) but no rows"),
        ("kind\nx\ny\n", r"has one column with values \(kind\).*separator"),
        ("a,kind\n,x\n,y\n", r"has one column with values \(kind\)"),
        (
            "a,kind\n1,x\n2,\n3,y\n4,None\n",
            "'kind' is missing in 2 of 4 rows .row 2, 4, counted from 1.*Drop",
        ),
        ("a,kind\n1,x,3\n2,y,4\n", "more fields than its header. Name every column"),
        ("a,kind\n1,x\n2,y,4\n", "cannot be read as .csv .*Expected 2 fields in line 3"),
        ("größe,kind\n1,x\n".encode("latin-1"), "not text in UTF-8"),
        ("\n".join(["id,kind", *(f"r{i},{'xy'[i % 2]}" for i in range(30))]), "nothing to learn from.*id"),
    ],
)
def test_mistakes_in_a_file(written, content, message):
    refused(written(content), message)


def test_one_class(written):
    with pytest.raises(
        InputError, match=r"`y` has 1 class \('1.0'\); at least 2 are needed. Is the target column right"
    ):
        read_table(written("a,kind\n1,1.0\n2,1.0\n"))


def test_a_missing_target_lists_the_columns(written):
    refused(
        written(FLOWERS),
        "has no column 'kinds'. Did you mean kind.* It has width, height, kind",
        target="kinds",
    )


def test_a_target_without_any_value_is_missing_not_left_out(written):
    refused(written("a,b,kind\n1,,x\n2,,y\n"), "'b' is missing in 2 of 2 rows", target="b")


@pytest.mark.parametrize("rows", [6, 300])
def test_a_continuous_target(written, rows):
    content = "\n".join(["a,price", *(f"{i},{i * 1.37 + 0.01}" for i in range(rows))])
    refused(
        written(content),
        f"'price' has {rows} different values in {rows} rows; it looks like a regression target",
    )


def test_many_whole_numbers_or_texts_are_no_classes(written):
    refused(
        written("\n".join(["a,n", *(f"{i % 2},{i * i}" for i in range(50))])),
        "looks like a regression target",
    )
    refused(written("\n".join(["a,n", *(f"{i % 2},t{i}" for i in range(50))])), "looks like text or an identifier")


def test_many_classes_with_several_rows_are_classes(written):
    table = read(written("\n".join(["a,n", *(f"{i},c{i % 40}" for i in range(120))])))
    assert table.y.nunique() == 40


def test_damaged_packed_files(written):
    whole = gzip.compress(("a,kind\n" + "".join(f"{i * 7919 % 1009},x\n" for i in range(5000))).encode())
    refused(written(whole[: len(whole) // 2], "half.csv.gz"), "half.csv.gz' cannot be read")
    refused(written(b"plain text", "fake.csv.gz"), "cannot be read")
    refused(written(b"plain text", "fake.csv.xz"), "cannot be read")
    refused(written(b"plain text", "fake.csv.bz2"), "cannot be read")
    refused(written(gzip.compress(b""), "void.csv.gz"), "is empty")


def test_folders_and_unknown_kinds(tmp_path, written):
    refused(tmp_path, "is a folder")
    refused(written("x", "table.xlsx"), "unknown type; expected a .csv or .tsv")
    refused(written("x", "table.pkl"), "unknown type")
    refused(written("x", "table.npz.gz"), "unknown type")
    refused(written("x", "table"), "unknown type")


# Parquet


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.read_csv(io.StringIO(FLOWERS)).astype({"kind": pd.CategoricalDtype(["rose", "tulip", "unused"])})
    frame.index = pd.Index([5, 6, 7], name="row")
    frame.to_parquet(tmp_path / "flowers.parquet")
    table = read(tmp_path / "flowers.parquet")
    assert is_flowers(table)
    assert not isinstance(table.y.dtype, pd.CategoricalDtype)
    assert table.X.index.to_list() == [0, 1, 2]


def test_what_is_no_parquet(written):
    pytest.importorskip("pyarrow")
    refused(written(FLOWERS, "fake.parquet"), "cannot be read as .parquet")


def test_parquet_without_pyarrow_names_the_extra(written, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    refused(written(b"PAR1", "t.parquet"), r'pip install "classay\[parquet\]"')


# ARFF

ARFF = """% flowers
@RELATION flowers
@ATTRIBUTE width NUMERIC
@ATTRIBUTE colour {red, blue}
@ATTRIBUTE kind {rose,tulip}
@DATA
1.5,red,rose
?,blue,tulip
3.5,?,rose
"""


@pytest.mark.parametrize("name", ["flowers.arff", "flowers.arff.gz"])
def test_arff(written, name):
    table = read(written(gzip.compress(ARFF.encode()) if name.endswith("gz") else ARFF, name))
    assert table.y.to_list() == ["rose", "tulip", "rose"]
    assert table.X["width"].isna().to_list() == [False, True, False]
    assert table.X["colour"].isna().to_list() == [False, False, True]
    assert table.X["colour"][1] == "blue"
    assert "last column 'kind'" in table.notes[0]


def test_arff_that_cannot_be_read(written):
    refused(written(ARFF.replace("NUMERIC", "STRING"), "s.arff"), "cannot be read as .arff .*save it as CSV")
    refused(written("@RELATION x\nnonsense\n", "n.arff"), "cannot be read as .arff")
    refused(written(ARFF.replace("1.5,red,rose", "{0 1.5, 2 rose}"), "sparse.arff"), "cannot be read as .arff")
    refused(written(ARFF.split("1.5")[0], "void.arff"), "no rows")


# NumPy archives


def test_npz(tmp_path):
    X, y = np.arange(6.0).reshape(3, 2), np.array(["a", "b", "a"])
    for keys in (("X", "y"), ("x", "y"), ("X", "Y")):
        np.savez(tmp_path / "t.npz", **dict(zip(keys, (X, y))))
        table = read(tmp_path / "t.npz")
        assert table.X.to_numpy().tolist() == X.tolist()
        assert list(table.X.columns) == ["0", "1"]
        assert table.y.to_list() == ["a", "b", "a"]
        assert table.target == "y"
        assert table.notes == ()


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


def test_npz_labels_as_bytes(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.eye(2), y=np.array([b"no", b"yes"]))
    assert read(tmp_path / "t.npz").y.to_list() == ["no", "yes"]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": [1], "b": [2]}, "has arrays a, b; expected X and y"),
        ({"x_test": [[1]], "y_test": [1]}, "expected X and y"),
        ({"X": np.eye(3), "y": [0, 1]}, r"X of shape \(3, 3\) and y of shape \(2,\)"),
        ({"X": [1, 2], "y": [0, 1]}, r"X of shape \(2,\)"),
        ({"X": np.eye(2), "y": np.eye(2)}, r"y of shape \(2, 2\)"),
        ({"X": np.eye(2), "y": np.array(["a", None], dtype=object)}, "cannot be read.*allow_pickle"),
    ],
)
def test_mistakes_in_npz(tmp_path, arrays, message):
    np.savez(tmp_path / "t.npz", **arrays)
    refused(tmp_path / "t.npz", message)


def test_what_is_no_npz(tmp_path, written):
    with (tmp_path / "one.npz").open("wb") as file:
        np.save(file, np.eye(2))
    refused(tmp_path / "one.npz", "contains one array")
    refused(written("hello", "t.npz"), "cannot be read as .npz")


class Trap:
    def __reduce__(self):
        return print, ("unpickled",)


def test_nothing_is_unpickled(tmp_path, written, capfd):
    import pickle

    refused(written(pickle.dumps(Trap()), "bare.npz"), "cannot be read")
    np.savez(tmp_path / "t.npz", X=np.eye(2), y=np.array([Trap(), Trap()], dtype=object))
    refused(tmp_path / "t.npz", "cannot be read")
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
    assert table.audit.source == "openml:flowers"
    assert table.notes == ()
    read("openml:61")
    assert [next(iter(query.items())) for query in queries] == [("name", "flowers"), ("data_id", 61)]


def test_labels_of_mixed_types_become_texts(openml):
    frame = pd.DataFrame({"a": [1, 2, 3], "kind": pd.Series([1, "b", 1], dtype=object)})
    openml(Bunch(frame=frame, target_names=["kind"]))
    assert read("openml:mixed").y.to_list() == ["1", "b", "1"]


def test_openml_remarks_and_tables_without_a_target(openml):
    openml(Bunch(frame=pd.read_csv(io.StringIO(FLOWERS)), target_names=[]), warning="Several\nversions exist.")
    assert read("openml:flowers").notes == (
        "OpenML: Several versions exist.",
        "Target: last column 'kind'. Use --target to choose another.",
    )


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


def test_a_header_of_numbers_is_said(tmp_path):
    path = tmp_path / "bare.csv"
    path.write_text("\n".join(f"{i},{i * 2.5},{i % 2}" for i in range(30)))
    refused(path, r"same name \(0\).*If the first line is a row, add a header line")
    path.write_text("\n".join(f"{i},{i * 2.5},{i % 2}" for i in range(2, 32)))
    assert any("add a header line" in note for note in read(path).notes)
    path.write_text("a,b,y\n" + "\n".join(f"{i},{i * 2.5},{i % 2}" for i in range(30)))
    assert not any("header" in note for note in read(path).notes)


def test_texts_are_kept_though_all_differ(tmp_path):
    path = tmp_path / "intents.csv"
    path.write_text("utterance,intent,text\n" + "\n".join(f"say {i},{'ab'[i % 2]},t{i}" for i in range(30)))
    table = read(path, "intent", "utterance")
    assert list(table.X) == ["utterance"]
    with pytest.raises(InputError, match="uterance"):
        read(path, "intent", "uterance")
    with pytest.raises(InputError, match="both"):
        read(path, "intent", "intent")
    assert read(path, text="text").target == "intent"


def test_a_target_of_numbers(tmp_path):
    """As a regressor learns it: any numbers, in the format of the file, and in that of the first table."""
    path, more = tmp_path / "prices.csv", tmp_path / "more.csv"
    path.write_text("a;price\n" + "\n".join(f"{i};1.{i:03},5" for i in range(30)))
    table = read_table(path, "price", numbers=True)
    assert table.y.tolist() == [1000.5 + i for i in range(30)]
    assert table.audit.classes == ()
    more.write_text("a;price\n1;1.250\n2;1.750\n")  # thousands, as the first table shows
    assert read_table(more, "price", like=table, numbers=True).y.tolist() == [1250.0, 1750.0]
    path.write_text("a,price\n" + "\n".join(f"{i},{'lots' if i == 3 else i}" for i in range(60)))
    refused(path, "1 value that cannot be read as a number .'lots'", target="price", numbers=True)
    path.write_text("a,price\n" + "\n".join(f"{i},{'' if i == 3 else i / 7}" for i in range(60)))
    table = read(path, "price", numbers=True)
    assert len(table.y) == len(table.X) == 59
    path.write_text("a,price\n" + "\n".join(f"{i},{'high' if i % 2 else 'low'}" for i in range(60)))
    refused(path, "a regressor needs numbers", target="price", numbers=True)
