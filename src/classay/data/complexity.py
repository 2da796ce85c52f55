"""`complexity`: how hard each row is to tell from the other classes, before anything is trained.

A row is hard when it is about as near to another class as to its own, and suspect when it is nearer to another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .. import expect
from ..intervals import Estimate
from ..result import Result
from ..seeds import settle
from . import ask
from .covariance import COVARIANCES
from .crossfit import Measuring
from .distances import DISTANCES
from .geometry import Geometry
from .grade import grade
from .rows import Floats, aligned, at_least_two, encode, labels, matrix
from .temperature import check_temperature


@dataclass(frozen=True, repr=False)
class Complexity(Result):
    """What `complexity` finds, one entry a row in `values` to `known`.

    `values` are the complexities h: 0 at best, log 2 ≈ .69 as near to one other class as to its own. `predicted` is the
    nearest class (the baseline's answer), `nearest` the nearest class other than the row's own: what it looks like.
    `distances` (rows, classes) are not divided by the temperature; None where they would be too many to keep. `known`
    is False where a row's class has no geometry without the row. `by_class` has one row a class; `tried` one a distance
    that was tried. `measured` says by which geometry: without the row's fold, without the row, with it, or of other
    rows. `evidence` holds rows and geometry, for the questions below. `notes` says what was done to the data and what
    the figures cannot tell.
    """

    values: Floats
    labels: NDArray[Any]
    predicted: NDArray[Any]
    nearest: NDArray[Any]
    own_distance: Floats
    nearest_distance: Floats
    known: NDArray[np.bool_]
    distances: Floats | None = field(repr=False)
    classes: NDArray[Any]
    by_class: pd.DataFrame
    baseline_accuracy: Estimate
    resubstitution_accuracy: Estimate
    normalised_entropy: float
    median_class_size: float
    distance: str
    covariance: str
    temperature: float
    measured: str
    tried: pd.DataFrame
    notes: tuple[str, ...]
    evidence: Measuring = field(compare=False)

    def __len__(self) -> int:
        return int(self.values.size)

    @property
    def geometry(self) -> Geometry:
        """Where the classes lie: the record behind these figures."""
        return self.evidence.geometry

    def hardest(self, n: int = 20) -> pd.DataFrame:
        """The n rows of highest complexity."""
        order = np.argsort(-self.values, kind="stable")[: expect.whole(n, "n", at_least=1)]
        return ask.table(self, order)

    def suspects(self, n: int | None = None) -> pd.DataFrame:
        """Rows whose label may be wrong, the likeliest first, with the class they look like (`nearest`).

        A row is suspected when another class is nearer than its own, and so near that the row is at least as probable
        there (softmax of −δ/τ) as rows labelled with that class are on average: the rule of confident learning
        (Northcutt, Jiang & Chuang, 2021), from geometry alone. Hard but rightly labelled rows are among them: look.
        """
        rows = np.flatnonzero(ask.suspected(self))
        rows = rows[np.argsort(-self.values[rows], kind="stable")]
        return ask.table(self, rows if n is None else rows[: expect.whole(n, "n", at_least=1)])

    def explain(self, rows: ArrayLike, top: int | None = 5) -> pd.DataFrame:
        """Which features make rows hard: what each adds to δ(x, own class) − δ(x, nearest other).

        One line a row and feature, largest first; `top` of each row, None for all, whose contributions add up to `gap`.
        Above 0: the feature speaks for the other class.
        """
        return ask.explain(self, np.atleast_1d(np.asarray(rows)), top)

    def score(self, X: Any, y: ArrayLike | None = None) -> pd.DataFrame:
        """New rows, one line each: are they like anything in the data?

        `predicted`, its `probability`, the `distance` to it and `confidence`, which is −distance (equation 7).
        `unusual` is the share of measured rows, the new one among them, that are at least as far from every class: at
        most .05 for one in twenty rows of the same kind; for more of them, the data have drifted or are of another
        domain. With labels `y` also their complexity.
        """
        return ask.score(self, X, y)

    def confusion(self) -> pd.DataFrame:
        """Class by class, how many rows of one (`label`) are nearest to which other class (`nearest`), as a long table.

        `nearer` counts those for which the other class is nearer than their own.
        """
        return ask.confusion(self)

    def to_frame(self) -> pd.DataFrame:
        """One row a data row: row, label, predicted, nearest, value (complexity), distances, gap and probability."""
        return ask.table(self, np.arange(len(self))).rename(columns={"complexity": "value"})

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values. Of distances and geometry, which may be huge, only how large they are."""
        light = {name: value for name, value in self.__dict__.items() if name not in ("distances", "evidence")}
        whole = ask.plainly(light)
        whole["distances"] = None if self.distances is None else {"shape": list(self.distances.shape)}
        whole["evidence"] = repr(self.geometry)
        return whole

    def __str__(self) -> str:
        counts = len(self), self.classes.size
        hard = int((self.own_distance > self.nearest_distance).sum())
        # The complexity of a row whose class is not known otherwise is a convention, and would drown the others'.
        mean = float(self.values[self.known].mean()) if self.known.any() else float("nan")
        same = self.resubstitution_accuracy
        again = f" ({same.value:.3g} on the rows of the geometry)" if same.known else ""
        text = (
            f"{counts[0]} rows in {counts[1]} classes, measured {self.measured} by {self._ruler()}: baseline "
            f"accuracy {self.baseline_accuracy:.3g}{again}, mean complexity {mean:.3g}; {hard} rows are nearer to "
            f"another class than to their own, {int(ask.suspected(self).sum())} suspiciously. Class sizes: median "
            f"{self.median_class_size:g}, evenness {self.normalised_entropy:.2f} of 1."
        )
        return " ".join([text, *self.notes])

    __repr__ = __str__

    def _ruler(self) -> str:
        plain = self.covariance == "auto" or self.distance in ("euclidean", "cosine", "whitened_cosine")
        return f"{self.distance} distance" + ("" if plain else f" ({self.covariance} covariance)")


def complexity(
    X: Any,
    y: ArrayLike | None = None,
    distance: str = "auto",
    X_eval: Any = None,
    y_eval: ArrayLike | None = None,
    cross_fit: int | str | bool = 5,
    temperature: float | str | None = "auto",
    covariance: str = "auto",
    random_state: int | np.random.Generator | None = 0,
    level: float = 0.95,
) -> Complexity:
    """Tell how hard each row is, which class it looks like, and what accuracy any classifier must beat.

    h(x, y) = δ(x, y)/τ + log Σ_c exp(−δ(x, c)/τ), δ the distance of a row to a class, τ a temperature.

    0: far nearer to its own class than to any other; log 2: as near to one other; higher is harder. It needs no
    training and grows linearly with the rows. `distance="mahalanobis", cross_fit=False, temperature=1` gives the
    paper's figures. By default rows are measured by the geometry of the other folds, since each row pulls its class
    towards itself; τ is what makes the mean of h lowest, and `auto` the distance for which it is lowest: h is then a
    cross-entropy.

    It misleads where a class is not one cloud (rings, several clusters): rows may then be easy for a classifier and far
    from their class mean. Values at another τ or distance are not comparable. Mahalanobis is the root, as in the paper,
    `gaussian` half the square: no temperature turns one into the other, and they rank rows differently.

    Parameters
    ----------
    X : rows of numbers (array, DataFrame, sparse matrix), or a `Geometry` made before
    y : their labels
    distance : auto, euclidean, cosine, mahalanobis, correlation, gaussian or whitened_cosine
    X_eval, y_eval : other rows to measure by the geometry of `X`, such as a test set
    cross_fit : number of folds, "loo" for leave-one-out in closed form, or False: rows count in their own geometry
    temperature : a number, "auto" to fit it, None for 1
    covariance : auto (of each class, shrunk where rows are few), full, shared or diagonal
    random_state : seed of the folds
    level : of the intervals

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
    tau = check_temperature(temperature)
    folds = _folds(cross_fit)
    paper = folds == 0 and tau == 1 and X_eval is None and distance in ("mahalanobis", "correlation")
    if paper and covariance == "auto":
        covariance = "full"  # the paper to the letter: shrunk only where it could not be inverted
    seed = settle(random_state)
    if (X_eval is None) != (y_eval is None):
        raise expect.InputError("`X_eval` and `y_eval` belong together: give both or neither.")
    if isinstance(X, Geometry):
        if X_eval is None or y is not None:
            raise expect.InputError(
                "`X` is a geometry; the rows to measure are expected as `X_eval` and `y_eval`, and no `y`."
            )
        geometry, table, codes = X, None, None
    else:
        if y is None:
            raise expect.InputError("`y` is missing; a label for every row of `X` is expected.")
        table = matrix(X)
        own_labels = labels(y, "y", table.shape[0])
        geometry = Geometry.fit(X, own_labels, detail=ask.detail_for(distance, covariance))
        codes = encode(own_labels, geometry.classes)
    at_least_two(geometry.classes)
    if geometry.counts.max() <= 1:
        raise expect.InputError(
            f"Each of the {geometry.n_rows} rows has a class of its own. Is the target column right?"
        )
    if X_eval is None or y_eval is None:
        eval_table, eval_labels = table, own_labels
    else:
        eval_table = matrix(aligned(X_eval, geometry.feature_names, "X_eval"), "X_eval", geometry.n_features)
        eval_labels = labels(y_eval, "y_eval", eval_table.shape[0])
    eval_codes = encode(eval_labels, geometry.classes)
    return Complexity(
        **grade(
            geometry, table, codes, eval_table, eval_codes, eval_labels, distance, covariance, tau, folds, seed, level
        )
    )


def _folds(cross_fit: Any) -> int:
    """Number of folds; 0: none, 1: each row by itself."""
    if cross_fit is False or cross_fit is None:
        return 0
    if cross_fit == "loo":
        return 1
    if cross_fit is True:
        return 5
    if isinstance(cross_fit, str):
        raise expect.InputError(f"`cross_fit` is {cross_fit!r}; a number of folds, 'loo' or False is expected.")
    return expect.whole(cross_fit, "cross_fit", at_least=2, why="Use cross_fit=False for none, 'loo' for single rows.")
