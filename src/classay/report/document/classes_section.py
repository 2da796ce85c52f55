"""The sections of a report on more classes, and on networks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ... import charts
from ...charts.style.theme import printable
from ...classes.extrapolate.extrapolate import Extrapolation
from ...network.quality.figures import FIGURES
from ...network.quality.quality import NetworkQuality
from ..results import Results
from .document import Cell, Picture, Section, Sheet
from .learners_section import spec_of
from .phrases import bits, joined, percent, quoted, share
from .shown_rows import cell, frame_sheet

MOST_PAIRS = 20
TITLE, NETWORKS = "How accurate with more classes?", "Networks, by their weights alone"


def classes_section(results: Results) -> Section:
    """The forecast for more classes."""
    classes = results.classes
    if classes is None:
        return Section("classes", TITLE, "", absent=results.why.get("classes", ""), folded=True)
    forecast, size = classes.forecast, results.rows.classes.size
    forecasts = [f"{percent(each)} among {k:,}" for k, each in zip(forecast.k, forecast.estimates) if each.known]
    lead = (
        f"With equal weight for every class, {quoted(classes.learner)}, the most accurate learner with scores, "
        f"predicts {percent(forecast.curve.at(size))} correctly among {size} classes. Forecast for more "
        f"classes of the same kind: {joined(forecasts) if forecasts else 'not possible from these scores'}. "
        f"{_back_test(forecast, size)} Estimated information of its scores about the class: "
        f"{bits(classes.information.implied)}."
    )
    rows: list[tuple[Cell, ...]] = [(f"{size} classes (now)", forecast.curve.at(size))]
    rows += [(f"{k:,} classes", estimate) for k, estimate in zip(forecast.k, forecast.estimates)]
    sheet = Sheet("curve", "Accuracy by the number of classes", ("classes", "accuracy_now"), tuple(rows), sort=False)
    picture = Picture(
        "curve",
        "Accuracy by the number of classes",
        "Accuracy with fewer and with more classes than there are, with its interval.",
        _named(spec_of(charts.extrapolation_chart(forecast)), classes.learner),
        sheet,
    )
    return Section("classes", TITLE, lead, (picture,), folded=True)


def _named(spec: dict[str, Any], learner: str) -> dict[str, Any]:
    """The chart with the learner's name in its title, where a curve of bare scores has the word scores."""
    title = spec.get("title")
    if isinstance(title, dict) and isinstance(title.get("text"), list) and title["text"]:
        first, colon, rest = str(title["text"][0]).partition(": ")
        title["text"][0] = f"{printable(learner)}: {rest}" if colon else first
    return spec


def _back_test(forecast: Extrapolation, size: int) -> str:
    """How well the same method predicts a known accuracy."""
    if not forecast.back_tests:
        return f"{size} classes are too few to check the accuracy of such a forecast."
    test = forecast.back_tests[0]
    return (
        f"Back-test: from {test.n_classes} of the classes, the forecast for all {size} was "
        f"{share(float(np.mean(test.foreseen)))}; the actual accuracy is {share(test.actual)} (typical error "
        f"{100 * test.error:.1f} points)."
    )


def networks_section(results: Results) -> Section:
    """What can be measured of networks without data."""
    if not results.networks:
        return Section("networks", NETWORKS, "", absent="no network was given (--network)", folded=True)
    names = ("estimate", "structure", "converged", "within", "between", "row_spread")
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            name,
            "unknown" if net.labelled is None else net.labelled,
            cell(net.figures.get("structure")),
            net.converged,
            net.within,
            net.between,
            cell(net.figures.get("row_spread")),
        )
        for name, net in results.networks.items()
    )
    note = "Directions: higher is better for each of them; a structure below .05 is that of random weights."
    details = tuple(_figures(name, net) for name, net in results.networks.items())
    title, columns = "Networks: the figures that decide", ("network", *names)
    sheet = Sheet("networks", title, columns, rows, note, tuple(results.networks), details)
    pictures = tuple(
        Picture(
            f"cosines/{name}",
            f"Which classes {name} is most likely to confuse, by its head",
            str(net),
            spec_of(charts.class_cosines(net, of="rows")),
            _pairs(name, net.per_pair),
        )
        for name, net in results.networks.items()
    )
    lead = (
        "From architecture and weights alone. Without labelled rows the accuracy of a network cannot be known; these "
        "figures show whether it is trained at all, and which classes it finds similar."
    )
    return Section("networks", NETWORKS, lead, pictures, (sheet,), folded=True)


def _figures(name: str, net: NetworkQuality) -> Sheet:
    """Every other figure, to be opened."""
    rows = [("H_w", cell(net.classifier_quality)), *(("the paper's bounds", cell(end)) for end in net.accuracy_bounds)]
    rows += [(f"{figure.replace('_', ' ')}: {FIGURES[figure]}", cell(value)) for figure, value in net.figures.items()]
    return Sheet(f"figures/{name}", f"All figures of {name}", ("measure", "value"), tuple(rows))


def _pairs(name: str, pairs: pd.DataFrame) -> Sheet:
    closest = pairs.sort_values("rows", ascending=False).head(MOST_PAIRS)
    columns = {"first": "class", "second": "other class", "rows": "cosine of rows"}
    return frame_sheet(f"pairs/{name}", f"Closest classes of {name}", closest, columns)
