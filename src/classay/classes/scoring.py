"""Ranks from a learner or from embeddings: fitted on some rows of every class, scored on the others."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from .. import seeds
from ..expect import InputError, fraction, one_of, shown
from ..learners import as_given, free_seeds, kind_of, numbered, short_name
from .labels import plain
from .marginal import is_marginal
from .ranks import Ranks

Ints = NDArray[np.int64]
METRICS = ("cosine", "euclidean")
CHUNK = 2**22
"""So many scores are made at a time."""

# Warning filters belong to the process, so fits on threads of one process take turns.
_turn = threading.RLock()


@dataclass(frozen=True)
class Bench:
    """A learner, labelled rows as codes of `classes`, and which of them are for training and which for testing."""

    learner: Any
    X: Any
    codes: Ints
    classes: NDArray[Any]
    train: Ints
    test: Ints
    seed: int


def bench(learner: Any, X: Any, y: ArrayLike, test_size: float, random_state: Any) -> Bench:
    """Look at what was handed in, and split it by class."""
    if isinstance(learner, type) or not all(hasattr(learner, verb) for verb in ("fit", "get_params")):
        raise InputError(
            f"`learner` is {learner!r}; an unfitted scikit-learn classifier is expected, such as GaussianNB()."
        )
    if kind_of(learner) == "regressor":
        raise InputError(f"`learner` is {short_name(learner)}, a regressor; a classifier is expected.")
    seed = seeds.settle(random_state)
    X = X.tocsr() if hasattr(X, "tocsr") else X if isinstance(X, pd.DataFrame) else np.asarray(X)
    if X.ndim != 2:
        raise InputError(f"`X` has shape {X.shape}; a table of (rows, columns) is expected.")
    classes, codes = classes_of(y, X.shape[0])
    return Bench(clone(learner), X, codes, classes, *split(codes, fraction(test_size, "test_size"), seed), seed)


def rank_learner(
    learner: Any,
    X: Any,
    y: ArrayLike,
    test_size: float = 0.5,
    marginal: bool | None = None,
    kernel: bool = False,
    random_state: int | np.random.Generator | None = 0,
    name: str | None = None,
) -> Ranks:
    """Fit a learner on some rows of every class, and rank the true classes of the others by its scores.

    Scores are `decision_function`, else `predict_log_proba`, else `predict_proba`. Whether they are marginal is told
    from the kind of learner unless you say it.
    """
    return rank_bench(bench(learner, X, y, test_size, random_state), marginal, kernel, name)


def rank_bench(bench: Bench, marginal: bool | None = None, kernel: bool = False, name: str | None = None) -> Ranks:
    """Fit, score and rank."""
    classifier, scored, notes = fitted(
        bench.learner, take(bench.X, bench.train), bench.classes[bench.codes[bench.train]], bench.seed
    )
    told, why = is_marginal(bench.learner)
    known = np.isin(bench.classes, scored)
    test = bench.test[known[bench.codes[bench.test]]]
    if not known.all():
        notes.append(
            f"The learner gives no score to {int((~known).sum())} of {known.size} classes "
            f"({shown(bench.classes[~known], 4)}); they and their {bench.test.size - test.size} test rows are left out."
        )

    def chunks() -> Iterator[tuple[Any, NDArray[Any]]]:
        step = max(1, CHUNK // bench.classes.size)
        for start in range(0, test.size, step):
            rows = test[start : start + step]
            yield scores_of(classifier, take(bench.X, rows)), bench.classes[bench.codes[rows]]

    called = name or short_name(bench.learner)
    if marginal is not None:
        told, why = marginal, ""
    found = Ranks.from_chunks(chunks(), scored, told, kernel, called, why)
    return replace(found, notes=(*notes, *found.notes))


def rank_embeddings(
    embeddings: Any,
    y: ArrayLike,
    test_size: float = 0.5,
    metric: str = "cosine",
    kernel: bool = False,
    random_state: int | np.random.Generator | None = 0,
    name: str | None = None,
) -> Ranks:
    """Rank the true classes of some rows by how near they are to the class means of the others.

    By cosine similarity, or by squared Euclidean distance. Each class is scored by its own mean alone: marginal.
    """
    one_of(metric, "metric", METRICS)
    try:
        table = np.asarray(embeddings.toarray() if hasattr(embeddings, "toarray") else embeddings, dtype=float)
    except (ValueError, TypeError) as error:
        raise InputError(
            f"`embeddings` is no table of numbers ({error}). A row of numbers for every test item is expected."
        ) from error
    if table.ndim != 2:
        raise InputError(f"`embeddings` has shape {table.shape}; (rows, dimensions) is expected.")
    if not np.isfinite(table).all():
        rows = np.unique(np.argwhere(~np.isfinite(table))[:, 0])
        raise InputError(f"`embeddings` has NaN or infinite values in {rows.size} rows (first: {shown(rows, 3)}).")
    classes, codes = classes_of(y, table.shape[0])
    train, test = split(codes, fraction(test_size, "test_size"), seeds.settle(random_state))
    # The length of a row, or a place common to all, makes no difference; near the origin there are more digits.
    table = _unit(table) if metric == "cosine" else table - table.mean(axis=0)
    means = np.zeros((classes.size, table.shape[1]))
    np.add.at(means, codes[train], table[train])
    means /= np.bincount(codes[train], minlength=classes.size)[:, None]
    means = _unit(means) if metric == "cosine" else means
    offset = 0.0 if metric == "cosine" else (means**2).sum(axis=1) / 2
    step = max(1, CHUNK // classes.size)
    parts = (test[start : start + step] for start in range(0, test.size, step))
    chunks = ((table[rows] @ means.T - offset, classes[codes[rows]]) for rows in parts)
    called, why = name or f"nearest mean ({metric})", "Each class is scored by its own mean alone, as the theory asks."
    return Ranks.from_chunks(chunks, classes, True, kernel, called, why)


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of length 1; a row of zeros stays one."""
    unit: NDArray[np.float64] = rows / np.linalg.norm(rows, axis=1, keepdims=True).clip(1e-300)
    return unit


