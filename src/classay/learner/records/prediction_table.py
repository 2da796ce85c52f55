"""Predictions as a table, one row per prediction or one row per item, sorted into variants x runs x items.

A *variant* is what was chosen (a model, a prompt, a training sample), a *run* is one repetition of it, and an *item* is
what was predicted. `Labelings.from_frame` makes a record of such a table; nothing is fitted.
"""

from __future__ import annotations

import fnmatch
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...arrays import AnyInts, Floats
from ...expect import InputError, counted, nearest, one_of, shown, unique_names
from ...frames import pandas_of
from ...notes import Note
from ...splits import per_row
from .base import PREDICTIONS
from .codecs import MISSING
from .labelings import Labelings
from .scores import MOST_FULL, is_probability, scores_from_arrays

NOTHING_PREDICTED = "(none)"
"""The class of a missing answer, where missing answers count as answers."""
PREDICTED = (
    "predicted", "prediction", "predictions", "y_pred", "pred", "yhat", "predicted_label", "answer", "output", "rating",
)  # fmt: skip
"""Names by which a column of predictions is found."""
QUOTES = "\"'`*_.,;:!?()[]{}“”‘’«»"


def labelings_of_table(
    frame: Any,
    *,
    truth: str | None,
    prediction: str | Sequence[str] | None = None,
    item: str | None = None,
    run: str | None = None,
    variant: str | None = None,
    score: str | Sequence[str] | None = None,
    groups: str | None = None,
    wide: str = "variant",
    normalise: bool | Mapping[str, str] = False,
    missing: str = "wrong",
    classes: Iterable[Any] | None = None,
    name: str = "predictions",
) -> Labelings:
    """The record of a table of predictions; see `Labelings.from_frame`. Without a `truth`, that is −1 everywhere."""
    rows = _frame(frame)
    one_of(missing, "missing", ("wrong", "drop"))
    one_of(wide, "wide", ("variant", "run"))
    if not isinstance(normalise, (bool, Mapping)):
        raise InputError(f"`normalise` is {normalise!r}; expected True, False, or a dict from answers to classes.")
    for role, column in (("truth", truth), ("item", item), ("run", run), ("variant", variant), ("groups", groups)):
        expect_column(rows, column, role)
    answers = _prediction_columns(rows, prediction, truth)
    scores = _matching(rows, score, "score") if score is not None else []
    notes: list[str] = []
    if len(answers) > 1:
        if item is None and run is None and variant is None:
            item = spare_name("item", rows)
            rows = rows.assign(**{item: np.arange(len(rows))})
        rows, answer, run, variant = _melted(rows, answers, run, variant, wide)
    else:
        answer = answers[0]
    if truth is not None and (unlabelled := rows[truth].isna()).any():
        if unlabelled.all():
            raise InputError(f"`truth` is {truth!r}, which has no values. Is it the right column?")
        notes.append(f"Dropped because the truth is missing: {counted(int(unlabelled.sum()), 'row')} of {len(rows)}.")
        rows = rows[~unlabelled.to_numpy()].reset_index(drop=True)
    places = _places(rows, item, run, variant, notes)
    words, known = _words(rows, answer, truth, normalise, notes)
    codes, names = _codes(words, known, classes)
    by_class = _score_columns(rows, scores, names)
    labels: AnyInts = np.full(places.shape, MISSING, dtype=np.int64)
    labels[places.spot] = codes[0]
    correct: AnyInts = np.full(places.shape[2], MISSING, dtype=np.int64)
    if truth is not None:
        correct[places.item] = codes[1]
        _one_truth(correct, codes[1], places, names, truth)
    names, keep = _filled_gaps(labels, places, names, missing, notes)
    if names.size < 2:
        raise InputError(f"There is 1 class ({names[0]!s}) in the answers and the truth; at least 2 are needed.")
    labels, correct, names = _sorted_classes(labels, correct, names)
    confidence = kept_scores = full_scores = None
    if len(scores) > 1:
        class_scores = np.stack([places.array(rows, by_class.get(str(each))) for each in names], axis=3)
        given = np.take_along_axis(class_scores, np.maximum(labels, 0)[..., None].astype(np.intp), axis=3)[..., 0]
        confidence = np.where(labels == MISSING, np.nan, given)
        class_scores = class_scores[:, :, keep]
        full_scores = _full_scores(class_scores)
        if names.size <= MOST_FULL and np.isfinite(class_scores).all():
            kept_scores = scores_from_arrays(class_scores, "score", labels[:, :, keep], names, None, None)
    elif scores:
        confidence = places.array(rows, scores[0])
    first, items = np.unique(places.item, return_index=True)[1][keep], places.items[keep]
    used = [column for column in (truth, answer, item, run, variant, groups) if column is not None]
    unknown = np.full(places.shape[:2], np.nan)
    return Labelings(
        labels=labels[:, :, keep],
        truth=correct[keep],
        classes=names,
        train_accuracy=unknown,
        seconds=unknown.copy(),
        test_rows=np.arange(first.size),
        notes=tuple(Note("text", note) for note in notes),
        about={
            "learner": {"name": name},
            "source": PREDICTIONS,
            "variants": list(places.variants),
            "runs": list(places.runs),
            # Whole numbers stay such.
            "items": items.tolist() if items.dtype.kind in "iu" else [str(item) for item in items],
        },
        groups=None if groups is None else per_row(rows[groups].to_numpy()[first], rows=first.size).groups,
        scores=kept_scores,
        full_scores=full_scores,
        confidence=None if confidence is None else confidence[:, :, keep],
        columns=rows.drop(columns=list(dict.fromkeys([*used, *scores]))).iloc[first].reset_index(drop=True),
    )


