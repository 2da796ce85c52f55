"""The application: the list of commands, exit codes and error messages."""

from __future__ import annotations

import difflib
import errno
import importlib
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import typer
from typer.core import TyperGroup

from .. import __version__
from ..printable import printable
from . import console
from .options import HELP

DONE, MISTAKE, PARTIAL = 0, 2, console.PARTIAL
FAULT, NO_RESOURCES = 70, 74
"""A bug of ours, and a lack of memory or disk: the codes that sysexits.h has for these."""
INTERRUPTED, TERMINATED = 130, 143
"""128 plus the number of the signal, as in shells. Typer uses the first for a Ctrl-C that no command has caught."""
PATHS = (errno.ENAMETOOLONG, errno.ELOOP, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR)
"""What the system says of a path that cannot be used; users can choose another."""
LACKS = (errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EFBIG)
COMMANDS = HELP["commands"]
"""The words of each command. It is in `commands/`, in a module of the same name, which the list of commands need not
import: these modules import scikit-learn and pandas."""


class LazyGroup(TyperGroup):
    """A group whose commands are summaries for the help page until one is called; then its module is imported."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import the command that Typer resolves: the one that is called, or whose options a shell completes."""
        name, summary, rest = super().resolve_command(ctx, args)
        return name, summary and load(str(name)), rest


def load(name: str) -> Any:
    """Import a command: its options, its docstring and its examples."""
    from .runner import runnable  # loads pandas, which the help page does not need

    module = importlib.import_module(f".commands.{name}", __package__)
    single = typer.Typer(add_completion=False, rich_markup_mode="markdown", pretty_exceptions_enable=False)
    single.command(name, epilog=COMMANDS[name]["epilog"])(runnable(module.command, COMMANDS[name]))
    return typer.main.get_command(single)


app = typer.Typer(
    name="classay",
    cls=LazyGroup,
    help="Assay classifiers: measure what accuracy hides.",
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Try: `classay report breast_cancer`. Help on a command: `classay report --help`.\n\n"
    "Results go to stdout, all else to stderr. Exit codes: 0 done, 1 a gate failed, 2 wrong input, 3 partly done, 70 a "
    "bug in classay, 74 no memory or disk space, 130 Ctrl-C, 143 terminated.",
)
for command, words in COMMANDS.items():
    app.command(command, help=words["summary"], rich_help_panel=words["panel"])(lambda: None)


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
        with _printable_warnings(), _stopped_like_ctrl_c() as received:
            code = _run(arguments)
            # What was done before the signal has been shown and saved.
            return 128 + received[0] if received and code in (PARTIAL, INTERRUPTED) else code
    except console.ClosedPipe:
        _silence()
        return PARTIAL


@contextmanager
def _printable_warnings() -> Iterator[None]:
    """Print warnings as lines that nothing in their text can break."""
    usual = warnings.formatwarning

    def one_line(message: Warning | str, *place: Any, **line: Any) -> str:
        return usual(printable(str(message)), *place, **line)

    warnings.formatwarning = one_line
    try:
        yield
    finally:
        warnings.formatwarning = usual


@contextmanager
def _stopped_like_ctrl_c() -> Iterator[list[int]]:
    """Let a SIGTERM stop the work as Ctrl-C does, with what is done kept. Gives the signals that were received."""
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    of_ctrl_c, of_term = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)

    def interrupt(number: int, frame: FrameType | None) -> None:
        received.append(number)
        if callable(of_ctrl_c):
            of_ctrl_c(number, frame)

    def terminate(number: int, frame: FrameType | None) -> None:
        # The handler of Ctrl-C at this moment: it waits while a worker is being started.
        of_now = signal.getsignal(signal.SIGINT)
        if not callable(of_now):
            received.append(number)
            raise KeyboardInterrupt
        of_now(number, frame)

    if callable(of_ctrl_c):  # not if whoever started us wants it to be ignored, as shells do in the background
        signal.signal(signal.SIGINT, interrupt)
    if of_term == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, terminate)
    try:
        yield received
    finally:
        if callable(of_ctrl_c):
            signal.signal(signal.SIGINT, of_ctrl_c)
        if of_term == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, of_term)


