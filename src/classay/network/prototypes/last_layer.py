"""Which of the layers seen in a forward pass is the head, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
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
    """The head: its use, how positions are pooled, whether its weight is (features, classes), what follows it.

    The network's scores are `scale` times the head's output plus `shift`, such as a division by a temperature.
    """

    call: Call
    pool: str
    transposed: bool
    output: str
    notes: tuple[Note, ...]
    scale: float = 1.0
    shift: Tensor | None = None


def find_head(network: nn.Module, trace: Trace, name: str | None) -> HeadMatch:
    """The head among the layers seen, or the named one."""
    if name is not None:
        return _match_named(network, trace, name)
    outputs = [columns for each in trace.outputs if (columns := _class_columns(each)) is not None]
    if not outputs:
        shapes = shown([tuple(each.shape) for each in trace.outputs]) or "no tensor"
        raise InputError(_refusal(f"it outputs {shapes}, and not one number per row and class", trace))
    matches = {}
    for place, output in enumerate(outputs):
        for call in reversed(trace.calls):
            match = _match(call, output)
            if match is not None:
                matches[place] = call, *match
                break
    if not matches:
        for output in outputs:
            for call in reversed(trace.calls):
                scaled = _match_scaled(call, output)
                if scaled is not None and _is_transposed(call, scaled.pool) is not None:
                    _refuse_shared(network, trace, call)
                    return _scaled_head(network, call, scaled)
    if not matches:
        raise InputError(_refusal(_no_head_reason(trace), trace))
    names = sorted({call.name for call, _, _ in matches.values()})
    if len(names) > 1:
        raise InputError(_refusal(f"it has several heads ({shown(names)}): name one as `head`", trace))
    call, pool, link = next(iter(matches.values()))
    transposed = _is_transposed(call, pool)
    if transposed is None:
        shape = tuple(call.weight.shape)
        why = f"its last layer {call.name!r} has a weight of {shape} but does not output x·Wᵀ + b (is it normalised?)"
        raise InputError(_refusal(why, trace))
    _refuse_shared(network, trace, call)
    return HeadMatch(call, pool, transposed, _output_kind(network, link), ())


def _refuse_shared(network: nn.Module, trace: Trace, call: Call) -> None:
    """Refuse a head that is used again, or whose weight is that of another layer."""
    if sum(other.layer is call.layer for other in trace.calls) > 1:
        raise InputError(_refusal(f"its last layer {call.name!r} is used more than once in a pass", trace))
    tied = _sharing_layers(network, call)
    if tied:
        raise InputError(
            _refusal(f"its last layer {call.name!r} shares its weight with {shown(tied)}: name it as `head`", trace)
        )


@dataclass(frozen=True)
class ScaledMatch:
    """How an output is made of a layer's: scale · output + shift, then the link."""

    pool: str
    link: str
    scale: float
    shift: Tensor | None


def _scaled_head(network: nn.Module, call: Call, match: ScaledMatch, notes: tuple[Note, ...] = ()) -> HeadMatch:
    """The head whose output is scaled, as by a temperature, or has constants added."""
    code = "head-scaled" if match.shift is None else "head-shifted"
    return HeadMatch(
        call, match.pool, bool(_is_transposed(call, match.pool)), _output_kind(network, match.link),
        (*notes, Note(code, scale=match.scale)), match.scale, match.shift,
    )  # fmt: skip


def _match_scaled(call: Call, output: Tensor) -> ScaledMatch | None:
    """How a layer's output was scaled and shifted, if by one positive number and one constant per class."""
    import torch

    for pool in _pools(call):
        scores = pool_positions(call.output, pool, call.kind)
        if scores.shape != output.shape or not scores.is_floating_point() or len(scores) < 2:
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
            return ScaledMatch(pool, link, scale, None if still else shift.to(scores.dtype))
    return None


def _match_named(network: nn.Module, trace: Trace, name: str) -> HeadMatch:
    known = [each for each, _ in network.named_modules()]
    if name not in known:
        raise InputError(
            f"`head` is {name!r}, which is not a layer.{nearest(name, known)} Layers with weights, as seen: "
            f"{shown(dict.fromkeys(call.name for call in trace.calls), 20)}."
        )
    uses = [call for call in trace.calls if call.name == name]
    if not uses:
        raise InputError(
            f"The layer {name!r} has no weight of two dimensions or was not used. Layers with weights, as seen: "
            f"{shown(dict.fromkeys(call.name for call in trace.calls), 20)}."
        )
    call, notes = uses[-1], []
    if len(uses) > 1:
        notes.append(Note("head-used-again", count=len(uses)))
    tied = _sharing_layers(network, call)
    if tied:
        notes.append(Note("head-shares-weight", shown(tied)))
    outputs = [columns for each in trace.outputs if (columns := _class_columns(each)) is not None]
    matches = (_match(call, output) for output in outputs)
    match = next((each for each in matches if each is not None), None)
    if match is None:
        scaled = next((each for output in outputs if (each := _match_scaled(call, output)) is not None), None)
        if scaled is not None and _is_transposed(call, scaled.pool) is not None:
            return _scaled_head(network, call, scaled, tuple(notes))
        notes.append(Note("head-not-output"))
    for pool in _pools(call) if match is None else (match[0],):
        transposed = _is_transposed(call, pool)
        if transposed is not None:
            return HeadMatch(
                call, pool, transposed, _output_kind(network, match[1] if match else "plain"), tuple(notes)
            )
    raise InputError(_refusal(f"the layer {name!r} does not output x·Wᵀ + b", trace))


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


def _match(call: Call, output: Tensor) -> tuple[str, str] | None:
    """How positions were pooled and what followed, if this use of a layer gave the output."""
    import torch
    from torch.nn import functional

    for pool in _pools(call):
        scores = pool_positions(call.output, pool, call.kind)
        if scores.shape != output.shape or not scores.is_floating_point():
            continue
        scores = scores.to(output.dtype)
        for link in LINKS:
            linked = {
                "plain": lambda scores: scores,
                "softmax": lambda scores: functional.softmax(scores, 1),
                "log_softmax": lambda scores: functional.log_softmax(scores, 1),
                "sigmoid": torch.sigmoid,
                "logsigmoid": functional.logsigmoid,
            }[link](scores)
            if _close(linked, output):
                return pool, link
    return None


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


def _output_kind(network: nn.Module, link: str) -> str:
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
