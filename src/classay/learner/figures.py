"""Estimates as a table."""

from __future__ import annotations

import pandas as pd

from ..intervals import Estimate

PARTS = ("value", "low", "high", "level", "kind")


def figures_frame(learner: str, on: str, estimates: dict[str, Estimate]) -> pd.DataFrame:
    """One row a figure: learner, on, figure, value, low, high, level, kind."""
    rows = [
        {"learner": learner, "on": on, "figure": name, **{part: getattr(estimate, part) for part in PARTS}}
        for name, estimate in estimates.items()
    ]
    return pd.DataFrame(rows)
