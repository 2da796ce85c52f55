"""Reports on disk: written completely or not at all, and opened again without running any code."""

from __future__ import annotations

import json
import os
import secrets
import zipfile
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

from ...expect import InputError, nearest
from ...files import expect_file
from ...learner.records.labelings import Labelings
from ...learner.records.predictions import Predictions
from ...learner.records.predictions import load as load_record
from ..document import Report
from .json_format import document, report_from

SUFFIXES = (".json", ".html")
"""Files that can be opened as a report."""
ELEMENT = "classay-report"
"""The id of the script element that contains the document."""


def save(report: Report, path: str | Path, force: bool = False) -> Path:
    """Write a report in the format of the suffix: .html (page), .json (every figure) or .md (section for a model card).

    It is written under another name first and then renamed, so that nobody ever sees half a file.
    """
    target = ready(path, force)
    write(target, WRITERS[target.suffix.lower()](report))
    return target


def ready(path: str | Path, force: bool = False, suffixes: tuple[str, ...] = ()) -> Path:
    """The path, if a file can be written there. Call this before the work, so that none is lost to a wrong name.

    force: whether to overwrite an existing file.
    suffixes: allowed suffixes. Default: those of a report.
    """
    target = Path(path).expanduser()
    allowed = suffixes or tuple(WRITERS)
    if target.suffix.lower() not in allowed:
        raise InputError(
            f"{str(target)!r} ends in {target.suffix or 'no suffix'}, which sets the format; expected one of "
            f"{', '.join(allowed)}.{nearest(target.suffix or '.', allowed)}"
        )
    if not target.parent.is_dir():
        what = "is not a folder" if target.parent.exists() else "does not exist"
        raise InputError(
            f"{target.name!r} cannot be written: {str(target.parent)!r} {what}. Create it, or choose another folder."
        )
    if target.is_dir():
        raise InputError(f"{str(target)!r} is a folder; expected a file name.")
    if target.exists() and not force:
        raise InputError(
            f"{str(target)!r} already exists. Choose another name, or overwrite it: --force (in Python, force=True)."
        )
    probe = _beside(target)
    try:
        probe.touch()
        probe.unlink()
    except OSError as problem:
        raise InputError(
            f"{target.name!r} cannot be written: no file can be created in {str(target.parent)!r} ({problem.strerror})."
            " Choose another folder."
        ) from None
    return target


def write(path: Path, text: str) -> None:
    """Write a text under another name, then rename it. Characters that UTF-8 lacks become escapes, as in JSON."""
    target = path.resolve()  # so that a link still points to the file
    passing = _beside(target)
    try:
        passing.write_bytes(text.encode("utf-8", "backslashreplace"))
        os.replace(passing, target)
    except OSError as problem:
        raise InputError(f"{str(path)!r} could not be written ({problem.strerror}).") from None
    finally:
        passing.unlink(missing_ok=True)


def load(path: str | Path) -> Report | Labelings | Predictions:
    """Load what was saved: a report (.json or .html), or a record of refits or predictions.

    Nothing in the file is executed. A report is equal to the one that was saved: it can be queried, saved in another
    format, and checked against gates.
    """
    # A record is a zip file, whatever it is called. Before it is opened: a pipe would wait for ever.
    is_report = Path(path).suffix.lower() in SUFFIXES and not zipfile.is_zipfile(expect_file(path))
    return open_report(path) if is_report else load_record(path)


def open_report(path: str | Path) -> Report:
    """Open a report from a .json or .html file."""
    source = Path(path).expanduser()
    if source.suffix.lower() not in SUFFIXES:
        raise InputError(
            f"{str(source)!r} cannot be opened as a report; expected .json or .html, as written by `classay report`."
        )
    expect_file(source, "a report, as written by `classay report`")
    try:
        text = source.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise InputError(f"{str(source)!r} cannot be read ({problem.strerror}).") from None
    except UnicodeDecodeError:
        raise InputError(f"{str(source)!r} cannot be read: it is not UTF-8, and so not a report of classay.") from None
    try:
        if source.suffix.lower() == ".html":
            text = _document_in(text)
        return report_from(json.loads(text))
    except InputError as mistake:
        raise InputError(f"{str(source)!r} cannot be opened. {mistake}") from None
    except (ValueError, OverflowError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"{str(source)!r} is damaged, or not JSON: {reason}.") from None


def _html(report: Report) -> str:
    from .page import render

    return render(report)


def _json(report: Report) -> str:
    return json.dumps(document(report), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _card(report: Report) -> str:
    from .model_card import card

    return card(report)


WRITERS: dict[str, Callable[[Report], str]] = {".html": _html, ".json": _json, ".md": _card}


def _beside(target: Path) -> Path:
    """A short unique name in the same folder: a rename is atomic only on the same disk."""
    return target.with_name(f".classay-{secrets.token_hex(6)}.part")


class _Page(HTMLParser):
    """Finds the script element with the document. The content of a script is only text for the parser."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.closed = False, False
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # Only the first: any later element with this id is not from classay.
        self.inside = tag == "script" and ("id", ELEMENT) in attrs and not self.parts and not self.closed

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.parts.append(data)

    def handle_endtag(self, tag: str) -> None:
        if self.inside and tag == "script":
            self.inside, self.closed = False, True


def _document_in(text: str) -> str:
    page = _Page()
    page.feed(text)
    if not page.closed:
        whole = "the document in it is cut off" if page.parts or page.inside else "there is no document in it"
        raise InputError(f"It is not a page of classay, or it is damaged: {whole}.")
    return "".join(page.parts)
