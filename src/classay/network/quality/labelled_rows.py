"""Labelled rows: the accuracy of a network by a few of them. The prior is Jeffreys', Beta(½, ½)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ...arrays import Ints
from ...expect import InputError, shown
from ...files import expect_file, read_arrays
from ...intervals import Estimate
from ..cosines import array_of
from ..prototypes.trace import frozen
from ..prototypes.walks import scale_of

if TYPE_CHECKING:
    from ..prototypes.split import Split

NAMES = (("x", "y"), ("x_test", "y_test"), ("X", "y"), ("images", "labels"))
BATCH = 256
LEVEL = 0.9


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Inputs (n, ...) and the class number of each (n,)."""

    inputs: NDArray[Any]
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def digest(self) -> str:
        """By which two networks are recognised as tested on the same rows."""
        return hashlib.sha256(self.inputs.tobytes() + self.labels.tobytes()).hexdigest()


def labelled_rows(X: Any, y: Any, source: str = "") -> LabelledRows:
    """Rows as users pass them to `network_quality`, arrays or tensors, or as `source` (" of FILE") has them."""
    inputs, labels = (np.asarray(array_of(part)) for part in (X, y))
    if inputs.ndim < 2 or not len(inputs) or inputs.dtype.kind not in "uif":
        raise InputError(f"`X`{source} has shape {inputs.shape} and type {inputs.dtype}; expected numbers (rows, ...).")
    if labels.shape != (len(inputs),):
        raise InputError(f"`y`{source} has shape {labels.shape}; expected ({len(inputs)},), one label per row of `X`.")
    if labels.dtype.kind not in "ui":
        raise InputError(f"`y`{source} is of type {labels.dtype}; expected class numbers of the head, counted from 0.")
    if inputs.dtype.kind == "f" and not np.isfinite(inputs).all():
        raise InputError(f"`X`{source} contains NaN or infinite numbers. Drop those rows.")
    return LabelledRows(inputs, labels.astype(np.int64))


def accuracy_by_rows(right: int, rows: int) -> Estimate:
    """Accuracy by labelled rows: the mean of the posterior and its central 90 %.

    >>> accuracy_by_rows(right=18, rows=20)
    0.881 [0.75, 0.971]
    """
    a, b, edge = right + 0.5, rows - right + 0.5, (1 - LEVEL) / 2
    low, high = (float(special.betaincinv(a, b, share)) for share in (edge, 1 - edge))
    return Estimate(a / (a + b), low, high, LEVEL, f"of {rows} labelled rows")


def read_labelled_rows(path: str | Path) -> LabelledRows:
    """Inputs and labels of a NumPy file with arrays x and y."""
    arrays = read_arrays(expect_file(path, "an .npz file with arrays x (inputs) and y (labels)"))
    pair = next((pair for pair in NAMES if set(pair) <= set(arrays)), None)
    if pair is None:
        raise InputError(f"{path} has arrays {shown(arrays) or 'none'}; expected x (inputs) and y (labels).")
    return labelled_rows(arrays[pair[0]], arrays[pair[1]], f" of {path}")


def rows_right(split: Split, labelled: LabelledRows, normalize: Any = None) -> NDArray[np.bool_]:
    """Of each labelled row, whether the network predicts it correctly."""
    least, most = int(labelled.labels.min()), int(labelled.labels.max())
    if least < 0 or most >= split.classes:
        raise InputError(
            f"The labels of the test set run from {least} to {most}, but the network has {split.classes} classes, "
            "counted from 0."
        )
    right: NDArray[np.bool_] = answers_of(split, labelled.inputs, normalize) == labelled.labels
    return right


def answers_of(split: Split, inputs: NDArray[Any], normalize: Any = None) -> Ints:
    """The class that the network predicts for each input.

    Bytes are treated as images of 0 to 255 and scaled to 0..1; with `normalize` (mean, std) inputs are scaled by it.
    Images with the channels last are transposed.
    """
    import torch

    inputs = _network_inputs(inputs, split.input_shape)
    scale = scale_of(normalize, split.input_shape)
    like = split.inputs(1)
    answers = np.zeros(len(inputs), dtype=np.int64)
    with frozen(split.network), torch.no_grad():
        for first in range(0, len(inputs), BATCH):
            part = np.asarray(inputs[first : first + BATCH])
            values = part / np.float32(255) if part.dtype == np.uint8 else part
            if scale is not None:
                sides = (-1, *[1] * (values.ndim - 2))
                mean, std = (np.reshape(part, sides) for part in scale)
                values = (values - mean) / std
            rows = torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32)).to(like)
            answers[first : first + BATCH] = split.logits(rows).argmax(1).cpu().numpy()
    return answers


def _network_inputs(inputs: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The inputs in the network's shape: channels first, and a channel for grey images."""
    own = inputs.shape[1:]
    if own == shape:
        return inputs
    if len(own) == 3 and len(shape) == 3 and (own[2], *own[:2]) == shape:
        return np.moveaxis(inputs, 3, 1)
    if len(own) == 2 and (1, *own) == shape:
        return inputs[:, None]
    raise InputError(f"The inputs of the test set have shape {own}, but those of the network {shape}.")
