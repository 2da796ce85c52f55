"""Files of users: pipes, devices and folders are refused before anything waits for them."""

import gzip
import io
import os
import stat
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from one_source import read

from classay import InputError, load
from classay.cli.app import run
from classay.cli.inputs import ranks_of
from classay.engine import archive
from classay.files import MissingFile, expect_file, quoted
from classay.network.files.head_search import read_head
from classay.network.files.weights import file_kind
from classay.network.quality.labelled_rows import read_labelled_rows
from classay.report.gates.check_file import read_check_file
from classay.tables.read import read_table

POSIX = pytest.mark.skipif(os.name != "posix", reason="has pipes and devices")
WORDS = {"fifo": "is a pipe", "zero": "is a device", "folder": "is a folder"}


def odd_file(folder, kind, suffix):
    """A path with this suffix that is no regular file."""
    path = folder / f"odd{suffix}"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "zero":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    return path


READERS = {
    "csv": (read_table, ".csv"),
    "parquet": (read_table, ".parquet"),
    "arff": (read_table, ".arff"),
    "npz": (read_table, ".npz"),
    "scores.npz": (lambda path: ranks_of(str(path), None), ".npz"),
    "scores.npy": (lambda path: ranks_of(str(path), str(path)), ".npy"),
    "ranks": (lambda path: ranks_of(str(path), None), ".classay"),
    "check file": (read_check_file, ".toml"),
    "report.json": (load, ".json"),
    "report.html": (load, ".html"),
    "test set": (read_labelled_rows, ".npz"),
    "record": (archive.read, ".classay"),
    "header": (archive.read_header, ".classay"),
    **{f"network{suffix}": (file_kind, suffix) for suffix in (".pt", ".safetensors", ".onnx", ".npz")},
}


@POSIX
@pytest.mark.parametrize("kind", WORDS)
@pytest.mark.parametrize("name", READERS)
def test_only_regular_files_are_read(tmp_path, name, kind):
    reader, suffix = READERS[name]
    with pytest.raises(InputError, match=WORDS[kind]):
        reader(odd_file(tmp_path, kind, suffix))


def test_what_is_said_of_a_path(tmp_path, monkeypatch):
    with pytest.raises(MissingFile, match=r"There is no file 'none.csv'. Look elsewhere."):
        expect_file("none.csv", hint="Look elsewhere.")
    with pytest.raises(InputError, match="name has a NUL character"):
        expect_file("a\0b")
    with pytest.raises(InputError, match=r"File name too long. Expected a table") as caught:
        expect_file("a" * 5000, "a table")
    assert len(str(caught.value)) < 400
    assert quoted("short") == "'short'"
    (tmp_path / "long").write_bytes(b"x" * 200)
    monkeypatch.setenv("CLASSAY_LIMITS", "file_bytes=100")
    with pytest.raises(InputError, match=r"in bytes is 200; the limit is 100.*CLASSAY_LIMITS=file_bytes"):
        expect_file(tmp_path / "long")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("a,b\n1,2\n")
    path.chmod(0)
    with pytest.raises(InputError, match="Permission denied"):
        expect_file(path)
    path.chmod(stat.S_IRUSR)


LONG = "a" * 5000


