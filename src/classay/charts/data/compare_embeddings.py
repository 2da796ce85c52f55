"""Two representations of the same rows: accuracy of the nearest class, and paired differences."""

from __future__ import annotations

import altair as alt

from ...data.compare_embeddings import EmbeddingComparison
from ..kinds import without_options
from ..style.parts import figures_chart


@without_options
def embedding_comparison_chart(comparison: EmbeddingComparison) -> alt.LayerChart:
    """Draw the accuracy of the nearest class with each, and the differences, second minus first."""
    figures = {f"accuracy, {name}": each for name, each in zip(comparison.names, comparison.accuracy)}
    figures |= {
        "accuracy, difference": comparison.accuracy_difference,
        "complexity, difference": comparison.complexity_difference,
    }
    title = f"{comparison.better} separates better" if comparison.better else "Neither is shown to be better"
    return figures_chart(figures, "value", title, "Differences: second minus first.")
