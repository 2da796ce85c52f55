"""Arguments and options that commands share, in one wording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A built-in name (iris, wine, breast_cancer, digits), a file (CSV, TSV, gz, Parquet, ARFF, npz) or "
        "openml:NAME.",
    ),
]
Target = Annotated[str | None, typer.Option("--target", "-t", help="Column with the labels. Default: the last one.")]
Learners = Annotated[
    list[str] | None,
    typer.Option(
        "--learner",
        "-l",
        help="A scikit-learn classifier, as NAME or NAME(argument=value), and what to call it in front, as in "
        "tree=DecisionTreeClassifier. Repeat it for more.",
    ),
]
Text = Annotated[str | None, typer.Option(help="Column with texts, which are embedded; other columns are left out.")]
TextModel = Annotated[str, typer.Option(help="What embeds texts: wordllama or minilm.")]
TextCache = Annotated[Path | None, typer.Option(help="Folder in which vectors of texts are kept.")]
TestSize = Annotated[float, typer.Option(help="Share of the rows that no refit sees.")]
Level = Annotated[float, typer.Option(help="Of the intervals and bounds.")]
Seed = Annotated[int, typer.Option("--seed", "-s", help="The same seed gives the same figures.")]
Workers = Annotated[int | None, typer.Option("--workers", "-w", help="Local workers. Default: one a core.")]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Work on the Dask cluster whose scheduler is there, such as tcp://host:8786, not locally.",
    ),
]
TimeLimit = Annotated[float | None, typer.Option(help="Seconds that one fit may take.")]
Records = Annotated[Path | None, typer.Option(help="Folder of records; what is there is not fitted again.")]
Charts = Annotated[Path | None, typer.Option(help="Folder to save charts to, as SVG and PNG.")]
Mlflow = Annotated[
    str | None,
    typer.Option(
        "--mlflow",
        metavar="[URI]",
        help="Log figures, settings, charts and page to MLflow, at this URI. Default: where MLflow is set up to log.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on stdout instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no remarks on stderr.")]
AllowImport = Annotated[
    bool, typer.Option("--allow-import", help="Allow learners as module:Name, which runs that module's code.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
