"""Kinship of learners: a heat map of distances, a map, and a tree of clusters."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import numpy as np
from scipy.cluster import hierarchy

from ..expect import one_of
from ..learner.orientation.kinship import DISTANCES, Kinship
from .kinds import Kinds
from .style import placement, theme
from .style.panel import DASHED, Panel, numbers
from .style.parts import MOST_VALUES, heat_map
from .style.theme import Row, figure, labels, printable

SIDE = 360
CALLED = {
    "jensen_shannon": ("Jensen–Shannon distance between predictions", "0 the same, 1 nothing in common"),
    "euclidean": ("Euclidean distance between predictions", "0 the same, 1.41 the most"),
    "angle": ("Angle between predictions, in degrees", "0 the same, 90 nothing in common"),
}
LARGEST = {"jensen_shannon": 1.0, "euclidean": math.sqrt(2), "angle": 90.0}
PLAIN = " Plain distances of the paper: with few subsets, equal learners are apart too."


def kinship_heatmap(kinship: Kinship, distance: str = "jensen_shannon", plugin: bool = False) -> alt.LayerChart:
    """Draw the distances between learners, similar ones next to each other. In brackets: not above chance.

    `plugin`: the paper's plain distances; brackets are as for the debiased ones, of which chance is known.
    """
    one_of(distance, "distance", DISTANCES)
    short = labels(kinship.names)
    evidence, kinship = kinship, kinship.undebiased() if plugin else kinship
    order = [short[place] for place in hierarchy.leaves_list(kinship.linkage).tolist()]
    cells = _cells(kinship, evidence, distance, short)
    tips = {"learner_name": "learner", "other_name": "other", "figure": "distance", "chance": "chance alone"}
    marked = "In brackets" if len(short) <= MOST_VALUES else "Some, see the tooltips"
    doubtful = f" {marked}: no more than chance alone would give." if any(cell["doubtful"] for cell in cells) else ""
    called, meaning = CALLED[distance]
    return heat_map(
        cells,
        order,
        (0, LARGEST[distance]),
        {name: title for name, title in tips.items() if not (plugin and name == "chance")} | {"verdict": "verdict"},
        "Which learners predict alike",
        f"{called}: {meaning}. Similar ones are next to each other.{doubtful}{PLAIN if plugin else ''}",
    )


def _cells(kinship: Kinship, evidence: Kinship, distance: str, short: list[str]) -> list[Row]:
    """A cell for each pair; whether it is above chance is decided by the debiased distances, `evidence`."""
    matrix, debiased, floor = getattr(kinship, distance), getattr(evidence, distance), evidence.floor[distance]
    spec = ".0f" if distance == "angle" else ".2f"
    cells: list[Row] = []
    for a, b in np.ndindex(matrix.shape):
        # If chance is unknown (NaN), nothing can be above it.
        value, clear = float(matrix[a, b]), bool(debiased[a, b] > floor[a, b])
        text = "" if a == b else f"{value:{spec}}" if clear else f"({value:{spec}})"
        verdict = "the same" if a == b else "different" if clear else "indistinguishable"
        cell = {"down": short[a], "across": short[b], "value": value, "text": text, "doubtful": a != b and not clear}
        cell |= {"learner_name": printable(kinship.names[a]), "other_name": printable(kinship.names[b])}
        cells.append(cell | {"figure": figure(value), "chance": figure(float(floor[a, b])), "verdict": verdict})
    return cells


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
    rows: list[Row] = [
        {"learner": printable(name), "label": label, "x": across, "y": up}
        for name, label, (across, up) in zip(kinship.names, short, (kinship.coordinates - middle).tolist())
    ]
    panel = Panel(numbers(ends=(-reach, reach), field="x"), numbers(ends=(-reach, reach), field="y"), SIDE, SIDE)
    # The longest ruler of 1, 2 or 5 times a power of ten that is not longer than a quarter of the map.
    power = 10.0 ** math.floor(math.log10(reach / 2))
    length, corner = max(scale * power for scale in (1, 2, 5) if scale * power <= reach / 2), -0.94 * reach
    ruler = [{"x": corner, "to": corner + length, "y": corner, "text": f"{length:g}"}]
    area = [{"x": -reach, "to_x": reach, "y": -reach, "to_y": reach}]
    looks = {"size": 70, "color": theme.colour(short, legend), "shape": theme.shape(short, legend)}
    layers = [
        panel.mark("rect", area, style="possible", x2="to_x", y2="to_y"),
        panel.mark("rule", ruler, style="reference", x2="to"),
        panel.mark("text", ruler, style="note", align="left", dy=-8, text="text"),
        *placement.names(panel, rows, room=30),
        panel.mark("point", rows, {"learner": "learner"}, **looks),
    ]
    kept = "over 99%" if 0.995 <= kinship.kept < 1 - 1e-9 else f"{kinship.kept:.0%}"
    return panel.drawn(
        layers,
        "A map of learners: close ones predict alike",
        f"Only distances matter, not directions; this plane preserves {kept} of their variation. "
        f"The bar: a Jensen–Shannon distance of {length:g}.{PLAIN if plugin else ''}",
    )


def kinship_dendrogram(kinship: Kinship, plugin: bool = False) -> alt.LayerChart:
    """Draw which learners join at which distance; dashed where the distance is no more than chance would give.

    `plugin`: by the paper's plain distances, of which chance is not known.
    """
    kinship = kinship.undebiased() if plugin else kinship
    tree = hierarchy.dendrogram(kinship.linkage, no_plot=True, labels=labels(kinship.names))
    above = {round(height, 9): clear for height, clear in _joins_above_chance(kinship, plugin)}
    # SciPy places leaves at 5, 15, 25, ...; each join is a bracket of four corners.
    joins: list[Row] = [
        {"join": place, "corner": corner, "x": float(x), "y": float(y), "clear": above.get(round(xs[1], 9), True)}
        for place, (xs, ys) in enumerate(zip(tree["dcoord"], tree["icoord"]))
        for corner, (x, y) in enumerate(zip(xs, ys))
    ]
    leaves = [{"x": 0.0, "y": 10.0 * place + 5, "text": name} for place, name in enumerate(tree["ivl"])]
    farthest = max(float(kinship.linkage[:, 2].max()), 0.05) * 1.08
    panel = Panel(
        numbers("Jensen–Shannon distance at which they join", (0, farthest), "x"),
        numbers(ends=(10 * len(leaves), 0), field="y"),
        SIDE,
        24 * len(leaves),
    )
    bracket: dict[str, Any] = {"style": "reference", "strokeWidth": 1.5}
    bracket |= {"detail": alt.Detail("join:N"), "order": alt.Order("corner:Q")}
    layers = [
        panel.mark("line", [row for row in joins if row["clear"] is clear], strokeDash=dash, **bracket)
        for clear, dash in ((True, [1, 0]), (False, DASHED))
        if any(row["clear"] is clear for row in joins)
    ]
    layers.append(panel.mark("text", leaves, style="name", align="right", dx=-8, text="text"))
    doubtful = "" if all(row["clear"] for row in joins) else " Dashed: no more than chance alone would give."
    return panel.drawn(
        layers,
        "Which learners form groups",
        f"Learners that join farther left predict more alike (average linkage).{doubtful}{PLAIN if plugin else ''}",
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


KINSHIP: Kinds = {
    "both": lambda kinship, distance="jensen_shannon", plugin=False: theme.beside(
        kinship_heatmap(kinship, distance, plugin), kinship_map(kinship, plugin)
    ),
    "heatmap": kinship_heatmap,
    "map": kinship_map,
    "dendrogram": kinship_dendrogram,
}
"""`plugin=True` draws the paper's plain distances in place of the debiased ones."""
