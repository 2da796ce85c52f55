"""`complexity`: how hard each row is to distinguish from the other classes, before anything is trained.

A row is hard if it is about as near to another class as to its own, and suspect if it is nearer to another.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .. import expect
from ..arrays import Floats, Ints, Mask
from ..inputs import aligned, at_least_two, class_labels, encode, matrix
from ..intervals import of_proportion_by_group
from ..seeds import settle
from ..splits import fold_of_rows, per_row
from .geometry.choice import AIMS, DistanceChoice, choose_distance
from .geometry.covariance import COVARIANCES, varying_columns
from .geometry.cross_fit import (
    CrossFit,
    RowComplexities,
    check_temperature,
    detail_needed,
    row_complexities,
    rows_at_once,
)
from .geometry.distances import DISTANCES
from .geometry.moments import Geometry
from .model.new_rows import BY_OTHERS, WITH_ROW
from .row_complexity import Complexity
from .text import as_vectors

PAPER_DISTANCES = ("euclidean", "cosine", "mahalanobis", "correlation")
MOST_DISTANCES = 5 * 10**7
"""All distances are stored up to this many (400 MB)."""
AT_ONCE = 5 * 10**6


def complexity(
    X: Any,
    y: ArrayLike | None = None,
    distance: str = "auto",
    X_eval: Any = None,
    y_eval: ArrayLike | None = None,
    cross_fit: int | str | bool = "auto",
    temperature: float | str | None = "auto",
    covariance: str = "auto",
    random_state: int | np.random.Generator | None = 0,
    level: float = 0.95,
    groups: Any = None,
    paper: bool = False,
    aim: str = "fit",
) -> Complexity:
    """Measure how hard each row is, which class it looks like, and what accuracy any classifier must beat.

    h(x, y) = δ(x, y)/τ + log Σ_c exp(−δ(x, c)/τ), δ the distance of a row to a class, τ a temperature.

    0: far nearer to its own class than to any other; log 2: as near to one other; higher is harder. It needs no
    training and takes time linear in the rows. By default rows are measured by the geometry of the other folds, since
    each row pulls its class towards itself; τ minimises the mean of h, and `auto` chooses the distance with the lowest
    mean: h is then a cross-entropy. `paper=True` computes the paper's figures instead, on any rows.

    It misleads if a class is not one cloud (rings, several clusters): rows may then be easy for a classifier and far
    from their class mean. Values at another τ or distance are not comparable. Mahalanobis is the root, as in the paper,
    `gaussian` half the square: no temperature converts one into the other, and they rank rows differently.

    Parameters
    ----------
    X : rows of numbers (array, any DataFrame, sparse matrix), an existing `Geometry`, or a list of texts, which
        `classay.embed` turns into numbers
    y : their labels
    distance : auto, euclidean, cosine, mahalanobis, correlation, gaussian or whitened_cosine
    X_eval, y_eval : other rows to measure by the geometry of `X`, such as a test set
    cross_fit : number of folds (auto: 5), or False: rows count in their own geometry
    temperature : a number, "auto" to fit it, None for 1
    covariance : auto (one per class, shrunk if there are few rows), full, shared or diagonal
    random_state : seed of the folds
    level : confidence level of the intervals
    groups : a value for each row of `X` (or of `X` and then `X_eval`); rows with the same one are in the same fold, so
        no row is measured by rows of its own group, and intervals are over groups. For the past and the future, pass
        later rows as `X_eval`
    paper : True for the paper's formulas: no cross-fitting, τ = 1, Mahalanobis unless another of its four distances is
        given (cosine as 1 − cos: equation 3 prints the similarity), and covariances as they are (shrunk, with a note,
        only where they have no inverse)
    aim : what `distance="auto"` is chosen for: "fit", the lowest mean h, best for wrong labels and the baseline, or
        "errors", the best ranking of the errors of a logistic regression and of trees, both cross-validated: best to
        expect errors, and seconds slower

    Examples
    --------
    >>> rows = np.array([[0.0], [1], [2], [3], [10], [11], [12], [13]])
    >>> c = complexity(rows, ["low"] * 3 + ["high"] * 5, distance="euclidean", cross_fit=False, temperature=1)
    >>> c.values.round(3).tolist()[:4], c.hardest(1)[["row", "label", "nearest"]].values.tolist()
    ([0.0, 0.0, 0.001, 4.808], [[3, 'high', 'low']])

    References
    ----------
    Kour, Zalmanovici, Raz, Ackerman & Anaby-Tavor, Classifier Data Quality: A Geometric Complexity Based Method for
    Automated Baseline And Insights Generation.

    """
    expect.one_of(distance, "distance", ("auto", *DISTANCES))
    expect.one_of(covariance, "covariance", COVARIANCES)
    expect.one_of(aim, "aim", AIMS)
    if expect.flag(paper, "paper"):
        distance, cross_fit, temperature, covariance = _as_in_paper(distance, cross_fit, temperature, covariance)
    tau = check_temperature(temperature)
    folds = _folds(cross_fit)
    if folds == 0 and tau == 1 and distance in ("mahalanobis", "correlation") and covariance == "auto":
        covariance = "full"  # the same choices one by one
    seed = settle(random_state)
    (X, of_texts), (X_eval, of_others) = as_vectors(X), as_vectors(X_eval, "X_eval")
    # How much of the scatter the geometry keeps; "auto": as much as is affordable.
    needed = detail_needed((distance,), covariance)
    detail = "auto" if distance == "auto" or needed == "full" else needed
    geometry, own, evidence, labels = _inputs(X, y, X_eval, y_eval, detail, folds, seed, groups)
    other_rows = evidence is not own
    codes = encode(labels, geometry.classes)
    choice = choose_distance(own or evidence, distance, covariance, tau, codes.size, seed, aim)
    notes = [*of_texts, *of_others, *choice.notes]
    if (distance == "auto" or tau is None) and own is None:
        notes.append("Distance and temperature were fitted on the measured rows: only a geometry was given.")
    elif (distance == "auto" or tau is None) and folds == 0 and not other_rows:
        notes.append("Distance and temperature were fitted on rows that count in their own geometry.")
    rows, distances, row_notes = measured_rows(evidence, choice)
    right = rows.predicted == codes
    baseline = of_proportion_by_group(right, evidence.row_groups, level)
    notes += [*row_notes, *_notes_on_unknown(geometry, codes, labels, rows.known)]
    counts = geometry.counts[geometry.counts > 0]
    share = counts / counts.sum()
    return Complexity(
        values=rows.values,
        labels=labels,
        predicted=geometry.classes[rows.predicted],
        nearest=geometry.classes[rows.rival],
        own_distance=rows.own,
        nearest_distance=rows.rival_distance,
        known=rows.known,
        distances=distances,
        classes=geometry.classes,
        by_class=_class_table(geometry.classes, codes, rows),
        baseline_accuracy=baseline,
        normalised_entropy=float(-(share * np.log(share)).sum() / np.log(share.size)) if share.size > 1 else 0.0,
        median_class_size=float(np.median(counts)),
        distance=choice.distance,
        covariance=choice.covariance,
        temperature=float(choice.temperature),
        measured=BY_OTHERS if other_rows else f"without the row's fold of {folds}" if folds else WITH_ROW,
        tried=choice.tried,
        notes=tuple(dict.fromkeys(notes)),
        evidence=evidence,
    )


def _as_in_paper(distance: str, cross_fit: Any, temperature: Any, covariance: str) -> tuple[str, bool, float, str]:
    """The paper's choices. Others are refused, except the defaults, which nobody has chosen."""
    if distance not in ("auto", *PAPER_DISTANCES):
        raise expect.InputError(
            f"`distance` is {distance!r}, which the paper does not have; with paper=True expected one of "
            f"{', '.join(PAPER_DISTANCES)}."
        )
    chosen = {"cross_fit": (cross_fit, "auto", False), "temperature": (temperature, "auto", 1, None)}
    chosen["covariance"] = (covariance, "auto", "full")
    for name, (value, *allowed) in chosen.items():
        if not any(value is choice or value == choice for choice in allowed):
            raise expect.InputError(f"`{name}` is {value!r}, but paper=True fixes it. Leave one of the two out.")
    return "mahalanobis" if distance == "auto" else distance, False, 1.0, "full"


