"""ONNX files that are hostile or malformed: the search ends soon, and says what is wrong with the file."""

from __future__ import annotations

import numpy as np
import pytest

from classay.engine.pool import time_limit
from classay.expect import InputError
from classay.network.files.head_search import read_head

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper

W = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
HEAD = helper.make_node("Gemm", ["x", "w"], ["z"], transB=1)


@pytest.fixture
def save(tmp_path):
    def made(nodes, arrays=(), outputs=("y",), raw=()):
        graph = helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 6])],
            [helper.make_tensor_value_info(out, TensorProto.FLOAT, None) for out in outputs],
            [*(numpy_helper.from_array(np.asarray(value), name) for name, value in dict(arrays).items()), *raw],
        )
        path = tmp_path / "m.onnx"
        path.write_bytes(helper.make_model(graph).SerializeToString())
        return path

    return made


def node(kind, inputs, outputs=("y",), **attributes):
    return helper.make_node(kind, list(inputs), list(outputs), **attributes)


def refused(path, message, head=None):
    with time_limit(20), pytest.raises(InputError, match=message) as caught:
        read_head(path, head)
    assert len(str(caught.value)) < 2000


def test_too_many_nodes(save, monkeypatch):
    monkeypatch.setenv("CLASSAY_LIMITS", "graph_nodes=10")
    nodes = [node("Identity", [f"a{i}"], [f"a{i + 1}"]) for i in range(11)]
    refused(save(nodes), "is 11; the limit is 10. If you need more, set")


def tensor(name, dims, kind=TensorProto.FLOAT, **content):
    made = onnx.TensorProto(name=name, data_type=kind, dims=dims)
    for field, value in content.items():
        if isinstance(value, bytes):
            setattr(made, field, value)
        else:
            getattr(made, field).extend(value)
    return made


GEMM = [node("Gemm", ["x", "w"])]
MALFORMED = {
    "no inputs": ([node("Flatten", [])], {}, ()),
    "a factor that is a word": ([node("Gemm", ["x", "w"], alpha="two")], {}, ()),
    "weights of words": (GEMM, {"w": np.array([["a", "b"]], dtype=object)}, ()),
    "fewer numbers than declared": (GEMM, {}, [tensor("w", [4, 6], raw_data=b"1234")]),
    "a huge declared size": (GEMM, {}, [tensor("w", [2**40, 6], raw_data=b"1234")]),
    "a negative size": (GEMM, {}, [tensor("w", [-4, 6], raw_data=bytes(96))]),
    "an unknown type": (GEMM, {}, [tensor("w", [4, 6], 99, raw_data=bytes(96))]),
    "no outputs of weights": (GEMM, {"w": np.zeros((0, 6), dtype=np.float32)}, ()),
    "complex weights": (GEMM, {"w": W.astype(np.complex64)}, ()),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_malformed_graphs_are_the_users_to_know(save, what):
    nodes, arrays, raw = MALFORMED[what]
    refused(save(nodes, arrays, raw=raw), "m.onnx")


@pytest.mark.parametrize("seed", range(30))
def test_damaged_files(save, seed):
    path = save([HEAD, node("Softmax", ["z"])], {"w": W})
    content, rng = bytearray(path.read_bytes()), np.random.default_rng(seed)
    for place in rng.integers(0, len(content), 1 + seed % 5):
        content[place] = rng.integers(256)
    path.write_bytes(content)
    with time_limit(20):
        try:
            message = str(read_head(path).path)
        except InputError as error:
            message = str(error)
    assert str(path) in message
