"""`Ranks`: where the true class ranked in every test row. The record on which all measures of a label set stand.

Classes fall into at most 40 groups, at random. For some rows of every class the counts are kept by group, too, so that
every measure can be had again without some groups: intervals over classes come from that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..engine import store
from ..expect import InputError, shown
from .evidence import Evidence
from .gathering import class_weights, gather, remarks, rows_in_detail
from .grouped import earlier, standardised
from .labels import column_names, names_of

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]

BY_ROW = ("truth", "lower", "tied", "z")
IN_DETAIL = ("lower_in", "tied_in", "sum_in", "square_in", "kernel_in")
ARRAYS = ("classes", *BY_ROW, "group", "detail", *IN_DETAIL)


@dataclass(frozen=True, eq=False)
class Ranks:
    """How n test rows fared against K classes.

    `truth[i]` is the true column of row i in `classes`, `lower[i]` and `tied[i]` count the other classes with a lower
    and with the same score, `z[i]` is (true score − mean of the others) / their standard deviation. `group[c]` is the
    group of class c. For the rows `detail`, the first of every class, counts are kept by group: `lower_in`, `tied_in`,
    sums and squares of (score − true score) in `sum_in` and `square_in`, and smoothed counts in `kernel_in`, which has
    no columns if they were not wanted; the true class is in none of them. `marginal` says whether every class was
    scored without regard to which others there are; None: nobody said.
    """

    classes: NDArray[Any]
    truth: Ints
    lower: Ints
    tied: Ints
    z: Floats
    group: Ints
    detail: Ints
    lower_in: Ints
    tied_in: Ints
    sum_in: Floats
    square_in: Floats
    kernel_in: Floats
    marginal: bool | None = None
    notes: tuple[str, ...] = ()
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Groups are left out one at a time, so what is of one group lies together.
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
        """Ranks from scores (n, K), the higher the likelier, of any kind of number; a memory map is read once.

        −inf is the lowest score there is, as the log of a probability of 0, but leaves z of its row unknown.

        y : (n,) the true classes, as names or as column numbers
        classes : names of the columns, in their order; may be left out if a DataFrame has them, or `y` holds numbers
        marginal : whether each class is scored without regard to which others there are
        kernel : whether to keep the smoothed counts that the kernel method of `extrapolate` needs
        name : what to call it

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
        """Ranks from chunks (scores, y) of rows, as many as there are: of each row only 20 bytes stay in memory.

        Parameters as of `from_scores`; `why` is a sentence on what makes the scores marginal, or not.

        >>> chunks = (([[2.0, 1, 0], [0, 0, 1]], ["a", "b"]) for _ in range(100))
        >>> Ranks.from_chunks(chunks, classes=["a", "b", "c"]).truth.size
        200
        """
        names = names_of(classes)
        found: dict[str, Any] = dict(gather(chunks, names, kernel))
        notes = remarks(found["truth"], found["lower"], found["tied"], found["z"], names.size)
        return cls(classes=names, **found, marginal=marginal, notes=notes, about={"name": name, "why": why})

    @classmethod
    def from_learner(cls, learner: Any, X: Any, y: ArrayLike, **options: Any) -> Ranks:
        """Fit a learner on some of the rows and rank the others; options as of `scoring.rank_learner`."""
        from .scoring import rank_learner

        return rank_learner(learner, X, y, **options)

    @classmethod
    def from_embeddings(cls, embeddings: Any, y: ArrayLike, **options: Any) -> Ranks:
        """Ranks of embeddings by the nearest class mean; options as of `scoring.rank_embeddings`."""
        from .scoring import rank_embeddings

        return rank_embeddings(embeddings, y, **options)

    @property
    def n_classes(self) -> int:
        """K, how many classes compete."""
        return int(self.classes.size)

    @property
    def n_groups(self) -> int:
        """G, how many groups they fall into."""
        return int(self.group.max()) + 1

    @property
    def name(self) -> str:
        """What made the scores."""
        return str(self.about.get("name", "scores"))

    def evidence(self, ties: str = "random") -> Evidence:
        """What all rows tell."""
        kernel = np.full(self.truth.size, np.nan)
        if self.kernel_in.size:
            kernel[self.detail] = self.kernel_in.sum(axis=1) / (self.n_classes - 1)
        weights = class_weights(self.truth, self.n_classes)
        return Evidence(self.n_classes, self.lower, self.tied, weights, self.z, kernel, ties)

    def among(self, kept: ArrayLike, ties: str = "random", statistics: bool = True) -> Evidence:
        """What the rows in detail tell if only the classes of some groups exist; `kept` is a mask over groups.

        Without `statistics`, z and kernel are not taken, which is faster.
        """
        mask = np.asarray(kept, dtype=bool)
        if mask.shape != (self.n_groups,) or not mask.any():
            raise InputError(
                f"`kept` has shape {mask.shape} and keeps {mask.sum()} groups; a mask over {self.n_groups} groups that "
                "keeps at least one is expected."
            )
        n_classes = int(np.count_nonzero(mask[self.group]))
        truth = self.truth[self.detail]
        rows = np.flatnonzero(mask[self.group[truth]])
        weights = class_weights(truth[rows], self.n_classes)
        z = kernel = np.full(rows.size, np.nan)
        if statistics:
            z = standardised(_within(self.sum_in, mask)[rows], _within(self.square_in, mask)[rows], n_classes - 1)
            if self.kernel_in.size:
                kernel = _within(self.kernel_in, mask)[rows] / max(n_classes - 1, 1)
        # From all that a row has, less what is left out: exact, and fast where that is little.
        lower = (self.lower[self.detail] - self.lower_in[:, ~mask].sum(axis=1))[rows]
        tied = (self.tied[self.detail] - self.tied_in[:, ~mask].sum(axis=1))[rows]
        return Evidence(n_classes, lower, tied, weights, z, kernel, ties)

    def merge(self, other: Ranks) -> Ranks:
        """The record of the rows of both, these first: the same as that of all rows at once."""
        if not np.array_equal(self.classes, other.classes):
            raise InputError(
                f"One record has the classes {shown(self.classes, 4)} and the other {shown(other.classes, 4)}; the "
                "same are expected, in the same order."
            )
        found: dict[str, Any] = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in BY_ROW}
        detail = np.concatenate([self.detail, other.detail + self.truth.size])
        kept = np.flatnonzero(earlier(found["truth"][detail]) < rows_in_detail(self.n_classes))
        for name in IN_DETAIL:
            ours, theirs = getattr(self, name), getattr(other, name)
            both = min(ours.shape[1], theirs.shape[1])  # smoothed counts are kept if both have them
            found[name] = np.concatenate([ours[:, :both], theirs[:, :both]])[kept]
        told = remarks(found["truth"], found["lower"], found["tied"], found["z"], self.n_classes)
        own = [note for one in (self, other) for note in one.notes if note not in one.remarks()]
        return Ranks(
            classes=self.classes,
            **found,
            group=self.group,
            detail=detail[kept],
            marginal=self.marginal if self.marginal == other.marginal else None,
            notes=tuple(dict.fromkeys([*own, *told])),
            about=self.about,
        )

    def remarks(self) -> tuple[str, ...]:
        """The notes that follow from the counts."""
        return remarks(self.truth, self.lower, self.tied, self.z, self.n_classes)

    def marginal_in_words(self) -> str:
        """Whether the scores of a class depend on the others, in a sentence or two."""
        why = str(self.about.get("why", ""))
        if self.marginal:
            return why or "Each class was scored without regard to which others there are, as the theory asks."
        if self.marginal is None:
            why = "Whether each class was scored without regard to the others was not said (`marginal`); if not,"
            return f"{why} a learner fitted on fewer classes would score otherwise."
        why = why or "The score of a class depends on which others there are."
        return f"{why} A learner fitted on fewer classes would score otherwise."

    def summary(self) -> dict[str, Any]:
        """What to tell of the record beside a result: plain JSON values."""
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
        header = {"about": self.about, "marginal": self.marginal, "notes": list(self.notes)}
        return store.write(Path(path), "ranks", header, {name: getattr(self, name) for name in ARRAYS})

    @classmethod
    def load(cls, path: str | Path) -> Ranks:
        """Read a record that `save` wrote."""
        header, arrays = store.read(Path(path), "ranks")
        try:
            told = {"marginal": header["marginal"], "notes": tuple(header["notes"]), "about": header["about"]}
            parts: dict[str, Any] = {name: arrays[name] for name in ARRAYS}
            return cls(**parts, **told)
        except (KeyError, TypeError) as error:
            raise InputError(f"{path} is no whole record of ranks ({error}). Make the record again.") from error


def _within(sums: Floats, kept: NDArray[np.bool_]) -> Floats:
    """Row sums over some groups. A row with an infinite score anywhere stays without a sum."""
    with np.errstate(invalid="ignore"):
        found: Floats = sums @ kept.astype(float)
    return found
