"""`classay identify`: how well responses identify the stimuli that caused them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from ... import __version__, expect
from ...classes.extrapolate.extrapolate import Extrapolation, extrapolate
from ...classes.identify.identify import Identification, identify, model_name
from ...estimators.spec import regressor_from_text
from ...tables.read import read_frame
from .. import console, options
from ..score_files import array, labels
from .classes import split_sizes

EXAMPLES = """
**Examples**

    classay identify stimuli.npy responses.npy

    classay identify features.npy voxels.npy --test-size 120 --charts charts/

    classay identify features.csv spikes.csv --model elastic_net --json

    classay identify features.npy voxels.npy --k 1000 10000 --groups sessions.txt --ensembles

    classay identify features.npy voxels.npy --model "KernelRidge(alpha=10)" --blocked

Row i of one file belongs to row i of the other. Files are .npy (np.save) or tables of numbers (CSV, TSV, gz, Parquet).
"""
SHOWN = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)


def command(
    stimuli: Path = typer.Argument(..., metavar="STIMULI", help="Features of the stimuli, one row per stimulus."),
    responses: Path = typer.Argument(..., metavar="RESPONSES", help="Responses to the stimuli, one row per stimulus."),
    more: list[str] = typer.Argument(None, metavar="[K]...", help="Further numbers of candidates after --k."),
    k: list[str] = typer.Option(
        None,
        "--k",
        "-k",
        help="Numbers of candidates to extrapolate to: --k 1000 10000, or with commas, or repeat --k.",
    ),
    model: str = typer.Option(
        "ridge",
        "--model",
        "-m",
        help="Encoding model: ridge, elastic_net, which is slow, or a regressor such as KernelRidge(alpha=10).",
    ),
    groups: Path = typer.Option(
        None, help="Rows that belong together, such as sessions: an .npy file, or a text file with one label per line."
    ),
    blocked: bool = typer.Option(
        False, "--blocked", help="Use blocks of neighbouring rows as folds, for recordings in time."
    ),
    ensembles: bool = typer.Option(
        False, "--ensembles", help="Also measure it with fewer responses, and extrapolate to more of them."
    ),
    folds: int = typer.Option(
        5, help="Number of folds; the stimuli of each are identified by a model fitted on the others."
    ),
    test_size: float = typer.Option(
        None, help="Use one split instead of folds: share of the stimuli to identify; above 1: their number."
    ),
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    charts: options.Charts = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Measure how often a response identifies the right stimulus among k, and the information that this takes."""
    console.writable_folder(charts, "--charts")
    sizes = split_sizes(["identify", *(more or [])], k or [])[1] if k or more else []
    strays = [word for word in more or [] if not word.replace(",", "").replace("_", "").strip().isdecimal()]
    if strays or (more and not k):
        raise expect.InputError(f"{expect.shown(more)} follows the two files; expected nothing, or numbers after --k.")
    encoder: Any = regressor_from_text(model) if model[:1].isupper() else model
    model_name(encoder)
    shared = {"model": encoder, "folds": folds, "level": level, "random_state": seed}
    shared |= {"groups": None if groups is None else labels(groups.expanduser()), "blocked": blocked}
    features, measurements = _table(stimuli), _table(responses)
    is_count = test_size is not None and test_size > 1 and float(test_size).is_integer()
    shapes = [" × ".join(map(str, table.shape)) for table in (features, measurements)]
    console.say(f"{stimuli.name}: {shapes[0]}. {responses.name}: {shapes[1]}.", quiet)
    try:
        identification = identify(
            features,
            measurements,
            test_size=int(test_size) if is_count else test_size,
            progress=not quiet,
            **shared,
        )
        by_size = None
        if ensembles:
            by_size = identify(
                features, measurements, ensembles=True, test_size=int(test_size) if is_count else test_size, **shared
            )
    except KeyboardInterrupt:
        raise console.NothingDone from None
    ahead = extrapolate(identification.curve, sizes, random_state=seed) if sizes else None
    if as_json:
        about = {"stimuli": str(stimuli), "responses": str(responses)}
        results = {"identification": identification.to_dict()}
        results |= {} if ahead is None else {"extrapolation": ahead.to_dict()}
        results |= {} if by_size is None else {"ensembles": by_size.to_dict()}
        console.write_json({"classay": __version__, "data": about, **results})
    else:
        _show(identification, ahead)
        if by_size is not None:
            console.out().print(str(by_size), markup=False)
    if charts is not None:
        pictures = {"identification": identification.plot(), "information": identification.information.plot()}
        pictures |= {} if ahead is None else {"extrapolation": ahead.plot()}
        pictures |= {} if by_size is None else {"ensembles": by_size.plot()}
        console.save_charts(charts, pictures, quiet)


def _table(path: Path) -> Any:
    """A table of numbers: a memory-mapped .npy file, or a file read as a table."""
    path = path.expanduser()
    return array(path) if path.suffix.lower() in (".npy", ".npz") else read_frame(path)


def _show(identification: Identification, ahead: Extrapolation | None) -> None:
    out = console.out()
    out.print(str(identification), markup=False)
    out.print()
    curve = identification.curve
    figures = {k: curve.at(k) for k in {*(k for k in SHOWN if k < curve.n_classes), curve.n_classes}}
    if ahead is not None:
        out.print(str(ahead), markup=False)
        out.print()
        figures |= dict(zip(ahead.k, ahead.estimates))
    rows = [[f"{k:,}", *console.figure(each, 3).split("\n"), f"{1 / k:.3g}"] for k, each in sorted(figures.items())]
    out.print(console.table("Picking the right stimulus", ["among", "accuracy", "interval", "chance"], rows))
