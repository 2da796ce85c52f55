"""True accuracy of a network, where there are labelled rows after all."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..expect import InputError, shown
from ..intervals import Estimate, of_proportion
from .starts import normalize_of
from .trace import at_rest

if TYPE_CHECKING:
    from .split import Split

NAMES = (("x", "y"), ("x_test", "y_test"), ("X", "y"), ("images", "labels"))
BATCH = 256


@dataclass(frozen=True, eq=False)
class Labelled:
    """Inputs (n, ...) and the number of each one's class (n,)."""

    inputs: NDArray[Any]
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.labels)


def read_labelled(path: str | Path) -> Labelled:
    """Inputs and labels of a NumPy file with arrays x and y."""
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            names = list(file.files) if hasattr(file, "files") else []
            found = next((pair for pair in NAMES if set(pair) <= set(names)), None)
            if found is None:
                raise InputError(f"{path} has arrays {shown(names) or 'none'}; x (inputs) and y (labels) are expected.")
            inputs, labels = (file[name] for name in found)
    except FileNotFoundError:
        raise InputError(f"There is no file {path}. Is the path right?") from None
    except (OSError, EOFError, TypeError, ValueError, zipfile.BadZipFile) as error:  # TypeError: one array alone
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} cannot be read as a NumPy file of arrays ({error}).") from None
    if inputs.ndim < 2 or labels.shape != (len(inputs),) or not len(inputs):
        raise InputError(
            f"{path} has inputs of shape {inputs.shape} and labels of shape {labels.shape}; (n, ...) and (n,) are "
            "expected."
        )
    if inputs.dtype.kind not in "uif" or labels.dtype.kind not in "ui":
        raise InputError(
            f"{path} has inputs of {inputs.dtype} and labels of {labels.dtype}; numbers, and classes counted from 0, "
            "are expected."
        )
    return Labelled(inputs, labels.astype(np.int64))


def true_accuracy(split: Split, labelled: Labelled, normalize: Any = None) -> Estimate:
    """The share of labelled rows that the network answers rightly, with Wilson's interval.

    Bytes are taken for images of 0 to 255 and scaled to 0..1; with `normalize` (mean, std) inputs are scaled by it.
    Images with the channels last are turned.
    """
    import torch

    least, most = int(labelled.labels.min()), int(labelled.labels.max())
    if least < 0 or most >= split.classes:
        raise InputError(
            f"The labels of the test set run from {least} to {most}, and the network has {split.classes} classes, "
            "counted from 0."
        )
    inputs = _fitted(labelled.inputs, split.input_shape)
    scale = normalize_of(normalize, split.input_shape)
    like = split.inputs(1)
    right = 0
    with at_rest(split.network), torch.no_grad():
        for first in range(0, len(labelled), BATCH):
            part = np.asarray(inputs[first : first + BATCH])
            values = part / np.float32(255) if part.dtype == np.uint8 else part
            if scale is not None:
                sides = (-1, *[1] * (values.ndim - 2))
                values = (values - np.reshape(scale.mean, sides)) / np.reshape(scale.std, sides)
            rows = torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32)).to(like)
            answers = split.logits(rows).argmax(1).cpu().numpy()
            right += int((answers == labelled.labels[first : first + BATCH]).sum())
    return of_proportion(right, len(labelled))


def _fitted(inputs: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The inputs in the network's shape: channels first, and a channel for grey images."""
    own = inputs.shape[1:]
    if own == shape:
        return inputs
    if len(own) == 3 and len(shape) == 3 and (own[2], *own[:2]) == shape:
        return np.moveaxis(inputs, 3, 1)
    if len(own) == 2 and (1, *own) == shape:
        return inputs[:, None]
    raise InputError(f"The inputs of the test set have shape {own}, those of the network {shape}.")
