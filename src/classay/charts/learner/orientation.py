"""Orientation of learners: bias by threshold, expressivity and its two parts, and the plane of both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from ...expect import InputError, one_of, whole
from ...learner.orientation.bias import chance, most_expressivity, most_expressivity_lauw
from ...learner.orientation.entropy_parts import FIGURES
from ...learner.orientation.orientation import Orientation, OrientationBySize, usual_threshold
from ..kinds import Charts, check_kind, draw_kind
from ..style import placement, theme
from ..style.parts import lines_chart
from ..style.placement import apart
from ..style.theme import estimate_text, figure, labels, printable, within


def draw_orientation(orientation: Orientation, kind: str = "both", **options: Any) -> alt.TopLevelMixin:
    """Kinds: both (bias beside expressivity), bias, expressivity, plane (which takes a threshold and a figure).

    `plugin=True` draws the paper's plain estimates in place of the corrected ones; the plane always does.
    """
    charts: Charts = {
        "both": (lambda one, **taken: theme.beside(bias_chart(one), expressivity_chart(one, **taken)), ("plugin",)),
        "bias": (bias_chart, ()),
        "expressivity": (expressivity_chart, ("plugin",)),
        "plane": (plane_chart, ("threshold", "figure")),
    }
    return draw_kind(orientation, kind, charts, options)


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
    x = alt.X(
        "x:Q",
        title=f"at least this many of {size} labels right (threshold z)",
        scale=alt.Scale(domain=[0.5, size + 0.5], nice=False, zero=False),
        axis=alt.Axis(values=_ticks(size), labelExpr=ticks),
    )
    y = alt.Y(
        "bias:Q",
        title="algorithmic bias",
        scale=alt.Scale(domain=[min(bound.bias_low for bound in first.bounds) - 0.05, 1.05], nice=False),
        axis=alt.Axis(labelExpr=theme.SIGNED, tickCount=8),
    )
    zero = theme.chart_of([{"bias": 0, "text": ["as good as", "guessing"]}])
    layers: list[Any] = [
        theme.chart_of(_possible(first))
        .mark_area(style="possible", interpolate="step-after")
        .encode(x=x, y=alt.Y("least:Q"), y2="most:Q"),
        zero.mark_rule(style="reference").encode(y=y),
        zero.mark_text(style="note", align="left", lineHeight=12, dy=-5).encode(
            x=alt.value(theme.WIDTH + 6), y=y, text="text:N"
        ),
    ]
    legend = theme.legend_below(names, lines=many)
    base = theme.chart_of(_bias_rows(learners, many)).encode(x=x, y=y, color=theme.colour(names, legend))
    tooltips = theme.tooltips(learner="learner", threshold="threshold", value_text="bias", possible="possible")
    if many:
        bars = "Bands"
        layers.append(base.mark_area(opacity=0.2).encode(y=alt.Y("low:Q"), y2="high:Q"))
        layers.append(base.mark_line(strokeWidth=2).encode(strokeDash=theme.dash(names, legend), tooltip=tooltips))
    else:
        bars = "Bars"
        layers.append(base.mark_line(strokeWidth=1, opacity=0.5))
        layers.append(base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q"), y2="high:Q"))
        points = base.mark_point(size=45, filled=True, opacity=1)
        layers.append(points.encode(shape=theme.shape(names, legend), tooltip=tooltips))
    title = "How much more often right than by guessing"
    return theme.finished(
        layers,
        theme.WIDTH,
        theme.HEIGHT,
        theme.titled(
            f"{names[0]}: {title[0].lower()}{title[1:]}" if len(names) == 1 else title,
            f"Height: how much more often a refit gets at least z of {size} labels right than guessing would; +0.5 "
            f"is 50 times in 100 more. {bars}: {first.bias[size].level:.0%} interval. Shaded: what is possible.",
            width=theme.WIDTH + 60,
        ),
    )


def _possible(orientation: Orientation) -> list[theme.Row]:
    """The range of each threshold, from half a step before it to half a step after."""
    steps = [
        {"x": bound.threshold - 0.5, "least": bound.bias_low, "most": bound.bias_high} for bound in orientation.bounds
    ]
    return [*steps, {**steps[-1], "x": orientation.holdout_size + 0.5}]


def _bias_rows(learners: dict[str, Orientation], many: bool) -> list[theme.Row]:
    rows = []
    for place, (label, each) in enumerate(learners.items()):
        # Side by side, so that intervals at one threshold do not cover each other.
        aside = 0.0 if many else 0.6 * ((place + 0.5) / len(learners) - 0.5)
        for bound in each.bounds:
            estimate = each.bias[bound.threshold]
            low, high = within(estimate, bound.bias_low, bound.bias_high)
            rows.append(
                {
                    "label": label,
                    "learner": printable(each.learner),
                    "threshold": bound.threshold,
                    "x": bound.threshold + aside,
                    "bias": estimate.value,
                    "low": low,
                    "high": high,
                    "value_text": estimate_text(estimate, "+.3f"),
                    "possible": f"{figure(bound.bias_low, '+.3f')} to {figure(bound.bias_high, '+.3f')}",
                }
            )
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
    names = list(learners)
    totals, parts, unknown = _expressivity_rows(learners, plugin)
    limits = sorted({row["most"] for row in totals})
    scale = alt.Scale(domain=[0, limits[-1]], nice=False)
    y = alt.Y("label:N", title=None, scale=alt.Scale(domain=names), axis=alt.Axis(ticks=False, domain=False))

    def across(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title="bits", scale=scale, axis=alt.Axis(tickCount=6))

    shade = alt.Opacity(
        "part:O",
        scale=alt.Scale(domain=list(PARTS), range=list(PARTS.values())),
        legend=alt.Legend(
            title=None, orient="bottom", symbolType="square", symbolSize=120, symbolFillColor=theme.COLOURS[-1]
        ),
    )
    tooltips = theme.tooltips(
        learner="learner",
        expressivity="expressivity",
        capacity="capacity",
        stochasticity="stochasticity",
        possible="most possible",
    )
    whole = theme.chart_of(totals).encode(y=y, tooltip=tooltips)
    split = theme.chart_of(parts).encode(x=across("from"), x2="to:Q", y=y, tooltip=tooltips)
    unsplit = theme.chart_of(unknown).encode(y=y, tooltip=tooltips)
    thick = STEP - 12
    layers: list[Any] = [
        whole.mark_bar(style="possible", height=thick).encode(x=across("none"), x2="most:Q"),
        split.mark_bar(height=thick).encode(opacity=shade, color=theme.colour(names, None)),
        unsplit.mark_bar(style="unknown", height=thick).encode(x=across("from"), x2="to:Q"),
        whole.mark_tick(style="reference", size=STEP, thickness=1.5, opacity=1).encode(x=across("most")),
        whole.mark_rule(style="interval").encode(x=across("low"), x2="high:Q"),
        *(
            whole.mark_tick(style="interval", size=8, thickness=1.4, opacity=1).encode(x=across(end))
            for end in ("low", "high")
        ),
        whole.mark_text(style="name", align="left").encode(x=alt.value(WIDTH + 8), text="figure:N"),
    ]
    possible = f"{limits[0]:.3g} bits" if len(limits) == 1 else "by holdout size and number of classes"
    return theme.finished(
        layers,
        WIDTH,
        alt.Step(STEP),
        theme.titled(
            "How much predictions vary, and why",
            "Bar: expressivity, how much predictions vary over refits. Full colour: because of the data; pale: because "
            f"of training randomness. Thin line: {totals[0]['level']} interval. End of track: maximum ({possible})."
            + (" Dashed: the record cannot show how it splits." if unknown else "")
            + (" Plain estimates of the paper, biased with few refits." if plugin else ""),
            width=WIDTH + 140,
        ),
    )


def _expressivity_rows(
    learners: dict[str, Orientation], plugin: bool
) -> tuple[list[theme.Row], list[theme.Row], list[theme.Row]]:
    """Rows of totals, of known parts, and of totals whose parts are unknown."""
    totals: list[theme.Row] = []
    parts: list[theme.Row] = []
    unknown: list[theme.Row] = []
    for label, each in learners.items():
        shown = each.plugin if plugin else each
        most, whole = each.log2_labelings, shown.expressivity
        low, high = within(whole, 0.0, most)
        # Lower limits do not add up, unless there is only one part.
        adds_up = each.deterministic or not (shown.capacity.prefix or shown.stochasticity.prefix)
        split = adds_up and shown.capacity.known and shown.stochasticity.known
        about = {
            "label": label,
            "learner": printable(each.learner),
            "expressivity": estimate_text(whole),
            "capacity": estimate_text(shown.capacity),
            "stochasticity": estimate_text(shown.stochasticity),
            "possible": f"{most:.3g} bits",
        }
        totals.append(
            about
            | {"none": 0.0, "most": most, "low": low, "high": high}
            | {
                "figure": whole.prefix + figure(whole.value, ".2f") + ("" if split else f" ({UNKNOWN})"),
                "level": f"{whole.level:.0%}",
            }
        )
        if split:
            ends = (0.0, shown.capacity.value, whole.value)
            parts += [
                about | {"part": part, "from": start, "to": end} for part, start, end in zip(PARTS, ends, ends[1:])
            ]
        elif whole.known:
            unknown.append(about | {"part": UNKNOWN, "from": 0.0, "to": whole.value})
    return totals, parts, unknown


# The plane of bias and expressivity: where learners are, and where none can be.


PLANE_WIDTH, PLANE_HEIGHT, MARGIN = 460, 340, 190
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
    first, labels = orientations[0], list(learners)
    size = first.holdout_size
    right = usual_threshold(size) if threshold is None else whole(threshold, "threshold", at_least=1)
    if right > size:
        raise InputError(f"`threshold` is {right}, but holdouts have {size} points. Use at most {size}.")
    curves, rows = _curves(first, right), _plane_rows(learners, right, figure)
    if not rows:
        raise InputError("Capacity is unknown for all of these learners: record with repeats=2 or more.")
    frame = placement.Frame(
        PLANE_WIDTH, PLANE_HEIGHT, (curves[0]["bias"], curves[-1]["bias"]), (0.0, first.log2_labelings * 1.05)
    )
    notes = _names_of_curves(curves[-1], frame)
    sideways = alt.Scale(domain=list(frame.across), nice=False, zero=False)
    upwards = alt.Scale(domain=list(frame.up), nice=False)

    def across(field: str) -> alt.X:
        title = f"algorithmic bias: at least {right} of {size} right, beyond guessing"
        axis = alt.Axis(labelExpr=theme.SIGNED, tickCount=8)
        return alt.X(f"{field}:Q", title=title, scale=sideways, axis=axis)

    def up(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title=f"{figure}, bits", scale=upwards, axis=alt.Axis(tickCount=6))

    bounds = theme.chart_of(curves).encode(x=across("bias"))
    legend = theme.legend_below(labels) if len(labels) > placement.MOST else None
    least = theme.chart_of(rows).encode(x=across("x"), y=up("least"), color=theme.colour(labels, legend))
    tooltips = theme.tooltips(
        learner="learner", bias_text="bias", expressivity_text=f"{figure} (plain)", room="possible with this bias"
    )
    layers: list[Any] = [
        bounds.mark_area(style="possible").encode(y=up("none"), y2="tight:Q"),
        bounds.mark_line(style="reference", strokeWidth=1, strokeDash=[4, 3]).encode(y=up("lauw")),
        bounds.mark_line(style="reference", strokeWidth=2).encode(y=up("tight")),
        theme.chart_of(notes)
        .mark_text(style="note", align="left")
        .encode(x=alt.value(PLANE_WIDTH + 6), y=up("expressivity"), text="text:N"),
        least.mark_tick(orient="horizontal", size=14, thickness=1.5, opacity=1),
        *placement.crosses(
            frame,
            rows,
            labels,
            across,
            up,
            tooltips,
            taken=[(point["bias"], point[name]) for point in curves for name in CURVES],
            written=[(note["text"], PLANE_WIDTH + 6, frame.pixels(0, note["expressivity"])[1]) for note in notes],
            margin=MARGIN,
        ),
    ]
    return theme.finished(
        layers,
        PLANE_WIDTH,
        PLANE_HEIGHT,
        theme.titled(
            "The stronger its bias to the truth, the less its predictions can vary"
            + (" with the data" if figure == "capacity" else ""),
            f"Farther right: at least {right} of {size} labels right more often than by guessing. Higher: predictions "
            f"vary more {'with the training sample' if figure == 'capacity' else 'over refits'}. Shaded: what is "
            f"possible. Crosses: {rows[0]['level']} intervals of the plain estimates, for which the bounds hold. Short "
            "line below a cross: the lowest that this learner could be.",
            width=PLANE_WIDTH + 180,
        ),
    )


def _curves(orientation: Orientation, threshold: int) -> list[dict[str, float]]:
    """The bounds over q, the probability of the target, from 0 to 1; denser at the ends, where they are steep."""
    size, n_classes = orientation.holdout_size, orientation.n_classes
    p = chance(threshold, size, n_classes)
    masses: list[float] = ((1 - np.cos(np.linspace(0, np.pi, 121))) / 2).tolist()
    return [
        {
            "bias": q - p,
            "tight": most_expressivity(q, threshold, size, n_classes),
            "lauw": most_expressivity_lauw(q - p, orientation.log2_labelings),
            "none": 0.0,
        }
        for q in masses
    ]


def _plane_rows(learners: dict[str, Orientation], threshold: int, figure: str) -> list[theme.Row]:
    rows = []
    for label, each in learners.items():
        bound, bias, spread = each.bounds[threshold - 1], each.bias[threshold], getattr(each.plugin, figure)
        if not spread.known:
            continue
        least, most = getattr(bound, f"{figure}_least"), getattr(bound, f"{figure}_tight")
        left, right = within(bias, bound.bias_low, bound.bias_high)
        low, high = within(spread, 0.0, each.log2_labelings)
        rows.append(
            {
                "label": label,
                "learner": printable(each.learner),
                "filled": True,
                "x": bias.value,
                "left": left,
                "right": right,
                "y": spread.value,
                "low": low,
                "high": high,
                "bias_text": estimate_text(bias, "+.3f"),
                "expressivity_text": estimate_text(spread),
                "least": least,
                "room": f"{least:.3g} to {most:.3g} bits",
                "level": f"{bias.level:.0%}",
            }
        )
    return rows


def _names_of_curves(end: dict[str, float], frame: placement.Frame) -> list[theme.Row]:
    """The curves' names, right of where they end, kept apart."""
    unit = frame.height / frame.up[1]
    heights = apart([end[name] * unit for name in sorted(CURVES, key=end.__getitem__)])
    named = zip(sorted(CURVES, key=end.__getitem__), heights)
    return [{"text": CURVES[name], "expressivity": height / unit} for name, height in named]


