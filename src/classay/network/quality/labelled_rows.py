"""Labelled rows: the accuracy of a network by a few of them, and which of many rows to label, to rank networks.

The prior of an accuracy is Jeffreys', Beta(½, ½). Where two networks give the same answer, a label cannot tell them
apart. So rows to label are drawn the more often, the more pairs of networks disagree on them, and never where all
agree. Weights make differences of accuracies unbiased.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ... import expect, seeds
from ...arrays import Floats, Ints
from ...expect import InputError, shown
from ...files import expect_file, read_arrays
from ...intervals import Estimate
from ..cosines import array_of
from ..prototypes.split import Split, split
from ..prototypes.trace import frozen
from ..prototypes.walks import scale_of

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


# Which rows to label.


class RowsToLabel(NamedTuple):
    """Rows to label, sorted; the weight of each; and the share of all rows on which two networks or more disagree."""

    rows: Ints
    weights: Floats
    disagreement: float


def rows_to_label(
    networks: Mapping[str, Any],
    X: Any,
    labels: int,
    input_shape: Sequence[int] | None = None,
    normalize: Any = None,
    random_state: int | np.random.Generator | None = 0,
) -> RowsToLabel:
    """Draw rows to label, to rank networks with few labels.

    A row is drawn without replacement with a probability π in proportion to the root of the number of pairs of networks
    that disagree on it, which makes the summed variance of all differences least, and has the weight 1/(rows · π). So
    Σ weight · (a is right − b is right) is an unbiased estimate of the difference in accuracy on `X` of networks a and
    b. Label the rows and pass them with their weights to `rank_networks`.

    It misleads as a test set: the rows are harder than others, and those where all networks agree are left out. So the
    accuracy itself is not estimated, also if all networks agree on a wrong answer.

    Parameters
    ----------
    networks : name -> network or split
    X : unlabelled rows that the networks were not trained on, as in `network_quality`
    labels : how many rows to draw; fewer if the networks disagree on fewer
    input_shape : shape of one input; None: that of the rows of `X`
    normalize : as in `network_quality`
    random_state : seed of the draw

    Examples
    --------
    >>> from torch import manual_seed, nn, randn
    >>> _ = manual_seed(0)
    >>> nets = {name: nn.Linear(5, 3) for name in "abc"}
    >>> drawn = rows_to_label(nets, randn(200, 5), labels=20)
    >>> len(drawn.rows), bool((drawn.weights > 0).all())
    (20, True)

    References
    ----------
    Kossen, Farquhar, Gal & Rainforth, Active Testing: Sample-Efficient Model Evaluation (2021).

    """
    if not isinstance(networks, Mapping) or len(networks) < 2:
        raise InputError("`networks` must be a dict of at least two networks, name -> network.")
    expect.whole(labels, "labels", at_least=1)
    inputs = labelled_rows(X, np.zeros(len(X), dtype=int)).inputs
    shape = inputs.shape[1:] if input_shape is None else input_shape
    splits = [each if isinstance(each, Split) else split(each, shape) for each in networks.values()]
    answers = np.stack([answers_of(each, inputs, normalize) for each in splits])
    return draw(answers, labels, seeds.generator(seeds.settle(random_state), "rows to label"))


def draw(answers: Ints, labels: int, generator: np.random.Generator) -> RowsToLabel:
    """The same from the answers (networks, rows)."""
    agreeing = sum((np.roll(answers, step, axis=0) == answers).sum(axis=0) for step in range(1, len(answers)))
    sizes = np.sqrt(len(answers) * (len(answers) - 1) - np.asarray(agreeing))
    if not sizes.any():
        raise InputError("All networks give the same answer for every row of `X`, so no label can tell them apart.")
    chance, certain = sizes * (labels / sizes.sum()), np.zeros(sizes.size, dtype=bool)
    while (chance > 1).any():
        certain |= chance >= 1
        free = np.where(certain, 0, sizes)
        chance = np.where(certain, 1, free * max(labels - int(certain.sum()), 0) / max(float(free.sum()), 1e-300))
    order = generator.permutation(np.flatnonzero(chance))
    # Systematic: one random number for all, so that the number of rows is fixed and none is drawn twice.
    ends = np.cumsum(chance[order])
    ticks = generator.random() + np.arange(round(float(ends[-1])))
    rows = np.sort(order[np.searchsorted(ends, ticks).clip(max=len(order) - 1)])
    return RowsToLabel(rows, 1 / (sizes.size * chance[rows]), float((sizes > 0).mean()))
