"""Progress: a bar on a terminal, a line that is rewritten in a notebook, and plain lines elsewhere."""

import io
import re
import sys
import time

import pytest

from classay.engine import progress
from classay.engine.progress import Progress, one_line
from classay.engine.work import run


class OutStream(io.StringIO):
    """What stderr is in a notebook."""


OutStream.__module__ = "ipykernel.iostream"


@pytest.fixture
def advance(monkeypatch):
    """Advance through tasks in a notebook: what is written. Not before: pytest sets its own stderr for each phase."""

    def written(tasks, every=0.0, **options):
        stream = OutStream()
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr(progress, "APPEARS_AFTER", 0.0)
        monkeypatch.setattr(progress, "REWRITTEN_EVERY", every)
        with Progress(tasks, "trees", **options) as bar:
            for _ in range(tasks):
                bar.advance()
        return stream.getvalue()

    return written


def test_a_notebook_gets_one_line_that_is_rewritten_and_cleared(advance):
    text = advance(4)
    states = text.split("\r")
    assert "\n" not in text
    assert "\x1b" not in text  # not every notebook knows the codes of terminals
    assert re.match(r"trees ━+─+ 1/4, 0 s, about 0 s left *$", states[1])
    assert "4/4" in states[4]
    assert states[5:] == [" " * len(states[4]), ""]
    assert len(states[2]) >= len(states[1])  # nothing of a longer state stays


def test_states_are_not_sent_more_often_than_they_can_be_read(advance):
    assert advance(1000, every=1e9).count("/1000") == 1  # the last


def test_nothing_where_it_is_not_wanted(advance):
    assert advance(2, wanted=False) == ""


def test_a_label_stays_in_its_line():
    assert one_line("a\r\n\tb") == "a b"
    assert len(one_line("x" * 500)) == 40


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_a_bar_on_a_terminal_and_plain_elsewhere(monkeypatch, terminal):
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    run(lambda _, task: task, range(5), executor=1, progress=True, label="trees")
    assert stream.getvalue() == ""  # too short a job
    monkeypatch.setattr(progress, "APPEARS_AFTER", 0.0)
    monkeypatch.setattr(progress, "LINE_EVERY", 0.0)
    run(lambda _, task: task, range(5), executor=1, progress=False, label="trees")
    assert stream.getvalue() == ""  # not wanted
    run(lambda _, task: time.sleep(0.05), range(5), executor=1, progress=True, label="trees")
    shown = stream.getvalue()
    assert "trees" in shown
    assert re.search(r"about \d+ s left", shown)
    assert ("\x1b" in shown) == terminal
    assert ("trees: 3 of 5" in shown) != terminal
