"""`classay identify`: how well responses identify the stimuli that caused them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from ...classes.extrapolate.extrapolate import extrapolate
from ...classes.identify.identify import identify, model_name
from ...estimators.spec import regressor_from_text
from ...tables.read import read_frame
from .. import options
from ..inputs import array, labels, rows_or_share
from ..runner import Outcome, drawn
from .classes import size_table, sizes_of

EXAMPLES = """
**Examples**

    classay identify stimuli.npy responses.npy

    classay identify features.npy voxels.npy --test-size 120 --charts charts/

    classay identify features.csv spikes.csv --model "MultiOutputRegressor(estimator=ElasticNetCV())" --json

    classay identify features.npy voxels.npy --k 1000 10000 --groups sessions.txt --ensembles

    classay identify features.npy voxels.npy --model "KernelRidge(alpha=10)" --blocked

Row i of one file belongs to row i of the other. Files are .npy (np.save) or tables of numbers (CSV, TSV, gz, Parquet).
"""


def command(
    output: options.Charts,
    stimuli: Path = typer.Argument(..., metavar="STIMULI", help="Features of the stimuli, one row per stimulus."),
    responses: Path = typer.Argument(..., metavar="RESPONSES", help="Responses to the stimuli, one row per stimulus."),
    k: options.Sizes = None,
    model: str = typer.Option(
        "ridge",
        "--model",
        "-m",
        help="Encoding model: ridge, or a regressor of scikit-learn such as KernelRidge(alpha=10).",
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
) -> Outcome:
    """Measure how often a response identifies the right stimulus among k, and its information."""
    sizes = sizes_of(k)
    encoder: Any = regressor_from_text(model) if model[:1].isupper() else model
    model_name(encoder)
    shared = {"model": encoder, "folds": folds, "blocked": blocked, "level": level, "random_state": seed}
    shared |= {
        "groups": None if groups is None else labels(groups.expanduser()),
        "test_size": test_size and rows_or_share(test_size),
    }
    features, measurements = _table(stimuli), _table(responses)
    shapes = [" × ".join(map(str, table.shape)) for table in (features, measurements)]
    output.say(f"{stimuli.name}: {shapes[0]}. {responses.name}: {shapes[1]}.")
    identification = identify(features, measurements, progress=not output.quiet, **shared)
    by_size = identify(features, measurements, ensembles=True, **shared) if ensembles else None
    ahead = extrapolate(identification.curve, sizes, random_state=seed) if sizes else None
    results = {"identification": identification, "extrapolation": ahead, "ensembles": by_size}
    return Outcome(
        results,
        data={"stimuli": str(stimuli), "responses": str(responses)},
        text=[
            *(str(result) for result in (identification, ahead) if result is not None),
            size_table("Picking the right stimulus", identification.curve, ahead),
            "" if by_size is None else str(by_size),
        ],
        charts=lambda: drawn({**results, "information": identification.information}),
    )


def _table(path: Path) -> Any:
    """A table of numbers: a memory-mapped .npy file, or a file read as a table."""
    path = path.expanduser()
    return array(path) if path.suffix.lower() in (".npy", ".npz") else read_frame(path)