# Entropies by the number of points looked at together.


def draw_by_size(curve: OrientationBySize, **options: Any) -> alt.LayerChart:
    """Draw expressivity, capacity and stochasticity by number of points; hollow where they are lower limits.

    `plugin=True` draws the paper's plain estimates in place of the corrected ones.
    """
    check_kind("by size", {"by size": ("plugin",)}, options)
    plugin, most = options.get("plugin", False), max(curve.sizes) * math.log2(curve.n_classes)
    lines = {name: (curve.plugin[name] if plugin else getattr(curve, name), (0.0, most)) for name in FIGURES}
    x = alt.X(
        "x:Q",
        title="points looked at together",
        scale=alt.Scale(nice=False, zero=False, padding=8),
        axis=alt.Axis(values=list(curve.sizes), format="d"),
    )
    y = alt.Y("value:Q", title="bits", axis=alt.Axis(tickCount=6), scale=alt.Scale(zero=True))
    how, behind = "Plain estimates of the paper, biased with few refits.", []
    if not plugin:
        how = (
            "Dashed: capacity of one point times the number of points, a ceiling of capacity only if labels are "
            "independent given the sample."
        )
        ceiling = [{"x": size, "value": value} for size, value in curve.ceiling.items() if np.isfinite(value)]
        behind = [theme.chart_of(ceiling).mark_line(style="reference", strokeDash=[4, 3]).encode(x=x, y=y)]
    title = f"{theme.cut(curve.learner)}: how much predictions vary, by number of points"
    return lines_chart(lines, "points", x, y, (theme.WIDTH, theme.HEIGHT), (title, how), behind)
