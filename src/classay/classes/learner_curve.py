"""`curve_of_learner`: fit, score and draw the accuracy curve of a learner, beside what retraining gives."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import expect
from .curve import Curve, curve_of
from .evidence import TIES
from .retrain import Retrained, sizes_of
from .retrain import retrain as fit_anew
from .scoring import bench, rank_bench


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
    """Tell the accuracy of a learner with 2, 3, …, K classes: fitted once on all K, scored on held-out rows.

    The curve is that of `accuracy_curve` for its scores. It is what the learner would reach on fewer classes if it
    scores each class without regard to the others (naive Bayes, discriminant analysis, nearest means). For others, as
    softmax models and trees, that is a guess: `retrain=True` fits it anew on random label sets of a few sizes, with the
    same rows to train and to test, and puts what they reach beside it, in `curve.retrained`.

    From 1 (k = 1) down to the accuracy with all classes.

    It misleads where the retrained accuracies lie off the curve; believe those. They are over label sets of these
    classes alone.

    Parameters
    ----------
    learner : an unfitted scikit-learn classifier or Pipeline
    X, y : rows and labels, as scikit-learn takes them
    test_size : share of the rows of each class that are scored, not fitted
    ties : a tie with the true class counts as "random" (broken by chance), "wrong" or "right"
    retrain : whether to fit the learner anew on random label sets
    sizes : numbers of classes to retrain on; default: about five, evenly on a log scale
    draws : label sets of each size
    marginal : whether the learner scores each class without regard to the others; None: told by its kind
    kernel : whether to keep what the kernel method of `extrapolate` needs
    level : of the intervals
    random_state : the seed of the split, of the label sets and of every fit
    executor : as in `classay.record`: an Executor, a number of local workers, or None for one a core
    progress : show a bar on stderr if it takes more than two seconds
    name : what to call it; default: the learner as it prints

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
    made = bench(learner, X, y, test_size, random_state)
    if retrain:  # before any fit
        sizes_of(sizes, np.unique(made.codes[made.test]).size)
        expect.whole(draws, "draws", at_least=1)
    ranks = rank_bench(made, marginal, kernel, name)
    retrained: tuple[Retrained, ...] = ()
    if retrain:
        # Rows of classes that the learner gives no score to are left out here as well.
        scored = np.isin(made.classes[made.codes[made.test]], ranks.classes)
        made = replace(made, test=made.test[scored])
        retrained, notes = fit_anew(made, sizes, draws, ties, level, executor, progress)
        ranks = replace(ranks, notes=(*ranks.notes, *notes))
    return curve_of(ranks, ties, level, retrained)
