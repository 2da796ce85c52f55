"""The charts of checks of a data set: columns that give labels away, rows that belong together, an unlike test part."""

from __future__ import annotations

import altair as alt

from ...data.dependence import Dependence
from ...data.leaks import Leaks
from ...data.shift import Shift
from ...intervals import Estimate, around, exact
from ..kinds import without_options
from ..style.parts import figures_chart
from ..style.theme import labels

MOST = 12
"""Columns in one chart."""


@without_options
def leaks_chart(leaks: Leaks) -> alt.LayerChart:
    """Draw the skill of each column alone, highest first."""
    first = leaks.columns[:MOST]
    title = "A column gives the label away" if leaks.found else "No column gives the label away"
    return figures_chart(
        _named([each.column for each in first], [each.skill for each in first]),
        "skill of the column alone",
        title,
        "0: as good as chance; 1: always right. Every class counts the same.",
    )


@without_options
def dependence_chart(dependence: Dependence) -> alt.LayerChart:
    """Draw accuracy on shuffled rows and with whole groups left out; without any, what the screens showed."""
    if dependence.ties:
        names = [f"{tie.what}: {way}" for tie in dependence.ties for way in ("shuffled", "left out together")]
        values = [each for tie in dependence.ties for each in (tie.shuffled, tie.apart)]
        title = "Rows belong together" if dependence.found else "Rows need not be kept together"
        return figures_chart(_named(names, values), "share of rows predicted correctly", title)
    screened = dependence.screened.dropna(subset=["excess"])
    pairs = zip(screened["excess"].to_numpy(dtype=float), screened["error"].to_numpy(dtype=float))
    excess = [around(float(value), float(error)) for value, error in pairs]
    return figures_chart(
        _named([str(name) for name in screened["name"]], excess),
        "additional share of nearest rows with the same label",
        "No sign that rows belong together",
        "How much more often the nearest row shares the label if rows with the same value count.",
    )


@without_options
def shift_chart(shift: Shift) -> alt.LayerChart:
    """Draw how well the parts can be told apart, the share of copies, and the columns that differ."""
    first = shift.columns[:MOST]
    estimates = {"AUC of telling them apart": shift.auc, "test rows with a copy": shift.copies}
    estimates |= _named([each.column for each in first], [exact(each.distance) for each in first])
    return figures_chart(
        estimates,
        "AUC, share, and distance of a column",
        f"The test part is {'unlike' if shift.unlike else 'like'} the training part",
        "AUC 0.5: they cannot be told apart. Distance 0: the column is the same in both; 1: no value in common.",
    )


def _named(names: list[str], values: list[Estimate]) -> dict[str, Estimate]:
    """Short names that are all different, each with its figure."""
    return dict(zip(labels(names), values))
