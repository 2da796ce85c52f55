"""Whole networks out of ONNX files, by a converter that may not be installed."""

from __future__ import annotations

import importlib.util
import sys
import types

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from classay.expect import InputError
from classay.network.files.checkpoint import load_network
from classay.network.prototypes.split import split

W = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)


@pytest.fixture
def path(tmp_path):
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 3])],
        [numpy_helper.from_array(W, "w")],
    )
    file = tmp_path / "m.onnx"
    file.write_bytes(helper.make_model(graph).SerializeToString())
    return file


def install(monkeypatch, convert):
    """Put a converter in the place of onnx2torch, whether that is installed or not."""
    module = types.ModuleType("onnx2torch")
    module.convert = convert
    module.__spec__ = importlib.util.spec_from_loader("onnx2torch", loader=None)
    monkeypatch.setitem(sys.modules, "onnx2torch", module)


def converted(model):
    """What onnx2torch does, for a single linear layer."""
    layer = nn.Linear(4, 3, bias=False).double().train()
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(numpy_helper.to_array(model.graph.initializer[0])))
    return layer


def test_a_converted_network_is_loaded_for_evaluation(path, monkeypatch):
    install(monkeypatch, converted)
    loaded = load_network(path)
    assert not loaded.network.training
    assert next(loaded.network.parameters()).dtype == torch.float32
    parts = split(loaded.network, (4,))
    np.testing.assert_array_equal(parts.weight, W)


def test_without_the_converter_it_says_what_to_do(path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "onnx2torch" else object())
    with pytest.raises(InputError, match=r"pip install onnx2torch.*--weights-only"):
        load_network(path)


def test_an_operator_that_it_does_not_know_is_named(path, monkeypatch):
    def refuse(model):
        raise NotImplementedError("Converter is not implemented (Foo)\nmore")

    install(monkeypatch, refuse)
    with pytest.raises(InputError, match=r"cannot convert .*\(Foo\)\)"):
        load_network(path)


def test_a_broken_file_is_said_before_the_converter(tmp_path, monkeypatch):
    def never(model):
        raise AssertionError("the converter must not see it")

    install(monkeypatch, never)
    file = tmp_path / "m.onnx"
    file.write_bytes(b"\x00\x01not a model")
    with pytest.raises(InputError, match="ONNX file"):
        load_network(file)
