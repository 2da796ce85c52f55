"""Which classes the baseline takes for which others."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ..data.complexity import Complexity
from . import theme
from .baseline import DEEP, PALE, WRONG, called, counted, in_full, wrong
from .words import cut

MOST_CLASSES = 25
"""With more classes than this, the most confused pairs are ranked instead."""
MOST_VALUES = 14
"""With more classes than this, values are in tooltips only."""
PAIRS, WIDTH, STEP = 20, 260, 22


def nearest_classes(complexity: Complexity) -> alt.LayerChart:
    """Draw which share of each class is nearest to which: a heat map; of many classes, bars of the worst pairs."""
    counts = _counts(complexity)
    many = max(np.unique(complexity.labels).size, complexity.classes.size) > MOST_CLASSES
    return _pairs(complexity, counts) if many else _heatmap(complexity, counts)


def _counts(complexity: Complexity) -> pd.DataFrame:
    """How many rows of each label the baseline gives to each class, and their share of the label's rows."""
    frame = pd.DataFrame({"label": complexity.labels, "predicted": complexity.predicted})
    found = frame.groupby(["label", "predicted"], sort=True).size().rename("rows").reset_index()
    found["of"] = found.groupby("label")["rows"].transform("sum")
    found["share"] = found["rows"] / found["of"]
    found["wrong"] = found["label"] != found["predicted"]
    return found


def _title(cells: list[theme.Row], drawn: str) -> str:
    """What is worst, by the figure that is drawn."""
    mistaken = [cell for cell in cells if cell["wrong"]]
    if not mistaken:
        return "No class is taken for another"
    worst = max(mistaken, key=lambda cell: float(cell[drawn]))
    pair = f"“{cut(worst['label'], 24)}” for “{cut(worst['predicted'], 24)}”"
    told = f"{_percent(worst['share'])} of its rows" if drawn == "share" else f"{worst['told']} rows"
    return f"Most often taken for another: {pair} ({told})"