def _run(arguments: list[str]) -> int:
    try:
        # Not standalone: Typer would print its own boxes, and exit with 1, which means that a gate failed.
        code = app(_spelled_out(arguments) or ["--help"], prog_name="classay", standalone_mode=False)
        console.flush()
    except SystemExit as end:  # shell completion ends this way
        return end.code if isinstance(end.code, int) else DONE
    except console.ClosedPipe:
        raise
    except Exception as error:
        if "--debug" in arguments:
            raise
        if isinstance(error, typer.Abort):
            code = INTERRUPTED
        else:
            code, message = _code_and_message(error)
            console.error(message)
            return code
    if code == INTERRUPTED:
        console.error("Interrupted before there was any result.")
    return code if isinstance(code, int) else DONE


def _spelled_out(arguments: list[str]) -> list[str]:
    """The arguments as Typer takes them, for which an option has exactly one value.

    An --mlflow without an address is --mlflow=, and several numbers after --k are one value.
    """
    words: list[str] = []
    for word, after in zip(arguments, [*arguments[1:], ""]):
        is_address = after == "databricks" or (re.match(r"[a-z][a-z0-9+.-]*:", after) and after[:7] != "openml:")
        if words[-2:-1] in (["--k"], ["-k"]) and re.fullmatch(r"[\d_,\s]+", word) and not os.path.exists(word):
            words[-1] += f",{word}"
        else:
            words.append("--mlflow=" if word == "--mlflow" and not is_address else word)
    return words


def _is_lack(error: BaseException | None) -> bool:
    """Whether memory or space on a disk is what was missing, here or in what led to it."""
    while error is not None:
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in LACKS):
            return True
        error = error.__cause__ or error.__context__
    return False


def _code_and_message(error: Exception) -> tuple[int, str]:
    """Of an error: wrong input in its own words, a wrong option in Typer's, a lack of memory or disk, else a bug.

    The code is 2 only for what the user can change in the command or its files.
    """
    from ..expect import InputError  # loads NumPy, which the help page does not need
    from ..files import quoted

    if isinstance(error, InputError):
        return NO_RESOURCES if _is_lack(error) else MISTAKE, str(error)
    if isinstance(error, MemoryError):
        what = f"Not enough memory: {error}" if str(error) else "Not enough memory"
        return NO_RESOURCES, f"{what}. Use fewer rows, columns or workers (--workers 1)."
    if _is_lack(error):
        return NO_RESOURCES, f"{error}. Free some space or close files, and run the same again."
    if isinstance(error, OSError) and error.errno in PATHS and error.filename is not None:
        return MISTAKE, f"{quoted(str(error.filename))} cannot be used: {error.strerror}. Choose another path."
    if hasattr(error, "format_message"):
        return MISTAKE, _usage_message(error)
    bug = "This is a bug in classay, not your mistake. Run with --debug for the traceback."
    return FAULT, f"{type(error).__name__}: {error}. {bug}"


def _usage_message(error: Any) -> str:
    """What is wrong with the command line, and what may be meant instead."""
    message, command = error.format_message().strip(), "classay" if error.ctx is None else error.ctx.command_path
    if option := getattr(error, "option_name", None):
        known = [name.strip("-") for parameter in error.ctx.command.params for name in parameter.opts]
        close = " or ".join(f"--{name}" for name in difflib.get_close_matches(option.strip("-"), known, 2))
        message = f"There is no option {option}." + (f" Did you mean {close}?" if close else "")
    elif (missing := re.match(r"No such command '(.*?)'", message)) and missing[1] in HELP["elsewhere"]:
        message = f"There is no command {missing[1]!r}. Use {HELP['elsewhere'][missing[1]]}."
    return f"{message}{'' if message[-1:] in '.?' else '.'} See {command} --help."


def _silence() -> None:
    """Write nothing more to a pipe that nobody reads, not even when Python exits."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
