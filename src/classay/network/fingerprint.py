"""By what a store knows a network again: its weights, and how it answers, which the weights alone do not say."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .trace import at_rest

if TYPE_CHECKING:
    from torch import nn

    from .split import Split

DIGITS = 3
"""Answers are compared to so many digits of the largest: the last ones depend on the number of threads."""


def fingerprint(network: nn.Module) -> str:
    """A SHA-256 over names, shapes and values of all weights."""
    return digest(network.state_dict())


def digest(tensors: Mapping[str, Any]) -> str:
    """A SHA-256 over names, types, shapes and values of tensors."""
    import torch

    made = hashlib.sha256()
    for name, values in tensors.items():
        if isinstance(values, torch.Tensor):
            array = values.detach().cpu().contiguous()
            made.update(f"{name}\0{array.dtype}\0{tuple(array.shape)}\0".encode())
            # In double precision, which holds every number of the others, bfloat16 included.
            made.update(array.double().numpy().tobytes())
    return made.hexdigest()


def identity(split: Split) -> str:
    """A SHA-256 over the weights, the head and its answers to two inputs.

    Networks with the same weights can differ in what no weight says: the activation, a scaling, how they are called.
    """
    import torch

    with at_rest(split.network), torch.no_grad():
        answers = split.logits(split.inputs(2, 2)).double().cpu().numpy()
    scale = float(np.abs(answers).max()) or 1.0
    # Zero is added as minus zero has other bytes.
    told = np.round(answers / scale, DIGITS) + 0.0
    about = f"{fingerprint(split.network)}\0{split.name}\0{split.input_shape}\0{told.tolist()}"
    return hashlib.sha256(about.encode()).hexdigest()