def _folds(cross_fit: Any) -> int:
    """Number of folds; 0: none."""
    if cross_fit is False or cross_fit is None:
        return 0
    if cross_fit is True or cross_fit == "auto":
        return 5
    return expect.whole(cross_fit, "cross_fit", at_least=2, why="Use cross_fit=False for none.")


def _inputs(
    X: Any, y: ArrayLike | None, X_eval: Any, y_eval: ArrayLike | None, detail: str, folds: int, seed: int, groups: Any
) -> tuple[Geometry, CrossFit | None, CrossFit, NDArray[Any]]:
    """The geometry, its own rows (None if only a geometry is given), the rows to measure, and their labels."""
    if (X_eval is None) != (y_eval is None):
        raise expect.InputError("`X_eval` and `y_eval` belong together: pass both or neither.")
    if isinstance(X, Geometry):
        if X_eval is None or y is not None:
            raise expect.InputError(
                "`X` is a geometry; expected the rows to measure as `X_eval` and `y_eval`, and no `y`."
            )
        if groups is not None:
            raise expect.InputError("`X` is a geometry, whose rows are not known; expected no `groups`.")
        geometry, table = X, None
    else:
        if y is None:
            raise expect.InputError("`y` is missing; expected a label for every row of `X`.")
        table = matrix(X)
        labels = class_labels(y, "y", table.shape[0])
        geometry = Geometry.fit(X, labels, detail=detail)
        codes = encode(labels, geometry.classes)
    at_least_two(geometry.classes)
    if not varying_columns(geometry).size:
        raise expect.InputError("All columns are constant; no row is nearer to one class than to another.")
    if geometry.counts.max() <= 1:
        raise expect.InputError(f"Each of the {geometry.n_rows} rows has its own class. Is the target column right?")
    eval_table = table
    if X_eval is not None and y_eval is not None:
        eval_table = matrix(aligned(X_eval, geometry.feature_names, "X_eval"), "X_eval", geometry.n_features)
        labels = class_labels(y_eval, "y_eval", eval_table.shape[0])
    own = of_others = None
    if table is not None:
        n, others = codes.size, 0 if eval_table is table else labels.size
        both = others and groups is not None and np.ndim(groups) and len(groups) == n + others
        rows = per_row(groups, rows=n + others if both else n)
        rows, of_others = rows.take(slice(n)), rows.groups[n:] if both and rows.groups is not None else None
        split = fold_of_rows(codes, folds, seed, rows) if folds else None
        own = CrossFit(geometry, table, codes, folds=split, row_groups=rows.groups)
        if eval_table is table:
            return geometry, own, own, labels
    codes = encode(labels, geometry.classes)
    return geometry, own, CrossFit(geometry, eval_table, codes, name="X_eval", row_groups=of_others), labels


