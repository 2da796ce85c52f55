"""What `classay learner` shows: tables, JSON and charts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__, expect
from . import console
from .recording import record_as_json, table_as_json

if TYPE_CHECKING:
    from ..learner.kinship import Kinship
    from ..learner.labelings import Labelings
    from ..learner.orientation import Orientation
    from ..tables import Table

MAIN_COLUMNS = [
    "learner",
    "test\naccuracy",
    "train\naccuracy",
    "expressivity\n(bits)",
    "= capacity\n(data)",
    "+ stochasticity\n(dice)",
    "seconds\na fit",
]


def show(records: dict[str, Labelings], found: dict[str, Orientation], related: Kinship | None) -> None:
    """Print the tables."""
    if not found:
        return
    out = console.out()
    first = next(iter(found.values()))
    top = f"{first.log2_labelings:.3g}"
    out.print(
        console.table(
            f"Answers of {expect.counted(len(found), 'learner')} on holdouts of {first.holdout_size} points",
            MAIN_COLUMNS,
            [
                [
                    name,
                    console.figure(o.accuracy, 3),
                    console.figure(o.train_accuracy, 3),
                    *(console.figure(part) for part in (o.expressivity, o.capacity, o.stochasticity)),
                    f"{np.nanmean(records[name].seconds):.2g}",
                ]
                for name, o in found.items()
            ],
            f"Entropies run from 0, always the same answers, to {top} bits, any answer as likely. Capacity: what "
            "another sample changes. Stochasticity: what another roll of the learner's own dice changes.",
        )
    )
    thresholds = _few(first.holdout_size)
    out.print()
    out.print(
        console.table(
            "Algorithmic bias: how much more often than by guessing at least z labels are right",
            ["learner", *(f"{z} of {first.holdout_size}" for z in thresholds)],
            [[name, *(console.figure(o.bias[z], 3) for z in thresholds)] for name, o in found.items()]
            + [
                [
                    "possible",
                    *(
                        f"{first.bounds[z - 1].bias_low:.3f}\nto {first.bounds[z - 1].bias_high:.3f}"
                        for z in thresholds
                    ),
                ]
            ],
        )
    )
    out.print()
    out.print(
        console.table(
            "Most expressivity that each bias allows (plain estimates, for which the bounds hold)",
            ["learner", "plain\nexpressivity", *(f"at {z} of {first.holdout_size}" for z in thresholds)],
            [
                [
                    name,
                    f"{o.plugin.expressivity.value:.2f}",
                    *(f"{o.bounds[z - 1].expressivity_tight:.2f}" for z in thresholds),
                ]
                for name, o in found.items()
            ],
            "The tight bound H2(q) + q·log2 k + (1 − q)·log2(|Ω| − k). JSON holds the published, looser ones too.",
        )
    )
    if related is not None:
        out.print()
        out.print(
            console.table(
                "Kinship: Jensen–Shannon distance of answers (0 the same, 1 nothing in common)",
                ["learner", *(str(number) for number, _ in enumerate(related.names, 1))],
                [
                    [f"{place + 1} {name}", *(_distance(related, place, other) for other in range(len(related.names)))]
                    for place, name in enumerate(related.names)
                ],
                "In brackets: not above what chance alone reaches between two equal learners.",
            )
        )
    for name, o in found.items():
        for note in o.notes:
            out.print(f"{name}: {note}", markup=False)


def _distance(related: Kinship, one: int, other: int) -> str:
    value = related.jensen_shannon[one, other]
    return f"{value:.2f}" if one == other or value > related.floor["jensen_shannon"][one, other] else f"({value:.2f})"


def _few(holdout_size: int, most: int = 7) -> list[int]:
    """Thresholds to print: all, or an even choice of them with the last."""
    if holdout_size <= most:
        return list(range(1, holdout_size + 1))
    return sorted({max(round(holdout_size * part / most), 1) for part in range(1, most + 1)})


def as_json(
    table: Table,
    settings: dict[str, Any],
    records: dict[str, Labelings],
    found: dict[str, Orientation],
    related: Kinship | None,
    failed: dict[str, str],
    interrupted: bool,
) -> dict[str, Any]:
    scheme = settings["scheme"]
    return {
        "classay": __version__,
        "data": table_as_json(table),
        "settings": {
            "subsets": scheme.n,
            "size": scheme.size,
            "replace": scheme.replace,
            "repeats": settings["repeats"],
            "test_size": settings["test_size"],
            "seed": settings["random_state"],
            "holdouts": settings["holdouts"],
            "time_limit": settings["time_limit"],
        },
        "learners": {name: {**o.to_dict(), **record_as_json(records[name])} for name, o in found.items()},
        "kinship": None if related is None else related.to_dict(),
        "failed": failed,
        "interrupted": interrupted,
    }


def save_charts(folder: Path, found: dict[str, Orientation], related: Kinship | None) -> list[Path]:
    from .. import charts

    drawn = {
        "bias": charts.bias_chart(*found.values()),
        "expressivity": charts.expressivity_chart(*found.values()),
        "plane": charts.plane_chart(*found.values()),
    }
    if related is not None:
        drawn["kinship"] = charts.kinship_heatmap(related)
        drawn["kinship_map"] = charts.kinship_map(related)
    return [
        charts.save(chart, folder / f"{name}.{suffix}") for name, chart in drawn.items() for suffix in ("svg", "png")
    ]
