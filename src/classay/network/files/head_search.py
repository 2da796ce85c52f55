"""Which array of a file is the head: by name, by bias, by the chain of sizes, or in an ONNX graph. Nothing is run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...expect import InputError, nearest, need, shown, within
from .weights import StoredArray, WeightFile, file_kind, first_line, labels_beside, read_weights

Floats = NDArray[np.float32]
WORDS = {"head", "heads", "fc", "classifier", "classification", "logits", "linear", "output", "score", "predictions"}
WORDS |= {"lastlinear", "fclayer", "outputlayer", "finallayer", "outproj", "logit", "clf", "classificationhead", "top"}
"""Names of heads, without case, signs and digits."""
OUTER = {"module", "model", "net", "network", "params", "backbone", "origmod", "base", "encoder"}
"""Wrapper names around a network that do not describe its parts."""
KERNELS = ("kernel", "w")
"""TensorFlow's and Flax's names of a weight, which is (features, classes) there."""


@dataclass(frozen=True)
class HeadWeights:
    """A head from a file: its name there, weight (classes, features), bias (classes,) or None, and remarks.

    `labels` are the names of its classes, if a file of Hugging Face beside it says them.
    """

    path: Path
    name: str
    weight: Floats
    bias: Floats | None
    notes: tuple[str, ...]
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class HeadCandidate:
    """A weight that may be the head's: it maps `size` features to `classes` outputs."""

    entry: StoredArray
    bias: StoredArray | None
    transposed: bool
    classes: int
    size: int

    @property
    def layer(self) -> tuple[str, ...]:
        """The parts of its layer's name, without outer wrappers and the word weight."""
        parts = _parts(self.entry.name)[:-1] or _parts(self.entry.name)
        while len(parts) > 1 and _letters(parts[0]) in OUTER:
            parts = parts[1:]
        return tuple(parts)

    def __str__(self) -> str:
        return f"{self.entry.name} ({self.size} to {self.classes}{'' if self.bias is None else ', with bias'})"


def read_head(path: str | Path, head: str | None = None, trust_pickle: bool = False) -> HeadWeights:
    """Read only the head from a file of weights: torch, safetensors, NumPy or ONNX.

    It is the last linear layer, found by its name (fc, head, classifier, logits), its bias, and because no other layer
    uses its output. If that is ambiguous, the candidates are listed.

    Parameters
    ----------
    path : the file
    head : name of the weight, or of its layer, instead of searching for it
    trust_pickle : read a torch file that contains a whole network, which can run any code

    """
    if file_kind(path) == "ONNX":
        candidates, weights = read_onnx_layers(Path(path))
    else:
        weights = read_weights(path, trust_pickle)
        candidates = head_candidates(weights.entries)
    if not candidates:
        raise InputError(
            f"{path} has no weight of a linear layer; its arrays are {shown(each.name for each in weights.entries)}."
        )
    if head is None:
        chosen, notes = _choose(candidates, weights, path)
    else:
        chosen, notes = _candidate_called(candidates, head, path), ()
    flat = chosen.entry.array().reshape(_flat(chosen.entry.shape))
    weight, bias = flat.T if chosen.transposed else flat, None if chosen.bias is None else chosen.bias.array()
    name, where = chosen.entry.name, f"The head {chosen.entry.name!r} of {path}"
    if len(weight) < 2:
        raise InputError(f"{where} has one output; at least 2 classes are needed to compare rows.")
    if not all(np.isfinite(part).all() for part in (weight, bias) if part is not None):
        raise InputError(
            f"{where} contains NaN or infinite numbers: training diverged, or the file is damaged. Use an earlier "
            "checkpoint."
        )
    labels = labels_beside(path)
    notes = (*weights.notes, *notes)
    return HeadWeights(weights.path, name, weight, bias, notes, labels if len(labels) == len(weight) else ())


def head_candidates(entries: Sequence[StoredArray]) -> list[HeadCandidate]:
    """Weights of linear layers and 1×1 convolutions, in the order of the file."""
    by_name = {_plain(entry.name): entry for entry in entries}
    candidates = []
    for entry in entries:
        flat = _flat(entry.shape)
        last = _letters(_parts(entry.name)[-1])
        if len(flat) != 2 or 0 in flat or last not in ("weight", *KERNELS) or "embed" in entry.name.lower():
            continue
        stem = _stem(entry.name)
        bias = next((by_name[stem + word] for word in ("bias", "b", "Bias") if stem + word in by_name), None)
        sides = [] if bias is None else [side for side in (0, 1) if bias.shape == (flat[side],)]
        transposed = last in KERNELS if len(sides) != 1 else sides[0] == 1
        classes, size = flat[::-1] if transposed else flat
        candidates.append(HeadCandidate(entry, bias if sides else None, transposed, classes, size))
    return candidates


