"""Orientation of learners: bias by threshold, expressivity and its two parts, and the plane of both."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt
import numpy as np

from ..expect import InputError, one_of, whole
from ..learner.orientation.bias import chance, most_expressivity, most_expressivity_lauw
from ..learner.orientation.entropy_parts import FIGURES
from ..learner.orientation.orientation import Orientation, OrientationBySize, usual_threshold
from .kinds import Kinds
from .style import placement, theme
from .style.panel import DASHED, Panel, numbers
from .style.parts import by_name, capped, lines_chart, written
from .style.theme import Row, estimate_text, figure, interval, labels, printable

PLAIN = " Plain estimates of the paper, biased with few refits."


def _compared(orientations: Sequence[Orientation], *, same_holdouts: bool) -> dict[str, Orientation]:
    """Label -> orientation. With `same_holdouts` all must have one holdout size and one number of classes."""
    if not orientations:
        raise InputError("There is nothing to draw; pass at least one orientation.")
    for each in orientations:
        if not isinstance(each, Orientation):
            raise InputError(f"Got {type(each).__name__}; expected what `classay.orientation` returns.")
    first = orientations[0]
    learners = dict(zip(labels([each.learner for each in orientations]), orientations))
    for label, each in learners.items():
        if same_holdouts and (each.holdout_size, each.n_classes) != (first.holdout_size, first.n_classes):
            raise InputError(
                f"{label!r} has holdouts of {each.holdout_size} points and {each.n_classes} classes, "
                f"{next(iter(learners))!r} of {first.holdout_size} and {first.n_classes}; one chart needs the same. "
                "Use one holdout_size, and draw each data set separately."
            )
    return learners


def at_threshold(first: Orientation, threshold: int | None) -> int:
    """The threshold that was asked for, or four of five."""
    size = first.holdout_size
    right = usual_threshold(size) if threshold is None else whole(threshold, "threshold", at_least=1)
    if right > size:
        raise InputError(f"`threshold` is {right}, but holdouts have {size} points. Use at most {size}.")
    return right


# Algorithmic bias by threshold, with its interval and the range that is possible.


MOST_POINTS = 60
"""With more points than this, intervals are bands and not bars."""
MOST_TICKS = 20
"""With more thresholds than this, the ticks are thinned."""
MOST_WORDS = 8
"""With more thresholds than this, ticks say `9` and not `9 of 12`."""


def bias_chart(*orientations: Orientation) -> alt.LayerChart:
    """Draw how much more often than guessing learners get at least z of h labels right, for every z."""
    learners = _compared(orientations, same_holdouts=True)
    first, names = orientations[0], list(learners)
    size = first.holdout_size
    many = size > MOST_TICKS or size * len(learners) > MOST_POINTS
    ticks = f"datum.value + ' of {size}'" if size <= MOST_WORDS else "datum.value"
    least = min(bound.bias_low for bound in first.bounds) - 0.05
    across = f"at least this many of {size} labels right (threshold z)"
    panel = Panel(
        numbers(across, (0.5, size + 0.5), "x", values=_ticks(size), labelExpr=ticks),
        numbers("algorithmic bias", (least, 1.05), "value", labelExpr=theme.SIGNED, tickCount=8),
        theme.WIDTH,
        theme.HEIGHT,
    )
    rows, legend = _bias_rows(learners, many), theme.legend_below(names, lines=many)
    colour = theme.colour(names, legend)
    tips = {"learner": "learner", "threshold": "threshold", "value_text": "bias", "possible": "possible"}
    guess = [{"value": 0, "text": ["as good as", "guessing"]}]
    note = {"style": "note", "align": "left", "lineHeight": 12, "dy": -5}
    possible = {"style": "possible", "interpolate": "step-after"}
    layers = [
        panel.mark("area", _possible(first), y="least", y2="most", **possible),
        panel.rule("y", 0),
        panel.mark("text", guess, x=theme.WIDTH + 6, text="text", **note),
    ]
    if many:
        dash = theme.dash(names, legend)
        layers.append(panel.mark("area", rows, color=colour, opacity=0.2, y="low", y2="high"))
        layers.append(panel.mark("line", rows, tips, color=colour, strokeWidth=2, strokeDash=dash))
    else:
        layers.append(panel.mark("line", rows, color=colour, strokeWidth=1, opacity=0.5))
        layers.append(panel.mark("rule", rows, color=colour, strokeWidth=2, y="low", y2="high"))
        layers.append(panel.mark("point", rows, tips, color=colour, size=45, shape=theme.shape(names, legend)))
    title = "ow much more often right than by guessing"
    return panel.drawn(
        layers,
        f"{names[0]}: h{title}" if len(names) == 1 else f"H{title}",
        f"Height: how much more often a refit gets at least z of {size} labels right than guessing would; +0.5 "
        f"is 50 times in 100 more. {'Bands' if many else 'Bars'}: {first.bias[size].level:.0%} interval. Shaded: what "
        "is possible.",
        wrap=theme.WIDTH + 60,
    )


def _possible(orientation: Orientation) -> list[Row]:
    """The range of each threshold, from half a step before it to half a step after."""
    steps = [
        {"x": bound.threshold - 0.5, "least": bound.bias_low, "most": bound.bias_high} for bound in orientation.bounds
    ]
    return [*steps, {**steps[-1], "x": orientation.holdout_size + 0.5}]


def _bias_rows(learners: dict[str, Orientation], many: bool) -> list[Row]:
    rows = []
    for place, (label, each) in enumerate(learners.items()):
        # Side by side, so that intervals at one threshold do not cover each other.
        aside = 0.0 if many else 0.6 * ((place + 0.5) / len(learners) - 0.5)
        for bound in each.bounds:
            possible = f"{figure(bound.bias_low, '+.3f')} to {figure(bound.bias_high, '+.3f')}"
            about: Row = {"label": label, "learner": printable(each.learner), "possible": possible}
            about |= {"threshold": bound.threshold, "x": bound.threshold + aside}
            rows.append(about | interval(each.bias[bound.threshold], bound.bias_low, bound.bias_high, "+.3f"))
    return rows


def _ticks(size: int) -> list[int]:
    """Thresholds to label on the axis: all if there are few, else about ten in round steps."""
    if size <= MOST_TICKS:
        return list(range(1, size + 1))
    step = next(scale * 10**power for power in range(19) for scale in (1, 2, 5) if size <= scale * 10 ** (power + 1))
    return [1, *range(step, size + 1, step)]


# Expressivity, split into the response to data (capacity) and training randomness (stochasticity).


WIDTH, STEP = 340, 34
PARTS = {"capacity (data)": 0.95, "stochasticity (training randomness)": 0.4}
"""How opaque each part of a bar is."""
UNKNOWN = "unknown split"


def expressivity_chart(*orientations: Orientation, plugin: bool = False) -> alt.LayerChart:
    """Draw how much predictions of learners vary, in bits, and how much is due to data and to training randomness.

    `plugin`: by the paper's plain estimates, which are biased with few refits.
    """
    learners = _compared(orientations, same_holdouts=False)
    rows = [_expressivity_row(label, each, plugin) for label, each in learners.items()]
    limits = sorted({row["most"] for row in rows})
    panel = by_name(list(learners), "bits", (0, limits[-1]), size=(WIDTH, STEP))
    legend = alt.Legend(
        title=None, orient="bottom", symbolType="square", symbolSize=120, symbolFillColor=theme.COLOURS[-1]
    )
    shade = alt.Opacity("part:O", scale=alt.Scale(domain=list(PARTS), range=list(PARTS.values())), legend=legend)
    tips = {name: name for name in ("learner", *FIGURES)} | {"possible": "most possible"}
    parts = [
        row | {"part": part, "from": start, "to": end}
        for row in rows
        if row["split"]
        for part, start, end in zip(PARTS, row["split"], row["split"][1:])
    ]
    unsplit = [
        row | {"part": UNKNOWN, "from": 0.0, "to": row["value"]} for row in rows if "value" in row and not row["split"]
    ]
    thick = {"height": STEP - 12}
    layers = [
        panel.mark("bar", rows, tips, style="possible", x="none", x2="most", **thick),
        panel.mark(
            "bar", parts, tips, x="from", x2="to", opacity=shade, color=theme.colour(list(learners), None), **thick
        ),
        panel.mark("bar", unsplit, tips, style="unknown", x="from", x2="to", **thick),
        panel.mark("tick", rows, tips, style="reference", size=STEP, thickness=1.5, opacity=1, x="most"),
        *capped(panel, rows, tips),
        written(panel, rows, tips),
    ]
    possible = f"{limits[0]:.3g} bits" if len(limits) == 1 else "by holdout size and number of classes"
    return panel.drawn(
        layers,
        "How much predictions vary, and why",
        "Bar: expressivity, how much predictions vary over refits. Full colour: because of the data; pale: because "
        f"of training randomness. Thin line: {orientations[0].expressivity.level:.0%} interval. End of track: maximum "
        f"({possible})."
        + (" Dashed: the record cannot show how it splits." if unsplit else "")
        + (PLAIN if plugin else ""),
        wrap=WIDTH + 140,
    )


def _expressivity_row(label: str, orientation: Orientation, plugin: bool) -> Row:
    """The total of a learner, and the ends of its parts (`split`) if they are known."""
    shown, most = orientation.plugin if plugin else orientation, orientation.log2_labelings
    total, capacity, stochasticity = (getattr(shown, name) for name in FIGURES)
    # Lower limits do not add up, unless there is only one part.
    adds_up = orientation.deterministic or not (capacity.prefix or stochasticity.prefix)
    split = adds_up and capacity.known and stochasticity.known
    return {
        "label": label,
        "learner": printable(orientation.learner),
        **{name: estimate_text(getattr(shown, name)) for name in FIGURES},
        "possible": f"{most:.3g} bits",
        "none": 0.0,
        "most": most,
        **interval(total, 0.0, most),
        "figure": total.prefix + figure(total.value, ".2f") + ("" if split else f" ({UNKNOWN})"),
        "split": (0.0, capacity.value, total.value) if split else None,
    }


# The plane of bias and expressivity: where learners are, and where none can be.


PLANE_SIZE, MARGIN = (460, 340), 190
CURVES = {"tight": "none can be above (tight bound)", "lauw": "published, looser bound"}
PLANES = ("expressivity", "capacity")


def plane_chart(
    *orientations: Orientation, threshold: int | None = None, figure: str = "expressivity"
) -> alt.LayerChart:
    """Draw learners by bias and expressivity, or capacity, at one threshold (default: four of five), under the bounds.

    Both are plain estimates, `orientation.plugin`: the bounds hold exactly for them. How low a learner can be depends
    on how its bias is spread over holdouts, so each has its own lower limit, the short line below it. The upper bound
    of capacity is that of expressivity: a learner without training randomness reaches it.
    """
    learners = _compared(orientations, same_holdouts=True)
    one_of(figure, "figure", PLANES)
    first, names = orientations[0], list(learners)
    size, right = first.holdout_size, at_threshold(first, threshold)
    curves = _curves(first, right)
    rows = [row for label, each in learners.items() for row in _plane_row(label, each, right, figure)]
    if not rows:
        raise InputError("Capacity is unknown for all of these learners: record with repeats=2 or more.")
    title = f"algorithmic bias: at least {right} of {size} right, beyond guessing"
    ends = curves[0]["x"], curves[-1]["x"]
    panel = Panel(
        numbers(title, ends, "x", labelExpr=theme.SIGNED, tickCount=8),
        numbers(f"{figure}, bits", (0.0, first.log2_labelings * 1.05), "y"),
        *PLANE_SIZE,
    )
    colour = theme.colour(names, theme.legend_below(names) if len(names) > placement.MOST else None)
    tips = {"learner": "learner", "bias_text": "bias", "value_text": f"{figure} (plain)"}
    tips |= {"room": "possible with this bias"}
    # The curves' names, right of where they end, kept apart.
    last = sorted(CURVES, key=lambda name: curves[-1][name])
    unit = PLANE_SIZE[1] / panel.y["scale"]["domain"][1]
    heights = placement.apart([curves[-1][name] * unit for name in last])
    notes = [{"text": CURVES[name], "y": height / unit} for name, height in zip(last, heights)]
    beside = PLANE_SIZE[0] + 6
    layers = [
        panel.mark("area", curves, style="possible", y="none", y2="tight"),
        panel.mark("line", curves, style="reference", strokeWidth=1, strokeDash=DASHED, y="lauw"),
        panel.mark("line", curves, style="reference", strokeWidth=2, y="tight"),
        panel.mark("text", notes, style="note", align="left", x=beside, text="text"),
        panel.mark("tick", rows, color=colour, orient="horizontal", size=14, thickness=1.5, opacity=1, y="least"),
        *placement.crosses(
            panel,
            rows,
            names,
            tips,
            taken=[(point["x"], point[name]) for point in curves for name in CURVES],
            written=[(CURVES[name], beside, PLANE_SIZE[1] - height) for name, height in zip(last, heights)],
            margin=MARGIN,
        ),
    ]
    data = figure == "capacity"
    return panel.drawn(
        layers,
        f"The stronger its bias to the truth, the less its predictions can vary{' with the data' if data else ''}",
        f"Farther right: at least {right} of {size} labels right more often than by guessing. Higher: predictions "
        f"vary more {'with the training sample' if data else 'over refits'}. Shaded: what is possible. Crosses: "
        f"{first.bias[right].level:.0%} intervals of the plain estimates, for which the bounds hold. Short line below "
        "a cross: the lowest that this learner could be.",
        wrap=PLANE_SIZE[0] + 180,
    )


def _curves(orientation: Orientation, threshold: int) -> list[dict[str, float]]:
    """The bounds over q, the probability of the target, from 0 to 1; denser at the ends, where they are steep."""
    size, n_classes = orientation.holdout_size, orientation.n_classes
    p = chance(threshold, size, n_classes)
    masses: list[float] = ((1 - np.cos(np.linspace(0, np.pi, 121))) / 2).tolist()
    return [
        {
            "x": q - p,
            "tight": most_expressivity(q, threshold, size, n_classes),
            "lauw": most_expressivity_lauw(q - p, orientation.log2_labelings),
            "none": 0.0,
        }
        for q in masses
    ]


def _plane_row(label: str, orientation: Orientation, threshold: int, figure: str) -> list[Row]:
    """The row of a learner; none if its figure is unknown."""
    bound, bias, spread = (
        orientation.bounds[threshold - 1], orientation.bias[threshold], getattr(orientation.plugin, figure)
    )  # fmt: skip
    if not spread.known:
        return []
    least, most = getattr(bound, f"{figure}_least"), getattr(bound, f"{figure}_tight")
    sideways = interval(bias, bound.bias_low, bound.bias_high, "+.3f")
    row = {"label": label, "learner": printable(orientation.learner), "filled": True, "x": bias.value}
    row |= {"left": sideways["low"], "right": sideways["high"], "bias_text": sideways["value_text"]}
    row |= {"least": least, "room": f"{least:.3g} to {most:.3g} bits"}
    return [row | interval(spread, 0.0, orientation.log2_labelings) | {"y": spread.value}]


# Entropies by the number of points looked at together.


def by_size_chart(curve: OrientationBySize, plugin: bool = False) -> alt.LayerChart:
    """Draw expressivity, capacity and stochasticity by number of points; hollow where they are lower limits.

    `plugin=True` draws the paper's plain estimates in place of the corrected ones.
    """
    most = max(curve.sizes) * math.log2(curve.n_classes)
    lines = {name: (curve.plugin[name] if plugin else getattr(curve, name), (0.0, most)) for name in FIGURES}
    sizes = alt.Scale(nice=False, zero=False, padding=8)
    panel = Panel(
        numbers("points looked at together", field="x", scale=sizes, values=list(curve.sizes), format="d"),
        numbers("bits", field="value", scale=alt.Scale(zero=True)),
        theme.WIDTH,
        theme.HEIGHT,
    )
    how, behind = PLAIN.strip(), []
    if not plugin:
        how = (
            "Dashed: capacity of one point times the number of points, a ceiling of capacity only if labels are "
            "independent given the sample."
        )
        ceiling = [{"x": size, "value": value} for size, value in curve.ceiling.items() if np.isfinite(value)]
        behind = [panel.mark("line", ceiling, style="reference", strokeDash=DASHED)]
    title = f"{theme.cut(curve.learner)}: how much predictions vary, by number of points"
    return lines_chart(lines, "points", panel, (title, how), behind)


ORIENTATION: Kinds = {
    "both": lambda one, plugin=False: theme.beside(bias_chart(one), expressivity_chart(one, plugin=plugin)),
    "bias": bias_chart,
    "expressivity": expressivity_chart,
    "plane": plane_chart,
}
"""`plugin=True` draws the paper's plain estimates in place of the corrected ones; the plane always does."""
BY_SIZE: Kinds = {"by size": by_size_chart}
