"""`Extrapolation`: what is foreseen for more classes, by which method, and how far to trust it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..intervals import Estimate
from ..result import Result, plain
from .backtest import BackTest
from .curve import Curve

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Extrapolation(Result):
    """What `extrapolation` finds.

    `estimates[i]` is the accuracy with `k[i]` classes; `by_method` what each method says for the same sizes, `path_k`
    and `path` the way there for a picture. `back_tests` tell how well the method foresaw the accuracy with all classes
    from some of them, `trusted` the largest k/K at which its error is expected to stay within .05.
    """

    k: tuple[int, ...]
    estimates: tuple[Estimate, ...]
    method: str
    by_method: dict[str, Floats]
    path_k: tuple[int, ...]
    path: tuple[Estimate, ...]
    back_tests: tuple[BackTest, ...]
    trusted: float
    notes: tuple[str, ...]
    curve: Curve

    def to_frame(self) -> pd.DataFrame:
        """One row a figure: figure, k, method, value, low, high, level, kind; back-tests have what came as `actual`."""
        rows: list[dict[str, Any]] = [
            {"figure": "accuracy", "k": k, "method": self.method, **_row(estimate)}
            for k, estimate in zip(self.k, self.estimates)
        ]
        for name, values in self.by_method.items():
            rows += [
                {"figure": "by method", "k": k, "method": name, "value": value} for k, value in zip(self.k, values)
            ]
        for test in self.back_tests:
            rows += [
                {
                    "figure": f"back-test from {test.n_classes} classes",
                    "k": self.curve.n_classes,
                    "method": self.method,
                    "value": value,
                    "actual": test.actual,
                }
                for value in test.foreseen
            ]
        columns = ["figure", "k", "method", "value", "low", "high", "level", "kind", "actual"]
        return pd.DataFrame(rows, columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; of the curve only a summary."""
        names = ("k", "estimates", "method", "by_method", "path_k", "path", "trusted", "notes")
        tests = [{**plain(test), "error": test.error, "lean": test.lean} for test in self.back_tests]
        curve = {"n_classes": self.curve.n_classes, "accuracy": plain(self.curve.at(self.curve.n_classes))}
        return {**{name: plain(getattr(self, name)) for name in names}, "back_tests": tests, "curve": curve}

    def __str__(self) -> str:
        here = self.curve.n_classes
        said = "; ".join(f"{_told(estimate)} with {k:,}" for k, estimate in zip(self.k, self.estimates))
        text = f"Accuracy {self.curve.at(here)} with the {here:,} classes at hand, and by {self.method}: {said}."
        for test in self.back_tests:
            text += (
                f" Back-test: sets of {test.n_classes} classes foresaw {np.mean(test.foreseen):.3g} for all {here:,}, "
                f"where {test.actual:.3g} came (typical error {test.error:.2g})."
            )
        return " ".join([text, *self.notes])


def _told(estimate: Estimate) -> str:
    return str(estimate) if estimate.known else f"not identified [{estimate.low:.3g}, {estimate.high:.3g}]"


def _row(estimate: Estimate) -> dict[str, Any]:
    return {name: getattr(estimate, name) for name in ("value", "low", "high", "level", "kind")}
