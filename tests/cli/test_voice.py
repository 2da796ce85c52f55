"""The command as a whole: one voice, one set of exit codes, and manners in pipes and on terminals."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys

import pytest
import typer

from classay.cli import app as application
from classay.cli import console
from classay.cli.app import COMMANDS, app

MODULES = {name: module for commands in COMMANDS.values() for name, module in commands.items()}
TOGETHER = typer.main.get_command(app)
SAME = {
    "target",
    "text",
    "cache",
    "seed",
    "workers",
    "time_limit",
    "charts",
    "mlflow",
    "force",
    "as_json",
    "quiet",
    "debug",
    "level",
}
"""Options that say the same wherever they are."""
COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-9]")
"""Bold is none."""


def test_alone_it_shows_what_it_can_do(classay):
    code, out, err = classay()
    assert (code, err) == (0, "")
    for panel, commands in COMMANDS.items():
        assert panel in out
        for name in commands:
            assert re.search(rf"\b{name}\b", out)
    assert out == classay("--help")[1]
    assert "3 partly" in out


@pytest.mark.parametrize("name", MODULES)
def test_help_has_examples_that_name_options_there_are(name):
    known = {word for option in TOGETHER.commands[name].params for word in (*option.opts, *option.secondary_opts)}
    lines = [line.strip() for line in MODULES[name].EXAMPLES.splitlines() if line.startswith("    classay")]
    assert lines
    for line in lines:
        first, second, *words = shlex.split(line)
        assert (first, second) == ("classay", name)
        assert {word for word in words if re.match("-{1,2}[a-z]", word)} <= known, line


@pytest.mark.parametrize("name", MODULES)
def test_help_is_one_sentence_each(name):
    command = TOGETHER.commands[name]
    assert command.help
    assert command.help.endswith(".")
    for option in command.params:
        if option.name != "help":
            assert option.help, f"{name} {option.opts}"
            assert option.help.endswith("."), f"{name} {option.opts}: {option.help}"


def test_the_same_option_says_the_same_everywhere():
    told = {}
    for name, command in TOGETHER.commands.items():
        for option in command.params:
            if option.name in SAME:
                told.setdefault(option.name, {}).setdefault((option.help, *option.opts), []).append(name)
    assert set(told) == SAME
    assert {name: wordings for name, wordings in told.items() if len(wordings) > 1} == {}


@pytest.mark.parametrize("name", [name for name in MODULES if name != "schema"])
def test_every_command_is_quiet_and_speaks_json(name):
    words = {word for option in TOGETHER.commands[name].params for word in option.opts}
    assert {"--json", "--quiet", "-q", "--debug"} <= words


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lerner"], "No such command 'lerner'. Did you mean 'learner'? See classay --help."),
        (["learner", "iris", "--learnr", "x"], "--learner"),
        (["learner"], "Missing argument 'DATA'. See classay learner --help."),
        (["learner", "iris", "--seed", "one"], "--seed"),
    ],
)
def test_wrong_words_are_told_in_the_voice_of_the_house(classay, arguments, message):
    code, out, err = classay(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("classay: ")
    assert message in err


def test_a_fault_of_ours_is_no_traceback_and_no_failed_gate(classay, monkeypatch):
    from classay import tables

    def broken(*_):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(tables, "read", broken)
    code, out, err = classay("data", "iris")
    assert (code, out) == (2, "")
    assert "ZeroDivisionError: oh. This should not have happened" in err
    assert "Traceback" not in err
    with pytest.raises(ZeroDivisionError):
        classay("data", "iris", "--debug")


def test_ctrl_c_anywhere_is_said(classay, monkeypatch):
    from classay import tables

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(tables, "read", stopped)
    code, out, err = classay("data", "iris")
    assert (code, out) == (3, "")
    assert err.strip() == "classay: Interrupted before anything was done."


@pytest.mark.skipif(os.name != "posix", reason="pipes of a shell")
@pytest.mark.parametrize("words", ["schema", "data iris"])
def test_a_reader_may_leave(words):
    done = subprocess.run(
        f"{shlex.quote(sys.executable)} -m classay {words} | head -c 0; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr
    assert done.returncode == 3


def test_a_reader_that_left_is_no_failure_of_a_gate(monkeypatch):
    def gone(*_, **__):
        raise console.NobodyReads

    monkeypatch.setattr(application, "app", gone)
    assert application.run(["schema"]) == 3


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a terminal of its own")
def test_a_terminal_has_colour():
    import pty

    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    subprocess.run(
        [sys.executable, "-m", "classay", "data", "iriss"],
        stderr=theirs,
        env=environment | {"TERM": "xterm-256color"},
        check=False,
    )
    os.close(theirs)
    said = os.read(ours, 10_000).decode()
    os.close(ours)
    assert "iriss" in said
    assert COLOUR.search(said)


def test_colour_can_be_turned_off_and_is_not_for_pipes(classay, monkeypatch):
    assert "\x1b" not in classay("data", "iriss")[2]
    assert "\x1b" not in classay("data", "iris")[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert COLOUR.search(classay("data", "iriss")[2])
    monkeypatch.setenv("NO_COLOR", "1")
    assert not COLOUR.search(classay("data", "iriss")[2])


@pytest.mark.parametrize(
    ("words", "expected"),
    [("classay st", ["stability"]), ("classay check --ju", ["--junit"]), ("classay no", [])],
)
def test_completion_works(classay, monkeypatch, words, expected):
    monkeypatch.setenv("_CLASSAY_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    code, out, _ = classay()
    assert (code, out.split()) == (0, expected)


def test_completion_can_be_shown(classay, monkeypatch):
    monkeypatch.setenv("_CLASSAY_COMPLETE", "source_zsh")
    assert "#compdef classay" in classay()[1]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["report", "iris", "--mlflow"], ["report", "iris", "--mlflow="]),
        (["report", "--mlflow", "-q", "iris"], ["report", "--mlflow=", "-q", "iris"]),
        (["report", "--mlflow", "http://x:5000", "iris"], ["report", "--mlflow", "http://x:5000", "iris"]),
        (["report", "--mlflow", "openml:61"], ["report", "--mlflow=", "openml:61"]),
    ],
)
def test_an_address_may_be_left_out(words, expected):
    assert application._spelled_out(words) == expected


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize(
    ("talkative", "said"),
    [
        ("MLPClassifier(hidden_layer_sizes=(2,), max_iter=2, verbose=True)", "Iteration 1, loss"),
        ("SVC(verbose=True)", "optimization finished"),  # printed by compiled code
    ],
    ids=["Python", "compiled"],
)
def test_what_learners_print_is_not_among_the_results(workers, talkative, said):
    command = ["learner", "iris", "-l", talkative, "--subsets", "3", "-r", "1", "-q", "--json", "--workers", workers]
    done = subprocess.run(
        [sys.executable, "-m", "classay", *command], capture_output=True, text=True, check=True, timeout=120
    )
    assert list(json.loads(done.stdout)["learners"]) == [talkative]
    assert said in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a disk that is full")
def test_results_that_cannot_be_written_are_told():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "classay", "data", "iris"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "The results cannot be written to stdout: No space left on device." in done.stderr
    assert "should not have happened" not in done.stderr


def test_without_a_command_stdout_is_as_it_was(classay):
    code, out, _ = classay("learner", "iris", "-l", "GaussianNB", "--subsets", "3", "-r", "1", "-q")
    assert (code, "GaussianNB" in out) == (0, True)
    before = sys.stdout
    assert classay("learner", "no such table")[0] == 2
    assert sys.stdout is before
