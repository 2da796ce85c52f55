"""`separation_loss`: the paper's M_in and M_bt as a term of a training loss, which it leaves to future work.

Added to the cross-entropy, it moves features of one class into one direction and those of different classes apart.
Whether that raises accuracy was tried: see `benchmarks/network_separation.py` and the page on networks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..expect import InputError, need

if TYPE_CHECKING:
    from torch import Tensor

TINY = 1e-12
"""Added under square roots, whose gradient at 0 is infinite."""


def separation_loss(
    features: Tensor, head: Any = None, labels: Tensor | None = None, deviations: float = 0.0
) -> Tensor:
    """(1 − M_in) + (1 − M_bt) of a batch of features, differentiable; 0 is the best, for features at right angles.

    M_in is the mean over classes of the mean cosine of pairs within a class, M_bt is 1 minus the mean cosine of rows
    with the means of other classes, both as `feature_quality` measures them. With `deviations` of 2 the loss is made of
    the paper's bounds, M_in − 2·std and M_bt − 2·std. Classes with one row in the batch do not enter M_in.

    It misleads as a measure of quality: a network that memorises its rows has a low loss too.

    Parameters
    ----------
    features : (rows, d), the inputs of the head
    head : the last layer, or its weight (classes, d): rows without labels count for the class that it predicts
    labels : (rows,) class numbers; in training, pass these
    deviations : how many standard deviations of the cosines to subtract from each

    Examples
    --------
    >>> import torch
    >>> features = torch.tensor([[1.0, 0], [2, 0], [0, 1], [0, 3]])
    >>> float(separation_loss(features, labels=torch.tensor([0, 0, 1, 1])))
    0.0

    References
    ----------
    Dean & Sarkar, Novel Deep Neural Network Classifier Characterization Metrics with Applications to Dataless
    Evaluation (2024), section 7.

    """
    need("torch", "A loss")
    import torch
    from torch.nn.functional import normalize, one_hot

    if not isinstance(features, torch.Tensor) or features.ndim != 2:
        shape = tuple(features.shape) if hasattr(features, "shape") else type(features).__name__
        raise InputError(f"`features` is {shape}; expected a tensor (rows, d), the inputs of the head.")
    if labels is None:
        labels = _predicted(features, head)
    if labels.shape != features.shape[:1]:
        raise InputError(f"`labels` has shape {tuple(labels.shape)}; expected ({len(features)},), one per row.")
    classes, codes = torch.unique(labels, return_inverse=True)
    units = normalize(features, dim=1)
    members = one_hot(codes, len(classes)).to(units)
    counts = members.sum(0)
    cosines = units @ units.T
    same = members @ members.T
    pairs = same - torch.eye(len(units), dtype=units.dtype, device=units.device)
    loss = units.sum() * 0  # a batch of one class, each with one row, has no pairs and no gradient
    if bool((counts > 1).any()):
        # The mean over pairs of each class, then over classes.
        by_class = (members * (cosines * pairs).sum(1, keepdim=True)).sum(0)
        several = counts > 1
        within = (by_class[several] / (counts * (counts - 1))[several]).mean()
        loss = loss + 1 - within
        if deviations:
            loss = loss + deviations * _std(cosines[pairs > 0])
    if len(classes) > 1:
        means = members.T @ units / counts[:, None]
        with_means = units @ means.T
        others = members == 0
        between = (means @ means.T)[~torch.eye(len(classes), dtype=torch.bool, device=units.device)].mean()
        loss = loss + between
        if deviations:
            loss = loss + deviations * _std(with_means[others])
    return loss


def _std(values: Tensor) -> Tensor:
    return (values.var(unbiased=False) + TINY).sqrt()


def _predicted(features: Tensor, head: Any) -> Tensor:
    import torch

    weight = getattr(head, "weight", head)
    if not isinstance(weight, torch.Tensor) or weight.ndim != 2 or weight.shape[1] != features.shape[1]:
        raise InputError(
            f"`labels` is missing and `head` is no layer of {features.shape[1]} features; expected one of the two."
        )
    with torch.no_grad():
        bias = getattr(head, "bias", None)
        scores = features @ weight.T + (0 if bias is None else bias)
        return scores.argmax(1)
