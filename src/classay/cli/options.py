"""Options: their words, which are data, and groups of options that several commands take.

A parameter of a command is an option, and one without a default is an argument; what people read of it is in
`help.toml`. A parameter whose type is a `Group` stands for all options of that group.
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from . import console

if TYPE_CHECKING:
    from ..tables.data import Data

HELP = tomllib.loads(files(__package__).joinpath("help.toml").read_text(encoding="utf-8"))
"""`commands` by name, and options that are `shared` by the heading under which help pages have them."""
UNTITLED = "options"
"""The table of options that are under no heading of their own."""


def parameters_of(signature: Any, words: Mapping[str, Any]) -> list[inspect.Parameter]:
    """The options of a command as Typer takes them, with those of its groups. `words` are the command's own."""
    hints = get_type_hints(signature, include_extras=True)
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(signature).parameters.values():
        hint = hints[parameter.name]
        if is_group(hint):
            kinds = get_type_hints(hint)
            parameters += [_parameter(field.name, kinds[field.name], field.default, words) for field in fields(hint)]
        else:
            parameters.append(_parameter(parameter.name, hint, parameter.default, words))
    return parameters


def is_group(hint: Any) -> bool:
    """Whether a type is that of a group of options."""
    return isinstance(hint, type) and issubclass(hint, Group)


def _parameter(name: str, hint: Any, default: Any, words: Mapping[str, Any]) -> inspect.Parameter:
    keyword = inspect.Parameter.KEYWORD_ONLY
    if isinstance(default, typer.models.OptionInfo):  # one that does more than to have a value
        return inspect.Parameter(name, keyword, default=default, annotation=hint)
    heading, declared, text = _words(name, words)
    names = [part for part in declared if part.startswith("-")]
    value = " ".join(part for part in declared if not part.startswith("-")) or None
    if default is MISSING or default is inspect.Parameter.empty:
        argument = typer.Argument(metavar=value, help=text)
        return inspect.Parameter(name, keyword, annotation=Annotated[hint, argument])
    if not names:
        long = f"--{name.replace('_', '-')}"
        names = [long] if default is False or "bool" not in str(hint) else [f"{long}/--no-{long[2:]}"]
    panel = None if name in words.get("first", ()) or heading == UNTITLED else heading
    option = typer.Option(*names, metavar=value, help=text, rich_help_panel=panel)
    return inspect.Parameter(name, keyword, default=default, annotation=Annotated[hint, option])


def _words(name: str, words: Mapping[str, Any]) -> tuple[str, list[str], str]:
    """Heading, names with the name of the value, and text of an option: the command's own, or shared ones."""
    for tables in (words, HELP["shared"]):
        for heading, table in tables.items():
            if isinstance(table, dict) and name in table:
                entry = table[name]
                return (heading, [], entry) if isinstance(entry, str) else (heading, entry[0].split(), entry[1])
    return UNTITLED, [], ""


# Groups of options.


@dataclass(frozen=True, kw_only=True)
class Group:
    """Options that belong together."""


@dataclass(frozen=True, kw_only=True)
class Columns(Group):
    """What the columns of a table are."""

    target: str | None = None
    text: str | None = None
    drop: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class GroupedRows(Columns):
    """A table, groups of its rows, and a file of test rows."""

    data: str
    groups: str | None = None
    test: str | None = None

    def read(self, quiet: bool, **roles: Any) -> Data:
        """Read the table and describe it on stderr."""
        from ..tables.read import read_table

        named = {name: column for name, column in vars(self).items() if column is not None and name != "data"}
        table = read_table(self.data, **named, **roles)
        describe(table, quiet)
        return table


@dataclass(frozen=True, kw_only=True)
class Rows(GroupedRows):
    """The same, with times and weights of the rows."""

    time: str | None = None
    weight: str | None = None


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

    learner: list[str] | None = None
    allow_import: bool = False

    def named(self) -> dict[str, Any]:
        """The learners by name; the default ones if there are none."""
        from ..estimators.spec import learners_from_texts
        from ..report.run.learners import default_learners

        return learners_from_texts(self.learner, self.allow_import) if self.learner else default_learners()


@dataclass(frozen=True, kw_only=True)
class LocalEffort(Group):
    """How the work is done, on this machine."""

    seed: int = 0
    workers: int | None = None
    time_limit: float | None = None
    store: Path | None = None

    def settings(self, executor: Any, quiet: bool) -> dict[str, Any]:
        """The keywords of `record`, `sweep` and `characterize`."""
        return {
            "random_state": self.seed,
            "executor": executor,
            "store": self.store,
            "progress": not quiet,
            "time_limit": self.time_limit,
        }


@dataclass(frozen=True, kw_only=True)
class Effort(LocalEffort):
    """The same, also on a cluster."""

    scheduler: str | None = None


@dataclass(frozen=True, kw_only=True)
class Output(Group):
    """Where results go. The runner reads it."""

    as_json: bool = False
    quiet: bool = False
    debug: bool = False

    def say(self, text: str) -> None:
        """Print a remark on stderr."""
        console.say(text, self.quiet)


@dataclass(frozen=True, kw_only=True)
class Charts(Output):
    """The same, with a folder of charts."""

    charts: Path | None = None

    def __post_init__(self) -> None:
        console.writable_folder(self.charts, "--charts")