def _filled_gaps(
    labels: AnyInts, places: _Places, names: NDArray[Any], missing: str, notes: list[str]
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Classes, and items to keep. Answers that are missing in runs that were made become a class, or drop the item."""
    asked = np.zeros(places.shape[:2], dtype=bool)
    asked[places.variant, places.run] = True
    gaps = (labels == MISSING) & asked[:, :, None]
    keep = np.ones(places.shape[2], dtype=bool)
    if not gaps.any():
        return names, keep
    count = f"{int(gaps.sum()):,} of {int(asked.sum()) * keep.size:,}"
    if missing == "wrong":
        labels[gaps] = names.size
        notes.append(
            f"{count} predictions are missing. They count as a class of their own, {NOTHING_PREDICTED!r}, which is "
            "never right; with missing='drop' their items do not count."
        )
        return np.append(names.astype(str), NOTHING_PREDICTED), keep
    keep = ~gaps.any(axis=(0, 1))
    if not keep.any():
        raise InputError("Every item lacks an answer in some run, so missing='drop' leaves nothing.")
    notes.append(f"{count} predictions are missing; {int((~keep).sum()):,} of {keep.size:,} items were left out.")
    return names, keep


# Columns of the table


def _frame(frame: Any) -> pd.DataFrame:
    rows = pandas_of(frame, "frame")
    if not isinstance(rows, pd.DataFrame):
        raise InputError(
            f"`frame` is {type(rows).__name__}; expected a table with one row per prediction or per item. For arrays, "
            "use Labelings.from_arrays(labels, y_true)."
        )
    if rows.empty:
        raise InputError("`frame` has no rows; expected at least one prediction.")
    rows = rows.rename(columns=str).reset_index(drop=True)
    unique_names(rows.columns, "`frame`")
    return rows


def expect_column(rows: pd.DataFrame, name: str | None, role: str) -> None:
    if name is not None and (not isinstance(name, str) or name not in rows):
        raise InputError(
            f"`{role}` is {name!r}, which is not a column.{nearest(str(name), map(str, rows.columns))} There are "
            f"{shown(rows.columns)}."
        )


def _prediction_columns(rows: pd.DataFrame, prediction: str | Sequence[str] | None, truth: str | None) -> list[str]:
    if prediction is not None:
        return _matching(rows, prediction, "prediction")
    named = [name for name in rows.columns if name.lower() in PREDICTED and name != truth]
    if len(named) == 1:
        return named
    raise InputError(
        f"`prediction` is missing: name the column (or columns) with the answers. There are {shown(rows.columns, 12)}."
    )


def _matching(rows: pd.DataFrame, names: str | Sequence[str], role: str) -> list[str]:
    """Columns by name or by pattern, such as p_*."""
    chosen: list[str] = []
    for name in [names] if isinstance(names, str) else list(names):
        if isinstance(name, str) and name not in rows and any(sign in name for sign in "*?["):
            alike = fnmatch.filter(list(rows.columns), name)
            if not alike:
                raise InputError(f"`{role}` is {name!r}, which matches no column. There are {shown(rows.columns)}.")
            chosen += alike
        else:
            expect_column(rows, name, role)
            chosen.append(name)
    if not chosen:
        raise InputError(f"`{role}` is empty; expected the name of at least one column.")
    return list(dict.fromkeys(chosen))


def _melted(
    rows: pd.DataFrame, answers: list[str], run: str | None, variant: str | None, wide: str
) -> tuple[pd.DataFrame, str, str | None, str | None]:
    """A wide table as a long one: each prediction column is a variant, or a run where variants are a column."""
    if run is not None and variant is not None:
        raise InputError(
            f"There are {len(answers)} prediction columns ({shown(answers)}), and both `run` and `variant` are "
            "columns too. Name one prediction column, or leave out `run` or `variant`."
        )
    axis = "run" if variant is not None else "variant" if run is not None else wide
    answer, column = spare_name("answer", rows), spare_name(axis, rows)
    kept = rows.drop(columns=answers)
    parts = [kept.assign(**{answer: rows[name].astype(object)}).assign(**{column: name}) for name in answers]
    long = pd.concat(parts, ignore_index=True)
    return long, answer, column if axis == "run" else run, column if axis == "variant" else variant


def spare_name(name: str, rows: pd.DataFrame) -> str:
    while name in rows:
        name += "_"
    return name


# Where each row belongs


@dataclass(frozen=True)
class _Places:
    variant: AnyInts
    run: AnyInts
    item: AnyInts
    variants: tuple[str, ...]
    runs: tuple[str, ...]
    items: NDArray[Any]

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self.variants), len(self.runs), len(self.items)

    @property
    def spot(self) -> tuple[AnyInts, AnyInts, AnyInts]:
        return self.variant, self.run, self.item

    def array(self, rows: pd.DataFrame, column: str | None) -> Floats:
        """The numbers of a column by variant, run and item; NaN where there is none."""
        numbers = np.full(self.shape, np.nan)
        if column is not None:
            numbers[self.spot] = rows[column].to_numpy(dtype=float, na_value=np.nan)
        return numbers


def _places(rows: pd.DataFrame, item: str | None, run: str | None, variant: str | None, notes: list[str]) -> _Places:
    for role, name in (("item", item), ("run", run), ("variant", variant)):
        if name is not None and rows[name].isna().any():
            raise InputError(
                f"`{role}` is {name!r}, which is missing in {int(rows[name].isna().sum())} rows; every prediction "
                "needs one. Fill it in, or drop these rows."
            )
    variant_codes, variants = _factor(rows, variant, "all")
    run_codes, runs = _factor(rows, run, "1")
    if item is not None:
        own_codes, names = pd.factorize(rows[item], sort=False)
        item_codes: AnyInts = np.asarray(own_codes)
        items: NDArray[Any] = np.asarray(names)
    else:
        # Items in the same order in every run.
        of_run = pd.Series(variant_codes.astype(np.int64) * max(len(runs), 1) + run_codes)
        item_codes = of_run.groupby(of_run).cumcount().to_numpy()
        items = np.arange(int(item_codes.max()) + 1)
        sizes = of_run.value_counts()
        if sizes.nunique() > 1:
            raise InputError(
                f"Runs have between {sizes.min()} and {sizes.max()} rows, so their rows cannot be matched by order. "
                "Name the column of the items: item='id'."
            )
        if sizes.size > 1:
            notes.append("Without an item column, the rows of every run are taken to be in the same order.")
    spots = (variant_codes.astype(np.int64) * len(runs) + run_codes) * len(items) + item_codes
    twice = pd.Series(spots).duplicated()
    if twice.any():
        if run is not None:
            place = int(np.flatnonzero(twice)[0])
            raise InputError(
                f"Item {items[item_codes[place]]!s} has several answers in one run ({int(twice.sum())} rows in all); "
                "expected one. Is a column of variants missing, or a row repeated?"
            )
        run_codes = pd.Series(spots).groupby(spots).cumcount().to_numpy()
        runs = tuple(str(number + 1) for number in range(int(run_codes.max()) + 1))
        notes.append(
            f"Items were answered up to {len(runs)} times; without a run column, answers are numbered in their order."
        )
    return _Places(variant_codes, run_codes, np.asarray(item_codes), variants, runs, items)


def _factor(rows: pd.DataFrame, name: str | None, only: str) -> tuple[AnyInts, tuple[str, ...]]:
    if name is None:
        return np.zeros(len(rows), dtype=np.int64), (only,)
    codes, values = pd.factorize(rows[name], sort=False)
    return np.asarray(codes), tuple(str(value) for value in values)


# Answers as classes


def normalised(text: str) -> str:
    """The stated rule for free words: Unicode NFKC, no case, single spaces, no quotes or punctuation at the ends."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return plain.strip(QUOTES + " ") or plain


def _words(
    rows: pd.DataFrame, answer: str, truth: str | None, normalise: bool | Mapping[str, str], notes: list[str]
) -> tuple[list[pd.Series[Any]], bool]:
    """Answers (and the truth) as numbers if all are, otherwise as text; missing and empty answers are missing."""
    columns = [rows[answer], *([rows[truth]] if truth is not None else [])]
    numeric = [_as_numbers(column) for column in columns]
    if all(each is not None for each in numeric) and not normalise:
        return [each for each in numeric if each is not None], True
    texts = [_as_text(column) for column in columns]
    if not normalise:
        _hint(texts, notes)
        return texts, False
    table = {
        normalised(str(key)): str(value) for key, value in (normalise.items() if isinstance(normalise, Mapping) else ())
    }
    clean = []
    for column in texts:
        distinct = {word: normalised(word) for word in column.dropna().unique()}
        clean.append(column.map({word: normalised(table.get(short, short)) for word, short in distinct.items()}))
    if truth is not None:
        # Classes are shown as the truth spells them first.
        spelling = dict(zip(clean[1][::-1], texts[1][::-1]))
        clean = [column.map(lambda word: spelling.get(word, word), na_action="ignore") for column in clean]
    changed = int((clean[0] != texts[0])[texts[0].notna()].sum())
    notes.append(
        f"{changed:,} answers were normalised: case, spaces, and quotes or punctuation at the ends do not count"
        + (f"; {counted(len(table), 'word')} replaced." if table else ".")
    )
    return clean, False


def _as_numbers(column: pd.Series[Any]) -> pd.Series[Any] | None:
    column = column.infer_objects()
    numeric = pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)
    return column if numeric else None


