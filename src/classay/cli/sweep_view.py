"""What `classay sweep` shows: words, tables, JSON and charts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..result import plain
from . import console
from .recording import table_as_json

if TYPE_CHECKING:
    from ..learner.sweep_result import Sweep
    from ..tables import Table

MOST_ROWS = 16
COLUMNS = [
    "test\naccuracy",
    "train\naccuracy",
    "expressivity\n(bits)",
    "= capacity\n(data)",
    "+ stochasticity\n(dice)",
]


def show(found: dict[str, Sweep]) -> None:
    """Print words and a table of each learner."""
    from ..learner.orientation import usual_threshold

    out = console.out()
    for place, sweep in enumerate(found.values()):
        if place:
            out.print()
        out.print(str(sweep), markup=False)
        first = next(iter(sweep.orientations.values()))
        threshold = usual_threshold(first.holdout_size)
        rows = []
        for value in _few(list(sweep.values)):
            one = sweep.orientations[value]
            cells = [console.figure(one.accuracy, 3), console.figure(one.train_accuracy, 3)]
            cells += [console.figure(part) for part in (one.expressivity, one.capacity, one.stochasticity)]
            told = ", ".join(map(_word, value)) if len(sweep.parameters) > 1 else _word(value)
            rows.append([told, *cells, console.figure(one.bias[threshold], 3)])
        left_out = len(sweep.values) - len(rows)
        out.print()
        out.print(
            console.table(
                f"{sweep.learner} along {' x '.join(sweep.parameters)}",
                [", ".join(sweep.parameters), *COLUMNS, f"bias at\n{threshold} of {first.holdout_size}"],
                rows,
                f"{left_out} values more are in --json and --charts." if left_out else "",
            )
        )


def as_json(
    table: Table, settings: dict[str, Any], found: dict[str, Sweep], failed: dict[str, str], interrupted: bool
) -> dict[str, Any]:
    """Everything, as JSON; the figures of each learner as the rows of its tidy frame."""
    scheme = settings["scheme"]
    kept = ("repeats", "test_size", "holdout_size", "holdouts", "time_limit", "share_paths")
    return {
        "classay": __version__,
        "data": table_as_json(table),
        "settings": {
            "subsets": scheme.n,
            "size": scheme.size,
            "replace": scheme.replace,
            "seed": settings["random_state"],
            **{name: settings[name] for name in kept},
        },
        "sweeps": {
            name: {
                "parameters": list(one.parameters),
                "values": plain(one.values),
                "figures": plain(one.to_frame().astype(object).where(lambda table: table.notna(), None)),
                "gap_correlation": plain(one.gap_correlation),
                "plugin_gap_correlation": plain(one.plugin_gap_correlation),
                "paths": plain(one.paths),
                "failed": plain(one.failed),
                "seconds": plain(sum(float(np.nansum(each.seconds)) for each in one.records.values())),
                "notes": list(one.notes),
            }
            for name, one in found.items()
        },
        "failed": failed,
        "interrupted": interrupted,
    }


def save_charts(folder: Path, found: dict[str, Sweep]) -> list[Path]:
    """Save the charts of each learner, numbered."""
    from .. import charts

    drawn: dict[str, Any] = {}
    for number, sweep in enumerate(found.values(), 1):
        kinds = ("bias", "entropy", "accuracy") if len(sweep.parameters) == 1 else ("map",)
        drawn |= {f"sweep_{number}_{kind}": sweep.plot(kind=kind) for kind in kinds}
    return [
        charts.save(chart, folder / f"{name}.{suffix}") for name, chart in drawn.items() for suffix in ("svg", "png")
    ]


def _few(values: list[Any]) -> list[Any]:
    """All values, or an even choice of them with both ends."""
    places = np.linspace(0, len(values) - 1, min(len(values), MOST_ROWS)).round().astype(int)
    return [values[place] for place in places]


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
