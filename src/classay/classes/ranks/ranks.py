"""`Ranks`: where the true class ranked in every test row. The record that all measures of a label set use.

Classes are divided into at most 40 groups, at random. For some rows of every class the counts are also stored by group,
so that every measure can be recomputed without some groups: this gives intervals over classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import AnyInts, Floats
from ...engine import store
from ...expect import InputError
from ...inputs import class_names, column_names
from ...notes import Note, notes_from_json, notes_to_json
from .counts import (
    IN_DETAIL,
    by_column,
    count_chunks,
    notes_of_counts,
    z_from_sums,
)
from .evidence import Evidence, class_weights, prior_of

BY_ROW = ("truth", "lower", "tied", "z")
ARRAYS = ("classes", *BY_ROW, "group", "detail", *IN_DETAIL)


@dataclass(frozen=True, eq=False)
class Ranks:
    """How n test rows ranked against K classes.

    `truth[i]` is the true column of row i in `classes`, `lower[i]` and `tied[i]` count the other classes with a lower
    and with the same score, `z[i]` is (true score − mean of the others) / their standard deviation. `group[c]` is the
    group of class c. For the rows `detail`, the first of every class, counts are stored by group: `lower_in`,
    `tied_in`, and sums and squares of (score − true score) in `sum_in` and `square_in`; the true class is in none of
    them. `marginal` says whether the score of a class does not depend on which others there are; None: not specified.
    `prior[c]` is how often class c is the true one, of all; None: every class equally often.
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
    marginal: bool | None = None
    notes: tuple[Note, ...] = ()
    about: dict[str, Any] = field(default_factory=dict)
    prior: Floats | None = None

    @classmethod
    def from_scores(
        cls,
        scores: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        marginal: bool | None = None,
        name: str = "scores",
    ) -> Ranks:
        """Ranks from scores (n, K), higher means more likely, of any numeric type; a memory map is read once.

        −inf is the lowest possible score, as the log of a probability of 0, but leaves z of its row unknown.

        y : (n,) the true classes, as names or as column numbers
        classes : names of the columns, in order; may be left out if a DataFrame has them, or `y` has numbers
        marginal : whether the score of a class does not depend on which others there are
        name : display name

        >>> Ranks.from_scores([[2.0, 1, 0], [0, 2, 1], [1, 2, 3]], [0, 1, 2])
        scores: 3 test rows, 3 classes.
        """
        names = column_names(scores, y, classes)
        return cls.from_chunks([(scores, y)], names, marginal, name)

    @classmethod
    def from_chunks(
        cls,
        chunks: Iterable[tuple[Any, ArrayLike]],
        classes: ArrayLike,
        marginal: bool | None = None,
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
        counts: dict[str, Any] = dict(count_chunks(chunks, names))
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
        weights = class_weights(self.truth, self.n_classes, self.prior)
        return Evidence(self.n_classes, self.lower, self.tied, weights, self.z, ties)

    def among(self, kept: ArrayLike, ties: str = "random", statistics: bool = True) -> Evidence:
        """The evidence of the rows in detail if only the classes of some groups exist; `kept` is a mask over groups.

        Without `statistics`, z is not computed, which is faster.
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
        z = None
        if statistics:
            # A row with an infinite score anywhere has no sum.
            with np.errstate(invalid="ignore"):
                sums, squares = ((each @ mask.astype(float))[rows] for each in (self.sum_in, self.square_in))
            z = z_from_sums(sums, squares, n_classes - 1)
        # The total of a row minus what is left out: exact, and fast if that is little.
        lower = (self.lower[self.detail] - self.lower_in[:, ~mask].sum(axis=1))[rows]
        tied = (self.tied[self.detail] - self.tied_in[:, ~mask].sum(axis=1))[rows]
        return Evidence(n_classes, lower, tied, weights, z, ties)

    def with_prior(self, prior: ArrayLike | Mapping[Any, float] | str | None) -> Ranks:
        """The same record, with classes weighted by how often each is the true one.

        prior : (K,) weights in the order of `classes`, or by class; "rows": by the number of test rows; "zipf": 1, 1/2,
            1/3, … from the class with the most test rows to the one with the fewest; None: all the same

        >>> ranks = Ranks.from_scores([[2.0, 1], [2, 1], [2, 1]], [0, 0, 1])
        >>> ranks.evidence().accuracy([2]), ranks.with_prior("rows").evidence().accuracy([2])
        (array([0.5]), array([0.66666667]))
        """
        return replace(self, prior=None if prior is None else prior_of(prior, self.classes, self.truth))

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

    def to_dict(self) -> dict[str, Any]:
        """A summary of the record, as a part of results: plain JSON values."""
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
            named: dict[str, Any] = by_column({name: arrays[name] for name in ARRAYS})
            about = {"marginal": header["marginal"], "notes": notes, "about": header["about"]}
            return cls(**named, **about, prior=arrays.get("prior"))
        except store.CANNOT_BE as error:
            raise InputError(f"{path} is not a complete record of ranks ({error}). Make it again.") from error
