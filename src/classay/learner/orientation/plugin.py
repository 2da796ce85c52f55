"""The paper's plain (plug-in) estimates of the entropies, for comparison with it: biased with few refits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...arrays import Floats
from ...intervals import Estimate, of_mean
from ...result import Result
from . import entropy
from .entropy import Counts

KIND = "of these subsets, over holdouts"


@dataclass(frozen=True)
class PluginOrientation(Result, chart="learner.orientation:plugin_chart"):
    """The paper's plain estimates, with its intervals, of these subsets, over holdouts. Biased with few refits."""

    expressivity: Estimate
    stochasticity: Estimate
    capacity: Estimate

    def to_frame(self) -> pd.DataFrame:
        """One row per figure."""
        return figures_table(
            {
                "expressivity": self.expressivity,
                "stochasticity": self.stochasticity,
                "capacity": self.capacity,
            }
        )

    def __str__(self) -> str:
        return (
            f"Plain estimates: expressivity {self.expressivity}, stochasticity {self.stochasticity}, "
            f"capacity {self.capacity} bits."
        )


def plugin_orientation(counts: Counts, deterministic: bool, log2_labelings: float, level: float) -> PluginOrientation:
    """The plain estimates, mean over holdouts; the parts are unknown if one refit per subset cannot separate them."""
    overall, within = plain_entropies(counts, deterministic)
    unknown = Estimate(math.nan, 0.0, log2_labelings, level, "unknown: one refit per subset")
    known = not np.isnan(within).any()
    return PluginOrientation(
        of_mean(overall, level, KIND),
        of_mean(within, level, KIND) if known else unknown,
        of_mean(overall - within, level, KIND) if known else unknown,
    )


def plain_entropies(counts: Counts, deterministic: bool) -> tuple[Floats, Floats]:
    """Plain H(P_D) and mean H(P_F) of every holdout, (M,) each; NaN where one refit per subset shows nothing."""
    overall = entropy.plugin_overall(counts)
    # What never varies does not vary by training randomness either.
    known = counts.n_refits > 1 or deterministic or not overall.any()
    return overall, entropy.plugin_within(counts).mean(axis=1) if known else np.full(len(overall), np.nan)


def figures_table(estimates: dict[str, Estimate]) -> pd.DataFrame:
    """One row per figure: figure, threshold, value, low, high, level, kind."""
    rows = [
        {
            "figure": name,
            "threshold": None,
            "value": estimate.value,
            "low": estimate.low,
            "high": estimate.high,
            "level": estimate.level,
            "kind": estimate.kind,
        }
        for name, estimate in estimates.items()
    ]
    return pd.DataFrame(rows)
