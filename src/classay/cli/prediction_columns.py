"""Files of predictions: the options that name their columns, and how a file or record becomes a record."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from ..expect import InputError, nearest, shown
from ..learner.records.labelings import Labelings
from ..learner.records.prediction_table import PredictionTable, prediction_table
from ..learner.records.predictions import load
from ..tables.read import read_frame
from . import console

Truth = Annotated[
    str | None, typer.Option("--truth", metavar="COLUMN", help="Column with the true class: DATA has predictions.")
]
Prediction = Annotated[
    list[str] | None,
    typer.Option("--prediction", metavar="COLUMN", help="Column of predictions, or a pattern: run_*. Repeat for more."),
]
Item = Annotated[str | None, typer.Option("--item", metavar="COLUMN", help="Column that names the item.")]
Run = Annotated[str | None, typer.Option("--run", metavar="COLUMN", help="Column that names the repetition.")]
Variant = Annotated[
    str | None, typer.Option("--variant", metavar="COLUMN", help="Column that names the model or prompt.")
]
Score = Annotated[
    list[str] | None,
    typer.Option("--score", metavar="COLUMN", help="Score of the prediction, or of every class, such as p_*."),
]
Wide = Annotated[str, typer.Option("--wide", help="What several prediction columns are: variant or run.")]
Normalise = Annotated[
    bool, typer.Option("--normalise", help="Ignore case, spaces, and quotes or punctuation at the ends of predictions.")
]
Missing = Annotated[
    str, typer.Option("--missing", help="Missing predictions: wrong (count as such) or drop (without these items).")
]
TABLES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson", ".gz", ".bz2", ".xz", ".arff")
REPORTS = (".json", ".html")
MLFLOW = "mlflow:"
"""Before the id of a run of MLflow that has a report."""


@dataclass(frozen=True)
class PredictionColumns:
    """The columns of a file of predictions, as the options name them."""

    truth: str | None = None
    prediction: tuple[str, ...] = ()
    item: str | None = None
    run: str | None = None
    variant: str | None = None
    score: tuple[str, ...] = ()
    groups: str | None = None
    wide: str = "variant"
    normalise: bool = False
    missing: str = "wrong"

    def named(self) -> dict[str, Any]:
        """The columns that were named, by role, as a check file has them."""
        roles = {name: getattr(self, name) for name in self.__dataclass_fields__}
        usual = PredictionColumns()
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in roles.items()
            if value != getattr(usual, name)
        }

    def table(self, source: str | Path) -> tuple[PredictionTable, pd.DataFrame]:
        """The predictions in a file, and the file."""
        frame = read_frame(source)
        if self.truth is None:
            raise InputError(
                f"'{source}' is a table; --truth must name the column of the true class. There are "
                f"{shown(frame.columns, 12)}."
            )
        given: dict[str, Any] = {
            "truth": self.truth, "item": self.item, "run": self.run, "variant": self.variant, "groups": self.groups,
            "wide": self.wide, "normalise": self.normalise, "missing": self.missing,
        }  # fmt: skip
        for option, name in (("truth", self.truth), ("item", self.item), ("run", self.run), ("variant", self.variant)):
            if name is not None and name not in frame:
                raise InputError(
                    f"--{option} is {name!r}, which is not a column of '{source}'.{nearest(name, frame.columns)} There "
                    f"are {shown(frame.columns, 12)}."
                )
        return prediction_table(
            frame, prediction=list(self.prediction) or None, score=list(self.score) or None, **given
        ), frame


def is_table(source: str | Path) -> bool:
    """Whether a name is that of a table, and not of a record or a report."""
    return Path(source).suffix.lower() in TABLES


def is_report(source: str | Path) -> bool:
    """Whether a name is that of a report."""
    return str(source).startswith(MLFLOW) or Path(source).suffix.lower() in REPORTS


def record_of(source: str, columns: PredictionColumns, quiet: bool) -> tuple[Labelings, pd.DataFrame | None]:
    """The record of a file of predictions or of a saved record, and the other columns of its items."""
    name = Path(source).stem
    if is_table(source):
        table, _ = columns.table(source)
        for note in table.notes:
            console.say(f"{source}: {note}", quiet)
        others = table.columns if table.columns.shape[1] else None
        return Labelings.from_predictions(table, name), others
    if not Path(source).expanduser().is_file():
        raise InputError(
            f"There is no file '{source}'; expected predictions ({', '.join(TABLES[:4])}), a record or a report."
        )
    record = load(source)
    if not isinstance(record, Labelings):
        raise InputError(f"'{source}' is the record of a regressor; expected one of a classifier.")
    return record, None
