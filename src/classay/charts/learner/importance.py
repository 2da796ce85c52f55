"""The importance of columns: the mean over refits and the range from the lowest to the highest."""

from __future__ import annotations

import altair as alt

from ...intervals import Estimate
from ...learner.importance import Importance
from ..kinds import without_options
from ..style.parts import figures_chart
from ..style.theme import labels

MOST = 15


@without_options
def importance_chart(importance: Importance) -> alt.LayerChart:
    """Draw how much worse refits predict without each column, most important first."""
    places = importance.per_refit.mean(axis=0).argsort(kind="stable")[::-1][:MOST]
    values = importance.per_refit[:, places]
    estimates = [
        Estimate(float(column.mean()), float(column.min()), float(column.max()), kind="over refits")
        for column in values.T
    ]
    return figures_chart(
        dict(zip(labels([importance.columns[place] for place in places]), estimates)),
        "rise of the Brier score if the column is shuffled",
        "Which columns it relies on",
        f"Point: mean of {len(values)} refits. Line: lowest and highest refit. Two refits share "
        f"{importance.overlap.value:.0%} of their {importance.first} leading columns.",
    )