@pytest.mark.parametrize(
    "words",
    [
        ["data", f"{LONG}.csv"],
        ["slices", f"{LONG}.csv", "--wrong", "y"],
        ["report", "iris", "-o", f"{LONG}.html"],
        ["report", "iris", "--network", f"{LONG}.pt"],
        ["learner", "iris", "-l", "GaussianNB", "--samples", "4", "--store", LONG],
        ["learner", "iris", "-l", "GaussianNB", "--samples", "4", "--charts", LONG],
        ["check", f"{LONG}.toml"],
        ["network", f"{LONG}.pt"],
        ["network", f"{LONG}.onnx", "--weights-only"],
        ["classes", f"{LONG}.npz"],
        ["classes", f"{LONG}.npy", "--truth", "none"],
        ["classes", f"{LONG}.classay"],
        ["drift", "iris", "iris", "--state", LONG],
        ["runs", LONG],
        ["identify", LONG, LONG],
    ],
    ids=lambda words: " ".join(word[:9] for word in words),
)
def test_very_long_paths(words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(words) == 2
    assert "bug in classay" not in capsys.readouterr().err


# Standard input


@pytest.fixture
def standard_input(monkeypatch):
    """Put bytes on standard input."""
    from classay.tables import sources as standard_input

    monkeypatch.setattr(standard_input, "_folders", [])

    def put(content):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    return put


ROWS = [f"{row % 7},{row % 5},{'uv'[row % 2]}" for row in range(60)]
CSV = "\n".join(["a,b,y", *ROWS]).encode()


def packed(write):
    content = io.BytesIO()
    write(content)
    return content.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        CSV,
        CSV.replace(b",", b"\t"),
        gzip.compress(CSV),
        packed(lambda file: np.savez(file, X=np.arange(120).reshape(60, 2), y=["u", "v"] * 30)),
        b"@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute y {u,v}\n@data\n" + CSV[6:],
    ],
    ids=["csv", "tsv", "gz", "npz", "arff"],
)
def test_a_table_from_standard_input(content, standard_input):
    standard_input(content)
    table = read("-")
    assert (table.audit.source, table.X.shape, set(table.y)) == ("stdin", (60, 2), {"u", "v"})
    with pytest.raises(InputError, match="named twice"):
        read("-")


