"""`gap_correlations`: stochasticity against the train–test gap over several data sets, the paper's Table 4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ...expect import InputError, counted
from ...result import Result
from .result import Correlation, Sweep

LARGE_GAP = 0.03
"""Table 4 marks data sets in which the gap exceeds this at some value."""


@dataclass(frozen=True)
class GapCorrelations(Result, chart="learner.sweep:correlations_chart"):
    """The result of `gap_correlations`, by data set: `corrected` and `plain` correlations, and the `largest_gap`."""

    corrected: dict[str, Correlation]
    plain: dict[str, Correlation]
    largest_gap: dict[str, float]

    def to_frame(self) -> pd.DataFrame:
        """One row per data set and estimate: data, estimate, value (Spearman), p, pearson, pearson_p, largest_gap."""
        rows = [
            {
                "data": name,
                "estimate": estimate,
                "value": each.spearman,
                "p": each.spearman_p,
                "pearson": each.pearson,
                "pearson_p": each.pearson_p,
                "n": each.n,
                "distinct": each.distinct,
                "largest_gap": self.largest_gap[name],
                "over_3_percent": bool(self.largest_gap[name] > LARGE_GAP),
            }
            for estimate, table in (("corrected", self.corrected), ("plain", self.plain))
            for name, each in table.items()
        ]
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        large = [name for name, gap in self.largest_gap.items() if gap > LARGE_GAP]
        risen = [name for name in large if self.corrected[name].spearman > 0]
        return (
            f"In {len(large)} of {counted(len(self.largest_gap), 'data set')} the gap between training and test "
            f"accuracy exceeds {LARGE_GAP:.0%} at some value; in {len(risen)} of these, training randomness "
            "(stochasticity) rises with it (Spearman above 0). Values of a parameter are not independent, so p-values "
            "are too small."
        )


def gap_correlations(sweeps: Mapping[str, Sweep]) -> GapCorrelations:
    """Correlate stochasticity with the train–test gap over the values of a sweep, for several data sets.

    Pearson's and Spearman's correlation between mean H(P_F) and training minus test accuracy, with p; NaN where nothing
    varies. From −1 to 1; above 0: where refits on the same rows differ more, the learner also overfits more.

    It misleads as values of a parameter share subsets and neighbours are similar: p-values are too small. It is
    reported to compare with the paper's Table 4, which has the plain estimate of stochasticity (`plain`).

    Parameters
    ----------
    sweeps : name of a data set -> what `sweep` returned for it

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from classay import Subsets, sweep
    >>> w = sweep(DecisionTreeClassifier(), *load_iris(return_X_y=True), "max_depth", [1, 2, 3], Subsets(5), executor=1)
    >>> gap_correlations({"iris": w}).corrected["iris"].n
    3

    References
    ----------
    Pang-Naylor, Chen & Montañez, Model Characterization with Inductive Orientation Vectors, Table 4.

    """
    given: Any = sweeps
    if not isinstance(given, Mapping) or not given or not all(isinstance(one, Sweep) for one in given.values()):
        raise InputError(
            "`sweeps` must be a dict of at least one sweep, name of the data set -> what `sweep` returned."
        )
    return GapCorrelations(
        corrected={str(name): one.gap_correlation for name, one in given.items()},
        plain={str(name): one.plugin_gap_correlation for name, one in given.items()},
        largest_gap={
            str(name): max(each.train_accuracy.value - each.accuracy.value for each in one.orientations.values())
            for name, one in given.items()
        },
    )
