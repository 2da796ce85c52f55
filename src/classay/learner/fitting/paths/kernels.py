"""`C`, `nu`, `tol` and `max_iter` of SVC and NuSVC: one fit per value, but one kernel for all predictions.

Predictions take most of the time, because each evaluates every support vector again. Values that do not change the
kernel need it once; their decisions are then matrix products. Those are rounded differently than libsvm rounds, so a
row whose decision is within rounding error of 0 is predicted by the classifier itself, and labels are those of separate
fits.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC, NuSVC
from sklearn.utils.extmath import row_norms

from ....arrays import Floats
from ....engine.pool import TimeLimitExceeded
from ....inputs import is_sparse, take
from .shared import SharedPath, alike, ascending, fitted, is_count, register

Ints = NDArray[np.intp]
EPS, TINY = float(np.finfo(np.float64).eps), float(np.finfo(np.float64).tiny)
BLOCK = 1 << 20
"""Kernel entries to hold at once: 8 MB, so that they stay in the processor's cache."""
SAFETY = 8.0
"""How many times the rounding bound a decision has to be away from 0."""


@register
class OneKernel(SharedPath):
    """Support vector classifiers with the usual kernel, along a parameter that it does not depend on."""

    LEARNERS: ClassVar = {SVC: ("max_iter", "tol", "C"), NuSVC: ("max_iter", "tol", "nu")}
    KIND, EXACT, ONE_FIT = "one kernel for all fits", True, False

    @classmethod
    def are_values(cls, param_name: str, values: Sequence[Any]) -> bool:
        """Whether values are numbers; of steps, whole ones."""
        numbers = all(isinstance(value, Real) and not isinstance(value, bool) for value in values)
        return all(map(is_count, values)) if param_name == "max_iter" else numbers

    @classmethod
    def holds(cls, learner: Any) -> bool:
        """Whether the kernel is rbf, and pairs vote as usual."""
        usual = not learner.break_ties and learner.probability in (False, "deprecated")
        return bool(learner.kernel == "rbf" and usual)

    @classmethod
    def along(
        cls, learner: Any, param_name: str, values: Sequence[Any], X: Any, y: Any, asked: Any
    ) -> Iterator[tuple[Any, Any]]:
        """Fit every value that needs its own fit, then predict with all of them at once."""
        wanted = ascending(values) if param_name == "max_iter" else sorted(value for value in values if value > 0)
        groups: list[tuple[list[Any], Any]] = []
        shared: list[Any] = []
        for value in reversed(wanted):
            classifier = None if value in shared else _fitted_or_none(learner, param_name, value, X, y)
            if classifier is not None:
                # For a number of steps, all values above what the largest used give the same fit.
                largest = param_name == "max_iter" and value == wanted[-1]
                shared = alike(wanted, int(np.max(classifier.n_iter_))) if largest else shared
                groups.append((shared if largest else [value], classifier))
        for (group, _), labels in zip(groups, _answers([each for _, each in groups], X, asked)):
            yield from ((value, labels) for value in group)


def _fitted_or_none(learner: Any, param_name: str, value: Any, X: Any, y: Any) -> Any:
    try:
        return fitted(learner, param_name, value, X, y)
    except TimeLimitExceeded:
        raise
    except Exception:  # it is fitted by itself later, and reports what is wrong
        return None