def measured_rows(cross_fit: CrossFit, choice: DistanceChoice) -> tuple[RowComplexities, Floats | None, list[str]]:
    """The position of every row, all distances if they can be stored, and notes."""
    n, c = cross_fit.codes.size, cross_fit.geometry.classes.size
    parts: list[tuple[Ints, RowComplexities]] = []
    stored = np.empty((n, c)) if n * c <= MOST_DISTANCES else None
    notes = [] if stored is not None else [f"{n} x {c} distances are too many to store; `distances` is None."]
    step, zeros = max(1, min(AT_ONCE // c, rows_at_once(cross_fit.geometry.n_features))), 0
    for number, group in enumerate(cross_fit.groups):
        metric = cross_fit.metric(number, (choice.distance,), choice.covariance)
        for start in range(0, group.size, step):
            rows = group[start : start + step]
            distances = cross_fit.measure(metric, rows)[choice.distance]
            parts.append((rows, row_complexities(distances, cross_fit.codes[rows], choice.temperature)))
            if stored is not None:
                stored[rows] = distances
        zeros += metric.zeros
        if number == 0:  # the other folds are similar
            notes += metric.notes()
    if zeros:
        notes.append(f"{zeros} rows are zero vectors, which have no direction: cosine distance 1 to every class.")
    order = np.argsort(np.concatenate([rows for rows, _ in parts]))
    names = RowComplexities.__dataclass_fields__
    joined = {name: np.concatenate([getattr(part, name) for _, part in parts])[order] for name in names}
    return RowComplexities(**joined), stored, notes


def _notes_on_unknown(geometry: Geometry, codes: Ints, labels: NDArray[Any], known: Mask) -> list[str]:
    """Notes on rows whose class has no geometry, and on classes that have a single row."""
    unseen = np.unique(labels[codes < 0])
    notes = []
    if unseen.size:
        notes.append(
            f"{int((codes < 0).sum())} rows have labels that are not in `y` ({expect.shown(unseen, 3)}); they count as "
            "wrong, and as far from their class as from the farthest."
        )
    unknown = np.unique(codes[(codes >= 0) & ~known])
    lone = np.flatnonzero(geometry.counts == 1)
    count_as_wrong = "Such rows count as wrong; their complexity is a convention and not among the hardest."
    without = f"({{}}): without it the class is unknown. {count_as_wrong}"
    rests = "a single row ({}): a place without a spread of its own. What is near to it, or confused with it, rests on "
    for group, what in (
        (np.intersect1d(lone, unknown), f"a single row {without}"),
        (np.setdiff1d(lone, unknown), f"{rests}that row alone."),
        (np.setdiff1d(unknown, lone), f"all rows in one group {without}"),
    ):
        if group.size:
            named = what.format(expect.shown(geometry.classes[group], 3))
            notes.append(f"{group.size} {'class has' if group.size == 1 else 'classes have'} {named}")
    return notes


def _class_table(classes: NDArray[Any], codes: Ints, measured: RowComplexities) -> pd.DataFrame:
    """One line per class. A class without a row that can be measured has no complexity.

    `confused_with` is what its rows are most often predicted as when that is wrong, with its share of the rows;
    `neighbour` is the class that is most often the nearest other one.
    """
    labelled, size = codes >= 0, classes.size
    known = labelled & measured.known
    rows, usable = (np.bincount(codes[mask], minlength=size) for mask in (labelled, known))
    wrong = labelled & (measured.predicted != codes)
    with np.errstate(invalid="ignore", divide="ignore"):  # a class without rows here has no mean
        mean = np.bincount(codes[known], measured.values[known], minlength=size) / usable
        recall = 1 - np.bincount(codes[wrong], minlength=size) / rows
    frame = pd.DataFrame({"class": classes, "rows": rows, "complexity": mean, "recall": recall})
    for name, mask, other in (("confused_with", wrong, measured.predicted), ("neighbour", labelled, measured.rival)):
        label, most, count = _most_frequent(codes[mask], other[mask], size)
        names, share = np.full(size, None, dtype=object), np.where(rows > 0, 0.0, np.nan)
        names[label] = [classes[code].item() for code in most]
        share[label] = count / rows[label]
        frame[name], frame["confused_share" if name == "confused_with" else "neighbour_share"] = names, share
    return frame


def _most_frequent(codes: Ints, others: Ints, size: int) -> tuple[Ints, Ints, Ints]:
    """Classes, the other class that occurs most often with each, and how often."""
    pairs, counts = np.unique(codes * size + others, return_counts=True)
    # Sorted by class, then by count, the last of each class.
    order = np.lexsort((-pairs, counts, pairs // size))
    last = np.append(np.diff(pairs[order] // size) != 0, True)[: order.size]
    return (pairs[order] // size)[last], (pairs[order] % size)[last], counts[order][last]
