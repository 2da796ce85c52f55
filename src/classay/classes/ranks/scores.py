"""Ranks from a learner or from embeddings: fitted on some rows of every class, scored on the others.

A learner can also be refitted on random label sets, to compare with its curve: `rank_and_retrain`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ... import seeds
from ...arrays import Ints
from ...engine import work
from ...estimators.adapters import kind_of, short_name
from ...estimators.scores import fit_scorer, scores_of
from ...expect import InputError, fraction, one_of, shown, whole
from ...inputs import at_least_two, class_labels, finite, is_sparse, matrix, take
from ...intervals import Estimate, exact, of_mean
from ...notes import Note
from ...splits import split_every_class
from ...tables.data import rows_and_labels
from .ranks import Ranks

METRICS = ("cosine", "euclidean")
CHUNK = 2**22
"""Scores to compute at a time."""
MOST_WARNINGS = 3
OVER_LABEL_SETS = "over label sets of these classes"
LABEL_SET_SIZES = 5


@dataclass(frozen=True)
class LearnerSplit:
    """A learner, labelled rows as codes of `classes`, and which of them are for training and which for testing."""

    learner: Any
    X: Any
    codes: Ints
    classes: NDArray[Any]
    train: Ints
    test: Ints
    seed: int


def rank_learner(
    learner: Any,
    X: Any,
    y: ArrayLike,
    test_size: float = 0.5,
    marginal: bool | None = None,
    random_state: int | np.random.Generator | None = 0,
    name: str | None = None,
) -> Ranks:
    """Fit a learner on some rows of every class, and rank the true classes of the others by its scores.

    Scores are `decision_function`, else `predict_log_proba`, else `predict_proba`. Whether they are marginal is
    inferred from the type of learner unless you specify it.
    """
    return rank_split(split_learner(learner, X, y, test_size, random_state), marginal, name)


def split_learner(learner: Any, X: Any, y: ArrayLike, test_size: float, random_state: Any) -> LearnerSplit:
    """Check the inputs, and split them by class."""
    if isinstance(learner, type) or not all(hasattr(learner, verb) for verb in ("fit", "get_params")):
        raise InputError(
            f"`learner` is {learner!r}; expected an unfitted scikit-learn classifier, such as GaussianNB()."
        )
    if kind_of(learner) == "regressor":
        raise InputError(f"`learner` is {short_name(learner)}, a regressor; expected a classifier.")
    rows, labels, _ = rows_and_labels(X, y, texts=True)
    classes, codes = classes_of(labels, rows.shape[0])
    seed = seeds.settle(random_state)
    train, test = split_every_class(codes, fraction(test_size, "test_size"), seed)
    return LearnerSplit(clone(learner), rows, codes, classes, train, test, seed)


def rank_split(split: LearnerSplit, marginal: bool | None = None, name: str | None = None) -> Ranks:
    """Fit, score and rank."""
    scorer = fit_scorer(split.learner, take(split.X, split.train), split.classes[split.codes[split.train]], split.seed)
    notes = [Note("fit-warned", text) for text in scorer.warnings[:MOST_WARNINGS]]
    known = np.isin(split.classes, scorer.classes)
    test = split.test[known[split.codes[split.test]]]
    if not known.all():
        notes.append(
            Note(
                "classes-not-scored",
                shown(split.classes[~known], 4),
                count=int((~known).sum()),
                classes=known.size,
                rows=split.test.size - test.size,
            )
        )

    def chunks() -> Iterator[tuple[Any, NDArray[Any]]]:
        step = max(1, CHUNK // split.classes.size)
        for start in range(0, test.size, step):
            rows = test[start : start + step]
            yield scores_of(scorer.estimator, take(split.X, rows)), split.classes[split.codes[rows]]

    why = ""
    if marginal is None:
        marginal, why = is_marginal(split.learner)
    called = name or short_name(split.learner)
    ranks = Ranks.from_chunks(chunks(), scorer.classes, marginal, called, why)
    return replace(ranks, notes=(*notes, *ranks.notes))


def rank_embeddings(
    embeddings: Any,
    y: ArrayLike,
    test_size: float = 0.5,
    metric: str = "cosine",
    random_state: int | np.random.Generator | None = 0,
    name: str | None = None,
) -> Ranks:
    """Rank the true classes of some rows by their distance to the class means of the others.

    By cosine similarity, or by squared Euclidean distance. Each class is scored by its own mean alone: marginal.
    """
    one_of(metric, "metric", METRICS)
    rows_of_numbers = matrix(embeddings, "embeddings")
    table = finite(rows_of_numbers.toarray() if is_sparse(embeddings) else rows_of_numbers, "embeddings")
    classes, codes = classes_of(y, table.shape[0])
    train, test = split_every_class(codes, fraction(test_size, "test_size"), seeds.settle(random_state))
    # The length of a row, or a common offset, makes no difference; near the origin precision is higher.
    table = _unit(table) if metric == "cosine" else table - table.mean(axis=0)
    means = np.zeros((classes.size, table.shape[1]))
    np.add.at(means, codes[train], table[train])
    means /= np.bincount(codes[train], minlength=classes.size)[:, None]
    means = _unit(means) if metric == "cosine" else means
    offset = 0.0 if metric == "cosine" else (means**2).sum(axis=1) / 2
    step = max(1, CHUNK // classes.size)
    parts = (test[start : start + step] for start in range(0, test.size, step))
    chunks = ((table[rows] @ means.T - offset, classes[codes[rows]]) for rows in parts)
    called, why = name or f"nearest mean ({metric})", "Each class is scored by its own mean, as the theory requires."
    return Ranks.from_chunks(chunks, classes, True, called, why)


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of length 1; a row of zeros stays unchanged."""
    unit: NDArray[np.float64] = rows / np.linalg.norm(rows, axis=1, keepdims=True).clip(1e-300)
    return unit


