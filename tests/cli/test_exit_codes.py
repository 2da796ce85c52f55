"""Exit codes: 2 only for mistakes of users, 70 for ours, 74 for a lack of memory or space, 130 and 143 for signals."""

from __future__ import annotations

import errno
import json
import os
import signal
import time

import psutil
import pytest
from started import started

from classay.cli.app import run
from classay.engine.store import StoreFull
from classay.expect import InputError

LASTING = """
import time
from pathlib import Path
from sklearn.naive_bayes import GaussianNB

class Lasting(GaussianNB):
    def fit(self, X, y):
        Path("begun").touch()
        time.sleep(90)
        return super().fit(X, y)
"""
POSIX = pytest.mark.skipif(os.name != "posix", reason="sends signals")


def caused(error, cause):
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InputError("wrong"), 2, "wrong"),
        (ZeroDivisionError("oh"), 70, "ZeroDivisionError: oh. This is a bug in classay, not your mistake."),
        (OSError(errno.EIO, "broken"), 70, "bug in classay"),
        (MemoryError(), 74, "Not enough memory. Use fewer rows"),
        (MemoryError("of 7 GiB"), 74, "Not enough memory: of 7 GiB."),
        (OSError(errno.ENOSPC, "No space left on device"), 74, "Free some space"),
        (OSError(errno.EMFILE, "Too many open files"), 74, "close files"),
        (caused(StoreFull("the disk is full"), OSError(errno.ENOSPC, "full")), 74, "the disk is full"),
        (caused(InputError("not written"), OSError(errno.EDQUOT, "quota")), 74, "not written"),
        (KeyboardInterrupt(), 130, "Interrupted before there was any result"),
    ],
)
def test_each_reason_has_its_code(monkeypatch, capsys, error, code, message):
    def failing(*_, **__):
        raise error

    monkeypatch.setattr("classay.tables.read.read_table", failing)
    assert run(["data", "iris"]) == code
    captured = capsys.readouterr()
    assert message in captured.err
    assert "Traceback" not in captured.err
    assert captured.out == ""


@pytest.mark.slow
@pytest.mark.parametrize(("learner", "code"), [([], 0), (["--learner", "GaussianNB"], 3)])
def test_a_page_is_enough_unless_a_learner_that_was_asked_for_has_nothing(tmp_path, learner, code):
    page = tmp_path / "page.json"
    assert run(["report", "iris", *learner, "--budget", "0.001s", "--output", str(page), "--quiet"]) == code
    assert "Not finished" in page.read_text()


def test_handlers_of_signals_are_as_before():
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    run(["report", "--schema"])
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


@POSIX
def test_a_signal_that_comes_once_there_are_results(monkeypatch, capsys):
    """Whatever a command does with Ctrl-C, the code is that of the signal."""
    from classay.tables import read

    real = read.read_table

    def then_term(*given, **options):
        os.kill(os.getpid(), signal.SIGTERM)
        return real(*given, **options)

    monkeypatch.setattr(read, "read_table", then_term)
    assert run(["data", "iris"]) == 143
    assert "Interrupted" in capsys.readouterr().err


@pytest.fixture
def begun(tmp_path):
    """The command on a learner that takes long, in workers; its process once a fit has begun."""
    (tmp_path / "of_mine.py").write_text(LASTING)
    (tmp_path / "tmp").mkdir()
    learners = ["-l", "GaussianNB", "-l", "of_mine:Lasting", "--allow-import"]
    few = ["--samples", "4", "--repeats", "1", "--workers", "2"]
    words = ["learner", "iris", *learners, *few, "--json"]
    folder = {"cwd": tmp_path, "env": os.environ | {"TMPDIR": str(tmp_path / "tmp")}}
    process = started("-m", "classay", *words, **folder)
    while not (tmp_path / "begun").exists() and process.poll() is None:
        time.sleep(0.05)
    children = psutil.Process(process.pid).children(recursive=True)
    assert children
    yield process, children, tmp_path / "tmp"
    process.kill()
    process.communicate()
    for child in children:
        if child.is_running():
            child.kill()


def gone(children, folder, patience=60):
    """Whether the processes and temporary folders are gone; the fits would take longer than this waits."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        running = [each for each in children if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]
        if not running and not list(folder.glob("classay-*")):
            return True
        time.sleep(0.2)
    return False


@pytest.mark.slow
@POSIX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_term_show_what_is_done(begun, number):
    process, children, folder = begun
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # a terminal sends it to all processes
    else:
        process.send_signal(number)
    out, err = process.communicate(timeout=80)
    assert process.returncode == 128 + number, err
    content = json.loads(out)
    assert content["interrupted"] is True
    assert "GaussianNB" in content["learners"]
    assert "Traceback" not in err
    assert gone(children, folder)


@pytest.mark.slow
@POSIX
def test_workers_end_with_a_parent_that_was_killed(begun):
    process, children, folder = begun
    assert list(folder.glob("classay-*"))
    process.kill()
    assert gone(children, folder)
