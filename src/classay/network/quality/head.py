"""`head_quality`: how the rows of a network's last layer relate to each other. No network is run, no data needed.

H_w = 1 − mean of cos(W_i, W_j) over pairs i < j is the paper's figure. Random rows are near 1, and the simplex, to
which softmax training moves them, is at 1 + 1/(k − 1), also near 1 for many classes: so the figure is reported with
both, and with freshly initialised rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from ... import seeds
from ...arrays import Floats
from ...expect import InputError, shown
from ...intervals import Estimate
from ...result import Result
from ..cosines import Pairs, array_of, finite_rows, fresh_rows, row_figures

FEWEST_DRAWS, MOST_DRAWS, PRODUCTS = 4, 20, 4e9
"""Number of fresh initialisations: between these, for about so many multiplications. Student's t allows for few."""
FIGURES = ("mean_cosine", "cosine_std", "mean_angle", "min_angle", "max_angle", "simplex_distance", "effective_rank")


@dataclass(frozen=True)
class HeadQuality(Result, chart="network:head_cosines"):
    """How the k rows of a head relate to each other.

    `classifier_quality` is H_w = 1 − mean cosine of pairs of rows: 0: all rows equal, 1: at right angles or random,
    1 + 1/(k − 1): the most. Angles are in degrees. `references` are mean cosines for comparison: `random` 0, `simplex`
    −1/(k − 1), `fresh` a fresh initialisation of this shape. `simplex_distance` is the root mean square of
    cos + 1/(k − 1): 0: all pairs as far apart as possible. `cosine_std` is the spread of the cosines: 0: no two classes
    more similar than others. `effective_rank` is exp of the entropy of the singular values' shares, 1 to min(k, d).
    `fresh` has each figure's mean over fresh initialisations, with the range of 95 % of fresh heads. `closest` and
    `farthest` are pairs of classes with their cosine; `histogram` counts pairs by cosine, in equal bins from −1 to 1,
    `fresh_histogram` those of all fresh draws.
    """

    classes: int
    feature_size: int
    classifier_quality: float
    mean_cosine: float
    cosine_std: float
    mean_angle: float
    angle_std: float
    min_angle: float
    max_angle: float
    references: dict[str, float]
    simplex_distance: float
    effective_rank: float
    norm: float
    norms: Floats
    bias: Floats | None
    fresh: dict[str, Estimate]
    closest: Pairs
    farthest: Pairs
    histogram: NDArray[np.int64]
    fresh_histogram: NDArray[np.int64]

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: figure, value, and its value for fresh rows (fresh, fresh_low, fresh_high)."""
        names = ("classifier_quality", *FIGURES, "angle_std", "norm")
        known = {name: self.fresh.get(name) for name in names}
        return pd.DataFrame(
            {
                "figure": names,
                "value": [float(getattr(self, name)) for name in names],
                **{
                    column: [np.nan if each is None else getattr(each, part) for each in known.values()]
                    for column, part in (("fresh", "value"), ("fresh_low", "low"), ("fresh_high", "high"))
                },
            }
        )

    def __str__(self) -> str:
        fresh, spread = self.fresh["mean_cosine"], self.fresh["cosine_std"]
        digits = 2 + int(np.ceil(np.log10(self.classes)))  # what training can change shrinks as 1/classes
        return (
            f"The {self.classes} rows of the head, {self.feature_size} features each: "
            f"H_w {self.classifier_quality:.{digits}f}, angles {self.mean_angle:.1f}° on average "
            f"({self.min_angle:.1f}° to {self.max_angle:.1f}°). Their mean cosine is {self.mean_cosine:.{digits}f}; "
            f"random rows have 0, 95% of fresh heads {fresh.low:.{digits}f} to {fresh.high:.{digits}f}, and the "
            f"simplex, to which softmax training moves them, {self.references['simplex']:.{digits}f}. The spread of "
            f"the cosines is {self.cosine_std:.3f} (fresh: {spread.value:.3f}): the larger, the more similar some "
            "classes are for the network. This describes the shape of the head, not the accuracy of the network."
        )


def head_quality(
    weight: ArrayLike, bias: ArrayLike | None = None, random_state: int | np.random.Generator | None = 0
) -> HeadQuality:
    """Measure how the rows of a head relate to each other, from its weight alone.

    H_w = 1 − mean over pairs i < j of cos(W_i, W_j). 0: all rows equal; 1: at right angles on average, as random rows
    are; 1 + 1/(k − 1): the simplex, as far apart as k rows can be. Nothing depends on the scale of the rows, nor
    on a rotation of the features, except `norm` and `norms`.

    It misleads as a figure of accuracy: with k classes all of training moves it by 1/(k − 1), and longer training
    moves it whether or not the network learns anything that generalises. Compare with the references.

    Parameters
    ----------
    weight : (classes, features), one row per class; an array or a tensor, or a fitted estimator of scikit-learn with
        `coef_` (linear models) or `coefs_` (MLPClassifier), whose last layer is the head
    bias : (classes,), stored with it; of an estimator, its own
    random_state : seed of the fresh rows to compare with

    Examples
    --------
    >>> head = head_quality(np.eye(4))
    >>> head.classifier_quality, head.mean_angle, round(head.references["simplex"], 3)
    (1.0, 90.0, -0.333)

    References
    ----------
    Dean & Sarkar, Novel Deep Neural Network Classifier Characterization Metrics with Applications to Dataless
    Evaluation (2024). Papyan, Han & Donoho, Prevalence of neural collapse during the terminal phase of deep
    learning training (2020), on the simplex.

    """
    if hasattr(weight, "get_params") or hasattr(weight, "steps"):
        weight, bias = _head_of_estimator(weight)
    rows = rows_of(weight)
    classes, size = rows.shape
    figures, histogram, closest, farthest = row_figures(rows)
    draws = int(np.clip(PRODUCTS // (classes**2 * (size + 64)), FEWEST_DRAWS, MOST_DRAWS))
    seed = seeds.settle(random_state)
    fresh_draws = [row_figures(fresh_rows(classes, size, seed, draw))[:2] for draw in range(draws)]
    kind = f"and the range of 95% of fresh heads, by {draws} initialisations"
    reach = float(stats.t.ppf(0.975, draws - 1)) * np.sqrt(1 + 1 / draws)
    fresh = {}
    for name in figures:
        values = np.array([other[name] for other, _ in fresh_draws])
        mean, side = float(values.mean()), float(reach * values.std(ddof=1))
        fresh[name] = Estimate(mean, mean - side, mean + side, kind=kind)
    return HeadQuality(
        classes=classes,
        feature_size=size,
        **figures,
        references={"random": 0.0, "simplex": -1 / (classes - 1), "fresh": fresh["mean_cosine"].value},
        norms=np.linalg.norm(rows, axis=1),
        bias=_bias(bias, classes),
        fresh=fresh,
        closest=closest,
        farthest=farthest,
        histogram=histogram,
        fresh_histogram=np.sum([counts for _, counts in fresh_draws], axis=0),
    )


def _head_of_estimator(estimator: Any) -> tuple[Any, Any]:
    """Weight and bias of the last layer of a fitted estimator, the last step if it is a pipeline."""
    steps = getattr(estimator, "steps", None)
    last = steps[-1][1] if steps else estimator
    name = type(last).__name__
    if not hasattr(last, "classes_"):
        raise InputError(f"`weight` is a {name} that is not a fitted classifier. Fit it first, or pass a weight.")
    if hasattr(last, "coefs_"):
        weight, bias = np.asarray(last.coefs_[-1]).T, last.intercepts_[-1]
    elif hasattr(last, "coef_"):
        weight, bias = last.coef_, getattr(last, "intercept_", None)
        weight = weight.toarray() if hasattr(weight, "toarray") else np.asarray(weight)
    else:
        raise InputError(f"`weight` is a {name}, which has no last layer: neither `coef_` nor `coefs_`.")
    if len(weight) != len(last.classes_):
        raise InputError(
            f"`weight` is a {name} of {len(last.classes_)} classes with {len(weight)} rows of weights; one row per "
            "class is needed to compare them."
        )
    return weight, None if bias is None or np.ndim(bias) == 0 else bias


def rows_of(weight: Any) -> Floats:
    """The rows of a head, if all of them have a direction."""
    rows = finite_rows(weight, "weight", "(classes, features)", "Use an earlier checkpoint.")
    if len(rows) < 2:
        raise InputError("`weight` has one row, of one class; at least 2 classes are needed to compare rows.")
    empty = np.flatnonzero(~rows.any(axis=1))
    if empty.size:
        raise InputError(
            f"`weight` has rows of zeros (classes {shown(empty)}), which have no direction. Was the head trained?"
        )
    return rows


def _bias(bias: Any, classes: int) -> Floats | None:
    if bias is None:
        return None
    values = np.asarray(array_of(bias), dtype=float)
    if values.shape != (classes,):
        raise InputError(f"`bias` has shape {values.shape}; expected ({classes},), one number per class.")
    if not np.isfinite(values).all():
        raise InputError("`bias` contains NaN or infinite numbers. Use an earlier checkpoint.")
    return values
