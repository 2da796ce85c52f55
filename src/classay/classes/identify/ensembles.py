"""Identification by the number of responses that are recorded, and with more of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.optimize import nnls

from ... import expect, seeds
from ...arrays import Floats
from ...intervals import Estimate, of_mean
from ...result import Result, parts_of
from ..information.channel import mean_top

if TYPE_CHECKING:
    from .identify import Identification

SIZES = 5
KIND = "over random ensembles of these responses"
SATURATIONS: Floats = np.concatenate([np.geomspace(0.25, 8.0, 60), [np.inf]])
"""Ensemble sizes at which half of all information is reached, in units of the number of responses; the last: never."""


@dataclass(frozen=True, eq=False)
class Ensembles(Result, chart="information:ensembles_chart"):
    """The result of `identify(…, ensembles=…)`: `accuracy[i]` and `bits[i]` with `sizes[i]` responses.

    `bits` is implied information. Beyond the recorded responses it is extrapolated by total·q/(q + half), `total` bits
    in all, of which `half` responses have half (infinite: no saturation is seen, and `rate` bits come with each).
    """

    model: str
    sizes: tuple[int, ...]
    accuracy: tuple[Estimate, ...]
    bits: tuple[Estimate, ...]
    n_responses: int
    n_candidates: int
    rate: float
    half: float
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> float:
        """Bits that any number of such responses can reach; infinite without saturation."""
        return self.rate * self.half

    def bits_with(self, n_responses: int) -> float:
        """Implied information with this many responses, also more than there are."""
        size = expect.whole(n_responses, "n_responses", at_least=1)
        return self.rate * size / (1 + size / self.half)

    def accuracy_with(self, n_responses: int, k: int | None = None) -> float:
        """Accuracy among k candidates (default: as many as here) with this many responses."""
        nats = self.bits_with(n_responses) * math.log(2)
        return float(
            mean_top(math.sqrt(2 * nats), self.n_candidates if k is None else expect.whole(k, "k", at_least=2))
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per figure and size: figure, responses, value, low, high, level, kind."""
        rows = [
            {"figure": name, "responses": size, **parts_of(each)}
            for name, several in (("accuracy", self.accuracy), ("implied information, bits", self.bits))
            for size, each in zip(self.sizes, several)
        ]
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        parts = "; ".join(f"{bits:.2g} bits, {accuracy:.0%} right with {size}" for size, bits, accuracy in zip(
            self.sizes, self.bits, self.accuracy))  # fmt: skip
        twice = 2 * self.n_responses
        end = "no saturation is seen" if math.isinf(self.half) else f"at most {self.total:.3g} bits with any number"
        text = (
            f"Identification among {self.n_candidates} stimuli by the number of responses: {parts}. Extrapolated: "
            f"{self.bits_with(twice):.3g} bits and {self.accuracy_with(twice):.1%} right with {twice}; {end}."
        )
        return " ".join([text, *self.notes])


def identify_ensembles(
    identify: Callable[[Floats], Identification],
    responses: Floats,
    sizes: Sequence[int] | None,
    draws: int,
    level: float,
    seed: int,
) -> Ensembles:
    """Identify with random ensembles of the responses, by a function of some of their columns; see `identify`."""
    n_responses = responses.shape[1]
    wanted = _sizes(sizes, n_responses)
    expect.whole(draws, "draws", at_least=1)
    accuracy: list[Estimate] = []
    bits: list[Estimate] = []
    notes: list[str] = []
    last = None
    for size in wanted:
        by_draw = []
        for draw in range(draws if size < n_responses else 1):
            chosen = seeds.generator(seed, "ensemble", size, draw).choice(n_responses, size, replace=False)
            last = identify(responses[:, np.sort(chosen)])
            by_draw.append((last.accuracy.value, last.information.implied.value))
        shares, figures = np.array(by_draw).T
        accuracy.append(_over_draws(shares, level, 1.0))
        bits.append(_over_draws(figures[np.isfinite(figures)], level, math.inf))
    assert last is not None
    values = np.array([each.value for each in bits])
    if not np.isfinite(values).all():
        notes.append("With some sizes every response was identified: their information is not known.")
    rate, half = saturation(np.array(wanted, dtype=float), values)
    notes += [note for note in last.notes if note not in notes]
    return Ensembles(
        last.model, tuple(wanted), tuple(accuracy), tuple(bits), n_responses, last.n_candidates, rate, half,
        tuple(notes),
    )  # fmt: skip


def saturation(sizes: Floats, bits: Floats) -> tuple[float, float]:
    """(rate, half) of rate·q/(1 + q/half), closest to the bits relative to their size.

    >>> sizes = np.array([5.0, 10, 20, 40])
    >>> rate, half = saturation(sizes, sizes / (1 + sizes / 80))
    >>> round(rate, 1), bool(60 < half < 110)
    (1.0, True)
    """
    known = np.isfinite(bits) & (bits > 0)
    if not known.any():
        return (0.0, math.inf) if np.isfinite(bits).any() else (math.nan, math.inf)
    sizes, bits = sizes[known], bits[known]
    best = (math.inf, 0.0, math.inf)
    for share in SATURATIONS:
        half = share * float(sizes.max())
        shape = sizes / (1 + sizes / half)
        rate, miss = nnls((shape / bits)[:, None], np.ones(bits.size))
        # With equal fits, the larger: little saturation needs no evidence.
        if miss <= best[0] + 1e-12:
            best = (float(miss), float(rate[0]), half)
    return best[1], best[2]


def _sizes(sizes: Sequence[int] | None, n_responses: int) -> list[int]:
    if sizes is None:
        spaced = np.geomspace(max(n_responses / 8, 1), n_responses, SIZES).round().astype(int)
        return [int(size) for size in np.unique(spaced)]
    wanted = sorted({expect.whole(size, "ensembles", at_least=1) for size in sizes})
    if not wanted or wanted[-1] > n_responses:
        raise expect.InputError(
            f"`ensembles` is {list(sizes)!r}; expected sizes from 1 to {n_responses}, the responses."
        )
    return wanted


def _over_draws(values: Floats, level: float, most: float) -> Estimate:
    if values.size == 0:
        return Estimate(math.nan, 0.0, most, level, "not identified: every response was identified")
    return of_mean(values, level, KIND, limits=(0.0, most))
