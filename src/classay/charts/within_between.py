"""Do features of one class point one way, and those of different classes apart? Both distributions of cosines."""

from __future__ import annotations

import altair as alt

from ..network.feature_quality import FeatureQuality
from ..network.quality import NetworkQuality
from .cosine_lanes import Lane, cosine_lanes
from .theme import COLOURS
from .words import figure


def within_between(quality: NetworkQuality | FeatureQuality) -> alt.LayerChart:
    """Draw the cosines of features within classes, above those with the means of other classes."""
    counts = {
        kind: quality.distributions.loc[quality.distributions["kind"] == kind, "count"].to_numpy()
        for kind in ("within", "between")
    }
    within, between = float(quality.within), 1 - float(quality.between)
    lanes = [
        Lane("within a class", counts["within"], within, quality.within_std, COLOURS[0]),
        Lane("with the mean of another class", counts["between"], between, quality.between_std, COLOURS[1]),
    ]
    low, high = quality.accuracy_bounds
    apart = within - 2 * quality.within_std > between + 2 * quality.between_std
    of = "prototypes" if isinstance(quality, NetworkQuality) else "rows"
    return cosine_lanes(
        lanes,
        {},
        "Features of different classes are apart" if apart else "Features within classes and between them overlap",
        f"Cosines of the features of {of}. Beneath each lane: mean and two standard deviations. The paper's bounds of "
        f"accuracy are 1 less the right end of the lower line ({figure(low, '.2f')}) and the left end of the upper one "
        f"({figure(high, '.2f')}).",
        axis="cosine",
    )
