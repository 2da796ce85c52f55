"""The head of an ONNX file, found in its graph by walking back from the outputs, without running anything.

The whole network, as a torch module, is made by onnx2torch where that is installed.

A file may be malformed or hostile: every node is visited at most once, and what cannot be read is an InputError.
"""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...expect import InputError, nearest, need, shown, within
from .head_search import HeadWeights, as_head

if TYPE_CHECKING:
    from torch import nn

Array = NDArray[Any]
AFTER = {"Softmax", "LogSoftmax", "Sigmoid", "LogSigmoid", "Flatten", "Reshape", "Squeeze", "Unsqueeze", "Identity"}
AFTER |= {"Cast", "Dropout", "ZipMap", "ArgMax", "GlobalAveragePool", "ReduceMean", "AveragePool", "TopK"}
"""Nodes that may follow a head without changing which classes it distinguishes."""
LINEAR = ("Gemm", "MatMul", "Conv")
SAME_NUMBERS = ("Identity", "Cast", "Transpose", "DequantizeLinear")
"""Nodes whose output is constant if their inputs are, and that are understood."""
MALFORMED = (ValueError, TypeError, IndexError, KeyError, AttributeError, OverflowError, NotImplementedError)
"""What NumPy and onnx raise for a graph whose parts do not fit together."""


@dataclass(frozen=True)
class LinearLayer:
    """A linear layer of the graph: its name, its weight with one row per output, the bias that is added to it."""

    name: str
    weight: Array
    bias: Array | None

    def __str__(self) -> str:
        return f"{self.name} ({self.weight.shape[1]} to {self.weight.shape[0]})"


class OnnxGraph:
    """Which node makes which value of an ONNX graph."""

    def __init__(self, graph: Any) -> None:
        within(len(graph.node), "graph_nodes", "The number of nodes of the graph")
        self.nodes = list(graph.node)
        self.outputs = [output.name for output in graph.output]
        self.makers = {name: node for node in graph.node for name in node.output}
        self.stored = {each.name: each for each in graph.initializer}
        self.constants: dict[str, Array | None] = {}

    def constant(self, name: str) -> Array | None:
        """The array of a value that does not depend on the input, or None. Each value is computed once."""
        waiting, begun = [name], set()
        while waiting:
            current = waiting[-1]
            node = self.makers.get(current)
            needed = []
            if current not in self.stored and node is not None and node.op_type in SAME_NUMBERS:
                needed = [each for each in node.input if each and each not in self.constants]
            if current in self.constants or not needed:
                self.constants.setdefault(current, self._computed(current, node))
                waiting.pop()
            elif current in begun:
                raise InputError(f"The value {current!r} is made from itself: the graph has a cycle.")
            else:
                begun.add(current)
                waiting += needed
        return self.constants[name]

    def _computed(self, name: str, node: Any) -> Array | None:
        """The array of a value whose inputs are known already."""
        from onnx import numpy_helper

        if name in self.constants or name in self.stored:
            return self.constants[name] if name in self.constants else _checked_array(self.stored[name])
        if node is None:
            return None
        if node.op_type == "Constant":
            value = next((each for each in node.attribute if each.name == "value"), None)
            return None if value is None else np.asarray(numpy_helper.to_array(value.t))
        if node.op_type not in SAME_NUMBERS:
            return None
        parts = [self.constants[each] for each in node.input if each]
        if not parts or any(part is None for part in parts):
            return None
        first: Array = parts[0]  # type: ignore[assignment]  # none of them is None
        if node.op_type == "Transpose":
            return first.transpose(attribute(node, "perm", None))
        if node.op_type == "DequantizeLinear":
            return _dequantized(parts, attribute(node, "axis", 1))
        return first

    def layer(self, node: Any, bias: Array | None = None) -> LinearLayer | None:
        """A node as a linear layer, or None if it is not one, or its weight depends on the input."""
        if node.op_type not in LINEAR or len(node.input) < 2:
            return None
        weight = self.constant(node.input[1])
        if weight is None:
            return None
        if node.op_type == "MatMul":
            weight = weight.T
        elif node.op_type == "Gemm":
            weight = attribute(node, "alpha", 1.0) * (weight if attribute(node, "transB", 0) else weight.T)
        if weight.ndim > 2 and all(side == 1 for side in weight.shape[2:]) and attribute(node, "group", 1) == 1:
            weight = weight.reshape(weight.shape[:2])
        if weight.ndim != 2:
            return None
        if len(node.input) > 2 and node.input[2]:
            own = self.constant(node.input[2])
            bias = own if own is None else attribute(node, "beta", 1.0) * own
        if bias is not None and bias.size != len(weight):
            bias = None if bias.size != 1 else np.full(len(weight), bias.reshape(-1)[0])
        return LinearLayer(node.input[1], weight, None if bias is None else bias.reshape(-1))

    def head(self, output: str) -> LinearLayer | str:
        """The linear layer that makes an output, or the kind of the node at which the search ended."""
        bias, name = None, output
        visited: set[str] = set()
        while True:
            if name in visited:
                raise InputError(f"The value {name!r} is made from itself: the graph has a cycle.")
            visited.add(name)
            node = self.makers.get(name)
            if node is None:
                return "the input"
            if (layer := self.layer(node, bias)) is not None:
                return layer
            if node.op_type == "Add" and len(node.input) == 2:
                constants = [self.constant(each) for each in node.input]
                if sum(each is not None for each in constants) != 1:
                    return f"{node.op_type} {node.name!r}"
                bias = next(each for each in constants if each is not None)
                name = next(each for each, known in zip(node.input, constants) if known is None)
            elif node.input and (node.op_type in AFTER or self.part_of_softmax(node)):
                name = node.input[0]
            else:
                return f"{node.op_type} {node.name!r}"

    def part_of_softmax(self, node: Any) -> bool:
        """Whether a node is a step of a softmax written out: exp(z − max z) / sum, as JAX exports it."""
        first = self.makers.get(node.input[0]) if node.input else None
        if node.op_type == "Div":
            return first is not None and first.op_type == "Exp"
        if node.op_type == "Sub":
            return any(self.comes_from(each, "ReduceMax") for each in node.input[1:])
        return bool(node.op_type == "Exp")

    def comes_from(self, name: str, kind: str, steps: int = 6) -> bool:
        """Whether a value is made by a node of a kind, a few steps back."""
        level, visited = {name}, {name}
        for _ in range(steps):
            nodes = [self.makers[each] for each in level if each in self.makers]
            if any(node.op_type == kind for node in nodes):
                return True
            level = {each for node in nodes for each in node.input} - visited
            visited |= level
        return False


