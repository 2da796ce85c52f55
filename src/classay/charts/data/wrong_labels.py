"""The likeliest wrong labels as ranked bars: the probability that each is wrong."""

from __future__ import annotations

import altair as alt

from ...data.wrong_labels import WrongLabels
from ...intervals import Estimate, exact
from ..kinds import without_options
from ..style.parts import figures_chart

MOST_ROWS = 15


@without_options
def wrong_labels_chart(labels: WrongLabels) -> alt.LayerChart:
    """Draw the share of wrong labels, what it explains of the errors, and the likeliest rows."""
    figures: dict[str, Estimate] = {"wrong labels, share": labels.share, "errors they explain": labels.explained}
    for row in labels.listed[:MOST_ROWS].tolist():
        figures[f"row {row}"] = exact(float(labels.probability[row]))
    title = f"{labels.listed.size:,} labels to check" if labels.listed.size else "No label is suspected"
    return figures_chart(figures, "share, or probability that the label is wrong", title, labels.answer)
