"""`nested_accuracy`: the accuracy if the observed classes are kept and others like them are added."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ... import expect
from ...arrays import Floats
from ...intervals import Estimate, share_around
from ...result import PARTS, Result
from ..curve.curve import Curve
from ..extrapolate.beaten_share import BeatenShare
from ..extrapolate.share_interval import OF_ERROR, OF_GAP
from ..ranks.ranks import Ranks
from .u_distribution import UDistribution, u_distribution

KIND = "over the added classes and over rows; the observed classes fixed"


@dataclass(frozen=True, eq=False)
class NestedAccuracy(Result, chart="classes.distribution:nested_chart"):
    """The result of `nested_accuracy`, for `k` classes of which `kept_classes` are the observed ones.

    `accuracy` is that of all rows, each class equally often; `kept` that of rows of the observed classes, `added` that
    of rows of the new ones. `now` is the accuracy of the observed classes alone.
    """

    k: int
    kept_classes: int
    accuracy: Estimate
    kept: Estimate
    added: Estimate
    now: Estimate
    name: str

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: figure, k, value, low, high, level, kind."""
        figures = {"accuracy": self.accuracy, "of kept classes": self.kept, "of added classes": self.added}
        rows = [
            {"figure": name, "k": k, **{part: getattr(each, part) for part in PARTS}}
            for name, k, each in [*((name, self.k, each) for name, each in figures.items()),
                                  ("accuracy now", self.kept_classes, self.now)]
        ]  # fmt: skip
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        return (
            f"{self.name}: the {self.kept_classes:,} classes have accuracy {self.now} now. With "
            f"{self.k - self.kept_classes:,} more like them it is {self.accuracy} among all {self.k:,}: {self.kept} "
            f"for the classes that are kept, {self.added} for those that are added."
        )


def nested_accuracy(
    distribution: UDistribution | Curve | Ranks, k: int, *, method: str = "auto", random_state: int | None = 0
) -> NestedAccuracy:
    """Estimate the accuracy if these K classes are kept and k − K like them are added.

    A row of a kept class must beat the classes it was tested against, which is known, and the added ones: its accuracy
    is that measured now, times E[U^(k−1)]/E[U^(K−1)]. A row of an added class must beat k − 1 classes: E[U^(k−1)], as
    in `extrapolate`. Each of the k classes counts equally.

    From 0 to 1. The measured accuracy of the kept classes has only the uncertainty of its rows, so the interval is
    narrower than that for k classes that are all new; of the rest, that of `u_distribution`.

    It misleads if the added classes are of another kind than the kept, or if a learner would be retrained.

    Parameters
    ----------
    distribution : from `u_distribution`; or a record or a curve, of which it is made with `method` and `random_state`
    k : number of classes in all, more than are observed
    method, random_state : as in `u_distribution`

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(600, 60)) + 2.5 * np.eye(60)[np.arange(600) % 60]
    >>> found = nested_accuracy(Ranks.from_scores(scores, np.arange(600) % 60), 100)
    >>> bool(found.kept.low < found.accuracy.value < found.now.value)
    True

    """
    if not isinstance(distribution, UDistribution):
        distribution = u_distribution(distribution, method=method, random_state=random_state)
    curve = distribution.curve
    here = curve.n_classes
    if expect.whole(k, "k", at_least=2) <= here:
        raise expect.InputError(f"`k` is {k} and {here} classes are observed; expected more than that.")
    now, added = curve.over_rows(), distribution.accuracy(k)
    kept = _kept(distribution, now, float(k))
    share = here / k
    ends = [share * getattr(kept, end) + (1 - share) * getattr(added, end) for end in ("value", "low", "high")]
    whole = Estimate(ends[0], ends[1], ends[2], curve.level, KIND)
    return NestedAccuracy(int(k), here, whole, kept, added, now, curve.ranks.name)


def _kept(distribution: UDistribution, now: Estimate, k: float) -> Estimate:
    """The accuracy of rows of the kept classes."""
    here, level = float(distribution.curve.n_classes), distribution.level
    if not 0 < now.value < 1:
        return Estimate(math.nan if now.value else 0.0, 0.0, now.high, level, "not identified")

    def stays(share: BeatenShare, sizes: Floats) -> Floats:
        both = share.accuracy([here, float(sizes[0])])
        return np.array([both[1] / max(float(both[0]), 1e-300)]).clip(0.0, 1.0)

    ratio, error, gap = distribution.figure_parts(np.array([k]), stays)
    value = now.value * float(ratio[0])
    # Both parts on the scale of the accuracy; rows of now and classes to come vary independently.
    of_ratio = float(np.hypot(OF_ERROR * error, OF_GAP * gap)[0]) * float(ratio[0] * (1 - ratio[0])) * now.value
    of_now = now.value * (1 - now.value) * float((distribution.curve.evidence().weights ** 2).sum())
    of_rows = math.sqrt(of_now) * float(ratio[0])
    estimate = share_around(value, math.hypot(of_ratio, of_rows), level, KIND, draws=distribution.curve.ranks.n_groups)
    return Estimate(value, estimate.low, min(estimate.high, max(now.high, value)), level, KIND)
