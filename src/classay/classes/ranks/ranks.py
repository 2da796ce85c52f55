"""`Ranks`: where the true class ranked in every test row. The record that all measures of a label set use.

Classes are divided into at most 40 groups, at random. For some rows of every class the counts are also stored by group,
so that every measure can be recomputed without some groups: this gives intervals over classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import AnyInts, Floats
from ...engine import store
from ...expect import InputError, one_of, shown
from ...inputs import class_names, column_names
from ...notes import Note, notes_from_json, notes_to_json
from .counts import (
    OF_COUNTS,
    class_weights,
    count_chunks,
    cumulative_count,
    notes_of_counts,
    rows_in_detail,
    z_from_sums,
)
from .prior import prior_of

BY_ROW = ("truth", "lower", "tied", "z")
IN_DETAIL = ("lower_in", "tied_in", "sum_in", "square_in", "kernel_in")
ARRAYS = ("classes", *BY_ROW, "group", "detail", *IN_DETAIL)


@dataclass(frozen=True, eq=False)
class Ranks:
    """How n test rows ranked against K classes.

    `truth[i]` is the true column of row i in `classes`, `lower[i]` and `tied[i]` count the other classes with a lower
    and with the same score, `z[i]` is (true score − mean of the others) / their standard deviation. `group[c]` is the
    group of class c. For the rows `detail`, the first of every class, counts are stored by group: `lower_in`,
    `tied_in`, sums and squares of (score − true score) in `sum_in` and `square_in`, and smoothed counts in `kernel_in`,
    which has no columns if they were not requested; the true class is in none of them. `marginal` says whether the
    score of a class does not depend on which others there are; None: not specified. `prior[c]` is how often class c is
    the true one, of all; None: every class equally often.
    """

    classes: NDArray[Any]
    truth: AnyInts
    lower: AnyInts
    tied: AnyInts
    z: Floats
    group: AnyInts
    detail: AnyInts
    lower_in: AnyInts
    tied_in: AnyInts
    sum_in: Floats
    square_in: Floats
    kernel_in: Floats
    marginal: bool | None = None
    notes: tuple[Note, ...] = ()
    about: dict[str, Any] = field(default_factory=dict)
    prior: Floats | None = None

    def __post_init__(self) -> None:
        # Groups are left out one at a time, so the values of one group are stored together.
        for name in IN_DETAIL:
            object.__setattr__(self, name, np.asfortranarray(getattr(self, name)))

    @classmethod
    def from_scores(
        cls,
        scores: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        marginal: bool | None = None,
        kernel: bool = False,
        name: str = "scores",
    ) -> Ranks:
        """Ranks from scores (n, K), higher means more likely, of any numeric type; a memory map is read once.

        −inf is the lowest possible score, as the log of a probability of 0, but leaves z of its row unknown.

        y : (n,) the true classes, as names or as column numbers
        classes : names of the columns, in order; may be left out if a DataFrame has them, or `y` has numbers
        marginal : whether the score of a class does not depend on which others there are
        kernel : whether to store the smoothed counts that the kernel method of `extrapolate` needs
        name : display name

        >>> Ranks.from_scores([[2.0, 1, 0], [0, 2, 1], [1, 2, 3]], [0, 1, 2])
        scores: 3 test rows, 3 classes.
        """
        names = column_names(scores, y, classes)
        return cls.from_chunks([(scores, y)], names, marginal, kernel, name)

    @classmethod
    def from_chunks(
        cls,
        chunks: Iterable[tuple[Any, ArrayLike]],
        classes: ArrayLike,
        marginal: bool | None = None,
        kernel: bool = False,
        name: str = "scores",
        why: str = "",
    ) -> Ranks:
        """Ranks from chunks (scores, y) of rows, any number of them: only 20 bytes of each row stay in memory.

        Parameters as in `from_scores`; `why` is a sentence on what makes the scores marginal, or not.

        >>> chunks = (([[2.0, 1, 0], [0, 0, 1]], ["a", "b"]) for _ in range(100))
        >>> Ranks.from_chunks(chunks, classes=["a", "b", "c"]).truth.size
        200
        """
        names = class_names(classes)
        counts: dict[str, Any] = dict(count_chunks(chunks, names, kernel))
        notes = notes_of_counts(counts["truth"], counts["lower"], counts["tied"], counts["z"], names.size)
        return cls(classes=names, **counts, marginal=marginal, notes=notes, about={"name": name, "why": why})

    @classmethod
    def from_learner(cls, learner: Any, X: Any, y: ArrayLike, **options: Any) -> Ranks:
        """Fit a learner on some of the rows and rank the others; options as in `scores.rank_learner`."""
        from .scores import rank_learner

        return rank_learner(learner, X, y, **options)

    @classmethod
    def from_embeddings(cls, embeddings: Any, y: ArrayLike, **options: Any) -> Ranks:
        """Ranks of embeddings by the nearest class mean; options as in `scores.rank_embeddings`."""
        from .scores import rank_embeddings

        return rank_embeddings(embeddings, y, **options)

    @property
    def n_classes(self) -> int:
        """K, the number of classes that compete."""
        return int(self.classes.size)

    @property
    def n_groups(self) -> int:
        """G, the number of groups of classes."""
        return int(self.group.max()) + 1

    @property
    def name(self) -> str:
        """What made the scores."""
        return str(self.about.get("name", "scores"))

    def evidence(self, ties: str = "random") -> Evidence:
        """The evidence of all rows."""
        kernel = np.full(self.truth.size, np.nan)
        if self.kernel_in.size:
            kernel[self.detail] = self.kernel_in.sum(axis=1) / (self.n_classes - 1)
        weights = class_weights(self.truth, self.n_classes, self.prior)
        return Evidence(self.n_classes, self.lower, self.tied, weights, self.z, kernel, ties)

    def among(self, kept: ArrayLike, ties: str = "random", statistics: bool = True) -> Evidence:
        """The evidence of the rows in detail if only the classes of some groups exist; `kept` is a mask over groups.

        Without `statistics`, z and kernel are not computed, which is faster.
        """
        mask = np.asarray(kept, dtype=bool)
        if mask.shape != (self.n_groups,) or not mask.any():
            raise InputError(
                f"`kept` has shape {mask.shape} and keeps {mask.sum()} groups; expected a mask over {self.n_groups} "
                "groups that keeps at least one."
            )
        n_classes = int(np.count_nonzero(mask[self.group]))
        truth = self.truth[self.detail]
        rows = np.flatnonzero(mask[self.group[truth]])
        weights = class_weights(truth[rows], self.n_classes, self.prior)
        z = kernel = np.full(rows.size, np.nan)
        if statistics:
            z = z_from_sums(
                _group_sums(self.sum_in, mask)[rows], _group_sums(self.square_in, mask)[rows], n_classes - 1
            )
            if self.kernel_in.size:
                kernel = _group_sums(self.kernel_in, mask)[rows] / max(n_classes - 1, 1)
        # The total of a row minus what is left out: exact, and fast if that is little.
        lower = (self.lower[self.detail] - self.lower_in[:, ~mask].sum(axis=1))[rows]
        tied = (self.tied[self.detail] - self.tied_in[:, ~mask].sum(axis=1))[rows]
        return Evidence(n_classes, lower, tied, weights, z, kernel, ties)

    def with_prior(self, prior: ArrayLike | Mapping[Any, float] | str | None) -> Ranks:
        """The same record, with classes weighted by how often each is the true one.

        prior : (K,) weights in the order of `classes`, or by class; "rows": by the number of test rows; "zipf": 1, 1/2,
            1/3, … from the class with the most test rows to the one with the fewest; None: all the same

        >>> ranks = Ranks.from_scores([[2.0, 1], [2, 1], [2, 1]], [0, 0, 1])
        >>> ranks.evidence().accuracy([2]), ranks.with_prior("rows").evidence().accuracy([2])
        (array([0.5]), array([0.66666667]))
        """
        return replace(self, prior=None if prior is None else prior_of(prior, self.classes, self.truth))

    def merge(self, other: Ranks) -> Ranks:
        """The record of the rows of both, these first: the same as that of all rows at once."""
        same_prior = (self.prior is None) == (other.prior is None)
        if not same_prior or (self.prior is not None and not np.array_equal(self.prior, np.asarray(other.prior))):
            raise InputError("The two records have different priors. Merge them first, then use `with_prior`.")
        if not np.array_equal(self.classes, other.classes):
            raise InputError(
                f"One record has the classes {shown(self.classes, 4)} and the other {shown(other.classes, 4)}; "
                "expected the same, in the same order."
            )
        counts: dict[str, Any] = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in BY_ROW}
        detail = np.concatenate([self.detail, other.detail + self.truth.size])
        first_rows = np.flatnonzero(cumulative_count(counts["truth"][detail]) < rows_in_detail(self.n_classes))
        for name in IN_DETAIL:
            ours, theirs = getattr(self, name), getattr(other, name)
            both = min(ours.shape[1], theirs.shape[1])  # smoothed counts are kept if both have them
            counts[name] = np.concatenate([ours[:, :both], theirs[:, :both]])[first_rows]
        of_scores = dict.fromkeys(note for note in (*self.notes, *other.notes) if note.code not in OF_COUNTS)
        of_counts = notes_of_counts(counts["truth"], counts["lower"], counts["tied"], counts["z"], self.n_classes)
        return Ranks(
            classes=self.classes,
            **counts,
            group=self.group,
            detail=detail[first_rows],
            marginal=self.marginal if self.marginal == other.marginal else None,
            notes=(*of_scores, *of_counts),
            about=self.about,
            prior=self.prior,
        )

    def marginal_in_words(self) -> str:
        """Whether the scores of a class depend on the others, in a sentence or two."""
        why = str(self.about.get("why", ""))
        if self.marginal:
            return why or "The score of a class does not depend on which others there are, as the theory requires."
        if self.marginal is None:
            why = "Whether the score of a class depends on the others was not specified (`marginal`); if it does,"
            return f"{why} a learner fitted on fewer classes would give other scores."
        why = why or "The score of a class depends on which others there are."
        return f"{why} A learner fitted on fewer classes would give other scores."

    def summary(self) -> dict[str, Any]:
        """A summary of the record for a result: plain JSON values."""
        return {
            "name": self.name,
            "rows": int(self.truth.size),
            "classes": self.n_classes,
            "marginal": self.marginal,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return " ".join([f"{self.name}: {self.truth.size} test rows, {self.n_classes} classes.", *self.notes])

    __repr__ = __str__

    def save(self, path: str | Path) -> Path:
        """Write the record to one file: arrays and a JSON header, no pickle. `Ranks.load` reads it."""
        header = {"about": self.about, "marginal": self.marginal, "notes": notes_to_json(self.notes)}
        arrays = {name: getattr(self, name) for name in ARRAYS}
        return store.write(
            Path(path), "ranks", header, arrays if self.prior is None else arrays | {"prior": self.prior}
        )

    @classmethod
    def load(cls, path: str | Path) -> Ranks:
        """Read a record that `save` wrote."""
        header, arrays = store.read(Path(path), "ranks")
        try:
            notes = notes_from_json(header["notes"])
            named: dict[str, Any] = {name: arrays[name] for name in ARRAYS}
            about = {"marginal": header["marginal"], "notes": notes, "about": header["about"]}
            return cls(**named, **about, prior=arrays.get("prior"))
        except store.CANNOT_BE as error:
            raise InputError(f"{path} is not a complete record of ranks ({error}). Make it again.") from error


def _group_sums(sums: Floats, groups: NDArray[np.bool_]) -> Floats:
    """Row sums over some groups. A row with an infinite score anywhere has no sum."""
    with np.errstate(invalid="ignore"):
        row_sums: Floats = sums @ groups.astype(float)
    return row_sums


# What ranks say about accuracy with fewer classes


TIES = ("random", "wrong", "right")
NEGLIGIBLE = 1e-20
FEW = 32
MOST_NUMBERS = 2**21
"""A table of probabilities up to this size (16 MB) is computed at once and cached."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """How m test rows ranked against the other K − 1 classes.

    `lower` and `tied` count the other classes with a lower and with the same score; `weights` sum to 1 and give every
    class the same weight. `z` is (true score − mean of the others) / their standard deviation, NaN if that is 0 or was
    not computed; `kernel` the smoothed share of other classes below the true score, NaN if it was not computed.

    >>> Evidence(3, np.array([2, 1]), np.array([0, 1]), np.array([0.5, 0.5])).accuracy()
    array([1.   , 0.875, 0.75 ])
    """

    n_classes: int
    lower: AnyInts
    tied: AnyInts
    weights: Floats
    z: Floats = None  # type: ignore[assignment]  # set below
    kernel: Floats = None  # type: ignore[assignment]
    ties: str = "random"

    def __post_init__(self) -> None:
        one_of(self.ties, "ties", TIES)
        for name in ("z", "kernel"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, np.full(self.lower.shape, np.nan))

    @cached_property
    def beaten(self) -> Floats:
        """(K,): weight of the rows that beat 0, 1, …, K − 1 other classes. The curve depends on nothing else."""
        lower = self.lower + (self.tied if self.ties == "right" else 0)
        tied = self.tied if self.ties == "random" else np.zeros_like(self.tied)
        beaten = spread_weights(lower, tied, self.weights, self.n_classes)
        return beaten / beaten.sum() if lower.size else beaten  # without the rounding of many small weights

    def accuracy(self, k: ArrayLike | None = None) -> Floats:
        """Average accuracy over all label sets of each size k, by default 1, …, K. NaN if there are no rows."""
        sizes = np.arange(1, self.n_classes + 1) if k is None else np.asarray(k, dtype=np.int64)
        if sizes.size and not 1 <= sizes.min() <= sizes.max() <= self.n_classes:
            raise InputError(
                f"`k` reaches from {sizes.min()} to {sizes.max()}; expected sizes from 1 to {self.n_classes}, the "
                "observed classes. For more classes use `classay.extrapolate`."
            )
        if not self.lower.size:
            return np.full(sizes.shape, np.nan)
        accuracy = mean_over_label_sets(self.beaten, sizes.ravel()).reshape(sizes.shape)
        return np.where(sizes == 1, 1.0, np.minimum(accuracy, 1.0))  # rounding may leave 1 + 2e-16


def mean_over_label_sets(beaten: Floats, sizes: NDArray[np.int64]) -> Floats:
    """Σ_j beaten[j]·C(j, k−1)/C(K−1, k−1) for each size k. `beaten` must not be negative."""
    n_classes = beaten.size
    if n_classes * sizes.size <= MOST_NUMBERS:
        means: Floats = chance_table(n_classes, sizes.tobytes()) @ beaten
    elif 4 * np.unique(sizes).size > sizes.max():
        means = _by_recursion(beaten, int(sizes.max()))[sizes - 1]
    else:
        step = max(1, MOST_NUMBERS // n_classes)
        parts = [_chance_table(n_classes, sizes[start : start + step]) @ beaten for start in range(0, sizes.size, step)]
        means = np.concatenate(parts)
    return means


@lru_cache(maxsize=4)
def chance_table(n_classes: int, sizes: bytes) -> Floats:
    """`_chance_table`, remembered: resampling asks for the same sizes again and again."""
    table = _chance_table(n_classes, np.frombuffer(sizes, dtype=np.int64))
    table.flags.writeable = False
    return table


def _chance_table(n_classes: int, sizes: NDArray[np.int64]) -> Floats:
    """(sizes, K): C(j, k−1)/C(K−1, k−1) for j = 0, …, K − 1; what is too small for a float becomes 0.

    It is a product of k − 1 factors, or equally of K − 1 − j. Few factors keep all digits: for small k those are the
    former, and for large k the latter, where it matters.
    """
    table = np.empty((sizes.size, n_classes))
    lower = np.arange(n_classes, dtype=float)
    row = np.ones(n_classes)
    for k in range(1, FEW + 1):
        table[sizes == k] = row
        row = row * np.maximum(lower - k + 1, 0.0) / max(n_classes - k, 1)
    many = np.flatnonzero(sizes > FEW)
    if many.size:
        # From the right: with one class less that is beaten, C(j−1, k−1)/C(j, k−1) = (j − k + 1)/j.
        factors = np.ones((many.size, n_classes))
        np.subtract(lower[:0:-1], (sizes[many] - 1)[:, None], out=factors[:, 1:])
        factors[:, 1:] /= lower[:0:-1]
        np.maximum(factors, 0.0, out=factors)
        table[many] = np.multiply.accumulate(factors, axis=1, out=factors)[:, ::-1]
    return table


def _by_recursion(beaten: Floats, most: int) -> Floats:
    """The whole curve to k = `most`, without a table: from k to k + 1 every term gets a factor (j − k + 1)/(K − k).

    The factor is larger for larger j, so terms that have become negligible stay so, and are dropped.
    """
    n_classes = beaten.size
    sums = np.zeros(most)
    terms, steps, first = beaten.copy(), np.arange(n_classes, dtype=float), 0
    for k in range(1, most + 1):
        sums[k - 1] = np.add.reduce(terms[first:])
        if k % 32 == 0:
            running = np.cumsum(terms[first:])
            first += int(np.searchsorted(running, NEGLIGIBLE * running[-1]))
        first = max(first, k)
        left = terms[first:]
        left *= steps[first - k + 1 : n_classes - k + 1]
        left /= max(n_classes - k, 1)
    return sums


def spread_weights(first: AnyInts, tied: AnyInts, weights: Floats, size: int) -> Floats:
    """(size,): every weight in equal parts on the places first, …, first + tied.

    A part goes to few nodes of a binary tree over the places, and from there down to the leaves: only sums of weights,
    where a running sum of differences would leave errors of 1e-17 that hide small accuracies.
    """
    among = np.flatnonzero(tied)
    whole = np.where(tied == 0, weights, 0.0) if among.size else weights
    spread: Floats = np.bincount(first, whole, size).astype(np.float64, copy=False)
    if not among.size:
        return spread
    leaves = 1 << max(size - 1, 1).bit_length()
    tree = np.zeros(2 * leaves)
    left = first[among].astype(np.int64) + leaves
    right = left + tied[among] + 1
    part = weights[among] / (tied[among] + 1)
    while left.size:
        odd = (left & 1) == 1
        tree += np.bincount(left[odd], part[odd], tree.size)
        left = (left + odd) >> 1
        odd = (right & 1) == 1
        tree += np.bincount(right[odd] - 1, part[odd], tree.size)
        right = right >> 1
        inside = left < right
        left, right, part = left[inside], right[inside], part[inside]
    width = 1
    while width < leaves:
        tree[2 * width : 4 * width] += np.repeat(tree[width : 2 * width], 2)
        width *= 2
    return spread + tree[leaves : leaves + size]
