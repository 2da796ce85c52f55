"""Stimuli and the responses to them: checked once, with repeats identified, split, and the noise of the responses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg
from scipy.special import ndtri

from ... import expect, seeds
from ...arrays import Floats, Ints
from ...expect import InputError
from ...frames import pandas_of
from ...inputs import as_array, finite, matrix
from .encoders import column_scales

AMOUNTS = (1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.06, 0.03, 0.01, 3e-3, 1e-3)
"""Shrinkages tried. The last is not 0: two responses that are copies of each other have a singular covariance."""
FOLDS, CANDIDATES = 5, 100
EXACT = 1e-7
"""Residuals below this share of a response's own deviation count as this large: nothing is measured more exactly."""
ALIKE = 2.713


@dataclass(frozen=True, eq=False)
class Trials:
    """n rows of a stimulus (p numbers) and the response to it (q numbers), columns scaled by powers of two.

    `shown[i]` is the number of row i's stimulus among the distinct ones, of which `first[s]` is the first row.
    """

    stimuli: Floats
    responses: Floats
    shown: Ints
    first: Ints

    @property
    def n_distinct(self) -> int:
        """The number of different stimuli."""
        return int(self.first.size)


def trials_of(stimuli: Any, responses: Any) -> Trials:
    """Both tables as finite numbers, if they match and vary."""
    x, y = _table(stimuli, "stimuli"), _table(responses, "responses")
    if len(x) != len(y):
        raise InputError(
            f"`stimuli` has {len(x)} rows but `responses` has {len(y)}; they must match, each row of one with its row "
            "of the other."
        )
    if len(x) < 2:
        raise InputError("There is 1 row; at least two stimuli are needed to compare them.")
    shown, first = distinct_rows(x)
    if first.size < 2:
        raise InputError(f"All {len(x)} rows of `stimuli` are the same; different ones are needed to compare them.")
    if (y == y[0]).all():
        raise InputError(f"All {len(y)} rows of `responses` are the same; they cannot distinguish stimuli.")
    return Trials(x, y, shown, first)


def distinct_rows(table: Floats) -> tuple[Ints, Ints]:
    """For each row the number of its content, counted by first appearance, and the first row of each content.

    >>> [numbers_of_rows.tolist() for numbers_of_rows in distinct_rows(np.array([[5.0], [7.0], [5.0]]))]
    [[0, 1, 0], [0, 1]]
    """
    numbers: dict[bytes, int] = {}
    # Adding 0 makes −0 equal to 0, since only the bytes are compared.
    contents = np.array([numbers.setdefault((row + 0.0).tobytes(), len(numbers)) for row in table], dtype=np.int64)
    return contents, np.unique(contents, return_index=True)[1].astype(np.int64)


def neighbours_alike(trials: Trials) -> bool:
    """Whether neighbours in the order of the rows are alike in stimuli and in responses: one in a hundred if not.

    Both must have a lag-1 correlation r > 0 in one of their three leading components: r·√n + 1/√n above the normal
    quantile at .01/3. Or in a column among many: r·√n at lags 1 and 2, which two rare rows side by side do not reach,
    above that at .01 over the number of columns. Of a stimulus that is shown several times only the first row counts.
    """
    root = math.sqrt(trials.n_distinct)
    for table in (trials.stimuli[trials.first], trials.responses[trials.first]):
        centre, scale = column_scales(table)
        columns = (table - centre) / scale
        lead = linalg.svd(columns, full_matrices=False, check_finite=False)[0][:, :3]
        leading = ((lead[1:] * lead[:-1]).sum(axis=0) * root + 1 / root).max()
        single = np.min([(columns[lag:] * columns[:-lag]).sum(axis=0) / root for lag in (1, 2)], axis=0).max()
        if leading < ALIKE and single < ndtri(1 - 0.01 / table.shape[1]):
            return False
    return True


Split = tuple[Ints, Ints]  # the candidates, and all stimuli that the model must not see


