"""`stacked`: several methods together, weighted by how well each predicted the user's own classes from some of them.

Weights are those that did best on 114 settings and four made worlds, times (mean squared back-test error per log ratio
+ τ²)^−γ. If there are hardly any errors to extrapolate from, a straight line in log k gets a part, since the others
make too much of a single error. If classes come in pairs (`class_pairs`), the rivals are taken out first and put back
after.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from ...arrays import Floats
from ..curve.curve import Curve, class_samples
from ..ranks.ranks import Evidence
from .back_test import LEAST_CLASSES
from .beaten_share import BeatenShare
from .class_pairs import ClassPairs, class_pairs, evidence_without_rivals
from .methods import calibrated_share, log_linear, logit_of, moments_share, shrunk_normal_share, two_parameter_share
from .mixture import likelihood_share

PRIOR = {"shrunk_normal": 0.35, "two_parameter": 0.25, "calibrated": 0.2, "likelihood": 0.15, "moments": 0.05}
TAU, GAMMA = 0.05, 1.5
"""Back-test error (per log ratio) that is no error, and how boldly weights follow the rest."""
LINE, FEW = 0.4, 0.4
"""The part of the line if no class was wrong, and the number of wrong classes at which it is half of that."""
SHARES, FEW_SHARES, DRAWS = (0.5, 0.25), (0.7, 0.5), 5
OF_RANGE, OF_LEAN = 0.5, 0.35
"""Weights in the interval of the range of the methods, and of the lean of the back-test, on the logit scale."""


@dataclass(frozen=True)
class Stack:
    """Weights of the methods, their back-test `errors`, mean signed error (`lean`), and classes that come in pairs."""

    weights: Mapping[str, float] = field(default_factory=lambda: dict(PRIOR))
    errors: Mapping[str, float] = field(default_factory=dict)
    pairs: ClassPairs = field(default_factory=lambda: ClassPairs(0.0, 0.0, False))
    lean: float = 0.0


def stacked(evidence: Evidence, k: ArrayLike, stack: Stack | None = None) -> Floats:
    """The weighted mean of the methods on the logit scale."""
    stack, sizes = stack or Stack(), np.asarray(k, dtype=float)
    shown = evidence_without_rivals(evidence, stack.pairs.share) if stack.pairs.found else evidence
    members = stack_members(shown)
    mean = sum(stack.weights[name] * logit_of(share.accuracy(sizes)) for name, share in members.items())
    wrong = evidence.n_classes * (1 - float(evidence.accuracy([evidence.n_classes])[0]))
    line = LINE * FEW / (max(wrong, 0.0) + FEW)
    mean = (1 - line) * np.asarray(mean) + line * np.clip(logit_of(log_linear(shown, sizes)), -9.0, 9.0)
    accuracy: Floats = (1 - stack.pairs.share) * expit(mean)
    return accuracy


@dataclass(frozen=True)
class StackedMethod:
    """`stacked` with the weights of one curve, as a method."""

    stack: Stack

    def __call__(self, evidence: Evidence, k: ArrayLike) -> Floats:
        return stacked(evidence, k, self.stack)

    def doubt(self, evidence: Evidence, k: Floats) -> Floats:
        """How much the curve leaves open, on the logit scale: the range of the methods, and the lean of back-tests."""
        shown = evidence_without_rivals(evidence, self.stack.pairs.share) if self.stack.pairs.found else evidence
        each = [
            logit_of(share.accuracy(k)) for name, share in stack_members(shown).items() if name != "moments"
        ]  # moments alone swings too far to show anything
        lean = abs(self.stack.lean) * np.log(np.maximum(k / evidence.n_classes, 1.0))
        doubt: Floats = np.hypot(OF_RANGE * (np.max(each, axis=0) - np.min(each, axis=0)), OF_LEAN * lean)
        return doubt


def stack_members(evidence: Evidence) -> dict[str, BeatenShare]:
    """The distribution of U of each method of the stack."""
    normal, scores = shrunk_normal_share(evidence), calibrated_share(evidence)
    return {
        "shrunk_normal": normal,
        "two_parameter": two_parameter_share(evidence),
        "calibrated": scores,
        "likelihood": likelihood_share(evidence, (normal, scores)),
        "moments": moments_share(evidence),
    }


def stack_of(curve: Curve, seed: int) -> Stack:
    """Weights by a back-test: halves and quarters of the classes predict the accuracy with all."""
    n_classes, actual = curve.n_classes, float(curve.accuracy[-1])
    squares: dict[str, list[float]] = {name: [] for name in PRIOR}
    leans: list[float] = []
    for share in SHARES if n_classes >= 20 else FEW_SHARES:
        if share * n_classes < LEAST_CLASSES or round(share * curve.ranks.n_groups) < 2:
            continue
        for part in class_samples(curve.ranks, curve.ties, DRAWS, seed, share):
            if not part.lower.size:
                continue
            ratio = math.log(n_classes / part.n_classes)
            found = {name: float(each.accuracy([n_classes])[0]) for name, each in stack_members(part).items()}
            for name, value in found.items():
                squares[name].append((value - actual) ** 2 / ratio)
            together = sum(PRIOR[name] * logit_of(value) for name, value in found.items())
            leans.append(float(together - logit_of(actual)) / ratio)
    errors = {name: math.sqrt(float(np.mean(each))) for name, each in squares.items() if each}
    raw = {name: weight * (errors.get(name, 0.0) ** 2 + TAU**2) ** -GAMMA for name, weight in PRIOR.items()}
    total = sum(raw.values())
    lean = float(np.mean(leans)) if leans else 0.0
    return Stack({name: weight / total for name, weight in raw.items()}, errors, class_pairs(curve), lean)
