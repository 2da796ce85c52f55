"""`classay runs`: list a store of records, finished or not, and clean it up."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ... import expect
from ...result import plain
from .. import console, options

if TYPE_CHECKING:
    from ...engine.inventory import Inventory, StoreEntry

EXAMPLES = """
**Examples**

    classay runs runs/

    classay runs runs/ --json

    classay runs prune runs/ --dry-run

    classay runs prune runs/
"""
COLUMNS = ["what", "of", "data", "done", "size", "age"]


def command(
    words: list[str] = typer.Argument(
        ..., metavar="[prune] FOLDER", help="Folder that was given to --store. Put prune before it to clean it up."
    ),
    dry_run: bool = typer.Option(
        False, "--dry-run", help="With prune: show what would be removed, but remove nothing."
    ),
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """List the records in a store, complete or not, with their sizes; or remove files that are no longer useful."""
    from ...engine.inventory import inventory

    pruning = words[0] == "prune" and len(words) > 1
    if len(words) > 1 + pruning:
        raise expect.InputError(f"`runs` was given {' '.join(words)!r}; expected one folder, or prune and one folder.")
    if dry_run and not pruning:
        raise expect.InputError("--dry-run works only with prune: classay runs prune FOLDER --dry-run.")
    folder = words[-1]
    if pruning:
        _prune(folder, dry_run, as_json, quiet)
        return
    found = inventory(folder)
    listed = [*_finished(found), *(_unfinished(found, held) for held in found.unfinished)]
    if as_json:
        paths = {name: plain(list(map(str, getattr(found, name)))) for name in ("damaged", "left_over", "others")}
        console.write_json({"folder": str(folder), "runs": listed, **paths, "unreadable": plain(found.unreadable)})
        return
    _show(found, listed)


def _finished(found: Inventory) -> list[dict[str, Any]]:
    """Sweeps, each with its records, then single records."""
    sweeps = [held for held in found.records if held.header["kind"] == "sweep"]
    sizes = {held.path.stem: held.size for held in found.records}
    listed, within = [], set()
    for held in sweeps:
        keys = held.header["records"]
        failed = len(held.header["failed"])
        there = [key for key in keys if key in sizes]
        within |= set(there)
        values = f"{held.header['values'][0]} … {held.header['values'][-1]}"
        entry = _entry(held, f"along {' x '.join(held.header['parameters'])}, {len(keys)} values: {values}")
        done = "complete" if len(there) >= len(keys) - failed else f"{len(there)} of {len(keys)} values"
        done += f", {failed} failed" if failed else ""
        listed.append({**entry, "done": done, "size": held.size + sum(sizes[key] for key in there)})
    for held in found.records:
        if held not in sweeps and held.path.stem not in within:
            failures = len(held.header.get("failures") or [])
            done = f"complete, {failures} failed" if failures else "complete"
            listed.append({**_entry(held, str(held.header["kind"])), "done": done})
    return listed


def _unfinished(found: Inventory, held: StoreEntry) -> dict[str, Any]:
    about = held.about
    subsets = int(about.get("scheme", {}).get("n") or 2 * about.get("scheme", {}).get("m", 0))
    of, values = "record", about.get("values")
    if values:
        of = f"along {' x '.join(about['parameters'])}, {expect.counted(len(values), 'value')}"
        of += f": {values[0]} … {values[-1]}" if len(values) > 1 else f": {values[0]}"
    entry = _entry(held, of)
    if found.is_done(held):
        return {**entry, "done": "finished; temporary parts remain"}
    done = held.parts * subsets // held.of if held.of else 0
    return {**entry, "done": f"unfinished: {min(done, subsets)} of {subsets} subsets"}


def _entry(held: StoreEntry, of: str) -> dict[str, Any]:
    about = held.about
    data = about.get("data") or {}
    told = f"{data.get('rows')} x {data.get('columns')} · {str(data.get('fingerprint'))[:8]}" if data else ""
    name = (about.get("learner") or {}).get("name") or about.get("network") or held.header["kind"]
    return {
        "what": str(name),
        "of": of,
        "data": told,
        "done": "complete",
        "size": held.size,
        "age": round(max(time.time() - held.modified, 0.0)),
        "path": str(held.path),
    }


def _show(found: Inventory, listed: list[dict[str, Any]]) -> None:
    out = console.out()
    if listed:
        rows = [
            [*(str(entry[name]) for name in COLUMNS[:4]), _bytes(entry["size"]), _age(entry["age"])] for entry in listed
        ]
        total = _bytes(sum(entry["size"] for entry in listed))
        out.print(console.table(f"{found.folder}: {total}", COLUMNS, rows))
    else:
        out.print(f"{found.folder} has no records.", markup=False)
    useless = len(found.damaged) + len(found.left_over)
    if useless:
        out.print(
            f"{expect.counted(useless, 'file')} damaged or left over: classay runs prune {found.folder}", markup=False
        )
    for why in found.unreadable.values():
        out.print(why, markup=False)
    if found.others:
        out.print(f"{expect.counted(len(found.others), 'other file')}, not from classay.", markup=False)


def _prune(folder: str | Path, dry_run: bool, as_json: bool, quiet: bool) -> None:
    from ...engine.inventory import inventory, removable, remove, size_of
    from ...learner.fitting.checkpoints import FORMAT
    from ...learner.fitting.provenance import DRAWING

    found = inventory(folder, thorough=True)
    doomed = [
        {"path": str(path), "why": why, "size": size_of(path)}
        for path, why in removable(found, {"drawing": DRAWING, "chunks": FORMAT})
    ]
    if not dry_run:
        for each in doomed:
            remove(Path(str(each["path"])))
    if as_json:
        console.write_json({"folder": str(folder), "removed": not dry_run, "files": doomed})
        return
    out = console.out()
    for each in doomed:
        out.print(f"{each['path']}: {each['why']} ({_bytes(int(str(each['size'])))})", markup=False, soft_wrap=True)
    verb = "would be freed" if dry_run else "freed"
    total = _bytes(sum(int(str(each["size"])) for each in doomed))
    out.print(f"{total} {verb}." if doomed else "Nothing to clean up.", markup=False)
    for why in found.unreadable.values():
        console.say(why, quiet)


def _bytes(number: int) -> str:
    """A size as text.

    >>> _bytes(512), _bytes(2_500_000)
    ('512 B', '2.5 MB')
    """
    size = float(number)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def _age(seconds: float) -> str:
    """A time span as text.

    >>> _age(5), _age(7200), _age(1_000_000)
    ('5 s', '2 h', '12 d')
    """
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
