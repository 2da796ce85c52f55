"""ONNX files: their head, whole networks by a converter that may not be installed, and files that are hostile."""

from __future__ import annotations

import importlib.util
import sys
import types

import numpy as np
import pytest

from classay.engine.pool import time_limit
from classay.expect import InputError
from classay.network.files.head_search import read_head

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper

W = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
B = np.arange(4, dtype=np.float32)


def node(kind, inputs, output="y", **attributes):
    return helper.make_node(kind, list(inputs), [output], **attributes)


GEMM = [node("Gemm", "xw", transB=1)]


@pytest.fixture
def save(tmp_path):
    def made(nodes, arrays=(), raw=()):
        graph = helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 6])],
            [helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)],
            [*(numpy_helper.from_array(np.asarray(value), name) for name, value in dict(arrays).items()), *raw],
        )
        path = tmp_path / "m.onnx"
        path.write_bytes(helper.make_model(graph).SerializeToString())
        return path

    return made


LINEAR = [node("MatMul", "xw", "z"), node("Add", "zb", "s")]


@pytest.mark.parametrize(
    ("nodes", "weight"),
    [
        ([node("Gemm", "xwb", transB=1)], W),
        ([node("Gemm", "xwb")], W.T),
        ([node("MatMul", "xw", "z"), node("Add", "bz")], W.T),
        ([node("Relu", "x", "r"), node("MatMul", "rw", "z"), node("Add", "zb", "s"), node("Softmax", "s")], W.T),
        (
            [node("Conv", "xwb", "c"), node("GlobalAveragePool", "c", "p"), node("Flatten", "p")],
            W[:, :, None, None],
        ),
        ([*LINEAR, node("Exp", "s", "e"), node("ReduceSum", "e", "n", keepdims=1), node("Div", "en")], W.T),
    ],
)
def test_the_graph_has_the_head(save, nodes, weight):
    head = read_head(save(nodes, {"w": weight, "b": B}))
    np.testing.assert_allclose(head.weight, W, rtol=1e-6)
    np.testing.assert_allclose(head.bias, B, rtol=1e-6)


def test_several_heads_and_none(save):
    path = save([*GEMM, node("Gemm", "xv", "z", transB=1)], {"w": W, "v": W[:3]})
    assert "could also be w (6 to 4)" in read_head(path).notes[0]
    np.testing.assert_array_equal(read_head(path, head="w").weight, W)
    with pytest.raises(InputError, match="not a linear layer of"):
        read_head(path, head="u")
    with pytest.raises(InputError, match="no weight of a linear layer"):
        read_head(save([node("Gemm", "xw", alpha=2.0)], {"w": W}))


def test_half_precision_and_nan(save):
    half = W.astype(np.float16)
    np.testing.assert_array_equal(read_head(save(GEMM, {"w": half})).weight, half)
    with pytest.raises(InputError, match="NaN"):
        read_head(save(GEMM, {"w": W * np.nan}))


# Whole networks.


@pytest.fixture
def install(monkeypatch):
    """Put a converter in the place of onnx2torch, whether that is installed or not."""
    pytest.importorskip("torch")

    def put(convert):
        module = types.ModuleType("onnx2torch")
        module.convert = convert
        module.__spec__ = importlib.util.spec_from_loader("onnx2torch", loader=None)
        monkeypatch.setitem(sys.modules, "onnx2torch", module)

    return put


def load(path):
    from classay.network.files.checkpoint import load_network

    return load_network(path)


def test_a_converted_network_is_loaded_for_evaluation(save, install):
    import torch

    from classay.network.prototypes.split import split

    def converted(model):
        """What onnx2torch does, for a single linear layer."""
        layer = torch.nn.Linear(6, 4, bias=False).double().train()
        with torch.no_grad():
            layer.weight.copy_(torch.tensor(numpy_helper.to_array(model.graph.initializer[0])))
        return layer

    install(converted)
    loaded = load(save(GEMM, {"w": W}))
    assert not loaded.network.training
    assert next(loaded.network.parameters()).dtype == torch.float32
    np.testing.assert_array_equal(split(loaded.network, (6,)).weight, W)


def test_without_the_converter_it_says_what_to_do(save, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "onnx2torch" else object())
    with pytest.raises(InputError, match=r"pip install onnx2torch.*--weights-only"):
        load(save(GEMM, {"w": W}))


def test_an_operator_that_it_does_not_know_is_named(save, install):
    def refuse(model):
        raise NotImplementedError("Converter is not implemented (Foo)\nmore")

    install(refuse)
    with pytest.raises(InputError, match=r"cannot convert .*\(Foo\)\)"):
        load(save(GEMM, {"w": W}))


# Files that are hostile or malformed: the search ends soon, and says what is wrong with the file.


def refused(path, message):
    with time_limit(20), pytest.raises(InputError, match=message) as caught:
        read_head(path)
    assert len(str(caught.value)) < 2000


@pytest.mark.parametrize("content", [b"", b"hello", b"\x00\x01not a model"])
def test_no_onnx_file(tmp_path, content, install):
    install(lambda model: pytest.fail("the converter must not see it"))
    (tmp_path / "m.onnx").write_bytes(content)
    for reading in (read_head, load):
        with pytest.raises(InputError, match="cannot be read as an ONNX file"):
            reading(tmp_path / "m.onnx")


def test_too_many_nodes(save, monkeypatch):
    monkeypatch.setenv("CLASSAY_LIMITS", "graph_nodes=10")
    nodes = [node("Identity", [f"a{i}"], f"a{i + 1}") for i in range(11)]
    refused(save(nodes), "is 11; the limit is 10. If you need more, set")


def tensor(dims, kind=TensorProto.FLOAT, raw_data=b"1234"):
    return onnx.TensorProto(name="w", data_type=kind, dims=dims, raw_data=raw_data)


MALFORMED = {
    "no inputs": ([node("Flatten", [])], {}, ()),
    "a factor that is a word": ([node("Gemm", "xw", alpha="two")], {}, ()),
    "weights of words": (GEMM, {"w": np.array([["a", "b"]], dtype=object)}, ()),
    "fewer numbers than declared": (GEMM, {}, [tensor([4, 6])]),
    "a huge declared size": (GEMM, {}, [tensor([2**40, 6])]),
    "a negative size": (GEMM, {}, [tensor([-4, 6], raw_data=bytes(96))]),
    "an unknown type": (GEMM, {}, [tensor([4, 6], 99, bytes(96))]),
    "no outputs of weights": (GEMM, {"w": np.zeros((0, 6), dtype=np.float32)}, ()),
    "complex weights": (GEMM, {"w": W.astype(np.complex64)}, ()),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_malformed_graphs_are_refused(save, what):
    refused(save(*MALFORMED[what]), "m.onnx")


@pytest.mark.parametrize("seed", range(30))
def test_damaged_files(save, seed):
    path = save([node("Gemm", "xw", "z", transB=1), node("Softmax", "z")], {"w": W})
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
