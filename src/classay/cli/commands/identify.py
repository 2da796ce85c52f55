"""`classay identify`: how well responses identify the stimuli that caused them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...classes.extrapolate.extrapolate import extrapolate
from ...classes.identify.identify import identify, model_name
from ...estimators.spec import regressor_from_text
from ...tables.read import read_frame
from .. import options
from ..inputs import array, labels, rows_or_share
from ..runner import Outcome, drawn
from .classes import size_table, sizes_of


def command(
    output: options.Charts,
    stimuli: Path,
    responses: Path,
    k: list[str] | None = None,
    model: str = "ridge",
    groups: Path | None = None,
    blocked: bool = False,
    folds: int = 5,
    test_size: float | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Outcome:
    """Measure how often a response identifies the right stimulus among k, and its information."""
    sizes = sizes_of(k)
    encoder: Any = regressor_from_text(model) if model[:1].isupper() else model
    model_name(encoder)
    shared = {"model": encoder, "folds": folds, "blocked": blocked or "auto", "level": level, "random_state": seed}
    shared |= {
        "groups": None if groups is None else labels(groups.expanduser()),
        "test_size": test_size and rows_or_share(test_size),
    }
    features, measurements = _table(stimuli), _table(responses)
    shapes = [" × ".join(map(str, table.shape)) for table in (features, measurements)]
    output.say(f"{stimuli.name}: {shapes[0]}. {responses.name}: {shapes[1]}.")
    identification = identify(features, measurements, progress=not output.quiet, **shared)
    ahead = extrapolate(identification.curve, sizes, random_state=seed) if sizes else None
    results = {"identification": identification, "extrapolation": ahead}
    return Outcome(
        results,
        data={"stimuli": str(stimuli), "responses": str(responses)},
        text=[
            *(str(result) for result in (identification, ahead) if result is not None),
            size_table("Picking the right stimulus", identification.curve, ahead),
        ],
        charts=lambda: drawn({**results, "information": identification.information}),
    )


def _table(path: Path) -> Any:
    """A table of numbers: a memory-mapped .npy file, or a file read as a table."""
    path = path.expanduser()
    return array(path) if path.suffix.lower() in (".npy", ".npz") else read_frame(path)
