"""A model against the nearest class, by measure: points with their intervals."""

from __future__ import annotations

import altair as alt

from ...data.versus_baseline import MEASURES, VersusBaseline
from ...intervals import Estimate, exact
from ..kinds import without_options
from ..style.parts import figures_chart


@without_options
def versus_baseline_chart(versus: VersusBaseline) -> alt.LayerChart:
    """Draw model and baseline one below the other for each measure, and the majority rate."""
    figures: dict[str, Estimate] = {}
    for name in MEASURES:
        words = name.replace("_", " ")
        figures |= {f"{words}, model": versus.model[name], f"{words}, nearest class": versus.baseline[name]}
    figures["largest class alone"] = exact(versus.majority)
    title = {"yes": "The model beats the geometry", "no": "The model is below the geometry"}.get(
        versus.verdict, "The model is not shown to beat the geometry"
    )
    gain = versus.difference["accuracy"]
    return figures_chart(figures, "share", title, f"Difference in accuracy {gain:.3f}, on {versus.rows} rows.")
