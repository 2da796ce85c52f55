"""Options in groups: a command whose parameter has a group as its type takes all options of that group.

`runner` expands the groups. Options that several commands have with different defaults are types here, such as `Level`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from . import console

if TYPE_CHECKING:
    from ..tables.data import Data

ADVANCED = "Advanced"
OUTPUT = "Output"


def advanced(default: Any, text: str, *names: str) -> Any:
    """An option under the last heading of the help page."""
    return typer.Option(default, *names, help=text, rich_help_panel=ADVANCED)


TestSize = Annotated[float, typer.Option(help="Share of the rows held out from every refit.", rich_help_panel=ADVANCED)]
HoldoutSize = Annotated[
    int | None,
    typer.Option(
        help="Number of test points whose predictions are counted together. Default: 5, or as many as can be counted.",
        rich_help_panel=ADVANCED,
    ),
]
Holdouts = Annotated[
    int, typer.Option(help="Number of random groups of test points to average over.", rich_help_panel=ADVANCED)
]
Sizes = Annotated[
    list[str] | None,
    typer.Option(
        "--k", "-k", help="Numbers of classes to extrapolate to: --k 1000 10000, or with commas, or repeat --k."
    ),
]
Level = Annotated[float, typer.Option(help="Confidence level of intervals and bounds.")]
Seed = Annotated[
    int,
    typer.Option(
        "--seed", "-s", help="Random seed. The same seed gives the same results on the same machine and versions."
    ),
]
Workers = Annotated[int | None, typer.Option("--workers", "-w", help="Number of local workers. Default: one per core.")]
TimeLimit = Annotated[float | None, typer.Option(help="Time limit for one fit, in seconds.")]
Store = Annotated[Path | None, typer.Option(help="Folder of records; fits found there are reused.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.", rich_help_panel=OUTPUT)]
AllowImport = Annotated[
    bool, typer.Option("--allow-import", help="Allow learners given as module:Name, which runs code of that module.")
]
TextModel = Annotated[str, typer.Option(help="Model that embeds texts: wordllama or minilm.")]
TextCache = Annotated[Path | None, typer.Option(help="Folder to cache embedded texts in.")]
Files = Annotated[
    list[Path] | None,
    typer.Option("--output", "-o", help="File to save a page to: .html, .json or .md. Repeat for more."),
]


@dataclass(frozen=True, kw_only=True)
class Group:
    """Options that belong together, under one heading of the help page."""

    panel: ClassVar[str] = ""


@dataclass(frozen=True, kw_only=True)
class Columns(Group):
    """What the columns of a table are."""

    panel: ClassVar[str] = "Data"
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="Column with the labels. Default: the last one.")
    ] = None
    text: Annotated[str | None, typer.Option("--text", metavar="COLUMN", help="Column of texts to use.")] = None
    drop: Annotated[
        list[str] | None, typer.Option("--drop", metavar="COLUMN", help="Column to leave out. Repeat for more.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class GroupedRows(Columns):
    """A table, groups of its rows, and a file of test rows."""

    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="Built-in name (iris, wine, breast_cancer, digits), file (CSV, TSV, gz, Parquet, ARFF, npz), "
            "openml:NAME, or - for standard input.",
        ),
    ]
    groups: Annotated[
        str | None,
        typer.Option(
            "--groups", metavar="COLUMN", help="Column of groups, such as patients; no group is on both sides."
        ),
    ] = None
    test: Annotated[
        str | None,
        typer.Option("--test", metavar="FILE", help="File of test rows with the same columns, used as such."),
    ] = None

    def read(self, quiet: bool, **roles: Any) -> Data:
        """Read the table and describe it on stderr."""
        from ..tables.read import read_table

        table = read_table(
            self.data, self.target, self.text, groups=self.groups, test=self.test, drop=self.drop or (), **roles
        )
        describe(table, quiet)
        return table


@dataclass(frozen=True, kw_only=True)
class Rows(GroupedRows):
    """The same, with times and weights of the rows."""

    time: Annotated[
        str | None,
        typer.Option("--time", metavar="COLUMN", help="Column of times or numbers; fits use earlier rows than tests."),
    ] = None
    weight: Annotated[
        str | None, typer.Option("--weight", metavar="COLUMN", help="Column of sample weights for fits.")
    ] = None

    def read(self, quiet: bool, **roles: Any) -> Data:
        """Read the table and describe it on stderr."""
        return super().read(quiet, time=self.time, weight=self.weight, **roles)


def describe(table: Data, quiet: bool) -> None:
    """Describe the table on stderr: how it was read, and what was lost. `quiet` hides the first, never the second."""
    for line in str(table.audit).splitlines() if not quiet else table.audit.losses:
        console.say(line)
    for note in table.notes:
        if note not in (*table.audit.notes, *table.audit.losses):
            console.say(note, quiet)
    if table.test is not None:
        describe(table.test, quiet)


@dataclass(frozen=True, kw_only=True)
class Learners(Group):
    """Which learners."""

    panel: ClassVar[str] = "Learners"
    learner: Annotated[
        list[str] | None,
        typer.Option(
            "--learner",
            "-l",
            help="A scikit-learn classifier, as NAME or NAME(argument=value). Put a name of your own in front, as in "
            "tree=DecisionTreeClassifier. Repeat for more.",
        ),
    ] = None
    allow_import: AllowImport = False

    def named(self) -> dict[str, Any]:
        """The learners by name; the default ones if there are none."""
        from ..estimators.spec import learners_from_texts
        from ..report.run.learners import default_learners

        return learners_from_texts(self.learner, self.allow_import) if self.learner else default_learners()


@dataclass(frozen=True, kw_only=True)
class LocalEffort(Group):
    """How the work is done, on this machine."""

    panel: ClassVar[str] = "Effort"
    seed: Seed = 0
    workers: Workers = None
    time_limit: TimeLimit = None
    store: Store = None


@dataclass(frozen=True, kw_only=True)
class Effort(LocalEffort):
    """The same, also on a cluster."""

    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Scheduler of a Dask cluster to run on, such as tcp://host:8786. Default: run locally.",
        ),
    ] = None

    def settings(self, executor: Any, quiet: bool) -> dict[str, Any]:
        """The keywords of `record` and `sweep`."""
        return {
            "random_state": self.seed,
            "executor": executor,
            "store": self.store,
            "progress": not quiet,
            "time_limit": self.time_limit,
        }


@dataclass(frozen=True, kw_only=True)
class Output(Group):
    """Where results go. The runner reads it."""

    panel: ClassVar[str] = OUTPUT
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on stdout instead of tables.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress or remarks on stderr.")] = False
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False

    def say(self, text: str) -> None:
        """Print a remark on stderr."""
        console.say(text, self.quiet)


@dataclass(frozen=True, kw_only=True)
class Charts(Output):
    """The same, with a folder of charts."""

    charts: Annotated[Path | None, typer.Option(help="Folder to save charts in, as SVG and PNG.")] = None

    def __post_init__(self) -> None:
        console.writable_folder(self.charts, "--charts")
