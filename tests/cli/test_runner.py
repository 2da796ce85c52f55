"""The runner: what every command gets from it, whatever it measures."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
import typer

from classay import InputError
from classay.cli import runner
from classay.cli.options import Charts, Effort
from classay.engine.store import StoreFull
from classay.intervals import Estimate
from classay.result import Result

SHARE = Estimate(0.5, 0.4, 0.6)


@dataclass(frozen=True)
class Shares(Result):
    """A result with one figure."""

    half: Estimate = SHARE


def command(effort: Effort, output: Charts, fail: bool = False, depth: int = typer.Option(2, help="How deep.")):
    """Measure."""
    assert (effort.seed, output.as_json) == (7, True)
    failed = {"[red]tree[/red]": "no rows"} if fail else {}
    return runner.Outcome({"shares": Shares()}, data={"name": "x"}, settings={"depth": depth + 1}, failed=failed)


def test_groups_of_options_become_options_of_the_command(capsys):
    run = runner.runnable(command, {"first": ["seed"]})
    names = ["seed", "workers", "time_limit", "store", "scheduler", "as_json", "quiet", "debug", "charts", "fail"]
    panels = {each.name: each.annotation for each in run.__signature__.parameters.values()}
    assert list(panels) == [*names, "depth"]
    assert panels["seed"].__metadata__[0].rich_help_panel is None
    assert panels["store"].__metadata__[0].rich_help_panel == "Effort"
    assert panels["charts"].__metadata__[0].rich_help_panel == "Output"
    values = dict.fromkeys(names) | {"seed": 7, "as_json": True, "depth": 2, "fail": False}
    run(**values)
    content = json.loads(capsys.readouterr().out)
    assert list(content) == ["classay", "data", "settings", "shares", "failed", "interrupted"]
    assert content["shares"]["half"]["low"] == 0.4
    assert content["settings"] == {"seed": 7, "time_limit": None, "fail": False, "depth": 3}
    with pytest.raises(typer.Exit) as partly:
        run(**{**values, "fail": True})
    assert partly.value.exit_code == 3
    assert "[red]tree[/red]: no results. no rows" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("outcome", "code"),
    [({}, 0), ({"code": 1}, 1), ({"failed": {"a": "b"}, "code": 1}, 1), ({"interrupted": True, "code": 1}, 3)],
)
def test_text_and_exit_codes(outcome, code, capsys):
    ended = 0
    try:
        runner.deliver(runner.Outcome({"shares": Shares()}, **outcome), Charts(), {})
    except typer.Exit as end:
        ended = end.exit_code
    assert ended == code
    shown = capsys.readouterr()
    assert shown.out.startswith("half 0.5 [0.4, 0.6].")  # the paragraph of the result, then its table
    assert "[0.400, 0.600]" in shown.out
    assert ("Interrupted" in shown.err) == outcome.get("interrupted", False)


def test_charts_are_made_only_if_they_are_wanted(tmp_path):
    drawn = runner.Outcome({"shares": Shares()}, charts=lambda: {"shares": Shares().plot()})
    runner.deliver(drawn, Charts(charts=tmp_path / "new", quiet=True), {})
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"shares.svg", "shares.png"}
    runner.deliver(runner.Outcome({}, charts=lambda: pytest.fail("drawn")), Charts(), {})


def test_one_that_fails_does_not_stop_the_others():
    def measure(name, error):
        if error is not None:
            raise error
        return name

    bad = {"a": InputError("no a"), "b": InputError("no b")}
    with pytest.raises(InputError, match="no a no b"):
        runner.measure_each(bad, measure)
    assert runner.measure_each(bad | {"c": None}, measure) == ({"c": "c"}, {"a": "no a", "b": "no b"}, False)
    assert runner.measure_each({"c": None, "d": KeyboardInterrupt(), "e": None}, measure) == ({"c": "c"}, {}, True)
    assert runner.measure_each({"c": None, "d": StoreFull("full"), "e": None}, measure).failed == {"d": "full"}
    with pytest.raises(KeyboardInterrupt):
        runner.measure_each({"d": KeyboardInterrupt(), "c": None}, measure)
    with pytest.raises(StoreFull):
        runner.measure_each({"d": StoreFull("full"), "c": None}, measure)


def test_what_rounds_to_0_has_no_sign():
    assert runner.cell(Estimate(-0.0001, -0.0002, 0.5)) == "0.000\n[0.000, 0.500]"
