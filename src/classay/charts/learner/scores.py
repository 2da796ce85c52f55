"""Scores over refits: metrics with their spread, calibration, ROC and precision-recall curves, the confusion matrix."""

from __future__ import annotations

from typing import Any

import altair as alt

from ...learner.scores.metrics import Metrics
from ..kinds import Kinds, check_kind
from ..style.parts import figures_chart
from ..style.theme import cut

KINDS: Kinds = {"figures": ()}


def draw_metrics(metrics: Metrics, kind: str = "figures", **options: Any) -> alt.TopLevelMixin:
    """Kinds: figures."""
    check_kind(kind, KINDS, options)
    shown = {name: each for name, each in metrics.estimates.items() if "[" not in name}
    return figures_chart(shown, "value", f"{cut(metrics.learner)}: metrics over refits", "Lines: intervals.")