def test_standard_input_that_is_empty_closed_or_too_long(standard_input, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(InputError, match="is not connected to a file"):
        read("-")
    monkeypatch.setenv("CLASSAY_LIMITS", "file_bytes=100")
    standard_input(CSV)
    with pytest.raises(InputError, match=r"size of standard input in bytes is .*; the limit is 100"):
        read("-")


def test_a_command_reads_standard_input(standard_input, capsys):
    standard_input(CSV)
    assert run(["data", "-", "--json"]) == 0
    assert "stdin: 60 rows" in capsys.readouterr().err


# What files declare and unpack to


def archive_that_declares(path, shape, **arrays):
    """An .npz in which the first array declares this shape."""
    with zipfile.ZipFile(path, "w") as target:
        for place, (name, array) in enumerate(arrays.items()):
            content = io.BytesIO()
            if place:
                np.save(content, array)
            else:
                header = {"descr": array.dtype.str, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(content, header)
                content.write(array.tobytes())
            target.writestr(f"{name}.npy", content.getvalue())
    return path


@pytest.mark.parametrize(
    ("reader", "array"),
    [
        (read, "X"),
        (lambda path: ranks_of(str(path), None), "scores"),
        (read_labelled_rows, "x"),
        (read_head, "weight"),
    ],
    ids=["table", "scores", "test set", "network"],
)
def test_arrays_that_declare_8_gb(tmp_path, reader, array):
    arrays = {array: np.zeros((10, 2)), "y": np.arange(10) % 2}
    path = archive_that_declares(tmp_path / "a.npz", (10, 10**8), **arrays)
    with pytest.raises(InputError, match=rf"'{array}.npy' declares 8,000,000,000 bytes and has") as caught:
        reader(path)
    assert "InputError" not in str(caught.value)
    with zipfile.ZipFile(path) as archive:  # one array that is no archive
        path.write_bytes(archive.read(f"{array}.npy")[:208])
    if reader is not read_head:
        with pytest.raises(InputError, match=r"declares 8,000,000,000 bytes and has 80|contains one array|one array"):
            reader(path)


def test_an_archive_that_unpacks_to_too_much(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "w.npz", w=np.zeros((1000, 1000)))
    monkeypatch.setenv("CLASSAY_LIMITS", "array_bytes=1000000")
    with pytest.raises(InputError, match=r"in bytes is 8,000,128; the limit is 1,000,000.*CLASSAY_LIMITS=array_bytes"):
        read_head(tmp_path / "w.npz")


def test_a_text_that_unpacks_to_too_much(tmp_path, monkeypatch):
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"a,b,y\n" + b"1,2,u\n2,3,v\n" * 100_000)
    assert len(read(path).X) == 200_000
    monkeypatch.setenv("CLASSAY_LIMITS", "array_bytes=500000")
    with pytest.raises(InputError, match=r"unpacked size of .*bomb.csv.gz. in bytes is .*; the limit is 500,000"):
        read(path)


def test_rows_columns_and_cells(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    rows = [f"{row % 7},w{row % 5},{'uv'[row % 2]}" for row in range(60)]
    path.write_text("\n".join(["a,b,y", *rows]))
    for limit, message in [
        ("rows=50", "number of rows of 'table.csv' is 60; the limit is 50"),
        ("columns=2", "number of columns of 'table.csv' is 3; the limit is 2"),
        ("cell_characters=1", "longest cell of column 'b', in characters, is 2; the limit is 1"),
    ]:
        monkeypatch.setenv("CLASSAY_LIMITS", limit)
        with pytest.raises(InputError, match=message):
            read(path)
    monkeypatch.setenv("CLASSAY_LIMITS", "label_characters=3")
    path.write_text(path.read_text().replace(",u", ",uuuu"))
    with pytest.raises(InputError, match="longest label, in characters, is 4; the limit is 3"):
        read(path)


def test_a_parquet_file_of_many_rows_in_few_bytes(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    path = tmp_path / "table.parquet"
    pd.DataFrame({"a": np.zeros(200_000), "y": ["u", "v"] * 100_000}).to_parquet(path)
    monkeypatch.setenv("CLASSAY_LIMITS", "rows=1000")
    with pytest.raises(InputError, match=r"number of rows of 'table.parquet' is 200,000; the limit is 1,000"):
        read(path)
    monkeypatch.setenv("CLASSAY_LIMITS", "array_bytes=1000000")
    with pytest.raises(InputError, match=r"unpacked size of .* in bytes is 3,200,000; the limit is 1,000,000"):
        read(path)


def test_a_cell_of_a_megabyte(tmp_path):
    """Text was stored at a fixed width: 4 MB for each row, 7.45 GiB for the probes of a report."""
    frame = pd.DataFrame({"text": ["w"] * 999 + ["q" * 10**6], "number": range(1000)})
    assert archive.pack_table(frame, "rows") is None
    assert archive.pack_table(frame.head(999), "rows") is not None


# Odd values


def numpy_table(tmp_path, **arrays):
    path = tmp_path / "table.npz"
    np.savez(path, **arrays)
    return path


X = np.random.default_rng(0).normal(size=(60, 3))
Y = np.arange(60) % 2


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.zeros((60, 3), "V8"), "y": Y}, "X of type void64|X of type V8|raw bytes"),
        ({"X": X, "y": np.zeros(60, "V8")}, "raw bytes"),
        ({"X": X, "y": np.zeros(60, [("a", "f8")])}, "raw bytes"),
        ({"X": np.zeros((60, 3), [("a", "f8")]), "y": Y}, "raw bytes"),
        ({"X": X, "y": np.where(Y, np.inf, 0.0)}, "infinite"),
        ({"X": X[:0], "y": Y[:0]}, "no rows"),
    ],
    ids=["void X", "void y", "struct y", "struct X", "infinite labels", "no rows"],
)
def test_odd_arrays_are_refused(tmp_path, arrays, message):
    with pytest.raises(InputError, match=message):
        read(numpy_table(tmp_path, **arrays))


@pytest.mark.parametrize("kind", [np.longdouble, np.float16, ">f8"])
def test_numbers_of_other_sizes_are_read(tmp_path, kind):
    path = numpy_table(tmp_path, X=X.astype(kind), y=Y.astype(kind))
    table = read(path)
    assert {dtype.str for dtype in table.X.dtypes} <= {"<f8", "<f4", "<f2"}
    assert table.y.dtype == "int64"
    assert run(["learner", str(path), "-l", "GaussianNB", "--samples", "4", "-w", "1", "-q"]) == 0


def test_true_classes_of_raw_bytes(tmp_path):
    path = tmp_path / "scores.npz"
    np.savez(path, scores=X, y=np.zeros(60, "V4"))
    with pytest.raises(InputError, match="raw bytes"):
        ranks_of(str(path), None)


# Check files and options


def test_check_files_with_a_mark_or_a_huge_number(tmp_path):
    path = tmp_path / "check.toml"
    path.write_bytes(b'\xef\xbb\xbfdata = "iris"\ngates = ["stability >= 0.9"]\n')
    assert read_check_file(path).data == "iris"
    path.write_text(f'data = "iris"\nseed = {"9" * 6000}\n')
    with pytest.raises(InputError, match="is not valid TOML"):
        read_check_file(path)


