"""Limits: a slip of a digit is refused at once, with the limit and how to raise it."""

import pytest

from classay import InputError, Subsets, expect
from classay.cli.app import run
from classay.expect import LIMITS, OF_PARAMETERS, limit_of

FEW = ["--learner", "GaussianNB", "--workers", "1"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["learner", "iris", *FEW, "--samples", "1000000000"],
        ["learner", "iris", *FEW, "--holdouts", "100000000000"],
        ["learner", "iris", *FEW, "--repeats", "1000000000"],
        ["sweep", "iris", *FEW, "-p", "var_smoothing", "-v", "1e-9,1e-8", "--samples", "1000000000"],
        ["sweep", "iris", *FEW, "-p", "var_smoothing", "-v", "1e-9,1e-8", "--holdouts", "100000000000"],
        ["learner", "iris", *FEW, "--scheme", "halves", "--samples", "99999999999999999999"],
        ["learner", "iris", *FEW, "--scheme", "halves", "--n-probes", "99999999999999999999"],
        ["report", "iris", *FEW, "--splits", "99999999999999999999", "-o", "page.html"],
        ["learner", "iris", "--workers", "1000000000", "--learner", "GaussianNB"],
    ],
    ids=lambda arguments: " ".join([arguments[0], *arguments[-2:]]),
)
def test_on_the_command_line(arguments, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert "the limit is" in error
    assert "CLASSAY_LIMITS=" in error


def test_the_environment_raises_and_lowers(monkeypatch):
    with pytest.raises(InputError, match=r"is 100,001; the limit is 100,000.*CLASSAY_LIMITS=subsets="):
        Subsets(100_001)
    monkeypatch.setenv("CLASSAY_LIMITS", "subsets=200000, holdouts=5")
    assert Subsets(100_001).n == 100_001
    assert limit_of("holdouts") == 5
    assert limit_of("rows") == LIMITS["rows"]
    for wrong in ("subsets", "subsets=x", "nothing=3", "subsets=-1", "subsets=" + "9" * 30):
        monkeypatch.setenv("CLASSAY_LIMITS", wrong)
        with pytest.raises(InputError, match="expected NAME=NUMBER"):
            Subsets(3)


def test_every_parameter_has_a_limit_that_is_there():
    assert set(OF_PARAMETERS.values()) <= set(LIMITS)


def test_very_long_numbers_are_not_printed():
    with pytest.raises(InputError, match="a number of 4001 digits"):
        expect.whole(10**4000, "splits", at_least=1)
