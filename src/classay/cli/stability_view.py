"""What `classay stability` shows: words, tables, JSON and charts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..expect import InputError
from . import console
from .recording import record_as_json, table_as_json

if TYPE_CHECKING:
    from ..learner.disagreement import DisagreementRegions
    from ..learner.labelings import Labelings
    from ..learner.stability import Stability
    from ..learner.stability_table import StabilityTable
    from ..tables import Table

REGION_COLUMNS = ["where", "share of\npoints", "disagreement", "elsewhere", "lift", "q"]


def show(
    records: dict[str, Labelings],
    found: dict[str, Stability],
    where: dict[str, DisagreementRegions],
    side_by_side: StabilityTable,
) -> None:
    """Print words, the table of learners, and where each of them is not repeatable."""
    out = console.out()
    words = str(side_by_side) if len(found) > 1 else str(next(iter(found.values())))
    out.print(words, markup=False)
    first = next(iter(found.values()))
    figures = {"stability": "stability", "kappa": "kappa", "test\naccuracy": "accuracy"}
    caption = (
        "Stability: share of the points on which two refits answer the same; 1 for a learner that always answers the "
        "same, so read it beside accuracy. Kappa: the same beyond chance."
    )
    if any(one.same_subset.known for one in found.values()):
        figures["same\nrows"] = "same_subset"
        caption += " Same rows: of refits on the same rows; what is missing to 1 is the learner's own dice."
    out.print()
    out.print(
        console.table(
            f"Agreement of two refits on {first.pairs}, on {first.n_points} {first.on}",
            ["learner", *figures, "seconds\na fit"],
            [
                [
                    name,
                    *(console.figure(getattr(one, part), 3) for part in figures.values()),
                    f"{np.nanmean(records[name].seconds):.2g}",
                ]
                for name, one in found.items()
            ],
            caption,
        )
    )
    for name, regions in where.items():
        out.print()
        if not regions.regions:
            out.print(str(regions), markup=False)
            continue
        out.print(_regions(name, regions))
    if len(found) > 1:
        for name, one in found.items():
            for note in one.notes:
                out.print(f"{name}: {note}", markup=False)


def _regions(name: str, found: DisagreementRegions) -> Any:
    from ..regions.region import told_small

    return console.table(
        f"{name}: where refits disagree most ({found.disagreement.value:.1%} in all)",
        REGION_COLUMNS,
        [
            [
                f"{each.rank}. {each.condition}",
                f"{each.share:.1%}",
                console.figure(each.rate, 3),
                f"{each.rest_rate:.3f}",
                f"{each.lift:.2f}",
                told_small(each.q_value).removeprefix("= "),
            ]
            for each in found.regions
        ],
        f"Of refits and points that were not searched; {len(found.tested)} regions were tested on them, at a "
        f"false-discovery rate of {found.q:g}.",
    )


def as_json(
    table: Table,
    settings: dict[str, Any],
    records: dict[str, Labelings],
    found: dict[str, Stability],
    where: dict[str, DisagreementRegions],
    side_by_side: StabilityTable | None,
    failed: dict[str, str],
    interrupted: bool,
) -> dict[str, Any]:
    """Everything, as JSON."""
    scheme = settings["scheme"]
    kept = ("repeats", "test_size", "probes", "n_probes", "time_limit")
    return {
        "classay": __version__,
        "data": table_as_json(table),
        "settings": {
            "splits": scheme.m,
            "size": scheme.size,
            "seed": settings["random_state"],
            **{name: settings[name] for name in kept},
        },
        "learners": {
            name: {
                **one.to_dict(),
                "regions": where[name].to_dict() if name in where else None,
                **record_as_json(records[name]),
            }
            for name, one in found.items()
        },
        "table": None if side_by_side is None else side_by_side.to_dict(),
        "failed": failed,
        "interrupted": interrupted,
    }


def save_charts(
    folder: Path,
    found: dict[str, Stability],
    where: dict[str, DisagreementRegions],
    side_by_side: StabilityTable,
) -> list[Path]:
    """Save the chart of all learners, and for each, numbered, where its refits disagree."""
    from .. import charts

    drawn: dict[str, Any] = {"stability": side_by_side.plot()}
    for number, (name, one) in enumerate(found.items(), 1):
        regions = where.get(name)
        drawn[f"agreement_{number}"] = one.plot()
        try:
            drawn[f"disagreement_{number}"] = charts.disagreement_plane(one, regions=regions)
        except InputError:  # fewer than two columns of numbers make no plane
            continue
    return [
        charts.save(chart, folder / f"{name}.{suffix}") for name, chart in drawn.items() for suffix in ("svg", "png")
    ]
