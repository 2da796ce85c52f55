"""The application: commands, exit codes, and errors in one voice."""

from __future__ import annotations

import os
import re
import sys
from types import ModuleType

import typer

from .. import __version__
from ..expect import InputError
from . import (
    check,
    classes,
    console,
    data,
    drift,
    identify,
    learner,
    network,
    preference,
    report,
    runs,
    schema,
    slices,
    stability,
    sweep,
)

DONE, MISTAKE, PARTIAL = 0, 2, console.PARTIAL
INTERRUPTED = 130
"""What Typer makes of a Ctrl-C that no command has caught."""
COMMANDS: dict[str, dict[str, ModuleType]] = {
    "The report": {"report": report, "check": check},
    "Of a learner": {
        "learner": learner,
        "sweep": sweep,
        "stability": stability,
        "preference": preference,
        "drift": drift,
    },
    "Of data": {"data": data, "slices": slices},
    "Of networks": {"network": network},
    "Of label sets": {"classes": classes, "identify": identify},
    "Tools": {"runs": runs, "schema": schema},
}
"""By what they are about, in the order in which `classay` alone shows them."""

app = typer.Typer(
    name="classay",
    help="Assay classifiers: tell what accuracy does not.",
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Try: `classay report breast_cancer`. More of a command: `classay report --help`.\n\n"
    "Results go to stdout, all else to stderr. Exit codes: 0 done, 1 a gate failed, 2 a mistake, 3 partly done.",
)
for panel, commands in COMMANDS.items():
    for name, module in commands.items():
        app.command(name, epilog=module.EXAMPLES, rich_help_panel=panel)(console.results_alone(module.command))


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"classay {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    pass


def run(arguments: list[str]) -> int:
    """Run the command with these arguments and return its exit code."""
    try:
        return _run(arguments)
    except console.NobodyReads:
        _hush()
        return PARTIAL


def _run(arguments: list[str]) -> int:
    try:
        # Not standalone: Typer would print its own boxes, and end with 1, which says that a gate failed.
        code = app(_spelled_out(arguments) or ["--help"], prog_name="classay", standalone_mode=False)
        console.flush()
    except (InputError, typer.Abort, console.NothingDone) as ended:
        if "--debug" in arguments:
            raise
        if isinstance(ended, InputError):
            console.error(str(ended))
            return MISTAKE
        console.error("Interrupted before anything was done.")
        return PARTIAL
    except SystemExit as leaving:  # completion ends so
        return leaving.code if isinstance(leaving.code, int) else DONE
    except console.NobodyReads:
        raise
    except Exception as error:
        if "--debug" in arguments:
            raise
        console.error(_told(error))
        return MISTAKE
    if code == INTERRUPTED:
        console.error("Interrupted before anything was done.")
        return PARTIAL
    return code if isinstance(code, int) else DONE


def _spelled_out(arguments: list[str]) -> list[str]:
    """The arguments, with --mlflow= for an --mlflow without an address: Typer's options have a value always or never.

    >>> _spelled_out(["report", "--mlflow", "iris"]), _spelled_out(["report", "--mlflow", "sqlite:///a.db"])
    (['report', '--mlflow=', 'iris'], ['report', '--mlflow', 'sqlite:///a.db'])
    """
    words = list(arguments)
    for place, word in enumerate(words):
        after = words[place + 1] if place + 1 < len(words) else ""
        is_address = after == "databricks" or (re.match(r"[a-z][a-z0-9+.-]*:", after) and after[:7] != "openml:")
        if word == "--mlflow" and not is_address:
            words[place] = "--mlflow="
    return words


def _told(error: Exception) -> str:
    """What went wrong: a wrong option or command as Typer words it, anything else as a fault of ours."""
    explain = getattr(error, "format_message", None)
    if explain is None:
        return (
            f"{type(error).__name__}: {error}. This should not have happened and is not your mistake. --debug shows "
            "where it came from."
        )
    context = getattr(error, "ctx", None)
    command = "classay" if context is None else context.command_path
    return f"{explain().strip()} See {command} --help."


def _hush() -> None:
    """Let nothing more be written to a pipe that nobody reads, also not when Python ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
