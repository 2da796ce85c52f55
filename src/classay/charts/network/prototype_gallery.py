"""What a network recognises as members of each class: its prototypes as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from ...expect import InputError, whole
from ...network.prototypes.prototypes import Prototypes
from ...network.prototypes.schedule import SEED
from ..style import theme
from ..style.picture_files import pictures
from ..style.theme import cut, labels, printable

SIDE, GAP = 64, 8
MOST_CLASSES = 12


def prototype_gallery(
    prototypes: Prototypes, class_names: Sequence[str] | None = None, seeds: int = 3, cores: int = 3
) -> alt.LayerChart:
    """Draw prototypes, one row per class: some walked from noise (seeds), some from other classes (cores).

    class_names : names of the head's classes, in order
    seeds, cores : how many of each
    """
    images = _images(prototypes)
    known = np.unique(prototypes.target)
    chosen = known[np.unique(np.linspace(0, len(known) - 1, MOST_CLASSES).round().astype(int))]
    all_names = [str(name) for name in class_names] if class_names is not None else None
    if all_names is not None and len(all_names) != prototypes.classes:
        raise InputError(
            f"`class_names` has {len(all_names)} names but there are {prototypes.classes} classes; they must match."
        )
    names = [str(number) if all_names is None else all_names[number] for number in range(prototypes.classes)]
    short = dict(zip(chosen.tolist(), labels([names[one] for one in chosen.tolist()])))
    whole(seeds, "seeds", at_least=0)
    whole(cores, "cores", at_least=0)
    from_noise, from_others = {}, {}
    for one in chosen.tolist():
        own = np.flatnonzero(prototypes.target == one)
        from_noise[one] = own[prototypes.origin[own] == SEED][:seeds]
        from_others[one] = _spread(prototypes, own[prototypes.origin[own] != SEED], cores)
    most = max(map(len, from_noise.values())), max(map(len, from_others.values()))
    rows: list[theme.Row] = []
    for one in chosen.tolist():
        for column, place in [*enumerate(from_noise[one]), *enumerate(from_others[one], start=most[0])]:
            origin = int(prototypes.origin[place])
            begun = "noise" if origin == SEED else f"a prototype of {printable(names[origin])[:200]}"
            rows.append(
                {"label": short[one], "column": column, "image": pictures(images[[place]], np.array([0]), 1)[0]}
                | {"name": printable(names[one])[:400], "begun": begun, "steps": f"{int(prototypes.steps[place])}"}
                | {"arrived": "yes" if prototypes.converged[place] else "no"}
            )
    if not rows:
        raise InputError("There is no prototype to draw; request at least one seed or core.")
    return _drawn(rows, list(short.values()), most, len(known), prototypes)


def _drawn(
    rows: list[theme.Row], order: list[str], columns: tuple[int, int], known: int, prototypes: Prototypes
) -> alt.LayerChart:
    step = SIDE + GAP
    width = step * sum(columns)
    y = alt.Y("label:N", title=None, scale=alt.Scale(domain=order), axis=alt.Axis(ticks=False, domain=False))
    x = alt.X("column:O", axis=None, scale=alt.Scale(domain=list(range(sum(columns)))))
    seen = theme.tooltips(name="class", begun="walked from", steps="steps", arrived="arrived")
    heads = [(0, "from noise"), (columns[0], "from prototypes of other classes")]
    layers: list[Any] = [
        theme.chart_of(rows)
        .mark_image(width=SIDE, height=SIDE, aspect=True)
        .encode(x=x, y=y, url="image:N", tooltip=seen)
    ]
    for (column, text), number in zip(heads, columns):
        if number:
            head = theme.chart_of([{"text": text}]).mark_text(style="note", align="left")
            layers.append(head.encode(x=alt.value(column * step + GAP / 2), y=alt.value(-8), text="text:N"))
    some = f" {len(order)} of {known} classes." if len(order) < known else ""
    return theme.finished(
        layers,
        width,
        alt.Step(step),
        theme.titled(
            f"What {cut(prototypes.name)} recognises as each class",
            "Inputs that the network is sure of, made without data by walking to the class. Contrast is stretched "
            f"per picture.{some}",
            width=max(width + 60, 360),
        ),
    )


def _spread(prototypes: Prototypes, cores: NDArray[np.int64], number: int) -> NDArray[np.int64]:
    """Some cores of a class, from different others."""
    first = np.sort(np.unique(prototypes.origin[cores], return_index=True)[1])
    distinct = cores[first]
    if not distinct.size or not number:
        return distinct[:0]
    even = np.unique(np.linspace(0, len(distinct) - 1, number).round().astype(int))
    return np.asarray(distinct[even])


def _images(prototypes: Prototypes) -> NDArray[np.uint8]:
    """The prototypes as bytes (m, h, w) or (m, h, w, 3), each stretched to its own contrast."""
    inputs = prototypes.inputs
    if inputs is None:
        raise InputError("The record has no inputs. Make it with keep_inputs=True.")
    if inputs.ndim != 4 or inputs.shape[1] not in (1, 3):
        raise InputError(f"The prototypes have shape {inputs.shape[1:]}; expected images of (1 or 3, height, width).")
    values = inputs.astype(float)
    scale = prototypes.settings.get("normalize")
    if scale is not None:
        mean, std = (np.reshape(part, (1, -1, 1, 1)) for part in scale)
        values = values * std + mean
    low, high = (np.quantile(values, end, axis=(1, 2, 3), keepdims=True) for end in (0.01, 0.99))
    stretched = np.clip((values - low) / np.maximum(high - low, 1e-12), 0, 1)
    images = np.moveaxis(np.round(255 * stretched).astype(np.uint8), 1, 3)
    return np.asarray(images[..., 0] if images.shape[3] == 1 else images)