def _heatmap(complexity: Complexity, counts: pd.DataFrame) -> alt.LayerChart:
    labels, classes = np.unique(complexity.labels), complexity.classes
    # Labels that the geometry has never seen have a row and no column.
    names = called(np.concatenate([classes, labels[~np.isin(labels, classes)]]))
    across, down = [names[name] for name in classes.tolist()], list(names.values())
    step = min(44, max(18, 400 // len(down)))
    x = alt.X(
        "predicted:N",
        title="nearest class (the baseline's answer)",
        scale=alt.Scale(domain=across, paddingInner=0.04),
        axis=alt.Axis(domain=False, ticks=False, labelAngle=-40 if max(map(len, across)) > 3 else 0),
    )
    y = alt.Y(
        "label:N",
        title="label",
        scale=alt.Scale(domain=down, paddingInner=0.04),
        axis=alt.Axis(domain=False, ticks=False),
    )
    cells = _cells(counts, names)
    off = [cell for cell in cells if cell["wrong"]]
    most = max((cell["share"] for cell in off), default=1.0)
    fill = alt.Color(
        "share:Q",
        scale=alt.Scale(domain=[0, most], range=[PALE, "#8fb4d6", "#3d7ab5", DEEP]),
        legend=alt.Legend(title=None, format=".0%" if most > 0.02 else ".1%", tickCount=4, gradientLength=120)
        if off
        else None,
    )
    grid = [{"label": label, "predicted": other} for label in down for other in across]
    tooltips = theme.tooltips(full="label", other="nearest class", told="rows")
    wash = theme.chart_of(grid).mark_rect(style="possible", opacity=0.45)
    layers: list[Any] = [wash.encode(x=x, y=y)]
    for chosen in (off, [cell for cell in cells if not cell["wrong"]]):
        if not chosen:
            continue
        base = theme.chart_of(chosen).encode(x=x, y=y, tooltip=tooltips)
        diagonal = chosen is not off
        rect = base.mark_rect(style="possible")
        layers.append(rect if diagonal else rect.encode(color=fill))
        if len(down) <= MOST_VALUES:
            # On the diagonal the ink is that of notes; elsewhere it is fixed, as the cells beneath it are.
            text = base.mark_text(style="note", fontSize=11) if diagonal else base.mark_text(fontSize=11)
            ink = alt.condition(f"datum.share > {0.5 * most}", alt.value("white"), alt.value("#1f2933"))
            layers.append(text.encode(text="text:N") if diagonal else text.encode(text="text:N", color=ink))
    return theme.finished(
        layers,
        alt.Step(step),
        alt.Step(step),
        theme.titled(
            _title(cells, "share"),
            "Of the rows with a label (line), the percentage nearest to a class (column). Grey diagonal: their own, as "
            "it should be. Coloured: another, so the baseline is wrong, or the label is.",
            width=max(step * len(across) + 170, 400),
        ),
    )


def _pairs(complexity: Complexity, counts: pd.DataFrame) -> alt.LayerChart:
    mistaken = counts[counts["wrong"]]
    # Ties in rows, which are common, go by share.
    worst = mistaken.sort_values(["rows", "share"], ascending=False, kind="stable")[:PAIRS]
    names = called(np.unique(np.concatenate([worst["label"].to_numpy(), worst["predicted"].to_numpy()])))
    pairs = [pair | {"place": place} for place, pair in enumerate(_cells(worst, names))]
    n_wrong = int(wrong(complexity).sum())
    most = max((pair["rows"] for pair in pairs), default=1)
    y = alt.Y("place:O", axis=None)
    base = theme.chart_of(pairs).encode(y=y, tooltip=theme.tooltips(full="label", other="nearest class", told="rows"))
    x = alt.X("rows:Q", title="rows", scale=alt.Scale(domain=[0, most]), axis=alt.Axis(tickMinStep=1, tickCount=5))
    layers: list[Any] = [
        base.mark_bar(color=WRONG, height=STEP - 8).encode(x=x),
        base.mark_text(style="name", align="right").encode(x=alt.value(-10), text="pair:N"),
        base.mark_text(style="note", align="left").encode(x=alt.value(WIDTH + 10), text="told:N"),
    ]
    if mistaken.empty:
        said = theme.chart_of([{"text": "Every row is nearest to its own class."}])
        layers = [said.mark_text(style="name", align="left").encode(x=alt.value(0), text="text:N")]
        subtitle = f"{counted(len(complexity), 'row')} in {counted(complexity.classes.size, 'class', 'classes')}."
    else:
        subtitle = (
            f"Rows with one label (first name) that are nearest to another class (second): the {len(pairs)} most "
            f"frequent of {counted(len(mistaken), 'such pair')}, with {sum(pair['rows'] for pair in pairs):,} of "
            f"{counted(n_wrong, 'wrong row')}."
        )
    height = STEP * max(len(pairs), 1)
    return theme.finished(layers, WIDTH, height, theme.titled(_title(pairs, "rows"), subtitle, width=WIDTH + 300))


def _cells(counts: pd.DataFrame, names: dict[Any, str]) -> list[theme.Row]:
    cells = []
    for label, other, rows, of, share, is_wrong in counts.itertuples(index=False, name=None):
        cells.append(
            {
                "label": names[_item(label)],
                "predicted": names[_item(other)],
                "full": in_full(_item(label)),
                "other": in_full(_item(other)),
                "pair": f"{cut(names[_item(label)], 28)} → {cut(names[_item(other)], 28)}",
                "rows": int(rows),
                "share": float(share),
                "wrong": bool(is_wrong),
                "text": _percent(share).removesuffix("%"),
                "told": f"{rows:,} of {of:,}",
            }
        )
    return cells


def _percent(share: float) -> str:
    """«12%», «0.4%», and «100%» only for all."""
    if 0 < share < 0.0095:
        return f"{100 * share:.1g}%"
    return "over 99%" if 0.995 <= share < 1 else f"{share:.0%}"


def _item(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
