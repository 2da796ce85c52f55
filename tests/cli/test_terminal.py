"""Labels, names and errors with escape sequences and line breaks do not reach a terminal, whatever the command."""

from __future__ import annotations

import re
import sys
import warnings

import pytest

from classay.cli import console
from classay.cli.app import run

HARM = "\x1b[31mred\nclassay: forged\r\x9b2J\u202e"


@pytest.fixture
def hostile(tmp_path):
    """A table whose labels, columns and name are hostile."""
    path = tmp_path / "hosti\x1b[2Jle.csv"
    labels = ["a" if number % 17 > 8 else HARM.replace("\n", " ") for number in range(120)]
    rows = [f'{number % 17},{number % 5},"{label}"' for number, label in enumerate(labels)]
    path.write_text("\n".join(['size,"hu\x1b[31me",label', *rows]), newline="")
    return path


def harmless(text):
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    assert not re.search("^classay: forged", text, re.MULTILINE)


@pytest.mark.parametrize(
    "arguments",
    [
        ["learner", "--scheme", "halves", "--learner", "GaussianNB", "--samples", "4"],
        ["data"],
        ["report", "--learner", f"na{HARM}me=GaussianNB", "--budget", "20s", "--output"],
        ["learner", "--learner", f"na{HARM}me=GaussianNB", "--samples", "4", "--repeats", "1"],
        ["learner", "--learner", f"nothing{HARM}"],
        ["data", "--target", HARM],
        ["data", f"--no{HARM}"],
    ],
)
def test_of_every_command(hostile, tmp_path, capsys, arguments):
    end = [str(tmp_path / "page.html")] if arguments[-1] == "--output" else []
    run([arguments[0], str(hostile), *arguments[1:], *end])
    captured = capsys.readouterr()
    harmless(captured.out)
    harmless(captured.err)
    assert captured.out + captured.err


def test_errors_and_remarks(capsys):
    console.say(HARM)
    console.error(HARM)
    console.out().print(HARM, markup=False)
    console.out().print(console.table(HARM, ["a", HARM], [[HARM, "1\n[0, 2]"]], HARM))
    console.write_json({HARM: HARM})
    captured = capsys.readouterr()
    harmless(captured.out)
    harmless(captured.err)
    assert len(captured.err.splitlines()) == 2


def test_colours_are_still_there_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    console.error("label \x1b[2J")
    assert "\x1b[1;31mclassay: " in capsys.readouterr().err


def test_warnings(capsys, monkeypatch):
    from classay.cli import app

    def warned(*_, **__):
        sys.stderr.write(warnings.formatwarning(UserWarning(HARM), UserWarning, "module.py", 1, ""))

    monkeypatch.setattr(app, "app", warned)
    run(["data"])
    error = capsys.readouterr().err
    harmless(error)
    assert len(error.splitlines()) == 1


def test_progress(capsys, monkeypatch):
    from classay.engine import progress

    monkeypatch.setattr(progress, "APPEARS_AFTER", -1)
    monkeypatch.setattr(progress, "LINE_EVERY", -1)
    with progress.Progress(3, HARM) as bar:
        bar.advance()
    error = capsys.readouterr().err
    harmless(error)
    assert len(error.splitlines()) == 1
