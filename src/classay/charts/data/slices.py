"""Slices as ranked bars: the error rate of each, its interval, and the rate of all rows."""

from __future__ import annotations

import altair as alt

from ...data.model.error_slices import Slices
from ...regions.region import Region, p_value_text
from ..kinds import without_options
from ..style import theme
from ..style.parts import bar, bar_of_all, ranked_bars
from ..style.theme import figure, printable

TOOLTIPS = {
    "condition": "slice",
    "rate": "error rate, rows not searched",
    "rest": "elsewhere",
    "size": "rows",
    "table": "error rate, all rows of it (optimistic)",
    "excess": "excess errors, at least",
    "q": "q-value",
    "nested": "part of",
}


@without_options
def slices_chart(slices: Slices) -> alt.LayerChart:
    """Draw where errors concentrate: a bar for each slice, by rank, and a line at the error rate of all rows."""
    rows = [_row(region, slices) for region in slices.slices] or [_all(slices)]
    return ranked_bars(rows, slices.error_rate, "share of rows that are wrong", TOOLTIPS, _titles(slices))


def _titles(slices: Slices) -> tuple[str, str]:
    rate = figure(slices.error_rate.value)
    if not slices.n_errors:
        return "No slice stands out", f"None of {slices.n_rows} rows is wrong."
    if not slices.slices:
        tests = f"{len(slices.tested)} slices were tested, at a false-discovery rate of {slices.q:g}"
        return "No slice stands out", f"The error rate of {slices.n_rows} rows is {rate}; {tests}."
    return "Where errors concentrate", (
        f"Bar: error rate on rows that were not searched. Thin line: {slices.error_rate.level:.0%} interval. Dashed: "
        f"all rows ({rate}). By rank: excess errors over the rate of all rows, small slices first."
    )


def _row(region: Region, slices: Slices) -> theme.Row:
    holder = next((other for other in slices.slices if other.rank == region.nested_under), None)
    inside = f", in {region.nested_under}" if holder else ""
    return bar(region.rank, region.condition, region.rate, f"{region.rate.value:.0%}, {region.size} rows{inside}") | {
        "rest": figure(region.rest_rate),
        "size": f"{region.size} ({region.share:.1%} of all)",
        "table": figure(region.table_rate),
        "excess": figure(region.excess),
        "q": p_value_text(region.q_value).removeprefix("= "),
        "nested": f"{holder.rank}. {printable(holder.condition)}" if holder else "none",
    }


def _all(slices: Slices) -> theme.Row:
    rate = slices.error_rate
    rest = {"rest": "", "size": f"{slices.n_rows}", "table": "", "excess": "0", "q": "none", "nested": "none"}
    return bar_of_all("all rows", rate, f"{rate.value:.0%}, {slices.n_rows} rows") | rest
