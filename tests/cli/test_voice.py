"""The command as a whole: plain English, one set of exit codes, and correct behaviour in pipes and on terminals."""

from __future__ import annotations

import ast
import io
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest
from started import started

from classay.cli import app as application
from classay.cli import console
from classay.cli.app import COMMANDS, load
from classay.cli.options import HELP
from classay.estimators.spec import learners_from_texts

LOADED = {name: load(name) for name in COMMANDS}
SOURCES = Path(application.__file__).parents[1]
FILES = [path for room in ("report", "cli") for path in sorted((SOURCES / room).rglob("*"))]
PROSE = [path for path in FILES if path.suffix in (".py", ".jinja", ".toml")]
BANNED = {
    "training randomness": r"\bdice\b|\brolls?\b",
    "predict, forecast or estimate": r"\bfore(tell|told|see|saw)",
    "no guillemets": "[«»]",
    "depends on the training sample": r"\bof the draw\b",
    "show, measure or report": r"\btells?\b|\btold\b|\btelling\b",
    "indistinguishable": r"\btell\w* apart\b|\btold (apart|from)\b",
    "per": r"\b(one|once|two|seconds|row|rows|refit|fit|file|case|rule|function|label|name|direction|line)s? an? "
    r"(core|fit|gate|class|line|row|figure|command|half|finding|section|subset|fold|point|second)\b",
    "correctly": r"\brightly\b",
    "concentrate": r"\bgather",
    "predict": r"\banswer",
    "fix": r"\bmend",
    "check against, compare with": r"\b(held|hold|holds|holding)\b[^.;:]{0,40}\bagainst\b",
    "also": r", too\b(?! (few|many|little|much))",
    "work too": r"\bdo(es)? as well\b",
    "may be enough": r"\bmay do\b",
    "expected N, got M": r"\b(is|are) expected\b(?! to)",
    "is not a": r"(?<!there )\b(is|are) no "
    r"(file|folder|column|number|report|page|array|TOML|JSON|network|learner|figure of)\b",
    "rarely": r"\bseldom\b",
    "drop": r"\bleave (it|them|one) out\b|\bleft alone\b",
    "what had finished": r"\bby then\b",
    "section or module": r"\brooms?\b",
    "wrong or typo": r"\bslips? of\b|\bof itself\b|\bits kind\b",
}
"""What to say, and the private or translated words that it replaces."""
COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-9]")
"""Bold is none."""


def test_alone_it_shows_what_it_can_do(classay):
    code, out, err = classay()
    assert (code, err) == (0, "")
    words = " ".join(re.sub("[│╭╮╰╯─]", " ", out).split())
    for name, command in COMMANDS.items():
        assert command["panel"] in words
        assert f"{name} {command['summary']}" in words
    assert out == classay("--help")[1] == classay("-h")[1]
    assert "3 partly" in out


def test_every_command_is_listed():
    folder = Path(application.__file__).parent / "commands"
    assert set(COMMANDS) == {path.stem for path in folder.glob("[!_]*.py")}


@pytest.mark.parametrize("arguments", ["", "--version"])
def test_the_list_of_commands_needs_no_heavy_package(arguments):
    code = (
        "import sys; from classay.cli.app import run; code = run(sys.argv[1:]);"
        "print(code, sorted({name.split('.')[0] for name in sys.modules} & "
        "{'sklearn', 'pandas', 'numpy', 'scipy', 'altair', 'torch', 'dask', 'distributed'}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments.split()], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "0 []"


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_in_help_are_understood_as_written(name):
    lines = [line.strip() for line in COMMANDS[name]["epilog"].splitlines() if line.startswith("    classay")]
    lines = [line for line in lines if "--schema" not in line]  # which prints and exits
    assert lines
    for line in lines:
        first, second, *words = itertools.takewhile(lambda word: word != ">", shlex.split(line))
        assert (first, second) == ("classay", name)
        words = application._spelled_out(words)
        options = LOADED[name].make_context(name, words).params  # refuses what is unknown, missing or of another type
        learners = options.get("learner") or []
        # Of all commands, drift alone takes regressors.
        learners_from_texts([learners] if isinstance(learners, str) else learners, regressors=name == "drift")


def test_every_text_is_that_of_an_option_or_table():
    code = "".join(path.read_text() for path in (SOURCES / "cli" / "commands").glob("*.py"))
    assert [name for name in HELP["tables"] if f'"{name}"' not in code] == []
    shared = {name for table in HELP["shared"].values() for name in table}
    used = {name: {option.name for option in command.params} for name, command in LOADED.items()}
    assert shared <= set.union(*used.values())
    for name, words in COMMANDS.items():
        assert {option for table in words.values() if isinstance(table, dict) for option in table} <= used[name]
        assert set(words.get("first", ())) <= used[name]


def test_help_of_options():
    for name, command in LOADED.items():
        words = {word for option in command.params for word in option.opts}
        assert {"--json", "--quiet", "-q", "--debug"} <= words, name
        texts = {option.name: option.help for option in command.params if option.name != "help"}
        assert [key for key, text in texts.items() if not str(text).endswith(".")] == [], name


def not_plain(text):
    """The banned words in a text and what to say instead. Code in backticks may have any name."""
    plain = re.sub(r"`[^`]*`", "", text)
    return {
        match[0].strip(): instead
        for instead, pattern in BANNED.items()
        for match in re.finditer(pattern, plain, flags=re.IGNORECASE)
    }


def prose_in(path):
    """Texts of a source file that people read: sentences in strings, docstrings and comments; of a page, its words."""
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        # Tags of the template and of HTML have names that nobody reads, but labels in them are read aloud.
        return [re.sub(r"{%.*?%}|{{.*?}}|{\w*}|</?[a-z0-9]+", " ", source, flags=re.DOTALL)]
    strings = [
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(r"\s", node.value.strip())
    ]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [*strings, *(token.string for token in tokens if token.type == tokenize.COMMENT)]


def test_reports_and_commands_are_plain_english():
    texts = [(str(path.relative_to(SOURCES)), text) for path in PROSE for text in prose_in(path)]
    assert {(path, text): words for path, text in texts if (words := not_plain(text))} == {}


def test_words_that_were_replaced_are_found():
    for text in ("What it answers is of the draw.", "Default: one a core.", "«tree»", "Mend it, or leave it out."):
        assert not_plain(text)
    assert not_plain("Whether it is random (`dice`); see `tells`.") == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lerner"], "classay: No such command 'lerner'. Did you mean 'learner'? See classay --help."),
        (["slices", "x.csv"], "There is no command 'slices'. Use classay data PREDICTIONS --wrong"),
        (["learner", "iris", "--learnr", "x"], "There is no option --learnr. Did you mean --learner? See"),
        (["learner", "iris", "--subsets", "3"], "There is no option --subsets. See classay learner --help."),
        (["learner"], "Missing argument 'DATA'. See classay learner --help."),
        (["learner", "iris", "--seed", "one"], "as an integer. See classay learner --help."),
    ],
)
def test_usage_errors_look_like_all_errors(refused, arguments, message):
    refused(message, *arguments)


