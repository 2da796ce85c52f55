"""The command, called in this process."""

import pytest

from classay.cli.app import run


@pytest.fixture
def classay(capsys):
    """Call the command: exit code, stdout, stderr."""

    def call(*arguments):
        code = run(list(arguments))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call
