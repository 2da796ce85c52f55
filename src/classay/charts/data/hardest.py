"""The hardest rows as a table, with their text or image."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...data.row_complexity import Complexity
from ...expect import InputError, whole
from ..style import theme
from ..style.picture_files import pictures
from ..style.theme import columns, cut, figure, labels, printable

RIGHT, WRONG = "#0072B2", "#D55E00"
"""Rows that the baseline predicts correctly, and others: blue and vermilion, distinguishable with any colour vision."""
EVEN = float(np.log(2))
"""The complexity of a row that is as near to one other class as to its own."""
BAR, LETTER, SPACE, STEP, PICTURE = 110, 6.2, 22, 26, 52
LONGEST_TEXT, LONGEST_TIP = 80, 2000


def hardest_table(
    complexity: Complexity, n: int = 10, texts: ArrayLike | None = None, images: ArrayLike | None = None
) -> alt.LayerChart:
    """Draw the n rows of highest complexity as a table: label, what they look like, complexity, and text or image.

    texts : the text of each row of the data; the tooltip has all of it
    images : (rows, height, width), or (rows, height, width, 3) for colours
    """
    frame = complexity.hardest(whole(n, "n", at_least=1))
    chosen = frame["row"].to_numpy()
    row_texts = None if texts is None else _texts(texts, chosen, len(complexity))
    row_pictures = None if images is None else pictures(images, chosen, len(complexity))
    names = class_labels(np.unique(np.concatenate([frame["label"].to_numpy(), frame["nearest"].to_numpy()])))
    rows: list[theme.Row] = []
    wanted = ("row", "label", "predicted", "nearest", "complexity")
    for place, (number, label, predicted, nearest, value) in enumerate(zip(*(frame[name].tolist() for name in wanted))):
        own, other = frame["own_distance"].iloc[place], frame["nearest_distance"].iloc[place]
        rows.append(
            {
                "place": place,
                "row": f"{number}",
                "label": names[label],
                "full_label": full_name(label),
                "nearest": names[nearest],
                "full_nearest": full_name(nearest),
                "none": 0.0,
                "complexity": value,
                "figure": figure(value, ".2f" if value < 1000 else ".3g"),
                "wrong": label != predicted,
                "verdict": "the other class is nearer" if own > other else "its own class is nearer",
                "distances": f"{own:.3g} to its own, {other:.3g} to the other",
            }
        )
        if row_texts is not None:
            rows[-1] |= {"text": cut(row_texts[place], LONGEST_TEXT), "full_text": row_texts[place]}
        if row_pictures is not None:
            rows[-1]["image"] = row_pictures[place]
    return _table(rows)


def _table(rows: list[theme.Row]) -> alt.LayerChart:
    has_text, has_image = "text" in rows[0], "image" in rows[0]
    heads = ["row", "image", "label", "nearest", "complexity", "text"]
    widths = {name: _width(rows, name) for name in heads if name in rows[0]}
    starts = dict(zip(widths, np.cumsum([0, *widths.values()]).tolist()))
    total = int(sum(widths.values()) - SPACE)
    step = PICTURE + 8 if has_image else STEP
    y = alt.Y("place:O", axis=None, scale=alt.Scale(paddingInner=0, paddingOuter=0))
    shown = {"row": "row", "full_label": "label", "full_nearest": "looks like", "figure": "complexity"}
    shown |= {"distances": "distance", "verdict": "so"} | ({"full_text": "text"} if has_text else {})
    base = theme.chart_of(rows).encode(y=y, tooltip=theme.tooltips(**shown))
    most = max(max(row["complexity"] for row in rows), 2 * EVEN)
    left = starts["complexity"] + 46
    across = alt.Scale(domain=[0, most], range=[left, left + BAR - 4], nice=False)

    def along(field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=across, axis=None)

    fill = alt.condition("datum.wrong", alt.value(WRONG), alt.value(RIGHT))
    layers: list[Any] = [
        base.mark_rule(style="faint", strokeWidth=0.5, yOffset=step / 2).encode(x=alt.value(0), x2=alt.value(total)),
        base.mark_bar(height=11).encode(x=along("none"), x2="complexity:Q", color=fill),
        theme.chart_of([{"x": EVEN}]).mark_rule(style="reference", strokeDash=[4, 3]).encode(x=along("x")),
        base.mark_text(style="note", align="left").encode(x=alt.value(starts["row"]), text="row:N"),
        base.mark_text(style="name", align="left").encode(x=alt.value(starts["label"]), text="label:N"),
        base.mark_text(style="name", align="left").encode(x=alt.value(starts["nearest"]), text="nearest:N"),
        base.mark_text(style="name", align="right").encode(x=alt.value(left - 8), text="figure:N"),
    ]
    if has_text:
        layers.append(base.mark_text(style="name", align="left").encode(x=alt.value(starts["text"]), text="text:N"))
    if has_image:
        image = base.mark_image(width=PICTURE, height=PICTURE, align="left", aspect=True)
        layers.append(image.encode(x=alt.value(starts["image"]), url="image:N"))
    called_so = {"nearest": "looks like"}
    for name, start in starts.items():
        if name in widths:
            head = theme.chart_of([{"text": called_so.get(name, name)}]).mark_text(style="note", align="left")
            layers.append(head.encode(x=alt.value(start), y=alt.value(-9), text="text:N"))
    n_wrong = sum(row["wrong"] for row in rows)
    ending = f"s: {n_wrong} of {len(rows)} {'is' if n_wrong == 1 else 'are'} nearer to another class"
    return theme.finished(
        layers,
        total,
        alt.Step(step),
        theme.titled(
            f"The hardest row{'' if len(rows) == 1 else ending}",
            "Looks like: the nearest class other than its label. Dashed: log 2, as near to that class as to its own. "
            "Orange: nearer to it than to its own, so the row is hard or its label is wrong.",
            width=min(max(total, 420), 640),
        ),
    )


def _texts(texts: ArrayLike, rows: NDArray[np.int64], n_rows: int) -> list[str]:
    if isinstance(texts, str) or not hasattr(texts, "__len__"):
        raise InputError(f"`texts` is {type(texts).__name__}; expected a list with one text per row.")
    all_texts: Any = list(texts)  # type: ignore[arg-type]  # a Series by position, whatever its index
    if len(all_texts) != n_rows:
        raise InputError(f"`texts` has {len(all_texts)} texts but the result has {n_rows} rows; they must match.")
    return [cut(printable(all_texts[row]), LONGEST_TIP) for row in rows.tolist()]


def _width(rows: list[theme.Row], name: str) -> float:
    """Pixels of a column, including the space to its right."""
    if name == "image":
        return PICTURE + SPACE
    if name == "complexity":
        return 46 + BAR + SPACE
    head = len("looks like") if name == "nearest" else len(name)
    return max(head, *(columns(row[name]) for row in rows)) * LETTER + SPACE


def class_labels(values: NDArray[Any]) -> dict[Any, str]:
    """A short label for each of some classes, all different."""
    names = values.tolist()
    return dict(zip(names, labels([str(name) for name in names])))


def full_name(value: Any) -> str:
    """A class as tooltips name it."""
    return printable(str(value))[:400]