def classes_of(y: ArrayLike, rows: int) -> tuple[NDArray[Any], Ints]:
    """The classes, sorted, and the code of every row."""
    labels = plain(y, "y")
    if labels.ndim != 1 or labels.size != rows:
        raise InputError(f"`X` has {rows} rows and `y` shape {labels.shape}; one label a row is expected.")
    if labels.dtype.kind == "f" and (labels != np.round(labels)).any():
        raise InputError("`y` has numbers with decimals; class labels are expected. For a continuous target, bin it.")
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if classes.size < 2:
        raise InputError(f"`y` has {shown(classes) or 'no labels'} alone; at least 2 classes are needed.")
    if counts.max() == 1:
        raise InputError(
            f"Each of the {classes.size} rows has a class of its own; at least 2 rows of a class are needed, one to "
            "train and one to test. Is the target column right?"
        )
    return classes, codes.astype(np.int64)


def split(codes: Ints, test_size: float, seed: int) -> tuple[Ints, Ints]:
    """Rows to train and to test, by class: at least one of each, but a class of one row has none to test."""
    order = seeds.generator(seed, "split by class").permutation(codes.size)
    order = order[np.argsort(codes[order], kind="stable")]
    counts = np.bincount(codes)
    taken = np.clip(np.round(test_size * counts).astype(np.int64), 1, np.maximum(counts - 1, 1))
    taken[counts == 1] = 0
    place = np.arange(codes.size) - np.repeat(np.cumsum(counts) - counts, counts)
    is_test = place < np.repeat(taken, counts)
    return np.sort(order[~is_test]), np.sort(order[is_test])


def fitted(learner: Any, X: Any, y: NDArray[Any], seed: int, *place: int) -> tuple[Any, NDArray[Any], list[str]]:
    """A classifier, the classes that it scores, in their order, and what was said of the fit.

    Every free `random_state` is set by seed and place.
    """
    fresh = clone(learner)
    free = free_seeds(fresh)
    if free:
        fresh.set_params(**dict(zip(free, seeds.integers(seed, "fit", *place, count=len(free)))))
    with _turn, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            told, numbers_of = numbered(fresh, y)
            fresh.fit(X, told)
        except Exception as error:  # a learner may raise anything
            raise InputError(f"{short_name(learner)} could not be fitted: {type(error).__name__}: {error}") from error
    if not hasattr(fresh, "classes_"):
        raise InputError(f"{short_name(learner)} has no `classes_` when fitted; a classifier is expected.")
    said = dict.fromkeys(f"{each.category.__name__}: {str(each.message).strip().splitlines()[0]}" for each in caught)
    known = as_given(plain(fresh.classes_, "classes_"), numbers_of)
    return fresh, known, [f"The fit warned: {text}" for text in list(said)[:3]]


def scores_of(classifier: Any, X: Any) -> NDArray[Any]:
    """Scores (n, K) of a fitted classifier, in the order of its `classes_`."""
    for verb in ("decision_function", "predict_log_proba", "predict_proba"):
        if hasattr(classifier, verb):
            if verb == "decision_function" and votes_by_pairs(classifier):
                continue  # three classes have three pairs: the shape does not tell
            # The log of a probability of 0 is −inf, which is as it should be.
            with _turn, warnings.catch_warnings(), np.errstate(divide="ignore"):
                warnings.simplefilter("ignore", RuntimeWarning)
                try:
                    scores = np.asarray(getattr(classifier, verb)(X))
                except Exception as error:  # a category that was not among the rows it was fitted on, for example
                    said = f"{type(error).__name__}: {error}"
                    raise InputError(f"{short_name(classifier)} could not score the test rows: {said}") from error
            if scores.ndim == 1:  # two classes, scored by one number
                scores = np.column_stack([-scores, scores])
            if scores.shape[1] != len(classifier.classes_):
                continue  # one-against-one votes, for example
            return scores
    raise InputError(
        f"{short_name(classifier)} gives no score to every class; `decision_function`, `predict_log_proba` or "
        "`predict_proba` is needed. SVC needs probability=True or decision_function_shape='ovr'."
    )


def votes_by_pairs(classifier: Any) -> bool:
    """Whether `decision_function` has a column for each pair of classes, as of SVC(decision_function_shape="ovo")."""
    shapes = [
        value
        for name, value in classifier.get_params(deep=True).items()
        if name.split("__")[-1] == "decision_function_shape"
    ]
    return "ovo" in shapes and len(classifier.classes_) > 2


def take(X: Any, rows: Ints) -> Any:
    """Some rows of a table of any kind."""
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]