def test_every_name_that_is_elsewhere_is_found_there(shown):
    assert not set(HELP["elsewhere"]) & set(COMMANDS)
    for place in HELP["elsewhere"].values():
        _, name, *words = shlex.split(place)
        known = {word for option in LOADED[name].params for word in option.opts} if name in LOADED else set()
        assert {word for word in words if word.startswith("--")} <= known


def test_a_bug_is_shown_whole_with_debug(classay, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("classay.tables.read.read_table", broken)
    with pytest.raises(ZeroDivisionError):
        classay("data", "iris", "--debug")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="pipes of a shell")
@pytest.mark.parametrize("words", ["report --schema", "data iris"])
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
        raise console.ClosedPipe

    monkeypatch.setattr(application, "app", gone)
    assert application.run(["report", "--schema"]) == 3


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
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert "iriss" in shown
    assert COLOUR.search(shown)


def test_colour_can_be_turned_off_and_is_not_for_pipes(classay, monkeypatch):
    assert "\x1b" not in classay("data", "iriss")[2]
    assert "\x1b" not in classay("data", "iris")[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert COLOUR.search(classay("data", "iriss")[2])
    monkeypatch.setenv("NO_COLOR", "1")
    assert not COLOUR.search(classay("data", "iriss")[2])


def test_completion_works_and_can_be_shown(classay, monkeypatch):
    monkeypatch.setenv("_CLASSAY_COMPLETE", "complete_bash")
    for words, expected in {"classay sw": ["sweep"], "classay check --ju": ["--junit"], "classay no": []}.items():
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
        code, out, _ = classay()
        assert (code, out.split()) == (0, expected)
    monkeypatch.setenv("_CLASSAY_COMPLETE", "source_zsh")
    assert "#compdef classay" in classay()[1]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["report", "iris", "--mlflow"], ["report", "iris", "--mlflow="]),
        (["report", "--mlflow", "-q", "iris"], ["report", "--mlflow=", "-q", "iris"]),
        (["report", "--mlflow", "http://x:5000", "iris"], ["report", "--mlflow", "http://x:5000", "iris"]),
        (["report", "--mlflow", "openml:61"], ["report", "--mlflow=", "openml:61"]),
        (["classes", "--k", "10", "20", "30", "a.npz"], ["classes", "--k", "10,20,30", "a.npz"]),
    ],
)
def test_options_with_no_value_or_several(words, expected):
    assert application._spelled_out(words) == expected


TALKATIVE = {
    "MLPClassifier(hidden_layer_sizes=(2,), max_iter=2, verbose=True)": "Iteration 1, loss",
    "SVC(verbose=True)": "optimization finished",  # printed by compiled code
}


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_what_learners_print_is_not_among_the_results(workers):
    learners = [word for learner in TALKATIVE for word in ("-l", learner)]
    command = ["learner", "iris", *learners, "--samples", "3", "-r", "1", "-q", "--json", "--workers", workers]
    out, err = started("-m", "classay", *command).communicate(timeout=120)
    assert list(json.loads(out)["learners"]) == list(TALKATIVE)
    for printed in TALKATIVE.values():
        assert printed in err


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a disk that is full")
def test_results_that_cannot_be_written_are_an_error():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "classay", "data", "iris"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 74
    assert "The results cannot be written to stdout: No space left on device." in done.stderr
    assert "bug in classay" not in done.stderr


def test_without_a_command_stdout_is_as_it_was(classay):
    code, out, _ = classay("learner", "iris", "-l", "GaussianNB", "--samples", "3", "-r", "1", "-q")
    assert (code, "GaussianNB" in out) == (0, True)
    before = sys.stdout
    assert classay("learner", "no such table")[0] == 2
    assert sys.stdout is before
