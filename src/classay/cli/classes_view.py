"""What `classay classes` shows: words first, then tables; JSON; charts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import console

if TYPE_CHECKING:
    from ..classes.curve import Curve
    from ..classes.decoders import Decoders
    from ..classes.forecast import Extrapolation
    from ..classes.information import Information

Curves = dict[str, "Curve"]
Ahead = dict[str, "Extrapolation"]
Informations = dict[str, "Information"]
SHOWN = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)


def information(curve: Curve, level: float) -> Informations:
    """What the curve says about information: implied, at least, and at least about these classes."""
    from ..classes.information import fano_information, implied_information, information_bound

    # What counts ties as right is no classifier, and has no bounds.
    bounds = curve.ties != "right"
    return {"implied": implied_information(curve, level=level)} | (
        {"bound": information_bound(curve, alpha=1 - level), "fano": fano_information(curve, level=level)}
        if bounds
        else {}
    )


def show(curves: Curves, ahead: Ahead, informations: dict[str, Informations], compared: Decoders | None) -> None:
    """Print it all."""
    out = console.out()
    if compared is not None:
        out.print(str(compared), markup=False)
        out.print()
        out.print(_decoders(compared, ahead))
        out.print()
    for name, curve in curves.items():
        out.print(str(curve), markup=False)
        out.print()
        if name in ahead:
            # What the curve has said need not be said again.
            fresh = tuple(note for note in ahead[name].notes if note not in curve.ranks.notes)
            out.print(str(replace(ahead[name], notes=fresh)), markup=False)
            out.print()
        if compared is None:
            out.print(" ".join(str(each) for each in informations[name].values()), markup=False)
            out.print()
            out.print(_sizes(curve, ahead.get(name)))


def _sizes(curve: Curve, ahead: Extrapolation | None) -> Any:
    """Accuracy by number of classes, seen and foreseen, and what each method foresees."""
    here = curve.n_classes
    figures = {k: curve.at(k) for k in {*(k for k in SHOWN if k < here), here}}
    columns, caption = ["classes", "accuracy", "interval", "guessing"], ""
    beside: dict[int, list[str]] = {}
    if ahead is not None:
        figures |= dict(zip(ahead.k, ahead.estimates))
        caption = f"Up to {here:,}: observed, the exact average over all label sets."
        if max(ahead.k) > here:
            ways = [way for way in ahead.by_method if way != ahead.method]
            columns += [f"by {way.replace('_', ' ')}" for way in ways]
            caption += f" Above: foreseen by “{ahead.method}”, and beside it what other methods say."
            for place, k in enumerate(ahead.k):
                beside[k] = [f"{ahead.by_method[way][place]:.3f}" if k > here else "" for way in ways]
    empty = [""] * (len(columns) - 4)
    rows = [
        [f"{k:,}", *console.figure(each, 3).split("\n"), f"{1 / k:.2g}", *beside.get(k, empty)]
        for k, each in sorted(figures.items())
    ]
    return console.table(f"{curve.ranks.name}: accuracy by number of classes", columns, rows, caption)


def _decoders(compared: Decoders, ahead: Ahead) -> Any:
    sizes = sorted({k for each in ahead.values() for k in each.k})
    columns = ["decoder", "implied bits", "at least\nbits", "Fano\nbits", "classes", "accuracy"]
    columns += [f"with\n{compared.k:,}"] if any(each.n_classes != compared.k for each in compared.decoders) else []
    rows = []
    for each in compared.decoders:
        row = [
            each.name + (" >" if each.told_apart else ""),
            console.figure(each.implied.bits),
            f"{each.bound.bits.low:.2f}",
            f"{each.fano.bits.low:.2f}",
            f"{each.n_classes:,}",
            console.figure(each.accuracy, 3),
        ]
        row += [console.figure(each.accuracy_in_common, 3)] if len(columns) > len(row) else []
        row += [console.figure(ahead[each.name].estimates[ahead[each.name].k.index(k)], 3) for k in sizes]
        rows.append(row)
    return console.table(
        "Decoders, most information first",
        [*columns, *(f"foreseen\nwith {k:,}" for k in sizes)],
        rows,
        "A > after a name: surely ahead of the next. At least: for any classes, guaranteed; Fano: about these classes.",
    )


def as_json(
    curves: Curves,
    ahead: Ahead,
    informations: dict[str, Informations],
    compared: Decoders | None,
    failed: dict[str, str],
    interrupted: bool,
) -> dict[str, Any]:
    """Everything as plain values."""
    from .. import __version__

    return {
        "classay": __version__,
        "sources": {
            name: {
                "curve": curve.to_dict(),
                "extrapolation": ahead[name].to_dict() if name in ahead else None,
                "information": {kind: each.to_dict() for kind, each in informations[name].items()},
            }
            for name, curve in curves.items()
        },
        "decoders": None if compared is None else compared.to_dict(),
        "failed": failed,
        "interrupted": interrupted,
    }


def save_charts(
    folder: Path, curves: Curves, ahead: Ahead, informations: dict[str, Informations], compared: Decoders | None
) -> list[Path]:
    """One source: its curve and its information. Several: all curves in one chart, and the decoders in order."""
    from .. import charts

    if compared is not None:
        paths = {name: list(zip(each.path_k, each.path)) for name, each in ahead.items()}
        drawn: dict[str, Any] = {
            "curves": charts.curves_chart(curves, paths),
            "decoders": charts.decoders_chart(compared),
        }
    else:
        name = next(iter(curves))
        drawn = {
            "curve": ahead[name].plot() if name in ahead else curves[name].plot(),
            "information": charts.information_chart(*informations[name].values()),
        }
    return [
        charts.save(chart, folder / f"{name}.{suffix}") for name, chart in drawn.items() for suffix in ("svg", "png")
    ]
