"""Kinship of learners: a heat map of distances, a map, and a tree of clusters."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import numpy as np
from scipy.cluster import hierarchy

from ...expect import one_of
from ...learner.orientation.kinship import DISTANCES, Kinship
from ..kinds import Charts, draw_kind
from ..style import placement, theme
from ..style.theme import figure, labels, printable

SIDE = 360
MOST_VALUES = 14
"""With more learners than this, values are in tooltips only."""
CALLED = {
    "jensen_shannon": ("Jensen–Shannon distance between predictions", "0 the same, 1 nothing in common"),
    "euclidean": ("Euclidean distance between predictions", "0 the same, 1.41 the most"),
    "angle": ("Angle between predictions, in degrees", "0 the same, 90 nothing in common"),
}
LARGEST = {"jensen_shannon": 1.0, "euclidean": math.sqrt(2), "angle": 90.0}
PLAIN = " Plain distances of the paper: with few subsets, equal learners are apart too."


def draw_kinship(kinship: Kinship, kind: str = "both", **options: Any) -> alt.TopLevelMixin:
    """Kinds: both (heatmap beside map), heatmap (both take a distance), map, dendrogram.

    `plugin=True` draws the paper's plain distances in place of the debiased ones.
    """
    charts: Charts = {
        "both": (_heatmap_and_map, ("distance", "plugin")),
        "heatmap": (kinship_heatmap, ("distance", "plugin")),
        "map": (kinship_map, ("plugin",)),
        "dendrogram": (kinship_dendrogram, ("plugin",)),
    }
    return draw_kind(kinship, kind, charts, options)


def _heatmap_and_map(kinship: Kinship, plugin: bool = False, **options: Any) -> alt.HConcatChart:
    return theme.beside(kinship_heatmap(kinship, plugin=plugin, **options), kinship_map(kinship, plugin=plugin))


def kinship_heatmap(kinship: Kinship, distance: str = "jensen_shannon", plugin: bool = False) -> alt.LayerChart:
    """Draw the distances between learners, similar ones next to each other. In brackets: not above chance.

    `plugin`: the paper's plain distances; brackets are as for the debiased ones, of which chance is known.
    """
    one_of(distance, "distance", DISTANCES)
    short = labels(kinship.names)
    evidence, kinship = kinship, kinship.undebiased() if plugin else kinship
    order = alt.Scale(domain=[short[place] for place in hierarchy.leaves_list(kinship.linkage).tolist()])
    x = alt.X("other:N", title=None, scale=order, axis=alt.Axis(domain=False, ticks=False, labelAngle=-40))
    y = alt.Y("learner:N", title=None, scale=order, axis=alt.Axis(domain=False, ticks=False))
    step = min(54, max(16, 480 // len(short)))
    called, meaning = CALLED[distance]
    fill = alt.Color(
        "value:Q",
        scale=alt.Scale(domain=[0, LARGEST[distance]], range=["#f1f5f9", "#9fbfdc", "#3d7ab5", "#08306b"]),
        legend=alt.Legend(title=None, gradientLength=min(step * len(short), 180), tickCount=5),
    )
    chance = {} if plugin else {"chance": "chance alone"}
    tooltips = theme.tooltips(
        learner_name="learner", other_name="other", figure="distance", **chance, verdict="verdict"
    )
    cells = _cells(kinship, evidence, distance, short)
    layers: list[Any] = [
        theme.chart_of(cells).mark_rect(stroke="white", strokeWidth=1).encode(x=x, y=y, color=fill, tooltip=tooltips)
    ]
    pairs = [cell for cell in cells if cell["learner"] != cell["other"]]
    for clear, style, ink in ((True, "normal", "#1f2933"), (False, "italic", "#5c6773")):
        chosen = [cell for cell in pairs if cell["clear"] is clear]
        if chosen and len(short) <= MOST_VALUES:
            # The text colour is fixed because the cells below it are, on a dark page too.
            ink_by_cell = alt.condition("datum.dark", alt.value("white"), alt.value(ink))
            text = theme.chart_of(chosen).mark_text(fontSize=11, fontStyle=style)
            layers.append(text.encode(x=x, y=y, text="text:N", color=ink_by_cell))
    marked = "In brackets" if len(short) <= MOST_VALUES else "Some, see the tooltips"
    doubtful = "" if all(cell["clear"] for cell in pairs) else f" {marked}: no more than chance alone would give."
    return theme.finished(
        layers,
        alt.Step(step),
        alt.Step(step),
        theme.titled(
            "Which learners predict alike",
            f"{called}: {meaning}. Similar ones are next to each other.{doubtful}{PLAIN if plugin else ''}",
            width=max(step * len(short) + 120, 380),
        ),
    )


def kinship_map(kinship: Kinship, plugin: bool = False) -> alt.LayerChart:
    """Draw learners on a plane: close ones predict alike. Only distances have a meaning, not directions.

    `plugin`: by the paper's plain distances.
    """
    kinship = kinship.undebiased() if plugin else kinship
    short = labels(kinship.names)
    legend = theme.legend_below(short) if len(short) > placement.MOST else None
    # One unit is equally long in both directions. Learners that are all alike are not magnified to fill the map.
    reach = max(float(np.ptp(kinship.coordinates, axis=0).max()) / 2, 0.05) * 1.25
    middle = (kinship.coordinates.max(axis=0) + kinship.coordinates.min(axis=0)) / 2
    rows = [
        {"learner": printable(name), "label": label, "x": across, "y": up}
        for name, label, (across, up) in zip(kinship.names, short, (kinship.coordinates - middle).tolist())
    ]
    frame = placement.Frame(SIDE, SIDE, (-reach, reach), (-reach, reach))
    scale = alt.Scale(domain=[-reach, reach], nice=False, zero=False)

    def across(field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=scale, axis=None)

    def up(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", scale=scale, axis=None)

    length, corner = _round_below(reach / 2), -0.94 * reach
    ruler = theme.chart_of([{"x": corner, "to": corner + length, "y": corner, "text": f"{length:g}"}])
    layers: list[Any] = [
        theme.chart_of([{"x": -reach, "to_x": reach, "y": -reach, "to_y": reach}])
        .mark_rect(style="possible")
        .encode(x=across("x"), x2="to_x:Q", y=up("y"), y2="to_y:Q"),
        ruler.mark_rule(style="reference").encode(x=across("x"), x2="to:Q", y=up("y")),
        ruler.mark_text(style="note", align="left", dy=-8).encode(x=across("x"), y=up("y"), text="text:N"),
        *placement.names(frame, rows, ("x", "y"), across, up, room=30),
        theme.chart_of(rows)
        .mark_point(size=70, filled=True, opacity=1)
        .encode(
            x=across("x"),
            y=up("y"),
            color=theme.colour(short, legend),
            shape=theme.shape(short, legend),
            tooltip=theme.tooltips(learner="learner"),
        ),
    ]
    kept = "over 99%" if 0.995 <= kinship.kept < 1 - 1e-9 else f"{kinship.kept:.0%}"
    return theme.finished(
        layers,
        SIDE,
        SIDE,
        theme.titled(
            "A map of learners: close ones predict alike",
            f"Only distances matter, not directions; this plane preserves {kept} of their variation. "
            f"The bar: a Jensen–Shannon distance of {length:g}.{PLAIN if plugin else ''}",
            width=SIDE + 40,
        ),
    )


def kinship_dendrogram(kinship: Kinship, plugin: bool = False) -> alt.LayerChart:
    """Draw which learners join at which distance; dashed where the distance is no more than chance would give.

    `plugin`: by the paper's plain distances, of which chance is not known.
    """
    kinship = kinship.undebiased() if plugin else kinship
    short = labels(kinship.names)
    tree = hierarchy.dendrogram(kinship.linkage, no_plot=True, labels=short)
    above = {round(height, 9): clear for height, clear in _joins_above_chance(kinship, plugin)}
    # SciPy places leaves at 5, 15, 25, ...; each join is a bracket of four corners.
    joins = [
        {"join": place, "corner": corner, "x": float(x), "y": float(y), "clear": above.get(round(xs[1], 9), True)}
        for place, (xs, ys) in enumerate(zip(tree["dcoord"], tree["icoord"]))
        for corner, (x, y) in enumerate(zip(xs, ys))
    ]
    leaves = [{"x": 0.0, "y": 10.0 * place + 5, "text": name} for place, name in enumerate(tree["ivl"])]
    across = alt.X(
        "x:Q",
        title="Jensen–Shannon distance at which they join",
        scale=alt.Scale(domain=[0, max(float(kinship.linkage[:, 2].max()), 0.05) * 1.08], nice=False),
        axis=alt.Axis(tickCount=6),
    )
    up = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[10 * len(short), 0], nice=False))
    layers: list[Any] = [
        theme.chart_of([row for row in joins if row["clear"] is clear])
        .mark_line(style="reference", strokeWidth=1.5, strokeDash=dash)
        .encode(x=across, y=up, detail="join:N", order="corner:Q")
        for clear, dash in ((True, [1, 0]), (False, [4, 3]))
        if any(row["clear"] is clear for row in joins)
    ]
    text = theme.chart_of(leaves).mark_text(style="name", align="right", dx=-8)
    layers.append(text.encode(x=across, y=up, text="text:N"))
    doubtful = "" if all(row["clear"] for row in joins) else " Dashed: no more than chance alone would give."
    return theme.finished(
        layers,
        SIDE,
        24 * len(short),
        theme.titled(
            "Which learners form groups",
            f"Learners that join farther left predict more alike (average linkage).{doubtful}{PLAIN if plugin else ''}",
            width=SIDE + 40,
        ),
    )


def _joins_above_chance(kinship: Kinship, plugin: bool) -> list[tuple[float, bool]]:
    """The height of each join, and whether it is above the mean floor of the pairs that it joins.

    If chance is unknown (NaN), nothing can be above it; that of plain distances never is, so nothing is said of them.
    """
    floor = kinship.floor["jensen_shannon"]
    members = [[place] for place in range(len(kinship.names))]
    found = []
    for one, other, height, _ in kinship.linkage:
        first, second = members[int(one)], members[int(other)]
        chance = float(floor[np.ix_(first, second)].mean())
        found.append((float(height), bool(height > chance) or plugin))
        members.append([*first, *second])
    return found


def _cells(kinship: Kinship, evidence: Kinship, distance: str, short: list[str]) -> list[theme.Row]:
    """A cell for each pair; whether it is above chance is decided by the debiased distances, `evidence`."""
    matrix, debiased, floor = getattr(kinship, distance), getattr(evidence, distance), evidence.floor[distance]
    spec = ".0f" if distance == "angle" else ".2f"
    cells = []
    for a in range(len(short)):
        for b in range(len(short)):
            # If chance is unknown (NaN), nothing can be above it.
            value, chance = float(matrix[a, b]), float(floor[a, b])
            clear = bool(debiased[a, b] > chance)
            cells.append(
                {
                    "learner": short[a],
                    "other": short[b],
                    "learner_name": printable(kinship.names[a]),
                    "other_name": printable(kinship.names[b]),
                    "value": value,
                    "figure": figure(value),
                    "chance": figure(chance),
                    "clear": clear,
                    "dark": value > 0.55 * LARGEST[distance],
                    "text": f"{value:{spec}}" if clear else f"({value:{spec}})",
                    "verdict": "the same" if a == b else "different" if clear else "indistinguishable",
                }
            )
    return cells


def _round_below(length: float) -> float:
    """The largest of 1, 2 or 5 times a power of ten that is not longer."""
    power = 10.0 ** math.floor(math.log10(length))
    return max(scale * power for scale in (1, 2, 5) if scale * power <= length)
