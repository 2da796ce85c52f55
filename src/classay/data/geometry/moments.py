"""`Geometry`: where each class lies and how it spreads. The record that all measures of rows use.

Count, mean and scatter of every class are sums, so one pass is enough, parts can be computed anywhere and merged, and a
part can be subtracted again, which cross-fitting needs. Sums of squares are kept around the mean (Chan, Golub &
LeVeque, 1983): far from the origin the plain ones would cancel.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import Floats, Ints
from ...engine import store
from ...expect import InputError, one_of
from ...inputs import aligned, blocks, class_labels, encode, matrix, names_of_columns

DETAILS = ("full", "shared", "diagonal")
MOST_NUMBERS = 10**8
"""One scatter per class is stored up to this many numbers (800 MB), otherwise one scatter that the classes share."""


class Geometry:
    """Count, mean and scatter of every class, from one pass over the rows.

    `counts` (c,), `means` (c, d) and `squares` (c, d), sums of squared deviations from the class mean, are always
    stored. `detail` says what is known about covariances: "full", `scatter` (c, d, d) of every class; "shared", one
    `pooled` (d, d) for all, because c·d² numbers would be too many; "diagonal", nothing, because d² would be too many.

    `partial_fit` adds rows in place and returns the geometry; `merge` and `without` make a new one. Rows in chunks give
    the same numbers as all at once. New classes may appear in later chunks. Text labels stay text.

    >>> rows, kinds = np.array([[0.0, 0], [2, 0], [5, 5]]), ["a", "a", "b"]
    >>> g = Geometry().partial_fit(rows[:2], kinds[:2]).partial_fit(rows[2:], kinds[2:])
    >>> g.classes.tolist(), g.counts.tolist(), g.means.tolist()
    (['a', 'b'], [2, 1], [[1.0, 0.0], [5.0, 5.0]])
    """

    classes: NDArray[Any]
    counts: Ints
    means: Floats
    squares: Floats
    scatter: Floats | None
    _pooled: Floats | None
    feature_names: tuple[str, ...]

    def __init__(self, detail: str = "auto", most_numbers: int = MOST_NUMBERS) -> None:
        self._requested = one_of(detail, "detail", ("auto", *DETAILS))
        self.most_numbers = most_numbers
        self.feature_names = ()
        self.scatter = self._pooled = None
        self.noise: Any = 0.0  # variances below it are what rounding leaves of a constant
        self.whole_counts: Ints | None = None  # of the geometry that this one is a fold of, which decides on shrinkage
        self.classes, self.counts = np.empty(0), np.empty(0, dtype=np.int64)
        self.means = self.squares = np.empty((0, 0))

    @classmethod
    def fit(cls, X: Any, y: ArrayLike, *, detail: str = "auto", most_numbers: int = MOST_NUMBERS) -> Geometry:
        """The geometry of these rows."""
        return cls(detail, most_numbers).partial_fit(X, y)

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Geometry:
        """Add rows, in place. `classes` may name classes that are still to come; they count 0 rows until then."""
        X = aligned(X, self.feature_names)
        table = matrix(X, columns=self.n_features or None)
        labels = class_labels(y, "y", table.shape[0])
        known = np.unique(labels)
        if classes is not None:
            named = np.atleast_1d(np.asarray(classes))
            encode(known, np.unique(class_labels(named, "classes", named.size)))
            known = np.union1d(known, class_labels(named, "classes", named.size))
        # The chunk is finished before it is added: a bad value in its last row leaves the geometry unchanged.
        whole, codes = Geometry(self._requested, self.most_numbers), encode(labels, known)
        empty = self._empty(known, table.shape[1])
        for place, block in blocks(table):
            whole._add(empty._of_block(block, codes[place]), ())
        return self._add(whole, names_of_columns(X, table.shape[1]))

    def merge(self, other: Geometry) -> Geometry:
        """The geometry of the rows of both."""
        if other.n_features and self.n_features and other.n_features != self.n_features:
            raise InputError(
                f"One geometry has {self.n_features} columns but the other has {other.n_features}; they must match."
            )
        ours, theirs = self.feature_names, other.feature_names
        if ours and theirs and ours != theirs and sorted(ours) == sorted(theirs):
            raise InputError("The two geometries have the same columns in another order. Use the same order for both.")
        first, second = (self, other) if self.n_features else (other, self)
        both = first._copy()._add(second, second.feature_names)
        both._requested, both.most_numbers = self._requested, self.most_numbers
        both._lower_to(both._affordable_detail(both.classes.size, both.n_features))
        return both

    def without(self, part: Geometry) -> Geometry:
        """The geometry of the rows that are not in `part`. Classes stay, with 0 rows if all were in `part`."""
        codes = encode(part.classes, self.classes)
        ours, theirs = np.where(codes < 0, 0, self.counts[codes]), part.counts
        if (theirs > ours).any() or part.detail != self.detail:
            raise InputError("The part has rows that the geometry does not have; only added rows can be removed.")
        rest = self._copy()
        rest.noise = np.maximum(self.noise, 1e-12 * self.variances)
        present = np.flatnonzero(theirs)
        codes, ours, theirs = codes[present], ours[present], theirs[present]
        left = ours - theirs
        gap = (self.means[codes] - part.means[present]) * (ours / np.maximum(left, 1))[:, None]  # rest minus part
        weight = left * theirs / ours
        rest.counts[codes] = left
        rest.means[codes] = np.where(left[:, None] > 0, part.means[present] + gap, 0.0)
        squares = self.squares[codes] - part.squares[present] - weight[:, None] * gap**2
        # One row has no spread: exactly 0, which a difference would miss.
        rest.squares[codes] = np.where(left[:, None] > 1, np.maximum(squares, 0.0), 0.0)
        if rest.scatter is not None and part.scatter is not None:
            for at, code in enumerate(codes):
                rest.scatter[code] -= part.scatter[present[at]] + weight[at] * np.outer(gap[at], gap[at])
                if left[at] <= 1:
                    rest.scatter[code] = 0.0
        elif rest._pooled is not None and part._pooled is not None:
            rest._pooled -= part._pooled + (gap * weight[:, None]).T @ gap
        return rest

    def lowered(self, detail: str) -> Geometry:
        """The same geometry with at most this much detail; arrays are shared, not copied."""
        if DETAILS.index(one_of(detail, "detail", DETAILS)) <= DETAILS.index(self.detail):
            return self
        twin = Geometry(detail, self.most_numbers)
        twin.classes, twin.feature_names, twin.noise = self.classes, self.feature_names, self.noise
        twin.counts, twin.means, twin.squares = self.counts, self.means, self.squares
        twin.scatter, twin._pooled = self.scatter, self._pooled
        twin._lower_to(detail)
        return twin

    @property
    def n_features(self) -> int:
        """The number of columns; 0 before the first rows."""
        return int(self.means.shape[1])

    @property
    def n_rows(self) -> int:
        """The number of rows added."""
        return int(self.counts.sum())

    @property
    def detail(self) -> str:
        """What is known about covariances: "full", "shared" or "diagonal"."""
        return "full" if self.scatter is not None else "shared" if self._pooled is not None else "diagonal"

    @property
    def pooled(self) -> Floats | None:
        """(d, d) scatter around the class means, summed over classes; None if there were too many columns."""
        return self.scatter.sum(axis=0) if self.scatter is not None else self._pooled

    @property
    def mean(self) -> Floats:
        """(d,) mean of all rows."""
        centre: Floats = self.means[self.counts > 0].mean(axis=0)  # near the data first, for precision
        return centre + self.counts @ np.where(self.counts[:, None] > 0, self.means - centre, 0.0) / self.n_rows

    @property
    def variances(self) -> Floats:
        """(d,) variance of all rows, whatever their class."""
        between = self.counts @ (np.where(self.counts[:, None] > 0, self.means - self.mean, 0.0) ** 2)
        total: Floats = (self.squares.sum(axis=0) + between) / self.n_rows
        return total

    def save(self, path: str | Path) -> Path:
        """Write the record to one file: arrays and a JSON header, no pickle. `Geometry.load` reads it."""
        arrays = {"classes": self.classes, "counts": self.counts, "means": self.means, "squares": self.squares}
        if self.scatter is not None:
            arrays["scatter"] = self.scatter
        elif self._pooled is not None:
            arrays["pooled"] = self._pooled
        header = {
            "feature_names": list(self.feature_names),
            "most_numbers": self.most_numbers,
            "detail": self._requested,
        }
        return store.write(Path(path), "geometry", header, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Geometry:
        """Read a record that `save` wrote."""
        header, arrays = store.read(Path(path), "geometry")
        try:
            geometry = cls(header["detail"], header["most_numbers"])
            geometry.feature_names = tuple(header["feature_names"])
            geometry.classes, geometry.counts = arrays["classes"], arrays["counts"]
            geometry.means, geometry.squares = arrays["means"], arrays["squares"]
        except (KeyError, TypeError) as error:
            raise InputError(f"{path} is not a complete record of geometry ({error}). Make it again.") from error
        geometry.scatter, geometry._pooled = arrays.get("scatter"), arrays.get("pooled")
        return geometry

    def __repr__(self) -> str:
        return (
            f"Geometry of {self.n_rows} rows in {self.classes.size} classes, {self.n_features} columns; "
            f"scatter: {self.detail}"
        )

    def _affordable_detail(self, n_classes: int, n_features: int) -> str:
        """The most detail that is affordable."""
        finest = 0 if self._requested == "auto" else DETAILS.index(self._requested)
        sizes = (n_classes * n_features**2, n_features**2, 0)
        return next(name for name, size in list(zip(DETAILS, sizes))[finest:] if size <= self.most_numbers)

    def _empty(self, classes: NDArray[Any], n_features: int) -> Geometry:
        empty = Geometry(self._requested, self.most_numbers)
        # Zeros that are never written take no memory: the system allocates pages when they are touched.
        empty.classes, empty.counts = classes, np.zeros(classes.size, dtype=np.int64)
        empty.means, empty.squares = np.zeros((2, classes.size, n_features))
        detail = self._affordable_detail(classes.size, n_features)
        if detail == "full":
            empty.scatter = np.zeros((classes.size, n_features, n_features))
        elif detail == "shared":
            empty._pooled = np.zeros((n_features, n_features))
        return empty

    def _of_block(self, block: Floats, codes: Ints) -> Geometry:
        """The geometry of a dense block, which is overwritten."""
        part = self._empty(self.classes, block.shape[1])
        order = np.argsort(codes, kind="stable")
        block, codes = block[order], codes[order]
        present, starts, sizes = np.unique(codes, return_index=True, return_counts=True)
        shift = block.mean(axis=0)
        block -= shift
        means = np.add.reduceat(block, starts, axis=0) / sizes[:, None]
        block -= np.repeat(means, sizes, axis=0)
        part.counts[present], part.means[present] = sizes, means + shift
        part.squares[present] = np.add.reduceat(block**2, starts, axis=0)
        if part.scatter is not None:
            for code, start, size in zip(present, starts, sizes):
                rows = block[start : start + size]
                part.scatter[code] = rows.T @ rows
        elif part._pooled is not None:
            part._pooled[:] = block.T @ block
        return part

    def _copy(self) -> Geometry:
        twin = Geometry(self._requested, self.most_numbers)
        twin.classes, twin.feature_names, twin.noise = self.classes, self.feature_names, self.noise
        twin.counts, twin.means, twin.squares = self.counts.copy(), self.means.copy(), self.squares.copy()
        twin.scatter = None if self.scatter is None else self.scatter.copy()
        twin._pooled = None if self._pooled is None else self._pooled.copy()
        return twin

    def _add(self, other: Geometry, feature_names: tuple[str, ...]) -> Geometry:
        self.feature_names = self.feature_names or feature_names
        if other.n_features == 0:
            return self
        if self.n_features == 0:  # take over what nobody else uses
            self.classes, self.counts, self.means, self.squares = (
                other.classes,
                other.counts,
                other.means,
                other.squares,
            )
            self.scatter, self._pooled = other.scatter, other._pooled
            return self
        self._widen(other.classes)
        self._lower_to(other.detail)
        codes = encode(other.classes, self.classes)
        ours, theirs = self.counts[codes], other.counts
        total = ours + theirs
        gap = other.means - self.means[codes]
        weight = ours * theirs / np.maximum(total, 1)
        self.counts[codes] = total
        self.means[codes] += gap * (theirs / np.maximum(total, 1))[:, None]
        self.squares[codes] += other.squares + weight[:, None] * gap**2
        if self.scatter is not None and other.scatter is not None:
            for code, from_other in zip(codes[theirs > 0], np.flatnonzero(theirs)):
                self.scatter[code] += other.scatter[from_other]
                if weight[from_other]:
                    self.scatter[code] += weight[from_other] * np.outer(gap[from_other], gap[from_other])
        elif self._pooled is not None and (pooled := other.pooled) is not None:
            self._pooled += pooled + (gap * weight[:, None]).T @ gap
        return self

    def _widen(self, classes: NDArray[Any]) -> None:
        """Make room for new classes."""
        if encode(classes, self.classes).min() >= 0:
            return
        union = np.union1d(self.classes, classes)
        self._lower_to(self._affordable_detail(union.size, self.n_features))
        codes = encode(self.classes, union)
        for name in ("counts", "means", "squares", "scatter"):
            old = getattr(self, name)
            if old is not None:
                new = np.zeros((union.size, *old.shape[1:]), dtype=old.dtype)
                new[codes] = old
                setattr(self, name, new)
        self.classes = union

    def _lower_to(self, detail: str) -> None:
        """Drop detail that is not affordable, or that the other geometry does not have."""
        level = max(DETAILS.index(detail), DETAILS.index(self.detail))
        if level > 0 and self.scatter is not None:
            self._pooled, self.scatter = self.scatter.sum(axis=0), None
        if level == 2:
            self._pooled = None
