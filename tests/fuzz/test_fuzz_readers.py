"""Every reader on files that were altered at random: each is read or refused with a reason, and nothing hangs."""

import gzip
import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from fuzzing import CHANGES, accepts_or_refuses, altered, examples
from hypothesis import given
from hypothesis import strategies as st
from sample import sample_report
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from classay import DriftMonitor, Ranks, Subsets, load, record
from classay.cli.inputs import array, labels, ranks_of
from classay.engine import archive
from classay.network.files.head_search import read_head
from classay.network.quality.labelled_rows import read_labelled_rows
from classay.report.gates.check_file import read_check_file
from classay.tables.read import read_frame, read_table

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 3)), np.arange(40) % 3
FRAME = pd.DataFrame({"a": X[:, 0].round(2), "b c": ["x", "y, z", None, "é"] * 10, "when": "2026-01-02", "y": Y})
CHECK = """
data = "iris"
seed = 3
gates = ["accuracy >= 0.9"]
forbid = ["L101"]
splits = 4

[learners]
tree = "DecisionTreeClassifier(max_depth=3)"

[learners.bayes]
learner = "GaussianNB"
gates = ["accuracy >= 0.5"]
"""


def content_of(write, suffix):
    """Bytes that a function writes to a path."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{suffix}"
        write(path)
        return path.read_bytes()


def arff():
    rows = "\n".join(f"{row:.3f},{'pq'[place % 2]},{'uv'[place % 2]}" for place, row in enumerate(X[:, 0]))
    head = "@relation r\n@attribute a numeric\n@attribute b {p,q}\n@attribute y {u,v}\n@data\n"
    return (head + rows).encode()


def torch_file(path):
    import torch

    torch.save({"state_dict": {"fc.weight": torch.ones(4, 6), "fc.bias": torch.zeros(4)}, "epoch": 3}, path)


def safetensors_file(path):
    from safetensors.numpy import save_file

    save_file({"fc.weight": np.ones((4, 6), np.float32), "fc.bias": np.zeros(4, np.float32)}, path)


def onnx_file(path):
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    weight, bias = np.ones((4, 6), np.float32), np.zeros(4, np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Gemm", ["x", "w", "b"], ["z"], transB=1),
            helper.make_node("Softmax", ["z"], ["p"]),
        ],
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 6])],
        [helper.make_tensor_value_info("p", TensorProto.FLOAT, [1, 4])],
        [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(bias, "b")],
    )
    onnx.save(helper.make_model(graph), path)


def drift_state(path):
    monitor = DriftMonitor(GaussianNB(), n_probes=20, draws=20, false_alarm_rate=0.2, random_state=0, executor=1)
    monitor.fit(X, Y % 2)
    monitor.save(path)


def small_record():
    return record(DecisionTreeClassifier(max_depth=2), X, Y, scheme=Subsets(3), repeats=2, random_state=0, executor=1)


def npz(**arrays):
    return lambda path: np.savez(path, **arrays)


FILES = {
    "csv": (".csv", lambda: FRAME.to_csv(index=False).encode(), read_table),
    "csv of a log": (".csv", lambda: FRAME.to_csv(index=False, sep=";", decimal=",").encode(), read_frame),
    "tsv": (".tsv", lambda: FRAME.to_csv(index=False, sep="\t").encode("utf-16"), read_table),
    "gz": (".csv.gz", lambda: gzip.compress(FRAME.to_csv(index=False).encode()), read_table),
    "arff": (".arff", arff, read_table),
    "npz": (".npz", lambda: content_of(npz(X=X, y=Y), ".npz"), read_table),
    "parquet": (".parquet", lambda: content_of(FRAME.to_parquet, ".parquet"), read_table),
    "scores": (
        ".npz",
        lambda: content_of(npz(scores=X, y=Y), ".npz"),
        lambda path: ranks_of(str(path), None),
    ),
    "array": (".npy", lambda: content_of(lambda path: np.save(path, X), ".npy"), array),
    "true classes": (".txt", lambda: "\n".join(map(str, Y)).encode(), labels),
    "test set": (".npz", lambda: content_of(npz(x=X, y=Y), ".npz"), read_labelled_rows),
    "check file": (".toml", CHECK.encode, read_check_file),
    "report as JSON": (".json", lambda: content_of(sample_report().save, ".json"), load),
    "report as a page": (".html", lambda: content_of(sample_report().save, ".html"), load),
    "record": (".classay", lambda: content_of(small_record().save, ".classay"), load),
    "header": (".classay", lambda: content_of(small_record().save, ".classay"), archive.read_header),
    "ranks": (".classay", lambda: content_of(Ranks.from_scores(X, Y).save, ".classay"), Ranks.load),
    "drift state": (
        ".classay",
        lambda: content_of(drift_state, ".classay"),
        lambda path: DriftMonitor.load(path, GaussianNB()),
    ),
    "NumPy weights": (".npz", lambda: content_of(npz(w=X.T, b=X[0]), ".npz"), read_head),
    "torch": (".pt", lambda: content_of(torch_file, ".pt"), read_head),
    "safetensors": (".safetensors", lambda: content_of(safetensors_file, ".safetensors"), read_head),
    "ONNX": (".onnx", lambda: content_of(onnx_file, ".onnx"), read_head),
}
"""Name -> suffix, the bytes of a file that is in order, and its reader."""
NEEDS = {"parquet": "pyarrow", "torch": "torch", "safetensors": "safetensors", "ONNX": "onnx"}


@pytest.fixture(scope="module")
def whole():
    """The bytes of each kind of file, made once."""
    made = {}

    def of(name):
        pytest.importorskip(NEEDS.get(name, "numpy"))
        if name not in made:
            made[name] = FILES[name][1]()
        return made[name]

    return of


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_altered_files(name, whole, tmp_path_factory):
    suffix, _, reader = FILES[name]
    content = whole(name)
    folder = tmp_path_factory.mktemp("fuzz")
    path = folder / f"file{suffix}"
    path.write_bytes(content)
    assert reader(path) is not None

    @examples(60)
    @given(CHANGES)
    def check(changes):
        path.unlink(missing_ok=True)
        path.write_bytes(altered(content, changes))
        accepts_or_refuses(reader, path)

    check()


@pytest.mark.parametrize("name", ["record", "ranks", "drift state"])
def test_altered_headers_with_a_right_checksum(name, whole, tmp_path_factory):
    """What a checksum of arrays does not protect: the header, altered as JSON."""
    suffix, _, reader = FILES[name]
    folder = tmp_path_factory.mktemp("fuzz")
    path = folder / f"file{suffix}"
    with zipfile.ZipFile(io.BytesIO(whole(name))) as archive_file:
        members = {member: archive_file.read(member) for member in archive_file.namelist()}
    header = json.loads(members["header.json"])
    odd = st.sampled_from([None, -1, 10**30, 1e308, "", "x", [], {}, [[]], {"a": None}, True, "9" * 50])

    @examples(60)
    @given(st.data())
    def check(data):
        changed = json.loads(json.dumps(header))
        place = changed
        while True:  # walk to a random place in the header
            keys = sorted(place) if isinstance(place, dict) else range(len(place))
            key = data.draw(st.sampled_from(list(keys)))
            if not (isinstance(place[key], (dict, list)) and place[key]) or data.draw(st.booleans()):
                break
            place = place[key]
        if isinstance(place, dict) and data.draw(st.booleans()):
            del place[key]
        else:
            place[key] = data.draw(odd)
        with zipfile.ZipFile(path, "w") as target:
            for member, content in members.items():
                target.writestr(member, json.dumps(changed) if member == "header.json" else content)
        accepts_or_refuses(reader, path)

    check()


ODD_CELLS = """? NA 1 -0 1e999 inf -inf nan 0x1f 007 1,5 1.234,5 12% $3 €4 2026-01-02 31.12.1999 01/02/03 True no
1_000 ١٢ ½ ' " \ufeff -- 1e5 -1 +1 .5 5. 1e-400 None null 12:30 2026-01-02T03:04:05Z 1E3"""
CELLS = st.one_of(
    st.sampled_from(["", " ", "a\nb", "9" * 40, *ODD_CELLS.split()]),
    st.text(max_size=6),
    st.floats().map(repr),
    st.integers().map(str),
)


@pytest.mark.slow
@examples(80)
@given(st.integers(1, 4).flatmap(lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=25)))
def test_any_cells(rows):
    """Tables of odd cells, written as CSV."""
    import tempfile
    from pathlib import Path

    frame = pd.DataFrame(rows, dtype=object)
    frame = pd.concat([frame] * 3).rename(columns=lambda place: f"c{place}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(frame.to_csv(index=False).encode("utf-8", "surrogatepass"))
        table = accepts_or_refuses(read_table, path)
        assert table is None or len(table.X) == len(table.y)
        accepts_or_refuses(read_frame, path)