def classes_of(y: ArrayLike, rows: int) -> tuple[NDArray[Any], Ints]:
    """The classes, sorted, and the code of every row."""
    classes, codes, counts = np.unique(class_labels(y, "y", rows), return_inverse=True, return_counts=True)
    at_least_two(classes)
    if counts.max() == 1:
        raise InputError(
            f"Each of the {classes.size} rows has its own class; at least 2 rows of a class are needed, one to "
            "train and one to test. Is the target column right?"
        )
    return classes, codes.astype(np.int64)


# A learner refitted on random label sets.


@dataclass(frozen=True, eq=False)
class Retrained:
    """Accuracy of a learner refitted on random label sets of `k` classes; `draws` has that of each."""

    k: int
    accuracy: Estimate
    draws: NDArray[np.float64]


def rank_and_retrain(
    split: LearnerSplit,
    retrain: bool | Sequence[int],
    draws: int,
    ties: str,
    marginal: bool | None,
    level: float,
    executor: Executor | int | None,
    progress: bool,
    name: str | None,
) -> tuple[Ranks, tuple[Retrained, ...]]:
    """The ranks of a learner fitted on all classes, and its accuracy refitted on random label sets, if wanted.

    It is fitted on `draws` label sets of each size, and tested on the test rows of the same classes.
    """
    if retrain is False:
        return rank_split(split, marginal, name), ()
    sizes = label_set_sizes(None if retrain is True else retrain, np.unique(split.codes[split.test]).size)
    whole(draws, "draws", at_least=1)
    ranks = rank_split(split, marginal, name)
    # Rows of classes that the learner does not score are left out here too.
    split = replace(split, test=split.test[np.isin(split.classes[split.codes[split.test]], ranks.classes)])
    if retrain is True:
        sizes = label_set_sizes(None, np.unique(split.codes[split.test]).size)
    tasks = [(k, draw, ties) for k in sizes for draw in range(draws)]
    label = f"{short_name(split.learner)} on label sets"
    outcome = work.run(accuracy_on_label_set, tasks, shared=split, executor=executor, progress=progress, label=label)
    if not outcome.results:
        if outcome.interrupted:
            raise KeyboardInterrupt
        raise InputError(f"No label set could be learned: {next(iter(outcome.failures.values()))}")
    notes = [*ranks.notes]
    if outcome.failures:
        first = next(iter(outcome.failures.values()))
        notes.append(Note("label-sets-failed", str(first), count=len(outcome.failures), sets=len(tasks)))
    if outcome.interrupted:
        notes.append(Note("label-sets-interrupted", count=len(outcome.results), sets=len(tasks)))
    by_size: dict[int, list[float]] = {}
    for place, accuracy in outcome.results.items():
        by_size.setdefault(tasks[place][0], []).append(accuracy)
    retrained = tuple(_over_label_sets(k, np.array(values), level) for k, values in by_size.items())
    return replace(ranks, notes=tuple(notes)), retrained