def _as_text(column: pd.Series[Any]) -> pd.Series[Any]:
    """Text; whole numbers without a decimal point, and empty text as missing."""
    distinct = pd.Series(column.dropna().unique(), dtype=object)
    words = {value: _spelled(value) for value in distinct}
    text = column.astype(object).map(words, na_action="ignore")
    return text.where(text.notna() & (text != ""), None)


def _spelled(value: Any) -> str:
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()


def _hint(texts: list[pd.Series[Any]], notes: list[str]) -> None:
    """A note if answers differ from the classes only by case or punctuation."""
    if len(texts) < 2:
        return
    classes = set(texts[1].dropna().unique())
    short = {normalised(word) for word in classes}
    near = [word for word in texts[0].dropna().unique() if word not in classes and normalised(word) in short]
    if near:
        times = int(texts[0].isin(near).sum())
        notes.append(
            f"{times:,} answers differ from a class only in case, spaces or punctuation, such as {near[0]!r}, and "
            "count as wrong; normalise=True takes them as that class."
        )


def _codes(
    words: list[pd.Series[Any]], numbers: bool, classes: Iterable[Any] | None
) -> tuple[list[AnyInts], NDArray[Any]]:
    """Codes of the answers and of the truth, and the classes; −1 where an answer is missing."""
    both = pd.concat(words, ignore_index=True)
    codes, uniques = pd.factorize(both, sort=False, use_na_sentinel=True)
    names = np.asarray(uniques)
    if numbers and names.dtype.kind == "f" and (names == np.round(names)).all():
        names = names.astype(np.int64)
    if not numbers:
        names = names.astype(str)
    if classes is not None:
        wanted = np.asarray(list(classes))
        wanted = wanted if numbers else wanted.astype(str)
        strange = [name for name in names if name not in set(wanted.tolist())]
        if strange:
            raise InputError(f"`classes` lacks {shown(strange, 4)}, which the answers or the truth have. Add them.")
        names = np.concatenate([names, [each for each in wanted if each not in set(names.tolist())]])
    return np.split(codes, len(words)), names


