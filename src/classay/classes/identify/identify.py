"""`identify`: which of k stimuli gave this response? How well responses distinguish stimuli, for every k.

An encoding model predicts the response to every candidate; the candidate whose prediction is nearest, given the noise
of the responses, is chosen. Candidates are always stimuli that the model was not fitted on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import expect, seeds
from ...arrays import Floats
from ...engine.progress import Progress
from ...estimators.adapters import kind_of, short_name
from ...intervals import Estimate
from ...result import Result
from ..curve.curve import Curve, accuracy_curve
from ..information.channel import fit_channel
from ..information.information import Information, information_of
from ..ranks.ranks import Ranks
from .encoders import Encoder, column_scales, explained_variance, of_regressor, ridge
from .responses import NoiseCovariance, Trials, choose_covariance, distinct_rows, neighbours_alike, splits, trials_of

BLOCK = 2**22
"""Scores to compute at a time."""
ALIKE = (
    "Neighbouring rows are alike in stimuli and in responses, so no bound is given and intervals are too narrow: both "
    "need independent rows (`blocked=False` if only the table is sorted)."
)


@dataclass(frozen=True, eq=False)
class Identification(Result, chart="curve:identification_chart"):
    """The result of `identify`.

    `curve` is the accuracy of choosing the right one of k = 1, …, K candidates; `information` is what responses say
    about stimuli, in bits. `per_response` is R² of each response on rows that were not fitted:
    1 exact, 0 no better than the mean, below 0 worse. `shrinkage` is how far the noise covariance of each split was
    shrunk toward its diagonal, 0 to 1.
    """

    model: str
    curve: Curve
    information: Information
    per_response: Floats
    shrinkage: tuple[float, ...]
    n_rows: int
    n_features: int
    notes: tuple[str, ...] = ()

    @property
    def n_candidates(self) -> int:
        """K, the number of candidates for each response."""
        return self.curve.n_classes

    @property
    def accuracy(self) -> Estimate:
        """How often the right one of all K candidates is chosen."""
        return self.curve.at(self.n_candidates)

    def summary(self) -> dict[str, Estimate]:
        """Accuracy with all candidates, and information; R² is in `per_response`, the curve in `curve.to_frame()`."""
        return {"accuracy": self.accuracy, **self.information.summary()}

    def __str__(self) -> str:
        varying = self.per_response[~np.isnan(self.per_response)]
        r_squared = f"median R² {np.median(varying):.2g}, best {varying.max():.2g}" if varying.size else "no R²"
        columns = expect.counted(self.n_features, "column")
        text = (
            f"Among {self.n_candidates} stimuli, {self.model} on {columns} identifies the right "
            f"one for {self.accuracy:.1%} of responses (by chance {1 / self.n_candidates:.2g}). "
            f"{self.information} "
            f"Fit over {expect.counted(self.per_response.size, 'response')}: {r_squared}."
        )
        return " ".join([text, *self.notes])


def identify(
    stimuli: Any,
    responses: Any,
    *,
    model: Any = "ridge",
    test_size: float | int | None = None,
    folds: int = 5,
    groups: Any = None,
    blocked: bool | str = "auto",
    level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
    progress: bool = False,
) -> Identification:
    """Measure how well responses identify the stimuli that gave them, and how much information that takes.

    A linear model ŷ(x) is fitted on some stimuli. A response y to one of the others is assigned to the one of k
    candidates with the highest −(y − ŷ(x))ᵀ Σ⁻¹ (y − ŷ(x)), Σ the covariance of residuals of rows that the fit had not
    seen, shrunk toward its diagonal. Accuracy is averaged over all sets of k candidates.

    1/k: a linear model finds nothing in the responses; 1: they distinguish k stimuli. Candidates compete within one
    fold only. If folds were pooled, every other model would have seen the response that it competes for, and
    uninformative responses would score below chance.

    It misleads if rows are not independent: neighbours in time share noise, and random folds then let the model see
    part of what it predicts. If neighbours are alike in stimuli and in responses, folds are blocks and no bound is
    given: of two unrelated series with many columns even the ends of blocks match. Rows of the same stimulus count as
    one candidate and stay together. Implied information is not a bound; none of the figures include what a linear model
    misses. The guarantee of the bounds is strict with `test_size`; the models of several folds share rows.

    Parameters
    ----------
    stimuli : (n, p) features of the stimuli; (n,) is one column
    responses : (n, q) responses to them; q may exceed n
    model : "ridge" (penalty of each response by generalised cross-validation), or any regressor of scikit-learn, which
        is fitted on all responses together; MultiOutputRegressor(ElasticNetCV()) if few columns matter
    test_size : share or number of stimuli that are candidates in one split; None: `folds` of them, in turn
    folds : number of folds
    groups : (n,) labels of rows that belong together (a session, a subject): a group is never both fitted and
        identified, and candidates compete within their fold
    blocked : whether folds are blocks of neighbours in the order of the rows, for recordings in time; "auto": if
        neighbours are alike. False: rows are independent given the stimuli, even in a sorted table, and bounds hold
    level : confidence level of the intervals
    random_state : seed of the splits
    progress : whether to show a bar on stderr if it takes long

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(100, 5))
    >>> result = identify(x, x + 0.5 * rng.normal(size=x.shape))
    >>> result.n_candidates, bool(result.accuracy.value > 0.5)
    (20, True)

    References
    ----------
    Kay, Naselaris, Prenger & Gallant (2008), Identifying natural images from human brain activity, Nature 452.
    Zheng & Benjamini (2016), Estimating mutual information in high dimensions via classification error.

    """
    name = model_name(model)
    expect.fraction(level, "level")
    trials = trials_of(stimuli, responses)
    seed = seeds.settle(random_state)
    alike = blocked is not False and groups is None and neighbours_alike(trials)
    if blocked == "auto":
        blocked = alike and test_size is None
    parts = splits(trials, test_size, folds, groups, expect.flag(blocked, "blocked"), seed)
    scorer = _SplitScorer(trials, model, parts, seed, progress)
    ranks = Ranks.from_chunks(scorer.scores(), np.arange(parts[0][0].size), marginal=True, name=name)
    curve = accuracy_curve(ranks, level=level)
    return Identification(
        name,
        curve,
        information_of(fit_channel(curve), 1 - level, "best", "guaranteed", tried=1, why=ALIKE if alike else ""),
        explained_variance(np.concatenate(scorer.observed), np.concatenate(scorer.predicted)),
        tuple(scorer.shrinkage),
        len(trials.stimuli),
        trials.stimuli.shape[1],
        (*scorer.all_notes(), *([ALIKE + (" Folds are blocks of neighbours." if blocked else "")] if alike else [])),
    )


def model_name(model: Any) -> str:
    """The name of a model in words; refuse what is none."""
    if isinstance(model, str):
        expect.one_of(model, "model", ("ridge",))
        return "ridge regression"
    if isinstance(model, type) or not all(hasattr(model, verb) for verb in ("fit", "predict", "get_params")):
        raise expect.InputError(
            f"`model` is {model!r}; expected 'ridge' or an unfitted regressor of scikit-learn, such as KernelRidge()."
        )
    if kind_of(model) == "classifier":
        raise expect.InputError(f"`model` is {short_name(model)}, a classifier; expected a regressor.")
    return short_name(model)


class _SplitScorer:
    """Fits and scores split by split, and collects the results."""

    def __init__(self, trials: Trials, model: Any, parts: list[Any], seed: int, progress: bool) -> None:
        self.trials, self.model, self.parts, self.seed, self.progress = trials, model, parts, seed, progress
        self.observed: list[Floats] = []
        self.predicted: list[Floats] = []
        self.shrinkage: list[float] = []

    def scores(self) -> Iterator[tuple[Floats, NDArray[np.integer]]]:
        """Blocks of scores (rows, candidates) and the position of the right one."""
        trials = self.trials
        place = np.full(trials.n_distinct, -1)
        with Progress(len(self.parts), "identify", self.progress) as bar:
            for candidates, held in self.parts:
                place[:] = -1
                place[candidates] = np.arange(candidates.size)
                right = place[trials.shown]
                encoder, noise = self._fit_split(~np.isin(trials.shown, held))
                predicted = encoder.predict(trials.stimuli[trials.first[candidates]])
                rows = np.flatnonzero(right >= 0)
                self.observed.append(trials.responses[rows])
                self.predicted.append(predicted[right[rows]])
                step = max(1, BLOCK // candidates.size)
                for start in range(0, rows.size, step):
                    some = rows[start : start + step]
                    yield candidate_scores(noise, trials.responses[some], predicted), right[some]
                bar.advance()

    def _fit_split(self, rows: NDArray[np.bool_]) -> tuple[Encoder, NoiseCovariance]:
        stimuli, responses = self.trials.stimuli[rows], self.trials.responses[rows]
        if isinstance(self.model, str):
            encoder = ridge(stimuli, responses)
        else:
            encoder = of_regressor(self.model, stimuli, responses, self.seed)
        noise = choose_covariance(responses, encoder.residuals, column_scales(responses)[1], self.seed)
        self.shrinkage.append(noise.shrinkage)
        return encoder, noise

    def all_notes(self) -> list[str]:
        """Notes, once the scores were made."""
        trials, notes = self.trials, []
        if trials.n_distinct < len(trials.shown):
            notes.append(
                f"{len(trials.shown)} rows show {trials.n_distinct} different stimuli: repeats are one candidate, and "
                "are never both fitted and identified."
            )
        spare = trials.n_distinct - len(self.parts) * self.parts[0][0].size
        dependent = any(held.size > candidates.size for candidates, held in self.parts)
        if dependent:
            notes.append(f"{spare} stimuli left over from folds of equal size: not identified.")
        elif len(self.parts) > 1 and spare:
            stimuli = expect.counted(spare, "stimulus", "stimuli")
            notes.append(f"{stimuli} left over from equal folds: fitted on, not identified.")
        constant = int(np.isinf(column_scales(trials.responses)[1]).sum())
        if constant:
            notes.append(f"{constant} of {trials.responses.shape[1]} responses are constant and carry no information.")
        return notes


def candidate_scores(noise: NoiseCovariance, responses: Floats, predicted: Floats) -> Floats:
    """(rows, candidates): −(y − ŷ)ᵀ Σ⁻¹ (y − ŷ), by one product of matrices."""
    # Candidates with equal predictions must tie, which rounding in the product would prevent.
    number, first = distinct_rows(predicted)
    observed, expected = noise.whiten(responses), noise.whiten(predicted[first])
    distances = (observed**2).sum(axis=1)[:, None] + (expected**2).sum(axis=1) - 2 * observed @ expected.T
    return np.asarray(-distances[:, number])