def read_onnx_head(path: Path, head: str | None) -> HeadWeights:
    """The head of an ONNX file: the linear layer that makes its output, or the named one."""
    try:
        return _read_head(path, head)
    except InputError as error:
        raise error if str(path) in str(error) else InputError(f"{path} cannot be used. {error}") from None
    except MALFORMED as error:
        first = str(error).strip().split("\n")[0][:300]
        raise InputError(
            f"{path} is a malformed ONNX file: its graph or its arrays do not fit together ({type(error).__name__}: "
            f"{first}). Export it again, or check it with `onnx.checker.check_model`."
        ) from None


def _read_head(path: Path, head: str | None) -> HeadWeights:
    graph = _read_graph(path)
    layers = [layer for node in graph.nodes if (layer := graph.layer(node)) is not None]
    if head is not None:
        chosen = next((each for each in layers if each.name == head), None)
        if chosen is None:
            hint = nearest(head, [each.name for each in layers])
            raise InputError(f"`head` is {head!r}, which is not a linear layer of {path}.{hint} {_layers_text(layers)}")
        return _as_head_weights(path, chosen)
    ends = [graph.head(output) for output in graph.outputs]
    heads = {each.name: each for each in ends if isinstance(each, LinearLayer)}
    if len(heads) > 1:
        raise InputError(f"{path} has several heads: {shown(heads.values())}. Name one as `head` (--head).")
    if not heads:
        sources = shown(dict.fromkeys(str(each) for each in ends))
        raise InputError(
            f"The outputs of {path} are not those of a linear layer but of {sources}. {_layers_text(layers)}"
        )
    return _as_head_weights(path, next(iter(heads.values())))