@np.errstate(all="ignore")  # what overflows is uncertain, and left to the classifier
def _answers(classifiers: list[Any], X: Any, asked: Any) -> list[NDArray[Any]]:
    """The predictions of some classifiers, fitted on X with one kernel, for the rows `asked`."""
    points = None if is_sparse(X) or not classifiers else np.asarray(asked, dtype=np.float64)
    if points is None or not np.isfinite(points).all() or not _as_fitted(classifiers[0], asked):
        return [each.predict(asked) for each in classifiers]
    # In the same order as for the fit, so that the variance that sets the kernel's width is the same to the bit.
    rows: Floats = np.asarray(X, dtype=np.float64, order="C")
    # Distances do not depend on the origin, but their rounding does.
    middle = rows.mean(axis=0)
    # The training rows that support any of the classifiers, class after class, and where each class begins.
    by_class = [np.split(each.support_, np.cumsum(each.n_support_)[:-1]) for each in classifiers]
    own = [np.unique(np.concatenate(parts)) for parts in zip(*by_class)]
    used, edges = np.concatenate(own).astype(np.intp), np.cumsum([0, *map(len, own)])
    machines = [_Machine(each, used, edges) for each in classifiers]
    vectors, gamma = rows[used] - middle, _gamma(classifiers[0], rows)
    step = max(1, BLOCK // used.size)
    votes = []
    for start in range(0, points.shape[0], step):
        kernel, error = _kernel(points[start : start + step] - middle, vectors, gamma)
        votes.append([machine.vote(kernel, error) for machine in machines])
    answers = []
    for each, blocks in zip(classifiers, zip(*votes)):
        codes, unsure = (np.concatenate(part) for part in zip(*blocks))
        labels = each.classes_.take(codes)
        again = np.flatnonzero(unsure)
        if again.size:
            labels[again] = each.predict(take(asked, again))
        answers.append(labels)
    return answers


def _as_fitted(classifier: Any, asked: Any) -> bool:
    """Whether points have the columns of the training rows; if not, scikit-learn raises its own error."""
    names = getattr(classifier, "feature_names_in_", None)
    columns = getattr(asked, "columns", None)
    same = names is None or columns is None or list(names) == list(columns)
    return bool(same and asked.shape[1:] == (classifier.n_features_in_,))


class _Machine:
    """A fitted classifier as weights of the rows `used`; those of class c start at `edges[c]`.

    A row of class c has a weight for each other class: in the decision between them.
    """

    def __init__(self, classifier: Any, used: Ints, edges: Ints):
        n_classes = classifier.classes_.size
        place = np.empty(used.max() + 1, dtype=np.intp)
        place[used] = np.arange(used.size)
        weights = np.zeros((used.size, n_classes - 1))
        weights[place[classifier.support_]] = classifier.dual_coef_.T
        self.blocks = [slice(begin, end) for begin, end in itertools.pairwise(edges)]
        self.weights = [weights[block] for block in self.blocks]
        self.intercept = np.asarray(classifier.intercept_, dtype=np.float64)

    def vote(self, kernel: Floats, error: Floats) -> tuple[Ints, NDArray[np.bool_]]:
        """The class of each point by the votes of all pairs, and where rounding might change one of them."""
        sums = [kernel[:, block] @ weights for block, weights in zip(self.blocks, self.weights)]
        heft = [np.abs(weights).sum(axis=0) for weights in self.weights]
        votes = np.zeros((kernel.shape[0], len(sums)), dtype=np.intp)
        unsure = np.zeros(kernel.shape[0], dtype=bool)
        for (one, other), shift in zip(itertools.combinations(range(len(sums)), 2), self.intercept):
            decision = sums[one][:, other - 1] + sums[other][:, one] + shift
            reach = error * (heft[one][other - 1] + heft[other][one]) + 4 * EPS * abs(shift) + kernel.shape[1] * TINY
            unsure |= ~(np.abs(decision) > SAFETY * reach)
            # With two classes, scikit-learn flips the sign: above 0 is the second.
            first = (decision > 0) != (len(sums) == 2)
            votes[:, one] += first
            votes[:, other] += ~first
        # As in libsvm, the first of those with most votes.
        return votes.argmax(axis=1), unsure


def _kernel(points: Floats, vectors: Floats, gamma: float) -> tuple[Floats, Floats]:
    """exp(-gamma |x - v|²) by one matrix product; and the possible error of a weight of 1, for each point.

    |x|² + |v|² - 2xv has an error of at most some (d + 8) eps (|x|² + |v|²), which the exponential does not amplify;
    libsvm's own differences have (d + 8) eps of the distance, times at most 1/e; both sums of n terms have n eps.
    """
    own, lengths = row_norms(points, squared=True), row_norms(vectors, squared=True)
    kernel = points @ vectors.T
    kernel *= -2.0
    kernel += own[:, None]
    kernel += lengths
    np.maximum(kernel, 0.0, out=kernel)
    kernel *= -gamma
    np.exp(kernel, out=kernel)
    n, d = vectors.shape
    return kernel, EPS * (2 * (d + 8) * gamma * (own + lengths.max()) + 2 * (n + d + 16))


def _gamma(classifier: Any, rows: Floats) -> float:
    """The width of the kernel, as scikit-learn derives it from the training rows."""
    features: int = rows.shape[1]
    if classifier.gamma == "auto":
        return 1.0 / features
    if classifier.gamma == "scale":
        spread = float(rows.var())
        return 1.0 if spread == 0 else 1.0 / (features * spread)
    return float(classifier.gamma)
