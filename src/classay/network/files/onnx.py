"""ONNX files: the linear layers of the graph, to find the head among them, and the network as onnx2torch converts it.

A file may be malformed or hostile: what cannot be read is an InputError. Nothing in it is run.
"""

from __future__ import annotations

import importlib
import importlib.util
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...expect import InputError, need, within
from .head_search import HeadCandidate
from .weights import StoredArray, WeightFile, first_line

if TYPE_CHECKING:
    from torch import nn

LINEAR = ("Gemm", "MatMul", "Conv")


def read_onnx_layers(path: Path) -> tuple[list[HeadCandidate], WeightFile]:
    """The linear layers of the graph whose weights it stores, in its order, and these weights."""
    graph = _read_model(path).graph
    stored = {
        array.name: StoredArray(array.name, tuple(array.dims), partial(_array, array, path))
        for array in graph.initializer
        if all(side > 0 for side in array.dims)
    }
    added = {
        name: other
        for node in graph.node
        if node.op_type == "Add" and len(node.input) == 2
        for name, other in (tuple(node.input), tuple(node.input)[::-1])
        if other in stored
    }
    layers = []
    for node in graph.node:
        if node.op_type not in LINEAR or len(node.input) < 2 or node.input[1] not in stored or not node.output:
            continue
        weight = stored[node.input[1]]
        sides = weight.shape[:2]
        if len(sides) < 2 or any(side > 1 for side in weight.shape[2:]):
            continue
        numbers = {attribute.name: attribute.i or attribute.f for attribute in node.attribute}
        transposed = node.op_type == "MatMul" or (node.op_type == "Gemm" and not numbers.get("transB", 0))
        bias = stored.get(node.input[2] if len(node.input) > 2 else added.get(node.output[0], ""))
        classes, size = sides[::-1] if transposed else sides
        fits = bias is not None and bias.shape == (classes,)
        # A layer with a factor or in groups is no plain linear layer.
        if numbers.get("alpha", 1.0) == numbers.get("beta", 1.0) == 1.0 and numbers.get("group", 1) == 1:
            layers.append(HeadCandidate(weight, bias if fits else None, transposed, classes, size))
    return layers, WeightFile(path, tuple(stored.values()), True, ())


def load_onnx_network(path: Path) -> nn.Module:
    """The network of an ONNX file as a torch module, in evaluation mode."""
    need("torch", f"Reading {path}")
    model = _read_model(path)
    if importlib.util.find_spec("onnx2torch") is None:
        raise InputError(
            f"{path} is an ONNX file. To measure the whole network, onnx2torch converts it: pip install onnx2torch. "
            "For the head alone, --weights-only."
        )
    try:
        network: nn.Module = importlib.import_module("onnx2torch").convert(model)
    except Exception as error:  # an operator that it does not know, or a library that does not fit torch
        raise InputError(
            f"onnx2torch cannot convert {path} ({first_line(error)}). For the head alone, --weights-only."
        ) from None
    return network.float().eval()


def _read_model(path: Path) -> Any:
    need("onnx", f"Reading {path}")
    import onnx

    try:
        model = onnx.load(path)
    except MemoryError:
        raise
    except Exception as error:  # protobuf and onnx each have their own errors
        raise InputError(f"{path} cannot be read as an ONNX file ({first_line(error)}).") from None
    if not model.graph.node:
        raise InputError(f"{path} cannot be read as an ONNX file: it has no graph.")
    within(len(model.graph.node), "graph_nodes", "The number of nodes of the graph")
    return model


def _array(stored: Any, path: Path) -> NDArray[Any]:
    """An array of the file, if it has as many numbers as it declares."""
    from onnx import numpy_helper

    try:
        return np.asarray(numpy_helper.to_array(stored)).astype(np.float32, casting="same_kind")
    except (ValueError, TypeError, OverflowError, KeyError, NotImplementedError) as error:
        raise InputError(f"The array {stored.name!r} of {path} cannot be read ({first_line(error)}).") from None