def attribute(node: Any, name: str, default: Any) -> Any:
    """An attribute of a node, or its default."""
    from onnx import helper

    match = next((each for each in node.attribute if each.name == name), None)
    return default if match is None else helper.get_attribute_value(match)


def load_onnx_network(path: Path) -> nn.Module:
    """The network of an ONNX file as a torch module, in evaluation mode."""
    need("torch", f"Reading {path}")
    model = _read_model(path)
    within(len(model.graph.node), "graph_nodes", "The number of nodes of the graph")
    if importlib.util.find_spec("onnx2torch") is None:
        raise InputError(
            f"{path} is an ONNX file. To measure the whole network, onnx2torch converts it: pip install onnx2torch. "
            "For the head alone, --weights-only."
        )
    try:
        network: nn.Module = importlib.import_module("onnx2torch").convert(model)
    except Exception as error:  # an operator that it does not know, or a library that does not fit torch
        first = str(error).strip().split("\n")[0][:300]
        raise InputError(
            f"onnx2torch cannot convert {path} ({type(error).__name__}: {first}). For the head alone, --weights-only."
        ) from None
    return network.float().eval()


def _read_graph(path: Path) -> OnnxGraph:
    return OnnxGraph(_read_model(path).graph)


def _read_model(path: Path) -> Any:
    need("onnx", f"Reading {path}")
    import onnx

    try:
        model = onnx.load(path)
    except MemoryError:
        raise
    except Exception as error:  # protobuf and onnx each have their own errors
        first = str(error).strip().split("\n")[0][:300]
        raise InputError(f"{path} cannot be read as an ONNX file ({type(error).__name__}: {first}).") from None
    if not model.graph.node:
        raise InputError(f"{path} cannot be read as an ONNX file: it has no graph.")
    return model


def _dequantized(parts: list[Array | None], axis: int) -> Array:
    """Whole numbers times their scale, which may be one number or one along an axis."""
    if len(parts) < 2 or (parts[0] is not None and parts[0].dtype in (np.float32, np.float64)):
        raise ValueError("DequantizeLinear takes whole numbers and a scale")
    values, scale = (np.asarray(part, dtype=np.float32) for part in parts[:2])
    zero = np.asarray(parts[2], dtype=np.float32) if len(parts) > 2 else np.zeros_like(scale)
    if scale.ndim == 1 and scale.size > 1:
        sides = [-1 if place == axis % values.ndim else 1 for place in range(values.ndim)]
        scale, zero = scale.reshape(sides), zero.reshape(sides)
    if np.broadcast_shapes(values.shape, scale.shape, zero.shape) != values.shape:
        raise ValueError(f"a scale of shape {scale.shape} does not fit an array of shape {values.shape}")
    dequantized: Array = (values - zero) * scale
    return dequantized


def _checked_array(stored: Any) -> Array:
    """An array of the file, if it has as many numbers as it declares."""
    from onnx import numpy_helper

    if any(side < 0 for side in stored.dims):
        raise ValueError(f"the array {stored.name!r} has the shape {list(stored.dims)}")
    return np.asarray(numpy_helper.to_array(stored))


def _layers_text(layers: list[LinearLayer]) -> str:
    return f"Linear layers are {shown(layers[-20:], 20)}; name one as `head` (--head)." if layers else "It has none."


def _as_head_weights(path: Path, layer: LinearLayer) -> HeadWeights:
    if not np.issubdtype(layer.weight.dtype, np.number) and layer.weight.dtype.kind not in "fV":
        raise InputError(f"The weight {layer.name!r} of {path} contains {layer.weight.dtype}; expected numbers.")
    if layer.weight.dtype.kind == "c" or 0 in layer.weight.shape:
        raise InputError(
            f"The weight {layer.name!r} of {path} has {layer.weight.dtype} numbers of shape {layer.weight.shape}; "
            "expected real numbers for two classes or more."
        )
    coarse = layer.weight.dtype.itemsize < 4
    notes = (f"Half precision ({layer.weight.dtype}) was converted to float32.",) if coarse else ()
    return as_head(path, layer.name, layer.weight, layer.bias, notes)
