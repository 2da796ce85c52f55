"""`classay runs`: list a store of records, finished or not, and clean it up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from rich.filesize import decimal

from ... import expect
from ...engine.store import Inventory, StoreEntry, inventory, remove, size_of
from ...learner.fitting.checkpoints import FORMAT
from ...learner.fitting.provenance import DRAWING
from .. import options
from ..runner import Outcome, rows_table

COLUMNS = {name: name for name in ("what", "of", "data", "done", "size", "age")}


def command(output: options.Output, words: list[str], dry_run: bool = False) -> Outcome:
    """List the records in a store with their sizes, or remove files that are no longer useful."""
    prune = words[0] == "prune" and len(words) > 1
    if len(words) > 1 + prune:
        raise expect.InputError(f"`runs` was given {' '.join(words)!r}; expected one folder, or prune and one folder.")
    if dry_run and not prune:
        raise expect.InputError("--dry-run works only with prune: classay runs prune FOLDER --dry-run.")
    folder = words[-1]
    if prune:
        return _prune(folder, dry_run, output)
    contents = inventory(folder)
    runs = [*_finished(contents), *(_unfinished(contents, entry) for entry in contents.unfinished)]
    lists = {name: list(map(str, getattr(contents, name))) for name in ("damaged", "left_over", "others")}
    return Outcome(
        {"runs": runs, **lists, "unreadable": contents.unreadable}, {"folder": folder}, text=_text(contents, runs)
    )


def _finished(contents: Inventory) -> list[dict[str, Any]]:
    """Sweeps, each with its records, then single records."""
    sweeps = [entry for entry in contents.records if entry.header["kind"] == "sweep"]
    sizes = {entry.path.stem: entry.size for entry in contents.records}
    runs, in_sweeps = [], set()
    for entry in sweeps:
        keys = entry.header["records"]
        failed = len(entry.header["failed"])
        present = [key for key in keys if key in sizes]
        in_sweeps |= set(present)
        values = f"{entry.header['values'][0]} … {entry.header['values'][-1]}"
        run = _run(entry, f"along {' x '.join(entry.header['parameters'])}, {len(keys)} values: {values}")
        done = "complete" if len(present) >= len(keys) - failed else f"{len(present)} of {len(keys)} values"
        done += f", {failed} failed" if failed else ""
        runs.append({**run, "done": done, "size": entry.size + sum(sizes[key] for key in present)})
    for entry in contents.records:
        if entry not in sweeps and entry.path.stem not in in_sweeps:
            failures = len(entry.header.get("failures") or [])
            done = f"complete, {failures} failed" if failures else "complete"
            runs.append({**_run(entry, str(entry.header["kind"])), "done": done})
    return runs


def _unfinished(contents: Inventory, entry: StoreEntry) -> dict[str, Any]:
    about = entry.about
    subsets = int(about.get("scheme", {}).get("n") or 2 * about.get("scheme", {}).get("m", 0))
    of, values = "record", about.get("values")
    if values:
        of = f"along {' x '.join(about['parameters'])}, {expect.counted(len(values), 'value')}"
        of += f": {values[0]} … {values[-1]}" if len(values) > 1 else f": {values[0]}"
    run = _run(entry, of)
    if contents.is_done(entry):
        return {**run, "done": "finished; temporary parts remain"}
    done = entry.parts * subsets // entry.of if entry.of else 0
    return {**run, "done": f"unfinished: {min(done, subsets)} of {subsets} subsets"}


def _run(entry: StoreEntry, of: str) -> dict[str, Any]:
    about = entry.about
    data = about.get("data") or {}
    name = (about.get("learner") or {}).get("name") or about.get("network") or entry.header["kind"]
    return {
        "what": str(name),
        "of": of,
        "data": f"{data.get('rows')} x {data.get('columns')} · {str(data.get('fingerprint'))[:8]}" if data else "",
        "done": "complete",
        "size": entry.size,
        "age": round(max(time.time() - entry.modified, 0.0)),
        "path": str(entry.path),
    }


def _text(contents: Inventory, runs: list[dict[str, Any]]) -> Iterator[Any]:
    if runs:
        rows = [{**run, "size": decimal(run["size"]), "age": str(timedelta(seconds=run["age"]))} for run in runs]
        total = decimal(sum(run["size"] for run in runs))
        yield rows_table(f"{contents.folder}: {total}", rows, COLUMNS, most=len(rows))
    else:
        yield f"{contents.folder} has no records."
    useless = len(contents.damaged) + len(contents.left_over)
    if useless:
        yield f"{expect.counted(useless, 'file')} damaged or left over: classay runs prune {contents.folder}"
    yield from contents.unreadable.values()
    if contents.others:
        yield f"{expect.counted(len(contents.others), 'other file')}, not from classay."


def _prune(folder: str, dry_run: bool, output: options.Output) -> Outcome:
    contents = inventory(folder, thorough=True)
    files: list[dict[str, Any]] = [
        {"path": str(path), "why": why, "size": size_of(path)}
        for path, why in contents.removable({"drawing": DRAWING, "chunks": FORMAT})
    ]
    if not dry_run:
        for file in files:
            remove(Path(file["path"]))
    for why in contents.unreadable.values():
        output.say(why)
    total = f"{decimal(sum(file['size'] for file in files))} {'would be freed' if dry_run else 'freed'}."
    text = [f"{file['path']}: {file['why']} ({decimal(file['size'])})" for file in files]
    return Outcome(
        {"removed": not dry_run, "files": files},
        {"folder": folder},
        text=[*text, total if files else "Nothing to clean up."],
    )
