"""Which of the layers seen in a forward pass is the head, or why none is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..expect import InputError, nearest, shown
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
PRODUCTS = ("AddmmBackward", "MmBackward", "LinearBackward", "MvBackward", "BmmBackward", "UnsafeViewBackward")


@dataclass(frozen=True)
class Found:
    """The head: its use, how positions are pooled, whether its weight is (features, classes), what follows it."""

    call: Call
    kind: str
    pool: str
    turned: bool
    output: str
    notes: tuple[str, ...]


def find_head(network: nn.Module, trace: Trace, name: str | None) -> Found:
    """The head among what was seen, or the named one."""
    if name is not None:
        return _named(network, trace, name)
    answers = [columns for each in trace.answers if (columns := _columns(each)) is not None]
    if not answers:
        shapes = shown([tuple(each.shape) for each in trace.answers]) or "no tensor"
        raise InputError(_cannot(f"it answers {shapes}, and not one number a row and class", trace))
    matches = {}
    for place, answer in enumerate(answers):
        for call in reversed(trace.calls):
            match = _match(call, answer)
            if match is not None:
                matches[place] = call, *match
                break
    if not matches:
        raise InputError(_cannot(_why_none(trace), trace))
    names = sorted({call.name for call, _, _ in matches.values()})
    if len(names) > 1:
        raise InputError(_cannot(f"it has several heads ({shown(names)}): name one as `head`", trace))
    call, pool, link = next(iter(matches.values()))
    turned = _orientation(call, pool)
    if turned is None:
        shape = tuple(call.weight.shape)
        why = f"its last layer {call.name!r} has a weight of {shape} but does not answer x·Wᵀ + b (is it normalised?)"
        raise InputError(_cannot(why, trace))
    if sum(other.layer is call.layer for other in trace.calls) > 1:
        raise InputError(_cannot(f"its last layer {call.name!r} is used more than once in a pass", trace))
    tied = _tied(network, call)
    if tied:
        raise InputError(
            _cannot(f"its last layer {call.name!r} shares its weight with {shown(tied)}: name it as `head`", trace)
        )
    return Found(call, call.kind, pool, turned, _output(network, link), ())


def pooled(tensor: Tensor, pool: str, kind: str) -> Tensor:
    """What a layer takes or gives, one row an input. Of positions, the mean or one of them."""
    if pool == "whole":
        return tensor.flatten(1)
    positions = tensor.movedim(1, -1) if kind == "convolution" else tensor
    positions = positions.flatten(1, -2)
    return positions.mean(1) if pool == "mean" else positions[:, 0 if pool == "first" else -1]


def _named(network: nn.Module, trace: Trace, name: str) -> Found:
    known = [each for each, _ in network.named_modules()]
    if name not in known:
        raise InputError(
            f"`head` is {name!r}, which is no layer.{nearest(name, known)} Layers with weights, as seen: "
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
        notes.append(f"It is used {len(uses)} times in a pass; the last is taken.")
    tied = _tied(network, call)
    if tied:
        notes.append(f"It shares its weight with {shown(tied)}.")
    answers = [columns for each in trace.answers if (columns := _columns(each)) is not None]
    match = next((found for answer in answers if (found := _match(call, answer)) is not None), None)
    if match is None:
        notes.append("What it gives is not what the network answers.")
    for pool in _pools(call) if match is None else (match[0],):
        turned = _orientation(call, pool)
        if turned is not None:
            return Found(call, call.kind, pool, turned, _output(network, match[1] if match else "plain"), tuple(notes))
    raise InputError(_cannot(f"the layer {name!r} does not answer x·Wᵀ + b", trace))


def _pools(call: Call) -> tuple[str, ...]:
    """How positions may have become one row. A row of numbers has one position."""
    return POOLS[: {0: 0, 1: 0, 2: 1}.get(call.output.ndim, len(POOLS))]


def _columns(answer: Tensor) -> Tensor | None:
    """An answer as (rows, classes), if it is that but for dimensions of 1."""
    if not answer.is_floating_point() or answer.ndim < 2 or sum(side > 1 for side in answer.shape[1:]) > 1:
        return None
    return answer.detach().flatten(1)


def _match(call: Call, answer: Tensor) -> tuple[str, str] | None:
    """How positions were pooled and what followed, if this use of a layer gave the answer."""
    import torch
    from torch.nn import functional

    for pool in _pools(call):
        scores = pooled(call.output, pool, call.kind)
        if scores.shape != answer.shape or not scores.is_floating_point():
            continue
        scores = scores.to(answer.dtype)
        for link in LINKS:
            made = {
                "plain": lambda scores: scores,
                "softmax": lambda scores: functional.softmax(scores, 1),
                "log_softmax": lambda scores: functional.log_softmax(scores, 1),
                "sigmoid": torch.sigmoid,
                "logsigmoid": functional.logsigmoid,
            }[link](scores)
            if _close(made, answer):
                return pool, link
    return None


def _orientation(call: Call, pool: str) -> bool | None:
    """Whether the weight is (features, classes) rather than (classes, features); None if the layer is not linear."""
    if pool not in _pools(call) or call.input.ndim != call.output.ndim or not call.input.is_floating_point():
        return None
    features, scores = pooled(call.input, pool, call.kind), pooled(call.output, pool, call.kind)
    for turned in (False, True):
        rows = call.weight.T if turned else call.weight
        if features.shape[1] == rows.shape[1] and scores.shape[1] == rows.shape[0]:
            made = features.to(rows.dtype) @ rows.T + (0 if call.bias is None else call.bias)
            if _close(made, scores):
                return turned
    return None


def _close(first: Tensor, second: Tensor) -> bool:
    import torch

    # Relative to the largest: scores of a fresh network are small, and rounding is not.
    scale = float(second.abs().max())
    return bool(torch.allclose(first, second.to(first.dtype), rtol=1e-4, atol=1e-5 * scale))


def _tied(network: nn.Module, call: Call) -> list[str]:
    """Other layers that have the very same weight."""
    weight = call.layer.weight
    return [
        f"{name}.{own}" if name else own
        for name, layer in network.named_modules()
        if layer is not call.layer
        for own, parameter in layer.named_parameters(recurse=False)
        if parameter is weight
    ]


def _output(network: nn.Module, link: str) -> str:
    # Hugging Face's classifiers answer scores and say in their settings what these are.
    problem = getattr(getattr(network, "config", None), "problem_type", None)
    if link == "plain" and problem in ("multi_label_classification", "single_label_classification"):
        return "sigmoid" if problem.startswith("multi") else "softmax"
    return LINKS[link]


def _why_none(trace: Trace) -> str:
    made_by = [type(each.grad_fn).__name__ for each in trace.answers if each.grad_fn is not None]
    if any(name.startswith(PRODUCTS) for name in made_by):
        return (
            "its answer is a product with a matrix outside of any layer (F.linear or @), which cannot be watched: make "
            "it an nn.Linear"
        )
    if not trace.layers:
        return "no layer was seen at work (a scripted network runs as one piece): give the network as it was before"
    if not trace.calls:
        return "it has no layer with a weight of two dimensions"
    return f"its answer is not that of a linear layer; the last one is {trace.calls[-1].name!r}"


def _cannot(why: str, trace: Trace) -> str:
    last = shown(trace.layers[-8:])
    return f"The network cannot be split: {why}." + (f" The last layers seen: {last}." if last else "")