@pytest.mark.parametrize("words", [["--arch", "timm:resnet18"], ["--builder", "mine:net"], ["--input", "3x32x32"]])
def test_options_of_networks_without_a_network(words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["report", "iris", *words]) == 2
    assert f"{words[0]} describes a network, but there is no --network" in capsys.readouterr().err


PEAK = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"


def packed_line(path, head, tail):
    """A file of a few kB with one line of 300 MB."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(head)
        for _ in range(300):
            file.write(b"1" * 10**6)
        file.write(tail)


def packed_record(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        target.writestr("header.json", b"1" * 3 * 10**8)


def packed_table(path):
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": ["x" * 100_000] * 3000, "y": ["u", "v"] * 1500}).to_parquet(path)


BOMBS = {
    "line.csv.gz": lambda path: packed_line(path, b"", b",y\n1,u\n"),
    "line.jsonl.gz": lambda path: packed_line(path, b'{"a": ', b"}\n"),
    "line.arff.gz": lambda path: packed_line(path, b"@relation r\n@attribute a numeric\n@data\n", b"\n"),
    "table.parquet": packed_table,
    "record.classay": packed_record,
}


@POSIX
@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_takes_no_memory_before_it_is_refused(tmp_path, name):
    BOMBS[name](tmp_path / name)
    assert (tmp_path / name).stat().st_size < 2 * 10**6
    reader = "classay.engine.archive.read" if name.endswith(".classay") else "classay.tables.read.read_table"
    module, _, function = reader.rpartition(".")
    source = (
        f"from {module} import {function}\nfrom classay import InputError\nimport pandas\n"
        + ("import pyarrow.parquet\n" if name.endswith("parquet") else "")
        + f"{PEAK}\ntry: {function}({str(tmp_path / name)!r})\n"
        + f"except InputError as error: print('refused', error)\n{PEAK}"
    )
    environment = {**os.environ, "CLASSAY_LIMITS": "array_bytes=20000000"}
    printed = subprocess.run(
        [sys.executable, "-c", source], env=environment, capture_output=True, text=True, check=True
    )
    before, refused, after = printed.stdout.splitlines()
    assert refused.startswith("refused")
    assert "20,000,000" in refused
    assert int(after) - int(before) < 150  # MB; 900 to 3,900 when limits were checked after reading


def test_a_very_long_line(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("a,y\n" + "1" * 10**6 + ",u\n")
    monkeypatch.setenv("CLASSAY_LIMITS", "cell_characters=1000")
    with pytest.raises(InputError, match=r"has a line of more than 64,000 bytes.*CLASSAY_LIMITS=cell_characters"):
        read(tmp_path / "t.csv")


def test_a_parquet_file_with_an_index_or_names_in_levels(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"id": np.arange(60) % 9, "a": np.arange(60) % 7, "y": ["u", "v"] * 30})
    frame.set_index("id").to_parquet(tmp_path / "t.parquet")
    table = read(tmp_path / "t.parquet")
    assert list(table.X.columns) == ["id", "a"]
    assert "The index (id) was read as a column." in table.notes
    frame.columns = pd.MultiIndex.from_tuples([("a", "id"), ("a", "a"), ("b", "y")])
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(
        InputError, match=r"names of columns in 2 levels, such as \('a', 'id'\); expected one text each"
    ):
        read(tmp_path / "t.parquet")


def test_a_quote_that_is_not_closed(tmp_path):
    rows = [f"{row % 7},w{row % 5},{'uv'[row % 2]}" for row in range(200)]
    rows[20], rows[150] = '3,"w0,u', '3,w0",u'
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *rows]))
    notes = read(tmp_path / "t.csv").notes
    assert any(
        "Cells that look like several rows (row 21: 130 line breaks). Is a quote not closed?" in n for n in notes
    )
    rows[20], rows[150] = '3,"one.\n\ntwo\nthree",u', rows[0]  # paragraphs are no rows
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *rows]))
    assert not any("look like" in note for note in read(tmp_path / "t.csv").notes)