def _one_truth(correct: AnyInts, codes: AnyInts, places: _Places, names: NDArray[Any], truth: str) -> None:
    differing = correct[places.item] != codes
    if differing.any():
        place = int(np.flatnonzero(differing)[0])
        item = places.item[place]
        raise InputError(
            f"Item {places.items[item]!s} has several values of {truth!r} ({names[codes[place]]!s} and "
            f"{names[correct[item]]!s}); expected one truth per item. Are the rows in the same order in every run?"
        )


def _sorted_classes(labels: AnyInts, truth: AnyInts, names: NDArray[Any]) -> tuple[AnyInts, AnyInts, NDArray[Any]]:
    order = np.argsort(names)
    to_new = np.empty(names.size + 1, dtype=np.min_scalar_type(-max(names.size, 1)))
    to_new[order] = np.arange(names.size)
    to_new[-1] = MISSING  # the code −1 is the last place
    return to_new[labels], to_new[truth], names[order]


# Scores


def _score_columns(rows: pd.DataFrame, scores: list[str], names: NDArray[Any]) -> dict[str, str]:
    """The column with the score of each class, if there are several columns of scores; all must be numbers."""
    for name in scores:
        if not pd.api.types.is_numeric_dtype(rows[name].dtype):
            raise InputError(f"`score` has the column {name!r}, which is not numbers; expected a score per row.")
    if len(scores) < 2:
        return {}
    words = [str(name) for name in names]
    by_class = {word: column for column in scores for word in words if column == word or _ends_in(column, word)}
    lacking = [word for word in words if word not in by_class]
    if lacking:
        raise InputError(
            f"`score` has {len(scores)} columns ({shown(scores, 4)}), but none for the class {lacking[0]!r}; expected "
            f"one per class, such as p_{lacking[0]}, or one column: the score of the answer given."
        )
    return by_class


def _ends_in(column: str, word: str) -> bool:
    """Whether a column ends in a class after a prefix and a sign, such as p_yes or score:yes."""
    before = column.removesuffix(word)
    return before != column and before[-1:] in tuple("_-.: /")


def _full_scores(class_scores: Floats) -> Floats:
    """(R, K·n, 2C): scores to rank by, and probabilities if they are such, as records of folds have them."""
    values = class_scores.swapaxes(0, 1).reshape(class_scores.shape[1], -1, class_scores.shape[3])
    known = values[np.isfinite(values).all(axis=2)]  # a variant may have fewer runs than another
    return np.concatenate([values, values if is_probability(known) else np.full_like(values, np.nan)], axis=2)
