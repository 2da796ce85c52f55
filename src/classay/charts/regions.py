"""Regions of a table as ranked bars: slices where errors concentrate, and regions where refits disagree."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from ..data.model.error_slices import Slices
from ..expect import counted
from ..intervals import Estimate
from ..learner.stability.disagreement import DisagreementRegions
from ..regions.region import Region, p_value_text
from .style import theme
from .style.panel import DASHED
from .style.parts import LETTER, by_name, capped, written
from .style.theme import Row, cut, estimate_text, figure, interval, printable

WIDTH, STEP = 320, 34
LONGEST = 52
"""Characters of a condition next to its bar."""
SLICE_TIPS = {
    "condition": "slice",
    "value_text": "error rate, rows not searched",
    "rest": "elsewhere",
    "size": "rows",
    "table": "error rate, all rows of it (optimistic)",
    "excess": "excess errors, at least",
    "q": "q-value",
    "nested": "part of",
}
REGION_TIPS = {
    "condition": "region",
    "value_text": "disagreement, refits and points not searched",
    "rest": "elsewhere",
    "size": "points",
    "q": "q-value",
}


def slices_chart(slices: Slices) -> alt.LayerChart:
    """Draw where errors concentrate: a bar for each slice, by rank, and a line at the error rate of all rows."""
    overall, n = slices.error_rate, slices.n_rows
    rows = [_slice(region, slices.slices) for region in slices.slices]
    if not rows:
        none = {"rest": "", "size": f"{n}", "table": "", "excess": "0", "q": "none", "nested": "none"}
        rows = [_bar("all rows", overall, f"{overall.value:.0%}, {n} rows") | none]
    rate, title = figure(overall.value), "Where errors concentrate" if slices.slices else "No slice stands out"
    how = (
        f"Bar: error rate on rows that were not searched. Thin line: {overall.level:.0%} interval. Dashed: all rows "
        f"({rate}). By rank: excess errors over the rate of all rows, small slices first."
    )
    if not slices.slices:
        tests = f"{len(slices.tested)} slices were tested, at a false-discovery rate of {slices.q:g}"
        how = f"The error rate of {n} rows is {rate}; {tests}." if slices.n_errors else f"None of {n} rows is wrong."
    return _ranked_bars(rows, overall, "share of rows that are wrong", SLICE_TIPS, (title, how))


def _slice(region: Region, slices: Sequence[Region]) -> Row:
    holder = next((other for other in slices if other.rank == region.nested_under), None)
    inside = f", in {region.nested_under}" if holder else ""
    return _region(region, f"{region.rate.value:.0%}, {region.size} rows{inside}") | {
        "table": figure(region.table_rate),
        "excess": figure(region.excess),
        "nested": f"{holder.rank}. {printable(holder.condition)}" if holder else "none",
    }


def disagreement_bars(regions: DisagreementRegions) -> alt.LayerChart:
    """Draw where refits disagree most: a bar for each region, by rank, and a line at the disagreement of all points."""
    overall, n = regions.disagreement, regions.n_points
    rows = [_region(each, f"{each.rate.value:.0%} on {each.share:.0%} of points") for each in regions.regions]
    if not rows:
        rows = [_bar("all points", overall, f"{overall.value:.0%}") | {"rest": "", "size": f"{n}", "q": "none"}]
    points, rate = f"all {n:,} {cut(regions.on)}", figure(overall.value)
    title = f"{cut(regions.learner)}: {'where refits disagree most' if regions.regions else 'no region stands out'}"
    how = (
        f"Bar: disagreement on refits and points that were not searched. Thin line: {overall.level:.0%} interval. "
        f"Dashed: {points} ({rate})."
    )
    if not regions.regions:
        how = (
            f"On {points}, {rate} of the pairs of refits disagree; {counted(len(regions.tested), 'region')} tested, at "
            f"a false-discovery rate of {regions.q:g}."
        )
    return _ranked_bars(rows, overall, "share of pairs of refits that disagree", REGION_TIPS, (title, how))


def _region(region: Region, text: str) -> Row:
    # The rank distinguishes labels that are the same after cutting.
    return _bar(f"{region.rank}. {cut(region.condition, LONGEST)}", region.rate, text) | {
        "condition": printable(region.condition),
        "rest": figure(region.rest_rate),
        "size": f"{region.size} ({region.share:.1%} of all)",
        "q": p_value_text(region.q_value).removeprefix("= "),
    }


def _bar(label: str, rate: Estimate, text: str) -> Row:
    return {"label": label, "condition": label, "figure": text, "none": 0.0} | interval(rate, 0.0, 1.0)


def _ranked_bars(
    rows: Sequence[Row], overall: Estimate, unit: str, tips: dict[str, str], titles: tuple[str, str]
) -> alt.LayerChart:
    """Draw a bar for each row, and a line at the overall rate; `unit` is the axis."""
    labels = [row["label"] for row in rows]
    most = min(max([*(row["high"] for row in rows), overall.value]) * 1.08, 1.0) or 1.0
    room = LETTER * max(map(len, labels)) + 10
    panel = by_name(labels, unit, (0, most), size=(WIDTH, STEP), labelLimit=room, labelPadding=6)
    line = [{"overall": overall.value, "overall_text": f"all: {estimate_text(overall)}"}]
    thick = {"height": STEP - 14, "color": theme.COLOURS[1], "opacity": 0.85}
    layers = [
        panel.mark("bar", rows, tips, x="none", x2="value", **thick),
        *capped(panel, rows, tips),
        panel.mark("rule", line, {"overall_text": unit}, style="reference", strokeDash=DASHED, x="overall", y=None),
        written(panel, rows, tips),
    ]
    return panel.drawn(layers, *titles, wrap=int(WIDTH + room + 110))
