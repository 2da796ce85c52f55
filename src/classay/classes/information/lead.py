"""Accuracy from the lead of the true class, and back: the curve of many weak signals, π̄_k(c), and its inverse."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ...arrays import Floats
from .channel import inverse_mean_top, mean_top


def accuracy_from_lead(lead: ArrayLike, k: ArrayLike) -> Floats:
    """Compute how often the true class wins among k if its score leads by `lead` standard deviations on average.

    π̄_k(c) = ∫ φ(z − c) Φ(z)^(k−1) dz: a normal score with mean c against k − 1 standard normal ones, within 1e-14 for k
    up to 10^12. In high dimension it is the accuracy of the best classifier of a channel with c²/2 nats of information.
    From 1/k at a lead of 0 to 1. `lead` and `k` broadcast.

    It misleads if scores are not normal, or rows differ in their lead: see `u_distribution`.

    Parameters
    ----------
    lead : c, in standard deviations of the other classes' scores
    k : number of classes, from 1; it need not be whole

    Examples
    --------
    >>> accuracy_from_lead([0.0, 1.0, 3.0], 10).round(3)
    array([0.1  , 0.341, 0.902])

    References
    ----------
    Zheng & Benjamini (2016), Estimating mutual information in high dimensions via classification error.

    """
    return mean_top(lead, k)


def lead_from_accuracy(accuracy: ArrayLike, k: ArrayLike) -> Floats:
    """Compute by how many standard deviations the true class must lead for this accuracy among k: c with π̄_k(c) = a.

    The inverse of `accuracy_from_lead`. 0 at an accuracy of 1/k, negative below, infinite at 1.

    Parameters
    ----------
    accuracy : from 0 to 1
    k : number of classes, from 2

    Examples
    --------
    >>> lead_from_accuracy([0.5, 0.9], [100, 1000]).round(2)
    array([2.5, 4.6])

    References
    ----------
    Zheng & Benjamini (2016), Estimating mutual information in high dimensions via classification error.

    """
    return inverse_mean_top(accuracy, k)
