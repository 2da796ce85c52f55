"""`classay init`: a commented check file from a first report."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from ...report.export.files import open_report, ready, write
from ...report.gates.check_file import read_check_file
from ...report.gates.first_gates import first_gates
from .. import console, options

EXAMPLES = """
**Examples**

    classay report credit.csv --target default -o report.json

    classay init report.json

    classay check classay.toml

The file has gates that the report passes, each with what was measured beside it. Change the bounds to what you need.
"""


def command(
    report: Path = typer.Argument(..., metavar="REPORT", help="A first report, .json or .html."),
    output: Path = typer.Option(Path("classay.toml"), "--output", "-o", help="Check file to write (.toml)."),
    force: options.Force = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Write a commented check file with gates that a first report passes, to start from."""
    target = ready(output, force, (".toml",))
    document = open_report(report)
    beside = os.path.relpath(report.expanduser().resolve(), target.resolve().parent)
    write(target, first_gates(document, Path(beside).as_posix()))
    read_check_file(target)
    console.say(f"Saved {target}. Check it: classay check {target}", quiet)
