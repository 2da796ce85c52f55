"""Where output goes: results to stdout, everything else to stderr; colours only on a terminal."""

from __future__ import annotations

import ctypes
import functools
import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import Any, NoReturn, ParamSpec, TextIO, TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..printable import printable, printable_json

PARTIAL = 3
"""Exit code when only part of the work was done."""
P = ParamSpec("P")
R = TypeVar("R")
_stdout: list[TextIO] = []
"""The stream for results while a command runs."""


class ClosedPipe(Exception):
    """The reader of a pipe has closed it, as `head` does once it has its lines."""


class _Console(Console):
    """A console that prints text of users without control characters, each on one line."""

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*map(_safe, objects), **options)

    def on_broken_pipe(self) -> None:
        raise ClosedPipe


def _safe(content: Any) -> Any:
    if isinstance(content, str):
        return printable(content)
    if isinstance(content, Text):
        copy = content.copy()
        copy.plain = printable(content.plain)  # of the same length, so that styles stay in place
        return copy
    return content


def reserve_stdout(command: Callable[P, R]) -> Callable[P, R]:
    """Reserve stdout for the results of a command: what learners print while it runs goes to stderr."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with _own_stdout() as stream:
            _stdout.append(stream)
            try:
                with redirect_stdout(sys.stderr):
                    return command(*args, **kwargs)
            finally:
                _stdout.pop()

    return run


@contextmanager
def _own_stdout() -> Iterator[TextIO]:
    """The current stdout. Compiled code, which writes to file descriptor 1, then writes to stderr."""
    before = sys.stdout
    if before is not sys.__stdout__ or before is None or sys.__stderr__ is None:
        yield io.StringIO() if before is None else before  # closed, or replaced by a test
        return
    before.flush()
    own = os.dup(1)
    stream = os.fdopen(own, "w", encoding=before.encoding, errors=before.errors, closefd=False)
    os.dup2(2, 1)
    try:
        yield stream
    finally:
        try:
            _written(stream)
        finally:
            with suppress(Exception):  # what compiled code has in its buffers; there may be no C library
                ctypes.CDLL(None).fflush(None)
            os.dup2(own, 1)
            with suppress(OSError):  # raised above already
                stream.close()
            os.close(own)


def _written(stream: TextIO) -> None:
    """Write the rest of the results, also if only part of the work was done."""
    try:
        stream.flush()
    except BrokenPipeError:
        raise ClosedPipe from None
    except OSError as error:
        _refuse(f"The results cannot be written to stdout: {error.strerror}.")


def out() -> Console:
    """The console for results. Piped output is not wrapped at 80 columns."""
    console = _Console(highlight=False, file=_results())
    return console if console.is_terminal else _Console(highlight=False, width=160, file=_results())


def say(text: str, quiet: bool = False) -> None:
    """Print a remark on stderr."""
    if not quiet:
        _Console(stderr=True, highlight=False, soft_wrap=True).print(Text(text), style="dim")


def error(text: str) -> None:
    """Print an error on stderr."""
    _Console(stderr=True, highlight=False, soft_wrap=True).print(Text.assemble(("classay: ", "bold red"), text))


def write_json(content: Any) -> None:
    """Print JSON, and nothing else, on stdout."""
    text = printable_json(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))
    try:
        # Characters that the terminal's encoding lacks are written as JSON escapes, not lost.
        encoding = _results().encoding or "utf-8"
        print(text.encode(encoding, "backslashreplace").decode(encoding), file=_results())
    except BrokenPipeError:
        raise ClosedPipe from None


def flush() -> None:
    """Flush stdout now, while errors can still be reported."""
    try:
        if sys.stdout is not None:  # it may be closed
            sys.stdout.flush()
    except BrokenPipeError:
        raise ClosedPipe from None


def _results() -> TextIO:
    return _stdout[-1] if _stdout else sys.stdout


def table(title: str, columns: list[str], rows: list[list[str]], caption: str = "") -> Table:
    """A table whose first column is text and whose others are numbers. Users' text is never read as markup.

    Only the other columns may have several lines, as a figure above its interval.
    """
    title, caption = printable(title), printable(caption)
    content = Table(title=Text(title), caption=Text(caption) if caption else None, title_justify="left")
    content.caption_justify = "left"
    for place, column in enumerate(columns):
        content.add_column(Text(printable(column)), justify="right" if place else "left", overflow="fold")
    for row in rows:
        content.add_row(*(Text(printable(cell, keep_lines=place > 0)) for place, cell in enumerate(row)))
    return content


def writable_folder(folder: Path | None, option: str) -> None:
    """Create the folder of an option, if it is given, before any work is done."""
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".classay-can-write"
        probe.touch()
        probe.unlink()
    except OSError as problem:
        _refuse(f"{option} is {folder}, which cannot be written to ({problem.strerror}).")


def _refuse(message: str) -> NoReturn:
    from ..expect import InputError  # loads NumPy, which the help page does not need

    raise InputError(message) from None