def likely_classes(candidates: list[HeadCandidate]) -> int | None:
    """The number of outputs of the head, if its name identifies it."""
    groups = _candidates_by_name(candidates)
    numbers = {
        last.classes for group in groups.values() if (last := _last(group, candidates, ordered=True)) is not None
    }
    return next(iter(numbers)) if len(numbers) == 1 else None


def _candidates_by_name(candidates: list[HeadCandidate]) -> dict[str, list[HeadCandidate]]:
    """Candidates by the outermost name, if that is a usual name of a head."""
    groups: dict[str, list[HeadCandidate]] = {}
    for each in candidates:
        if _letters(each.layer[0]) in WORDS:
            groups.setdefault(each.layer[0], []).append(each)
    return groups


def _choose(
    candidates: list[HeadCandidate], weights: WeightFile, path: str | Path
) -> tuple[HeadCandidate, tuple[str, ...]]:
    groups = _candidates_by_name(candidates)
    if len(groups) > 1:  # fc1, fc2, fc3, say: clear if others use the outputs of all but one
        named = [each for group in groups.values() for each in group]
        ends = _final_candidates(named, candidates)
        return (ends[0] if len(ends) == 1 else _fail(path, named)), ()
    for group in groups.values():
        return _last(group, candidates, weights.ordered) or _fail(path, group), ()
    chosen = _last(candidates, candidates, weights.ordered) or _fail(path, candidates)
    rivals = [str(each) for each in _final_candidates(candidates, candidates) if each is not chosen]
    note = (
        f"{chosen} was chosen as the head by its position; it could also be {shown(rivals[-4:])}. Or name it: --head."
    )
    return chosen, (note,) if rivals else ()


def _last(group: list[HeadCandidate], candidates: list[HeadCandidate], ordered: bool) -> HeadCandidate | None:
    """The last of a group: its output is not used by another layer; else the last in order, if there is an order."""
    ends = _final_candidates(group, candidates)
    if len(ends) == 1 or ordered:
        return ends[-1]
    # Sequential layers are numbered, and 10 comes after 9.
    numbers = [tuple(int(digits) for digits in re.findall(r"\d{1,18}", each.entry.name)) for each in ends]
    if len(set(numbers)) == len(numbers):
        return max(zip(numbers, ends), key=lambda pair: pair[0])[1]
    return None


def _final_candidates(group: list[HeadCandidate], candidates: list[HeadCandidate]) -> list[HeadCandidate]:
    """Those of a group whose outputs no layer can use, by their number; all if there are none."""
    taken = {each.size for each in candidates}
    return [each for each in group if each.classes not in taken] or group


def _candidate_called(candidates: list[HeadCandidate], head: str, path: str | Path) -> HeadCandidate:
    for each in candidates:
        if head in (each.entry.name, _stem(each.entry.name).rstrip("./")):
            return each
    names = [each.entry.name for each in candidates]
    raise InputError(
        f"`head` is {head!r}, which is not a linear layer of {path}.{nearest(head, names)} There are "
        f"{shown(map(str, candidates), 20)}."
    )


def _fail(path: str | Path, candidates: Sequence[HeadCandidate]) -> NoReturn:
    listed = shown(map(str, candidates), 20)
    raise InputError(f"It is not clear which layer of {path} is the head: {listed}. Name one as `head` (--head).")


def _flat(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape without the sides of 1 of a 1×1 convolution: after (torch) or before (TensorFlow) the other two."""
    if len(shape) > 2 and all(side == 1 for side in shape[2:]):
        return shape[:2]
    if len(shape) > 2 and all(side == 1 for side in shape[:-2]):
        return shape[-2:]
    return shape


def _plain(name: str) -> str:
    """The name without the number that TensorFlow puts after a colon."""
    return re.sub(r":\d+$", "", name)


def _parts(name: str) -> list[str]:
    return [part for part in re.split(r"[./]", _plain(name)) if part] or [name]


def _stem(name: str) -> str:
    """The part before the last: the layer, with the dot or slash."""
    return _plain(name)[: -len(_parts(name)[-1])]


def _letters(part: str) -> str:
    return re.sub(r"[^a-z]", "", part.lower())


# The linear layers of the graph of an ONNX file, to find the head among them.
#
# A file may be malformed or hostile: what cannot be read is an InputError.


ONNX_LINEAR = ("Gemm", "MatMul", "Conv")


def read_onnx_layers(path: Path) -> tuple[list[HeadCandidate], WeightFile]:
    """The linear layers of the graph whose weights it stores, in its order, and these weights."""
    graph = read_onnx_model(path).graph
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
        if node.op_type not in ONNX_LINEAR or len(node.input) < 2 or node.input[1] not in stored or not node.output:
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


def read_onnx_model(path: Path) -> Any:
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
