"""Reports on disk: written whole or not at all, checked before the work, and opened again without running anything."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

from ..expect import InputError, nearest
from .document import Report
from .reading import document, report_from

ELEMENT = "classay-report"
"""The id of the script in the page that holds the document."""


def save(report: Report, path: str | Path, force: bool = False) -> Path:
    """Write a report as the suffix says: .html (the page), .json (every figure) or .md (a section for a model card).

    It is written under another name first and then renamed, so that no half of a file is ever seen.
    """
    target = ready(path, force)
    write(target, WRITERS[target.suffix.lower()](report))
    return target


def ready(path: str | Path, force: bool = False, suffixes: tuple[str, ...] = ()) -> Path:
    """The path, if a file can be written there. Ask before the work, so that none is lost for a wrong name.

    force: whether a file that is there may be replaced.
    suffixes: what the name may end in. Default: those of a report.
    """
    target = Path(path).expanduser()
    allowed = suffixes or tuple(WRITERS)
    if target.suffix.lower() not in allowed:
        raise InputError(
            f"{str(target)!r} ends in {target.suffix or 'no suffix'}, which says how to write it; expected is one of "
            f"{', '.join(allowed)}.{nearest(target.suffix or '.', allowed)}"
        )
    if not target.parent.is_dir():
        what = "is no folder" if target.parent.exists() else "does not exist"
        raise InputError(f"{target.name!r} cannot be written: {str(target.parent)!r} {what}. Make it, or name another.")
    if target.is_dir():
        raise InputError(f"{str(target)!r} is a folder; the name of a file is expected.")
    if target.exists() and not force:
        raise InputError(
            f"{str(target)!r} is there already. Name another file, or replace it with --force (in Python, force=True)."
        )
    probe = _beside(target)
    try:
        probe.touch()
        probe.unlink()
    except OSError as problem:
        raise InputError(
            f"{target.name!r} cannot be written: no file can be made in {str(target.parent)!r} ({problem.strerror}). "
            "Name a folder of your own."
        ) from None
    return target


def write(path: Path, text: str) -> None:
    """Write a text under another name, then rename it. What UTF-8 cannot hold becomes an escape, as in JSON."""
    target = path.resolve()  # a link goes on pointing to the file
    passing = _beside(target)
    try:
        passing.write_bytes(text.encode("utf-8", "backslashreplace"))
        os.replace(passing, target)
    except OSError as problem:
        raise InputError(f"{str(path)!r} could not be written ({problem.strerror}).") from None
    finally:
        passing.unlink(missing_ok=True)


def open_report(path: str | Path) -> Report:
    """The report in a .json or .html file that `save` wrote, equal to the one saved.

    It can be asked, saved again as another kind, and held against gates. Nothing in the file is run.
    """
    source = Path(path).expanduser()
    if source.suffix.lower() not in (".json", ".html"):
        raise InputError(
            f"{str(source)!r} is no report that can be opened: .json or .html is expected, as `classay report` writes."
        )
    try:
        text = source.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise InputError(f"{str(source)!r} cannot be read ({problem.strerror}).") from None
    except UnicodeDecodeError:
        raise InputError(f"{str(source)!r} cannot be read: it is not UTF-8, and no report of classay.") from None
    try:
        if source.suffix.lower() == ".html":
            text = _document_in(text)
        return report_from(json.loads(text))
    except InputError as mistake:
        raise InputError(f"{str(source)!r} cannot be opened. {mistake}") from None
    except (ValueError, OverflowError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"{str(source)!r} is damaged, or no JSON: {reason}.") from None


def _html(report: Report) -> str:
    from .page import render

    return render(report)


def _json(report: Report) -> str:
    return json.dumps(document(report), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _card(report: Report) -> str:
    from .card import card

    return card(report)


WRITERS: dict[str, Callable[[Report], str]] = {".html": _html, ".json": _json, ".md": _card}


def _beside(target: Path) -> Path:
    """A short name in the same folder that nobody else has: a rename is whole only within a folder's disk."""
    return target.with_name(f".classay-{secrets.token_hex(6)}.part")


class _Page(HTMLParser):
    """Finds the script that holds the document. A script's content is text to it, whatever it is."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.closed = False, False
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # The first only: anything later that claims the name is not ours.
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
        whole = "the document in it breaks off" if page.parts or page.inside else "there is no document in it"
        raise InputError(f"It is no page of classay, or damaged: {whole}.")
    return "".join(page.parts)
