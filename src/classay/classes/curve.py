"""`accuracy_curve`: average accuracy over all label sets of every size, with an interval over classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .. import expect
from ..intervals import Estimate
from ..result import Result, plain
from .band import band
from .evidence import TIES, Evidence
from .ranks import Ranks
from .retrain import Retrained

Floats = NDArray[np.float64]

KIND = "over classes"


@dataclass(frozen=True, eq=False)
class Curve(Result):
    """What `accuracy_curve` finds: `accuracy[k − 1]` with `low` and `high`, for label sets of k = 1, …, K classes.

    `ranks` is the record it comes from, `ties` how ties were counted, `retrained` what the learner reached when it was
    fitted anew on some label sets, if that was asked for.
    """

    accuracy: Floats
    low: Floats
    high: Floats
    ties: str
    level: float
    ranks: Ranks
    retrained: tuple[Retrained, ...] = ()

    @property
    def n_classes(self) -> int:
        """K, the most classes that were observed together."""
        return int(self.accuracy.size)

    def at(self, k: int) -> Estimate:
        """Accuracy with k classes, 1 ≤ k ≤ K."""
        k = expect.whole(k, "k", at_least=1)
        if k > self.n_classes:
            raise expect.InputError(
                f"`k` is {k} and {self.n_classes} classes were observed. Use `classay.extrapolate(curve, {k})`."
            )
        place = k - 1
        return Estimate(float(self.accuracy[place]), float(self.low[place]), float(self.high[place]), self.level, KIND)

    def evidence(self) -> Evidence:
        """What all rows tell, with ties as they were counted here."""
        return self.ranks.evidence(self.ties)

    def to_frame(self) -> pd.DataFrame:
        """One row a size: figure, k, value, low, high, level, kind; retrained learners below."""
        frame = pd.DataFrame(
            {
                "figure": "accuracy",
                "k": np.arange(1, self.n_classes + 1),
                "value": self.accuracy,
                "low": self.low,
                "high": self.high,
                "level": self.level,
                "kind": KIND,
            }
        )
        if not self.retrained:
            return frame
        rows = [
            {
                "figure": "retrained accuracy",
                "k": one.k,
                **{name: getattr(one.accuracy, name) for name in frame.columns[2:]},
            }
            for one in self.retrained
        ]
        return pd.concat([frame, pd.DataFrame(rows)], ignore_index=True)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; of the record only a summary."""
        found = {name: plain(getattr(self, name)) for name in ("accuracy", "low", "high", "ties", "level", "retrained")}
        return {**found, "ranks": self.ranks.summary()}

    def __str__(self) -> str:
        sizes = sorted({k for k in (2, 10, 100, 1000, 10_000) if k < self.n_classes})
        some = ", ".join(f"{self.at(k)} with {k}" for k in sizes)
        text = (
            f"{self.ranks.name}: accuracy {self.at(self.n_classes)} with all {self.n_classes} classes"
            + (f"; {some}" if some else "")
            + f". Average over all label sets of each size; intervals are {KIND}, from {self.ranks.truth.size} test "
            f"rows. {self.ranks.marginal_in_words()}"
        )
        if self.retrained:
            anew = ", ".join(f"{one.accuracy} with {one.k} ({self.accuracy[one.k - 1]:.3g})" for one in self.retrained)
            text += f" Fitted anew on random label sets it reaches, beside what the curve says: {anew}."
        return " ".join([text, *self.ranks.notes])


def accuracy_curve(
    scores: Any,
    y: ArrayLike | None = None,
    *,
    classes: ArrayLike | None = None,
    ties: str = "random",
    marginal: bool | None = None,
    level: float = 0.95,
) -> Curve:
    """Tell the accuracy with 2, 3, …, K classes, from scores with K.

    accuracy_k = mean over test rows, classes weighing alike, of the share of label sets of k classes that contain the
    true one in which it scores highest: C(L, k−1)/C(K−1, k−1) for a row that beats L of K − 1 others.

    From 1 (k = 1) down to the accuracy with all classes; it never rises with k. The interval is over classes: what
    another draw of classes from where these came would give.

    It misleads where the scores of a class depend on which others there are (softmax, trees): a learner fitted on k
    classes alone would score otherwise. `marginal=True` says that they do not, as in naive Bayes, discriminant analysis
    and nearest means; for a learner, `curve_of_learner(..., retrain=True)` compares. Classes that were not drawn at
    random (the most frequent, the easiest) tell of such classes only.

    Parameters
    ----------
    scores : (n, K) array or memory map, the higher the likelier; or a `Ranks`, and then nothing else
    y : (n,) true classes, as names or column numbers
    classes : names of the columns, in order; may be left out if `y` holds column numbers
    ties : a tie with the true class counts as "random" (broken by chance), "wrong" or "right"
    marginal : whether each class is scored without regard to which others there are
    level : of the intervals

    Examples
    --------
    >>> scores = [[3.0, 1, 2, 0], [2, 1, 3, 0], [0, 1, 2, 1], [3, 2, 1, 0]]
    >>> accuracy_curve(scores, [0, 1, 2, 3]).accuracy.round(3)
    array([1.   , 0.583, 0.5  , 0.5  ])

    References
    ----------
    Zheng, Achanta & Benjamini (2018), Extrapolating expected accuracies for large multi-class problems, JMLR 19.

    """
    expect.one_of(ties, "ties", TIES)
    expect.fraction(level, "level")
    return curve_of(ranks_of(scores, y, classes, marginal), ties, level)


def curve_of(ranks: Ranks, ties: str, level: float, retrained: tuple[Retrained, ...] = ()) -> Curve:
    """The curve of a record."""
    accuracy = ranks.evidence(ties).accuracy()
    low, high = band(ranks, accuracy, ties, level)
    return Curve(accuracy, low, high, ties, level, ranks, retrained)


def ranks_of(scores: Any, y: ArrayLike | None, classes: ArrayLike | None, marginal: bool | None) -> Ranks:
    """A record from scores, or the record itself."""
    if isinstance(scores, Ranks):
        given = [name for name, value in (("y", y), ("classes", classes), ("marginal", marginal)) if value is not None]
        if given:
            raise expect.InputError(f"`scores` is a record of ranks, which has its own {given[0]}. Leave that out.")
        return scores
    if y is None:
        raise expect.InputError("`y` is missing; the true class of every row of `scores` is expected.")
    return Ranks.from_scores(scores, y, classes, marginal)