def splits(
    trials: Trials, test_size: float | int | None, folds: int, groups: Any, blocked: bool, seed: int
) -> list[Split]:
    """Which distinct stimuli are candidates, in one split or in each of several; equally many in each.

    test_size : a share or number of the stimuli, for one split; None: `folds` of them
    groups : (n,) the group of every row; stimuli of a group are in one fold
    blocked : neighbours in the order of the rows are in one fold
    With groups or blocks, what is left over is neither fitted on nor identified.
    """
    if (test_size is not None) + (groups is not None) + blocked > 1:
        raise InputError("`groups`, `blocked` and `test_size` exclude each other; expected one of them.")
    distinct = trials.n_distinct
    order = seeds.generator(seed, "identify").permutation(distinct)
    if test_size is not None:
        part = np.sort(order[: _candidates(test_size, distinct)])
        return [(part, part)]
    parts = expect.whole(folds, "folds", at_least=2, why="Use `test_size` for one split.")
    if groups is None and not blocked:
        held = [np.sort(order[part * (distinct // parts) : (part + 1) * (distinct // parts)]) for part in range(parts)]
    elif blocked:
        held = [part.astype(np.int64) for part in np.array_split(np.arange(distinct), parts)]
    else:
        held = _folds_of_groups(trials, parts, groups, seed)
    size = min(part.size for part in held)
    if size < 2:
        raise InputError(
            f"{distinct} different stimuli in {parts} folds leave {size} in the smallest to choose among; at least 2 "
            f"are needed. Use fewer folds{f', at most {distinct // 2},' if distinct > 3 else ''} or more stimuli."
        )
    if groups is None and not blocked:
        return [(part, part) for part in held]
    draw = seeds.generator(seed, "identify dependent")
    return [(np.sort(draw.permutation(part)[:size]), part) for part in held]


def _candidates(test_size: float | int, distinct: int) -> int:
    """The number of candidates in one split."""
    if isinstance(test_size, (int, np.integer)) and not isinstance(test_size, bool):
        size = expect.whole(test_size, "test_size", at_least=2)
    else:
        size = round(expect.fraction(test_size, "test_size", why="Or a whole number of stimuli.") * distinct)
    if not 2 <= size <= distinct - 2:
        raise InputError(
            f"`test_size` is {test_size!r}: {size} of {distinct} different stimuli to choose among, and "
            f"{distinct - size} to fit on; at least 2 are needed for each."
        )
    return size


def _folds_of_groups(trials: Trials, parts: int, groups: Any, seed: int) -> list[Ints]:
    labels = np.asarray(groups)
    if labels.shape != trials.shown.shape:
        raise InputError(f"`groups` has shape {labels.shape}; expected one group for each of {trials.shown.size} rows.")
    codes = np.unique(labels.astype(str), return_inverse=True)[1].ravel()
    group = codes[trials.first]
    if (group[trials.shown] != codes).any():
        raise InputError("Some stimuli are shown in several groups, so groups cannot be kept apart. Merge these.")
    sizes = np.bincount(group)
    if sizes.size < parts:
        raise InputError(f"`groups` has {sizes.size} groups; expected at least {parts}, one for each fold.")
    # The largest groups first, each into the fold with the fewest stimuli; equal ones in random order.
    order = seeds.generator(seed, "identify groups").permutation(sizes.size)
    fold, filled = np.zeros(sizes.size, dtype=np.int64), np.zeros(parts, dtype=np.int64)
    for each in order[np.argsort(-sizes[order], kind="stable")]:
        fold[each] = int(filled.argmin())
        filled[fold[each]] += sizes[each]
    return [np.flatnonzero(fold[group] == part) for part in range(parts)]


def _table(values: Any, name: str) -> Floats:
    values = pandas_of(values, name)
    values = values if hasattr(values, "ndim") else as_array(values, name)
    if values.ndim == 1:
        values = np.asarray(values)[:, None]
    table = finite(matrix(values, name), name)
    # Powers of two change no digit, and values far from 1 would overflow when squared. Units make no difference.
    exponents = np.frexp(np.abs(table).max(axis=0))[1]
    scaled: Floats = np.ldexp(table, -exponents)
    return scaled


# The distribution of real responses around predicted ones: a covariance that can always be inverted.


@dataclass(frozen=True, eq=False)
class NoiseCovariance:
    """A residual covariance, shrunk toward its diagonal: D ((1 − λ) R + λ I) D, R the correlation, D the deviations.

    Stored as axes: along `axes` (q, r) the standardised residuals have the variances `along` before shrinkage, and none
    in any other direction. So q² numbers are never needed, and nothing singular is ever inverted. `scale` is D; it is
    infinite for constant responses, which therefore have no effect.
    """

    scale: Floats
    axes: Floats
    along: Floats
    shrinkage: float

    @property
    def complete(self) -> bool:
        """Whether the axes span every direction."""
        return bool(self.axes.shape[0] == self.axes.shape[1])

    def weights(self, shrinkage: float) -> Floats:
        """The inverse of the shrunk variance along each axis."""
        return np.asarray(1 / ((1 - shrinkage) * self.along + shrinkage))

    def whiten(self, responses: Floats) -> Floats:
        """Responses times the inverse square root of the covariance: the result has no scale and no correlation.

        Squared distances between whitened rows are Mahalanobis distances.
        """
        standardised = responses / self.scale
        inside, weights = standardised @ self.axes, np.sqrt(self.weights(self.shrinkage))
        if self.complete:
            return np.asarray((inside * weights) @ self.axes.T)
        rest = 1 / np.sqrt(self.shrinkage)
        return np.asarray(standardised * rest + (inside * (weights - rest)) @ self.axes.T)


def choose_covariance(responses: Floats, residuals: Floats, deviations: Floats, seed: int = 0) -> NoiseCovariance:
    """The covariance with the shrinkage that identifies best.

    In five folds, responses of one are identified among the stimuli of the same fold with the covariance of the other
    four; λ is the one with the highest mean log posterior of the right stimulus. (With many responses and few rows,
    likelihood and Ledoit & Wolf's formula shrink too little for this task: with 200 responses that share noise and 150
    rows, 31 % and 17 % were identified among 200 stimuli, 42 % by this; `benchmarks/identification.py`.)

    responses, residuals : (n, q); their difference is what was predicted
    deviations, seed : as in `shrink_covariance`; of the folds
    """
    n = len(responses)
    order = seeds.generator(seed, "shrinkage").permutation(n)
    gain = np.zeros(len(AMOUNTS))
    for held in np.array_split(order, min(FOLDS, max(n // 2, 1))):
        others = np.setdiff1d(order, held, assume_unique=True)
        if held.size < 2 or others.size < 2:
            continue
        noise = shrink_covariance(residuals[others], deviations, AMOUNTS[-1])
        for some in np.array_split(held, -(-held.size // CANDIDATES)):
            gain += _log_posteriors(noise, responses[some], responses[some] - residuals[some])
    return shrink_covariance(residuals, deviations, AMOUNTS[int(gain.argmax())])


def shrink_covariance(residuals: Floats, deviations: Floats, shrinkage: float) -> NoiseCovariance:
    """The covariance of residuals, standardised, shrunk toward no correlation, rescaled.

    residuals : (n, q), around 0
    deviations : (q,) of the responses themselves; 0 or infinite for those that do not vary
    shrinkage : from 0, as observed, to 1, no correlation; 0 becomes the smallest that is tried if it would be singular

    >>> rng = np.random.default_rng(0)
    >>> shrink_covariance(rng.normal(size=(20, 50)), np.ones(50), 0.3).whiten(np.ones((3, 50))).shape
    (3, 50)
    """
    n, q = residuals.shape
    varies = np.isfinite(deviations) & (deviations > 0)
    scale = np.where(varies, np.maximum(np.sqrt((residuals**2).mean(axis=0)), EXACT * deviations), np.inf)
    standardised = residuals / scale
    # The smaller of the two product tables has all that is needed.
    wide = q > n
    products = (standardised @ standardised.T if wide else standardised.T @ standardised) / n
    values, vectors = linalg.eigh(products)
    nonzero = values > q * np.finfo(float).eps * max(float(values[-1]), 1e-300)
    values = values[nonzero]
    axes = standardised.T @ (vectors[:, nonzero] / np.sqrt(n * values)) if wide else vectors[:, nonzero]
    singular = shrinkage == 0 and values.size < q
    return NoiseCovariance(scale, np.asarray(axes), values, AMOUNTS[-1] if singular else float(shrinkage))


def _log_posteriors(noise: NoiseCovariance, responses: Floats, predicted: Floats) -> Floats:
    """For each amount of shrinkage, the sum over rows of the log posterior of the row's own stimulus among all."""
    observed, expected = responses / noise.scale, predicted / noise.scale
    seen, meant = observed @ noise.axes, expected @ noise.axes
    outside = 0.0 if noise.complete else _half_distances(observed, expected) - _half_distances(seen, meant)
    sums = []
    for amount in AMOUNTS:
        root = np.sqrt(noise.weights(amount))
        scores = -_half_distances(seen * root, meant * root) - outside / amount
        ahead = scores - np.diag(scores)[:, None]
        top = np.maximum(ahead.max(axis=1), 0.0)
        sums.append(-float((top + np.log(np.exp(ahead - top[:, None]).sum(axis=1))).sum()))
    return np.array(sums)


def _half_distances(observed: Floats, expected: Floats) -> Floats:
    """Half the squared distances between rows, up to a constant per row that all candidates share."""
    return np.asarray((expected**2).sum(axis=1) / 2 - observed @ expected.T)