def _over_label_sets(k: int, values: NDArray[np.float64], level: float) -> Retrained:
    if values.size == 1:
        return Retrained(k, exact(values[0], "one label set", level), values)
    return Retrained(k, of_mean(values, level, OVER_LABEL_SETS, limits=(0.0, 1.0)), values)


def accuracy_on_label_set(split: LearnerSplit, task: tuple[int, int, str]) -> float:
    """Accuracy with one random label set. Runs in a worker."""
    k, draw, ties = task
    testable = np.unique(split.codes[split.test])
    label_set = seeds.generator(split.seed, "label set", k, draw).choice(testable, k, replace=False)
    inside = np.isin(split.codes, label_set)
    own = replace(
        split,
        train=split.train[inside[split.train]],
        test=split.test[inside[split.test]],
        seed=seeds.integers(split.seed, "fit on label set", k, draw, count=1)[0],
    )
    ranks: Ranks = rank_split(own)
    return float(ranks.evidence(ties).accuracy([ranks.n_classes])[0])


def label_set_sizes(sizes: Sequence[int] | None, n_classes: int) -> list[int]:
    """Sizes of label sets: those given, or a few below all classes, evenly on a log scale."""
    if n_classes < 2:
        raise InputError("All test rows are of one class; at least 2 classes with test rows are needed to retrain on.")
    if sizes is None:
        spaced = np.unique(np.geomspace(2, n_classes, LABEL_SET_SIZES + 1).round().astype(int))
        return [int(k) for k in spaced[:-1]] or [2]
    wanted = sorted({whole(k, "retrain", at_least=2) for k in sizes})
    if not wanted or wanted[-1] > n_classes:
        raise InputError(
            f"`retrain` is {list(sizes)!r}; expected sizes from 2 to {n_classes}, the classes with test rows."
        )
    return wanted


# Is a learner *marginal*: is the score of a class independent of which others there are? The theory of label sets needs
# that: some of the columns must be what the learner, fitted on those classes, would give.

MARGINAL = {
    "BernoulliNB": "by its own model",
    "CategoricalNB": "by its own model",
    "GaussianNB": "by its own model",
    "MultinomialNB": "by its own model",
    "NearestCentroid": "by its own centre",
    "QuadraticDiscriminantAnalysis": "by its own model",
}
ONE_AGAINST_REST = (
    "LinearSVC", "OneVsRestClassifier", "PassiveAggressiveClassifier", "Perceptron", "RidgeClassifier",
    "RidgeClassifierCV", "SGDClassifier",
)  # fmt: skip
NEARLY_MARGINAL = {
    "LinearDiscriminantAnalysis": "the covariance is shared",
    **dict.fromkeys(ONE_AGAINST_REST, "each class is compared with all others together"),
}
NOT_MARGINAL = (
    "AdaBoostClassifier", "BaggingClassifier", "CalibratedClassifierCV", "CatBoostClassifier", "ComplementNB",
    "DecisionTreeClassifier", "ExtraTreeClassifier", "ExtraTreesClassifier", "GaussianProcessClassifier",
    "GradientBoostingClassifier", "HistGradientBoostingClassifier", "KNeighborsClassifier", "LGBMClassifier",
    "LogisticRegression", "LogisticRegressionCV", "MLPClassifier", "NuSVC", "OneVsOneClassifier",
    "RadiusNeighborsClassifier", "RandomForestClassifier", "SVC", "StackingClassifier", "VotingClassifier",
    "XGBClassifier",
)  # fmt: skip


def is_marginal(learner: Any) -> tuple[bool | None, str]:
    """True, False, or None if the type of learner is unknown; and a sentence about it.

    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> is_marginal(LinearDiscriminantAnalysis())
    (True, 'LinearDiscriminantAnalysis is treated as marginal, which it nearly is: the covariance is shared.')
    """
    inner = learner
    while True:  # a pipeline counts as its last step, and a search as its estimator
        if getattr(inner, "steps", None):
            inner = inner.steps[-1][1]
        elif hasattr(inner, "estimator") and type(inner).__name__.endswith("SearchCV"):
            inner = inner.estimator
        else:
            break
    name = type(inner).__name__
    if name in MARGINAL:
        return True, f"{name} is marginal: each class is scored {MARGINAL[name]}."
    if name in NEARLY_MARGINAL:
        return True, f"{name} is treated as marginal, which it nearly is: {NEARLY_MARGINAL[name]}."
    if name in NOT_MARGINAL:
        return False, f"{name} is not marginal: its scores compare all classes together."
    return None, ""
