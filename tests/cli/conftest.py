"""The command, called in this process."""

import json

import pytest

from classay.cli.app import run


@pytest.fixture
def classay(capsys):
    """Call the command: exit code, stdout, stderr."""

    def call(*arguments):
        code = run(list(map(str, arguments)))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def shown(classay):
    """Call the command, which succeeds: its words on stdout, in one line."""

    def call(*arguments):
        code, out, err = classay(*arguments)
        assert code == 0, err
        return " ".join(out.split())

    return call


@pytest.fixture
def measured(classay):
    """Call the command with --json, which succeeds quietly: what it prints."""

    def call(*arguments):
        code, out, err = classay(*arguments, "--json", "--quiet")
        assert code == 0, err
        return json.loads(out)

    return call


@pytest.fixture
def refused(classay):
    """Call the command, which refuses its arguments with exit code 2 and this message, in one sentence."""

    def call(message, *arguments):
        code, out, err = classay(*arguments)
        assert (code, out) == (2, "")
        assert message in " ".join(err.split())
        assert "Traceback" not in err

    return call
