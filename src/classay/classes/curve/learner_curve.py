"""`curve_of_learner`: fit a learner, score, and compute its accuracy curve, with retraining for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import expect
from ..ranks.ranks import TIES
from ..ranks.scores import rank_split, split_learner
from .curve import Curve, curve_of
from .retrain import Retrained, label_set_sizes, retrain_on_label_sets


def curve_of_learner(
    learner: Any,
    X: Any,
    y: ArrayLike,
    *,
    test_size: float = 0.5,
    ties: str = "random",
    retrain: bool = False,
    sizes: Sequence[int] | None = None,
    draws: int = 10,
    marginal: bool | None = None,
    kernel: bool = False,
    level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
    executor: Executor | int | None = None,
    progress: bool = False,
    name: str | None = None,
) -> Curve:
    """Measure the accuracy of a learner with 2, 3, …, K classes: fitted once on all K, scored on held-out rows.

    The curve is that of `accuracy_curve` for its scores. It is what the learner would reach on fewer classes if the
    score of each class does not depend on the others (naive Bayes, discriminant analysis, nearest means). For others,
    such as softmax models and trees, that is a guess: `retrain=True` refits it on random label sets of a few sizes,
    with the same rows to train and to test, and reports their accuracies in `curve.retrained`.

    From 1 (k = 1) down to the accuracy with all classes.

    It misleads if the retrained accuracies lie off the curve; trust those. They only cover label sets of these
    classes.

    Parameters
    ----------
    learner : an unfitted scikit-learn classifier or Pipeline
    X, y : rows and labels, as scikit-learn takes them
    test_size : share of the rows of each class that are scored, not fitted
    ties : a tie with the true class counts as "random" (broken at random), "wrong" or "right"
    retrain : whether to refit the learner on random label sets
    sizes : numbers of classes to retrain on; default: about five, evenly on a log scale
    draws : label sets of each size
    marginal : whether the score of a class does not depend on the others; None: inferred from the type of learner
    kernel : whether to store what the kernel method of `extrapolate` needs
    level : confidence level of the intervals
    random_state : the seed of the split, of the label sets and of every fit
    executor : as in `classay.record`: an Executor, a number of local workers, or None for one per core
    progress : show a bar on stderr if it takes more than two seconds
    name : display name; default: the learner as it prints

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> curve = curve_of_learner(GaussianNB(var_smoothing=0.01), *load_digits(return_X_y=True))
    >>> curve.at(2), curve.at(10)
    (0.987 [0.969, 0.996], 0.923 [0.832, 0.972])

    References
    ----------
    Zheng, Achanta & Benjamini (2018), Extrapolating expected accuracies for large multi-class problems, JMLR 19.

    """
    expect.one_of(ties, "ties", TIES)
    expect.fraction(level, "level")
    split = split_learner(learner, X, y, test_size, random_state)
    if retrain:  # before any fit
        label_set_sizes(sizes, np.unique(split.codes[split.test]).size)
        expect.whole(draws, "draws", at_least=1)
    ranks = rank_split(split, marginal, kernel, name)
    retrained: tuple[Retrained, ...] = ()
    if retrain:
        # Rows of classes that the learner does not score are left out here too.
        scored = np.isin(split.classes[split.codes[split.test]], ranks.classes)
        split = replace(split, test=split.test[scored])
        retrained, notes = retrain_on_label_sets(split, sizes, draws, ties, level, executor, progress)
        ranks = replace(ranks, notes=(*ranks.notes, *notes))
    return curve_of(ranks, ties, level, retrained)
