"""`classay identify`: how well responses identify the stimuli that caused them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from ... import __version__
from ...classes.identify.identify import Identification, identify
from ...tables.read import read_frame
from .. import console, options
from ..score_files import array

EXAMPLES = """
**Examples**

    classay identify stimuli.npy responses.npy

    classay identify features.npy voxels.npy --test-size 120 --charts charts/

    classay identify features.csv spikes.csv --model elastic_net --json

Row i of one file belongs to row i of the other. Files are .npy (np.save) or tables of numbers (CSV, TSV, gz, Parquet).
"""
SHOWN = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)


def command(
    stimuli: Path = typer.Argument(..., metavar="STIMULI", help="Features of the stimuli, one row per stimulus."),
    responses: Path = typer.Argument(..., metavar="RESPONSES", help="Responses to the stimuli, one row per stimulus."),
    model: str = typer.Option("ridge", "--model", "-m", help="Encoding model: ridge, or elastic_net, which is slow."),
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
    features, measurements = _table(stimuli), _table(responses)
    is_count = test_size is not None and test_size > 1 and float(test_size).is_integer()
    shapes = [" × ".join(map(str, table.shape)) for table in (features, measurements)]
    console.say(f"{stimuli.name}: {shapes[0]}. {responses.name}: {shapes[1]}.", quiet)
    try:
        identification = identify(
            features,
            measurements,
            model=model,
            test_size=int(test_size) if is_count else test_size,
            folds=folds,
            level=level,
            random_state=seed,
            progress=not quiet,
        )
    except KeyboardInterrupt:
        raise console.NothingDone from None
    if as_json:
        about = {"stimuli": str(stimuli), "responses": str(responses)}
        console.write_json({"classay": __version__, "data": about, "identification": identification.to_dict()})
    else:
        _show(identification)
    if charts is not None:
        drawn = {"identification": "curve", "information": "information"}
        console.save_charts(charts, {name: identification.plot(kind=kind) for name, kind in drawn.items()}, quiet)


def _table(path: Path) -> Any:
    """A table of numbers: a memory-mapped .npy file, or a file read as a table."""
    path = path.expanduser()
    return array(path) if path.suffix.lower() in (".npy", ".npz") else read_frame(path)


def _show(identification: Identification) -> None:
    out = console.out()
    out.print(str(identification), markup=False)
    out.print()
    curve = identification.curve
    rows = [
        [f"{k:,}", *console.figure(curve.at(k), 3).split("\n"), f"{1 / k:.3g}"]
        for k in sorted({*(k for k in SHOWN if k < curve.n_classes), curve.n_classes})
    ]
    out.print(console.table("Picking the right stimulus", ["among", "accuracy", "interval", "chance"], rows))
