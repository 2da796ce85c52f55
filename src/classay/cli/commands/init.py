"""`classay init`: a commented check file from a first report."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from ... import __version__
from ...report.export.files import open_report, ready, write
from ...report.gates.check_file import first_gates, read_check_file
from ...result import plain
from .. import console, options

EXAMPLES = """
**Examples**

    classay init report.json

    classay init report.html -o gates/credit.toml --force

A first report comes from `classay report`, and `classay check` reads the file. It has gates that the report passes,
each with what was measured beside it. Change the bounds to what you need.
"""


def command(
    report: Path = typer.Argument(..., metavar="REPORT", help="A first report, .json or .html."),
    output: Path = typer.Option(Path("classay.toml"), "--output", "-o", help="Check file to write (.toml)."),
    force: options.Force = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Write a commented check file with gates that a first report passes, to start from."""
    target = ready(output, force, (".toml",))
    document = open_report(report)
    beside = os.path.relpath(report.expanduser().resolve(), target.resolve().parent)
    write(target, first_gates(document, Path(beside).as_posix()))
    check = read_check_file(target)
    if as_json:
        console.write_json({"classay": __version__, "file": str(target), "gates": plain(check.gates)})
    console.say(f"Saved {target}. Check it: classay check {target}", quiet)
