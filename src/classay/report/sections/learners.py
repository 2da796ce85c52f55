"""The sections of a report that are about learners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from ... import charts
from ...expect import counted
from ...intervals import Estimate
from ...learner.orientation.orientation import usual_threshold
from ...learner.stability.comparison import stabilities
from ..document import Cell, Picture, Section, Sheet
from ..figures import learner_figures
from ..phrases import joined, percent, quoted
from ..results import LearnerResults, Results

OVERVIEW = (
    "accuracy", "refit_accuracy", "stability", "kappa", "bias", "capacity", "stochasticity", "gap", "seconds_per_fit",
)  # fmt: skip


def spec_of(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """A chart as a specification for the page."""
    spec: dict[str, Any] = chart.to_dict()
    spec.pop("$schema", None)  # a URL, although it is never loaded
    return spec


def sheet_of(key: str, title: str, names: Sequence[str], results: Results, note: str = "") -> Sheet:
    """Figures of all learners, one row per learner."""
    unknown = Estimate(float("nan"), float("nan"), float("nan"), kind="unknown")
    rows: list[tuple[Cell, ...]] = []
    for name, one in results.learners.items():
        values = learner_figures(one, results.data)
        rows.append((name, *(values.get(figure, unknown) for figure in names)))
    return Sheet(key, title, ("learner", *names), tuple(rows), note, tuple(results.learners))


def learners_section(results: Results) -> Section:
    """The overview, and charts that compare the learners."""
    learners = results.learners
    oriented = next(iter(learners.values())).orientation
    threshold = usual_threshold(oriented.holdout_size)
    overview = sheet_of(
        "overview",
        "Learners side by side",
        OVERVIEW,
        results,
        f"Bias: at least {threshold} of {oriented.holdout_size} test predictions right, beyond chance. Bits: for the "
        f"predictions on {oriented.holdout_size} test points. Small numbers: 95 % interval.",
    )
    table = stabilities({name: one.stability for name, one in learners.items()})
    pictures = [
        Picture(
            "plane",
            "Accuracy against stability",
            "How often each learner is right, and how often two refits of it predict the same. Best is top right.",
            spec_of(charts.stability_plane(table)),
            sheet_of(
                "plane", "Accuracy and stability", ("refit_accuracy", "stability", "kappa", "stability_probes"), results
            ),
        ),
        Picture(
            "expressivity",
            "Why predictions vary",
            "How much the predictions of each learner vary over refits, split into the part that depends on the "
            "training sample (capacity) and the part due to training randomness (stochasticity).",
            spec_of(charts.expressivity_chart(*(one.orientation for one in learners.values()))),
            sheet_of("split", "Bits by source", ("expressivity", "capacity", "stochasticity", "dice"), results),
        ),
    ]
    if results.kinship is not None:
        kin = results.kinship
        distances = Sheet(
            "kinship",
            "Jensen–Shannon distance between predictions",
            ("learner", *kin.names),
            tuple((name, *(float(value) for value in row)) for name, row in zip(kin.names, kin.jensen_shannon)),
            "0: the same predictions, 1: nothing in common.",
            kin.names,
        )
        drawn = charts.kinship_heatmap(kin) if len(kin.names) < 3 else charts.kinship_map(kin)
        pictures.append(Picture("kinship", "Which learners predict alike", str(kin), spec_of(drawn), distances))
    best = max(learners.values(), key=lambda one: one.stability.accuracy.value)
    steady = max(learners.values(), key=lambda one: one.stability.stability.value)
    lead = (
        f"{quoted(best.name)} is the most accurate: trained on {_trained(results)}, it predicts "
        f"{percent(best.stability.accuracy)} of the test points correctly. "
    )
    lead += "It is also the most stable: " if best is steady else f"{quoted(steady.name)} is the most stable: "
    lead += f"two of its refits agree on {percent(steady.stability.stability)} of the points."
    if len(learners) == 1:
        lead = (
            f"Trained on {_trained(results)}, {quoted(best.name)} predicts {percent(best.stability.accuracy)} of the "
            f"test points correctly; two refits agree on {percent(best.stability.stability)} of them."
        )
    return Section("learners", "Learners", lead, tuple(pictures), (overview,))


def _trained(results: Results) -> str:
    """The rows on which refits were trained."""
    size = results.settings.get("size", "all")
    return "half of the training part" if size == "all" else f"{size:,} rows"


def disagreement_section(results: Results) -> Section:
    """Where refits of each learner disagree."""
    sheets, lacking = [], []
    for name, one in results.learners.items():
        if one.regions is None:  # mostly for all learners and for the same reason
            lacking.append(one.why.get("regions", "unknown"))
            continue
        sheets.append(_regions(name, one))
    if not sheets:
        return Section("disagreement", "Where refits disagree", "", absent=" ".join(dict.fromkeys(lacking)))
    empty = [name for name, one in results.learners.items() if one.regions is not None and not one.regions.regions]
    on = next(one.regions.on for one in results.learners.values() if one.regions is not None)
    spread = " (points spread evenly over the range of every column)" if on == "uniform probes" else ""
    lead = (
        f"Ranges and categories in which two refits disagree more often than elsewhere, on {on}{spread}: "
        "found with half of the refits and points, confirmed with the other half."
    )
    if empty:
        lead += f" For {joined([quoted(name) for name in empty])} no region stands out."
    filled = tuple(sheet for sheet in sheets if sheet.rows)
    return Section("disagreement", "Where refits disagree", lead, _plane(results), filled)


def _regions(name: str, one: LearnerResults) -> Sheet:
    assert one.regions is not None
    rows = tuple(
        (each.condition, each.share, each.rate, each.rest_rate, each.lift, each.q_value) for each in one.regions.regions
    )
    return Sheet(
        f"disagreement/{name}",
        f"Where refits of {name} disagree",
        ("where", "share of points", "disagreement", "rest_disagreement", "lift", "q_value"),
        rows,
        f"{counted(len(one.regions.tested), 'region')} tested on {one.regions.n_points} {one.regions.on}.",
        (name,) * len(rows),
    )


def _plane(results: Results) -> tuple[Picture, ...]:
    """The least stable learner with a region of two numeric columns, drawn on them."""
    for name, one in sorted(results.learners.items(), key=lambda item: item[1].stability.stability.value):
        if one.regions is None or one.on_probes is None or not one.regions.regions:
            continue
        source = one.on_probes if one.regions.on != one.stability.on else one.stability
        try:
            rows = None if source is one.on_probes else results.test_table
            drawn = charts.disagreement_plane(source, X=rows, regions=one.regions)
        except ValueError:
            continue
        text = f"Where refits of {name} disagree, on the two columns that show it best."
        return (Picture("where", f"Where refits of {name} disagree", text, spec_of(drawn), _regions(name, one)),)
    return ()
