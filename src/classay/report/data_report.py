"""`data_report`: what the geometry of the rows says about them and about a model's predictions, on one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .. import expect, seeds
from ..arrays import Ints
from ..data.labels.wrong_labels import FALSE_ALARMS, WrongLabels
from ..data.model.new_rows import UnlikeKnown
from ..data.row_complexity import Complexity
from ..data.rows import complexity
from ..data.text import embed
from ..estimators.adapters import kind_of, short_name
from ..estimators.encoder import numbers, numbers_of_two
from ..expect import InputError
from ..frames import pandas_of
from ..inputs import class_labels, is_sparse, names_of_columns, text_rows
from ..learner.fitting import checks as of_learners
from ..splits import per_row
from ..tables.audit import Audit, audit_frame
from .document import Finding, Unasked
from .document.shown_rows import ShownRows
from .findings import RULES, findings_of
from .model_check import Given, ModelCheck, ModelPredictions, check_model, predictions_of
from .results import DataResults, Results, Suspicions, TestPart
from .run.suspicions import suspicions_of

if TYPE_CHECKING:
    from .characterization import Characterization

DATA_RULES = ("D203", "D204", "D205", "D206", "D207", "D208")
"""The findings that need no learner: what may make every figure wrong."""
MODEL = "the model"
"""The name of a model of which only predictions are given."""


@dataclass(frozen=True)
class DataParts:
    """The result objects behind a data report.

    `complexity`, `labels` and `check` are about the test rows, if there are any, else about all rows; `rows` shows
    them. `known` is the complexity of the training rows. What was not asked for, or cannot be measured, is None.
    """

    data: DataResults
    known: Complexity
    complexity: Complexity
    labels: WrongLabels
    rows: ShownRows
    unlike: UnlikeKnown | None = None
    check: ModelCheck | None = None
    suspicions: Suspicions | None = None
    settings: dict[str, Any] = field(default_factory=dict)


def data_report(
    X: Any,
    y: ArrayLike,
    *,
    X_test: Any = None,
    y_test: ArrayLike | None = None,
    predictions: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    confidence: ArrayLike | None = None,
    learner: Any = None,
    text: str | None = None,
    text_model: str = "wordllama",
    cache: str | Path | None = None,
    groups: Any = None,
    distance: str = "auto",
    covariance: str = "auto",
    aim: str = "fit",
    paper: bool = False,
    false_alarms: float = FALSE_ALARMS,
    checks: bool = True,
    most: int = 10,
    random_state: int | None = 0,
    name: str = "data",
    target: str = "label",
    model: str = "",
    notes: str | Sequence[str] = (),
    audit: Audit | None = None,
    rows: Ints | None = None,
    command: str | None = None,
) -> Characterization:
    """Measure rows by the geometry of the classes, and a model's predictions against it, on one page.

    The geometry is that of `X`; what is measured are the test rows, if there are any, else all rows without their own
    fold. The page says: does the model beat the nearest class; does complexity, known before training, show its errors,
    and does its own confidence; which test rows are unlike anything known; where do errors concentrate, over columns,
    complexity and confidence; which labels to check. With `checks` also: does a column give the label away, do rows
    belong together, is the test part unlike the rest. A verdict in words stands first.

    No learner is refitted, so it says nothing about how much predictions vary: that is `classay.characterize`. It
    misleads if predictions are those of rows that the model was trained on: pass test rows, or cross-validated ones.

    Parameters
    ----------
    X, y : rows (a DataFrame or an array) and labels
    X_test, y_test : rows to measure, with the same columns; labels that `y` does not have are allowed
    predictions : the model's class for each test row (or row of `X`, cross-validated)
    probabilities : (rows, classes) of the model, classes sorted; instead of predictions, or besides
    confidence : the model's confidence in each prediction, if there are no probabilities
    learner : instead of predictions, an unfitted classifier: fitted on `X` for test rows, else cross-validated
    text : a column of texts to measure by their embeddings; other columns are then only searched for slices
    text_model, cache : as `model` and `cache` in `classay.embed`
    groups : a value for each row of `X` (and then of `X_test`), such as a patient; see `classay.complexity`
    distance, covariance, aim, paper : as in `classay.complexity`
    false_alarms : share of the labels to check that may be right, and half of it for rows unlike the known ones
    checks : whether to check the data for leaks, rows that belong together and an unlike test part
    most : number of rows in each list
    random_state : the seed of all random numbers
    name, target, model : names of the data, the labels and the model, for display
    notes, audit : remarks on the data and how they were read, for display
    rows : the number of each measured row in its source, for display
    command : the command that made the report, for display; default: this call

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> r = data_report(X[::2], y[::2], X_test=X[1::2], y_test=y[1::2], learner=GaussianNB(), checks=False)
    >>> r.report.figure("GaussianNB", "accuracy").value > 0.9, r.parts.unlike.unusual.size
    (True, 75)

    """
    from .characterization import Characterization  # charts, which measuring alone does not need
    from .data_document import document_of

    expect.whole(most, "most", at_least=1)
    expect_matching(predictions, probabilities, confidence)
    given = None
    if predictions is not None or probabilities is not None:
        given = Given(predictions, probabilities, confidence)
    parts = measure_data(
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        predictions=given,
        learner=learner,
        text=text,
        text_model=text_model,
        cache=cache,
        groups=groups,
        distance=distance,
        covariance=covariance,
        aim=aim,
        paper=paper,
        false_alarms=false_alarms,
        checks=checks,
        random_state=random_state,
        name=name,
        target=target,
        model=model,
        notes=notes,
        audit=audit,
        rows=rows,
    )
    return Characterization(document_of(parts, most, command), parts)


def measure_data(
    X: Any,
    y: ArrayLike,
    *,
    X_test: Any = None,
    y_test: ArrayLike | None = None,
    predictions: ModelPredictions | Given | None = None,
    learner: Any = None,
    text: str | None,
    text_model: str,
    cache: str | Path | None,
    groups: Any,
    distance: str,
    covariance: str,
    aim: str,
    paper: bool,
    false_alarms: float,
    checks: bool,
    random_state: int | None,
    name: str,
    target: str,
    model: str,
    notes: str | Sequence[str],
    audit: Audit | None,
    rows: Ints | None,
) -> DataParts:
    """The results of `data_report`, with its parameters, before they are put into words."""
    seed = seeds.settle(random_state)
    expect.fraction(false_alarms, "false_alarms")
    checks = expect_flag(checks, "checks")
    if learner is not None:
        if predictions is not None:
            raise InputError("`learner` and predictions are both given; expected one of them.")
        expect_classifier(learner)
    frame = _frame(X, "X")
    if text is None and _is_text(X):
        text = "text"
    labels = class_labels(y, "y", len(frame))
    if (X_test is None) != (y_test is None):
        raise InputError("`X_test` and `y_test` belong together: pass both or neither.")
    test = None if X_test is None else _frame(X_test, "X_test", frame)
    shown = frame if test is None else test
    truth = labels if test is None or y_test is None else class_labels(y_test, "y_test", len(test))
    numbered = row_numbers(rows, len(shown))
    call: dict[str, Any] = {"checks": checks}
    call |= {} if text is None else {"text": text, "text_model": text_model}
    call |= {} if groups is None else {"groups": "groups"}
    call |= {} if learner is None else {"learner": " ".join(repr(learner).split())}
    if isinstance(predictions, Given):
        call["model"] = ", ".join(predictions.names)
        predictions = predictions.checked(np.unique(labels), truth)
    # The paper inverts every covariance as it is, which all indicators of a category would not allow.
    independent = paper and distance in ("auto", "mahalanobis", "correlation")
    texts, vectors, others, remarks = _measurable(frame, test, text, text_model, cache, independent)
    settings: dict[str, Any] = {"distance": distance, "covariance": covariance, "aim": aim, "paper": paper}
    both, own = _split_groups(groups, len(frame), 0 if test is None else len(test))
    if own[0] is not None and own[1] is not None and (shared := np.intersect1d(own[0], own[1]).size):
        if learner is not None:
            raise InputError(
                f"{shared} groups of `groups` have rows in `X` and in `X_test`; a group must be in one of them. "
                "Move its rows to one side, or leave `groups` out."
            )
        several = "group is" if shared == 1 else "groups are"
        remarks = [*remarks, f"{shared} {several} in both parts; the model may have seen them."]
    known = complexity(vectors, labels, groups=own[0], random_state=seed, **settings)
    measured, unlike = known, None
    if test is not None:
        measured = complexity(vectors, labels, X_eval=others, y_eval=truth, groups=both, random_state=seed, **settings)
        # Known rows must not count in their own geometry: otherwise new ones look unusual.
        outside = known
        if paper:
            outside = complexity(vectors, labels, distance=known.distance, groups=own[0], random_state=seed)
        unlike = outside.unlike_known(others, false_alarms / 2)
    if learner is not None:
        model = model or short_name(learner)
        words = () if text is None else (text,)
        predictions = predictions_of(learner, frame, labels, known.classes, test, own[0], words, seed)
    check = None
    if predictions is not None:
        check = check_model(model or MODEL, measured, shown, predictions, own[1] if test is not None else own[0], seed)
    codes = np.searchsorted(known.classes, labels)
    part = None if test is None else TestPart(test, truth, own[1])
    data = DataResults(
        name,
        frame,
        codes.astype(np.int64),
        known.classes,
        target,
        (*several_notes(notes), *remarks),
        per_row(own[0], rows=len(frame)),
        audit=audit_frame(X, y, name) if audit is None else audit,
        test=part,
    )
    every = np.arange(len(shown))
    return DataParts(
        data=data,
        known=known,
        complexity=measured,
        labels=measured.wrong_labels(None if predictions is None else predictions.probabilities, false_alarms),
        rows=ShownRows(shown, every, numbered, texts),
        unlike=unlike,
        check=check,
        suspicions=suspicions_of(data, every, seed) if checks else None,
        settings={**settings, "false_alarms": false_alarms, **call, "seed": seed},
    )


def findings_of_data(parts: DataParts) -> tuple[tuple[Finding, ...], tuple[Unasked, ...]]:
    """What may make every figure wrong, by the same rules as in a report on learners, and what was not checked."""
    if parts.suspicions is None:
        return (), tuple(
            Unasked(code, RULES[code].title, "it was not asked for (`checks=True`, --checks)") for code in DATA_RULES
        )
    results = Results(parts.data, {}, complexity=parts.complexity, suspicions=parts.suspicions)
    return findings_of(results, DATA_RULES)


def _frame(rows: Any, name: str, like: pd.DataFrame | None = None) -> pd.DataFrame:
    """Rows as a table with names as text and numbers from 0; `like` has the columns that it must have."""
    if is_sparse(rows):
        raise InputError(
            f"`{name}` is a sparse matrix; expected a DataFrame or array. Use `classay.complexity` for it."
        )
    table = pandas_of(rows, name)
    if (texts := text_rows(table, name)) is not None:
        table = pd.DataFrame({"text": texts})
    if not isinstance(table, pd.DataFrame):
        values = np.asarray(table)
        if values.ndim != 2:
            raise InputError(f"`{name}` has {values.ndim} dimensions; expected rows and columns.")
        table = pd.DataFrame(values, columns=names_of_columns(values, values.shape[1]), copy=False)
    table = table.rename(columns=str).reset_index(drop=True)
    if not table.columns.is_unique:
        twins = table.columns[table.columns.duplicated()].unique()
        raise InputError(f"`{name}` has several columns with the same name ({expect.shown(twins)}).")
    if like is None:
        return table
    absent = [column for column in like.columns if column not in table]
    if absent:
        raise InputError(f"`{name}` does not have the columns {expect.shown(absent)} of `X`; expected the same.")
    return table[list(like.columns)]


def _is_text(rows: Any) -> bool:
    return text_rows(pandas_of(rows)) is not None


def _measurable(
    frame: pd.DataFrame,
    test: pd.DataFrame | None,
    text: str | None,
    text_model: str,
    cache: str | Path | None,
    independent: bool,
) -> tuple[list[str] | None, Any, Any, list[str]]:
    """Texts to show, rows and test rows as numbers, and notes on how they were converted."""
    if text is not None:
        if text not in frame:
            raise InputError(f"`X` has no column {text!r}.{expect.nearest(text, frame.columns)}")
        tables = [frame] if test is None else [frame, test]
        texts = [each[text].fillna("").tolist() for each in tables]
        others = [str(column) for column in frame.columns if column != text]
        unused = f" Other columns are not used for distances: {expect.shown(others)}." if others else ""
        vectors = [embed(each, text_model, cache) for each in texts]
        return texts[-1], vectors[0], vectors[-1], [f"Texts of {text!r}, embedded by {text_model}.{unused}"]
    tables = [frame] if test is None else [frame, test]
    gaps = sum(int(each.isna().any(axis=1).sum()) for each in tables)
    every = sum(map(len, tables))
    filled = f"{gaps} of {every} rows have missing values: numbers were filled with the median of their column."
    remarks = [filled] if gaps else []
    if test is None:
        return None, numbers(frame, independent=independent), None, remarks
    return None, *numbers_of_two(frame, test, independent=independent), remarks


def _split_groups(
    groups: Any, rows: int, test_rows: int
) -> tuple[Any, tuple[NDArray[Any] | None, NDArray[Any] | None]]:
    """Groups of all rows as given, and as numbers of the training and of the test rows, as far as they are known."""
    if groups is None:
        return None, (None, None)
    both = bool(test_rows) and np.ndim(groups) == 1 and len(groups) == rows + test_rows
    codes = per_row(groups, rows=rows + test_rows if both else rows).groups
    assert codes is not None
    return groups, (codes[:rows], codes[rows:] if both else None)


# Arguments, checked before anything is measured


def expect_matching(
    predictions: ArrayLike | None, probabilities: ArrayLike | None, confidence: ArrayLike | None
) -> None:
    """Refuse a confidence that would not be used."""
    if confidence is None:
        return
    if probabilities is not None:
        raise InputError(
            "`confidence` and `probabilities` are both given; expected one of them, as probabilities have the "
            "confidence in each prediction. Leave `confidence` out."
        )
    if predictions is None:
        raise InputError(
            "`confidence` is given without `predictions`; expected the class that the model predicts for each row too."
        )


def expect_classifier(learner: Any) -> None:
    """Refuse what is no classifier, such as the class instead of an instance."""
    of_learners.unfitted_learner(learner)
    if kind_of(learner) == "regressor":
        raise InputError(f"`learner` is {short_name(learner)}, which is a regressor; expected a classifier.")


def expect_flag(value: Any, name: str) -> bool:
    """A value that is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"`{name}` is {value!r}; expected True or False.")
    return bool(value)


def row_numbers(rows: ArrayLike | None, measured: int) -> Ints:
    """The number of each measured row in its source; by default they are counted."""
    if rows is None:
        return np.arange(measured)
    values = np.asarray(rows)
    if values.shape != (measured,):
        given = f"{values.size} values" if values.ndim == 1 else f"shape {values.shape}"
        raise InputError(f"`rows` has {given}; expected a number for each of the {measured} measured rows.")
    if values.dtype.kind not in "iu":
        raise InputError(f"`rows` has values of type {values.dtype}; expected whole numbers.")
    return values


def several_notes(notes: str | Sequence[str]) -> tuple[str, ...]:
    """Notes as a tuple: a text is one note."""
    return (notes,) if isinstance(notes, str) else tuple(notes)
