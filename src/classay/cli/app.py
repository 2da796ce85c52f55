"""The application: commands, exit codes and error messages."""

from __future__ import annotations

import os
import re
import sys
from types import ModuleType

import typer

from .. import __version__
from ..expect import InputError
from . import console
from .commands import (
    check,
    classes,
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
"""The exit code that Typer uses for a Ctrl-C that no command has caught."""
COMMANDS: dict[str, dict[str, ModuleType]] = {
    "Report": {"report": report, "check": check},
    "Learners": {
        "learner": learner,
        "sweep": sweep,
        "stability": stability,
        "preference": preference,
        "drift": drift,
    },
    "Data": {"data": data, "slices": slices},
    "Networks": {"network": network},
    "Number of classes": {"classes": classes, "identify": identify},
    "Tools": {"runs": runs, "schema": schema},
}
"""Commands by subject, in the order in which `classay` without arguments lists them."""

app = typer.Typer(
    name="classay",
    help="Assay classifiers: measure what accuracy hides.",
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Try: `classay report breast_cancer`. Help on a command: `classay report --help`.\n\n"
    "Results go to stdout, all else to stderr. Exit codes: 0 done, 1 a gate failed, 2 wrong input, 3 partly done.",
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
        # Not standalone: Typer would print its own boxes, and exit with 1, which means that a gate failed.
        code = app(_spelled_out(arguments) or ["--help"], prog_name="classay", standalone_mode=False)
        console.flush()
    except (InputError, typer.Abort, console.NothingDone) as ended:
        if "--debug" in arguments:
            raise
        if isinstance(ended, InputError):
            console.error(str(ended))
            return MISTAKE
        console.error("Interrupted before there was any result.")
        return PARTIAL
    except SystemExit as leaving:  # shell completion ends this way
        return leaving.code if isinstance(leaving.code, int) else DONE
    except console.NobodyReads:
        raise
    except Exception as error:
        if "--debug" in arguments:
            raise
        console.error(_told(error))
        return MISTAKE
    if code == INTERRUPTED:
        console.error("Interrupted before there was any result.")
        return PARTIAL
    return code if isinstance(code, int) else DONE


def _spelled_out(arguments: list[str]) -> list[str]:
    """The arguments, with --mlflow= for an --mlflow without an address: a Typer option takes a value always or never.

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
    """The message of an error: a wrong option or command as Typer words it, anything else as a bug in classay."""
    explain = getattr(error, "format_message", None)
    if explain is None:
        return (
            f"{type(error).__name__}: {error}. This is a bug in classay, not your mistake. Run with --debug for "
            "the traceback."
        )
    context = getattr(error, "ctx", None)
    command = "classay" if context is None else context.command_path
    return f"{explain().strip()} See {command} --help."


def _hush() -> None:
    """Write nothing more to a pipe that nobody reads, not even when Python exits."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
