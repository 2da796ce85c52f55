"""Arguments and options that commands share, with one help text each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Built-in name (iris, wine, breast_cancer, digits), file (CSV, TSV, gz, Parquet, ARFF, npz), "
        "openml:NAME, or - for standard input.",
    ),
]
Target = Annotated[str | None, typer.Option("--target", "-t", help="Column with the labels. Default: the last one.")]
Learners = Annotated[
    list[str] | None,
    typer.Option(
        "--learner",
        "-l",
        help="A scikit-learn classifier, as NAME or NAME(argument=value). Put a name of your own in front, as in "
        "tree=DecisionTreeClassifier. Repeat for more.",
    ),
]
Metric = Annotated[
    str | None,
    typer.Option(
        "--metric",
        help="What to compare learners by: a scorer of scikit-learn, such as roc_auc or neg_log_loss. Default: "
        "accuracy, or roc_auc where nearly all predictions are of one of two classes.",
    ),
]
Text = Annotated[str | None, typer.Option("--text", metavar="COLUMN", help="Column of texts to use.")]
TextModel = Annotated[str, typer.Option(help="Model that embeds texts: wordllama or minilm.")]
TextCache = Annotated[Path | None, typer.Option(help="Folder to cache embedded texts in.")]
Groups = Annotated[
    str | None,
    typer.Option("--groups", metavar="COLUMN", help="Column of groups, such as patients; no group is on both sides."),
]
Time = Annotated[
    str | None,
    typer.Option("--time", metavar="COLUMN", help="Column of times or numbers; fits use earlier rows than tests."),
]
Weight = Annotated[str | None, typer.Option("--weight", metavar="COLUMN", help="Column of sample weights for fits.")]
TestFile = Annotated[
    str | None, typer.Option("--test", metavar="FILE", help="File of test rows with the same columns, used as such.")
]
Drop = Annotated[
    list[str] | None, typer.Option("--drop", metavar="COLUMN", help="Column to leave out. Repeat for more.")
]
TestSize = Annotated[float, typer.Option(help="Share of the rows held out from every refit.")]
TestSizeOfHalves = Annotated[
    float,
    typer.Option(
        help="Share of the rows held out from every refit. 0: test every half on the other half of all rows, and "
        "compare refits on probes."
    ),
]
EveryClass = Annotated[
    bool, typer.Option(help="Draw training subsets that lack a class again. The paper draws each subset once.")
]
Plugin = Annotated[
    bool,
    typer.Option("--plugin", help="Show the paper's plain estimates in tables and charts, biased with few refits."),
]
Level = Annotated[float, typer.Option(help="Confidence level of intervals and bounds.")]
Seed = Annotated[
    int,
    typer.Option(
        "--seed", "-s", help="Random seed. The same seed gives the same results on the same machine and versions."
    ),
]
Workers = Annotated[int | None, typer.Option("--workers", "-w", help="Number of local workers. Default: one per core.")]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Scheduler of a Dask cluster to run on, such as tcp://host:8786. Default: run locally.",
    ),
]
TimeLimit = Annotated[float | None, typer.Option(help="Time limit for one fit, in seconds.")]
Store = Annotated[Path | None, typer.Option(help="Folder of records; fits found there are reused.")]
Charts = Annotated[Path | None, typer.Option(help="Folder to save charts in, as SVG and PNG.")]
Mlflow = Annotated[
    str | None,
    typer.Option(
        "--mlflow",
        metavar="[URI]",
        help="Log figures, settings, charts and page to MLflow at this URI. Default: as configured in MLflow.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on stdout instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress or remarks on stderr.")]
AllowImport = Annotated[
    bool, typer.Option("--allow-import", help="Allow learners given as module:Name, which runs code of that module.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

USUAL = [
    "tree=DecisionTreeClassifier",
    "forest=RandomForestClassifier(n_estimators=50)",
    "logistic regression=make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))",
    "nearest neighbours=make_pipeline(StandardScaler(), KNeighborsClassifier())",
]
"""The learners where no --learner is given."""
