"""Which of the layers seen in a forward pass is the head, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...expect import InputError, nearest, shown
from ...notes import Note
from .trace import Call, Trace

if TYPE_CHECKING:
    from torch import Tensor, nn

POOLS = ("whole", "mean", "first", "last")
"""How positions become one row: there is one, or their mean, or the first or last of them."""
LINKS = {
    "plain": "unknown",
    "softmax": "softmax",
    "log_softmax": "softmax",
    "sigmoid": "sigmoid",
    "logsigmoid": "sigmoid",
}
SHIFTLESS = 1e-4
"""Constants smaller than this share of the output are rounding."""
PRODUCTS = ("AddmmBackward", "MmBackward", "LinearBackward", "MvBackward", "BmmBackward", "UnsafeViewBackward")


@dataclass(frozen=True)
class HeadMatch:
    """How a use of a layer gives an output: positions are pooled, then scale · scores + shift, then the link.

    Scale and shift are 1 and None unless the network divides by a temperature, say, or adds constants. `transposed`:
    the weight is (features, classes).
    """

    call: Call
    pool: str
    link: str = "plain"
    scale: float = 1.0
    shift: Tensor | None = None
    transposed: bool = False
    notes: tuple[Note, ...] = ()


def find_head(network: nn.Module, trace: Trace, name: str | None) -> HeadMatch:
    """The head among the layers seen, or the named one."""
    outputs = [columns for tensor in trace.outputs if (columns := _class_columns(tensor)) is not None]
    if name is not None:
        calls, notes = _named(network, trace, name)
    elif outputs:
        calls, notes = trace.calls[::-1], []
    else:
        shapes = shown([tuple(tensor.shape) for tensor in trace.outputs]) or "no tensor"
        raise InputError(_refusal(f"it outputs {shapes}, and not one number per row and class", trace))
    matches = _first_matches(calls, outputs, _match) or _first_matches(calls, outputs, _match_scaled)
    if not matches and name is None:
        raise InputError(_refusal(_no_head_reason(trace), trace))
    if not matches:
        notes.append(Note("head-not-output"))
        matches = [HeadMatch(calls[0], pool) for pool in _pools(calls[0])]
    names = sorted({match.call.name for match in matches})
    if len(names) > 1:
        raise InputError(_refusal(f"it has several heads ({shown(names)}): name one as `head`", trace))
    for match in matches:
        transposed = _is_transposed(match.call, match.pool)
        if transposed is not None:
            last = f"its last layer {match.call.name!r}"
            if name is None and sum(other.layer is match.call.layer for other in trace.calls) > 1:
                raise InputError(_refusal(f"{last} is used more than once in a pass", trace))
            if name is None and (tied := _sharing_layers(network, match.call)):
                raise InputError(_refusal(f"{last} shares its weight with {shown(tied)}: name it as `head`", trace))
            if match.scale != 1 or match.shift is not None:
                notes.append(Note("head-scaled" if match.shift is None else "head-shifted", scale=match.scale))
            return replace(match, transposed=transposed, notes=tuple(notes))
    call = matches[0].call if matches else calls[0]
    why = f"the layer {call.name!r} has a weight of {tuple(call.weight.shape)} but does not output x·Wᵀ + b"
    raise InputError(_refusal(f"{why} (is it normalised?)", trace))


def _named(network: nn.Module, trace: Trace, name: str) -> tuple[tuple[Call, ...], list[Note]]:
    """The last use of the named layer, and remarks on it."""
    weights = f"Layers with weights, as seen: {shown(dict.fromkeys(call.name for call in trace.calls), 20)}."
    known = [layer for layer, _ in network.named_modules()]
    if name not in known:
        raise InputError(f"`head` is {name!r}, which is not a layer.{nearest(name, known)} {weights}")
    uses = [call for call in trace.calls if call.name == name]
    if not uses:
        raise InputError(f"The layer {name!r} has no weight of two dimensions or was not used. {weights}")
    notes = [Note("head-used-again", count=len(uses))] if len(uses) > 1 else []
    if tied := _sharing_layers(network, uses[-1]):
        notes.append(Note("head-shares-weight", shown(tied)))
    return (uses[-1],), notes


# How an output was made of a layer's.


def _first_matches(
    calls: Sequence[Call], outputs: list[Tensor], match: Callable[[Call, Tensor], HeadMatch | None]
) -> list[HeadMatch]:
    """For each output the first of these uses that gave it."""
    by_output = ((match(call, output) for call in calls) for output in outputs)
    matches = (next((each for each in several if each is not None), None) for several in by_output)
    return [each for each in matches if each is not None]


def _match(call: Call, output: Tensor) -> HeadMatch | None:
    """How positions were pooled and what followed, if this use of a layer gave the output."""
    import torch
    from torch.nn import functional

    linked: dict[str, Callable[[Tensor], Tensor]] = {
        "plain": lambda scores: scores,
        "softmax": lambda scores: functional.softmax(scores, 1),
        "log_softmax": lambda scores: functional.log_softmax(scores, 1),
        "sigmoid": torch.sigmoid,
        "logsigmoid": functional.logsigmoid,
    }
    for pool, scores in _pooled_scores(call, output):
        for link, function in linked.items():
            if _close(function(scores.to(output.dtype)), output):
                return HeadMatch(call, pool, link)
    return None


def _match_scaled(call: Call, output: Tensor) -> HeadMatch | None:
    """The same if scores were multiplied by a positive number, or a constant was added for each class."""
    import torch

    for pool, scores in _pooled_scores(call, output):
        if len(scores) < 2 or _is_transposed(call, pool) is None:
            continue
        exact = scores.double()
        for link, undo in (("plain", None), ("softmax", torch.log), ("log_softmax", None), ("sigmoid", torch.logit)):
            values = output.double() if undo is None else undo(output.double())
            if not bool(torch.isfinite(values).all()):
                continue
            # A softmax leaves the mean of a row's scores open.
            own, theirs = (each - each.mean(1, keepdim=True) if "softmax" in link else each for each in (exact, values))
            moved, gone = (each - each.mean(0) for each in (own, theirs))
            length = float((moved**2).sum())
            scale = float((moved * gone).sum()) / length if length else 0.0
            if scale <= 0:
                continue
            shift = (theirs - scale * own).mean(0)
            if not _close((scale * own + shift).to(output.dtype), theirs.to(output.dtype)):
                continue
            still = float(shift.abs().max()) <= SHIFTLESS * float(theirs.abs().max())
            return HeadMatch(call, pool, link, scale, None if still else shift.to(scores.dtype))
    return None


def _pooled_scores(call: Call, output: Tensor) -> Iterator[tuple[str, Tensor]]:
    """The ways to pool a layer's output that give the shape of the network's."""
    for pool in _pools(call):
        scores = pool_positions(call.output, pool, call.kind)
        if scores.shape == output.shape and scores.is_floating_point():
            yield pool, scores


def pool_positions(tensor: Tensor, pool: str, kind: str) -> Tensor:
    """The input or output of a layer, one row per input. For positions, the mean or one of them."""
    if pool == "whole":
        return tensor.flatten(1)
    positions = tensor.movedim(1, -1) if kind == "convolution" else tensor
    positions = positions.flatten(1, -2)
    return positions.mean(1) if pool == "mean" else positions[:, 0 if pool == "first" else -1]


def _pools(call: Call) -> tuple[str, ...]:
    """How positions may have become one row. A row of numbers has one position."""
    return POOLS[: {0: 0, 1: 0, 2: 1}.get(call.output.ndim, len(POOLS))]


def _class_columns(output: Tensor) -> Tensor | None:
    """An output as (rows, classes), if it is that except for dimensions of 1."""
    if not output.is_floating_point() or output.ndim < 2 or sum(side > 1 for side in output.shape[1:]) > 1:
        return None
    return output.detach().flatten(1)


def _is_transposed(call: Call, pool: str) -> bool | None:
    """Whether the weight is (features, classes) rather than (classes, features); None if the layer is not linear."""
    if pool not in _pools(call) or call.input.ndim != call.output.ndim or not call.input.is_floating_point():
        return None
    features, scores = pool_positions(call.input, pool, call.kind), pool_positions(call.output, pool, call.kind)
    for transposed in (False, True):
        rows = call.weight.T if transposed else call.weight
        if features.shape[1] == rows.shape[1] and scores.shape[1] == rows.shape[0]:
            product = features.to(rows.dtype) @ rows.T + (0 if call.bias is None else call.bias)
            if _close(product, scores):
                return transposed
    return None


def _close(first: Tensor, second: Tensor) -> bool:
    import torch

    # Relative to the largest: scores of a fresh network are small, and rounding is not.
    scale = float(second.abs().max())
    return bool(torch.allclose(first, second.to(first.dtype), rtol=1e-4, atol=1e-5 * scale))


def _sharing_layers(network: nn.Module, call: Call) -> list[str]:
    """Other layers that share the same weight."""
    weight = call.layer.weight
    return [
        f"{name}.{own}" if name else own
        for name, layer in network.named_modules()
        if layer is not call.layer
        for own, parameter in layer.named_parameters(recurse=False)
        if parameter is weight
    ]


def output_kind(network: nn.Module, link: str) -> str:
    """What follows the head: softmax, sigmoid or unknown."""
    # Hugging Face's classifiers output scores; their settings say what these are.
    problem = getattr(getattr(network, "config", None), "problem_type", None)
    if link == "plain" and problem in ("multi_label_classification", "single_label_classification"):
        return "sigmoid" if problem.startswith("multi") else "softmax"
    return LINKS[link]


def _no_head_reason(trace: Trace) -> str:
    made_by = [type(each.grad_fn).__name__ for each in trace.outputs if each.grad_fn is not None]
    if any(name.startswith(PRODUCTS) for name in made_by):
        return (
            "its output is a product with a matrix outside of any layer (F.linear or @), which cannot be observed: "
            "make it an nn.Linear"
        )
    if not trace.layers:
        return "no layer was seen at work (a scripted network runs as one piece): pass the network before scripting"
    if not trace.calls:
        return "it has no layer with a weight of two dimensions"
    return f"its output is not that of a linear layer; the last one is {trace.calls[-1].name!r}"


def _refusal(why: str, trace: Trace) -> str:
    last = shown(trace.layers[-8:])
    return f"The network cannot be split: {why}." + (f" The last layers seen: {last}." if last else "")
