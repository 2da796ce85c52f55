"""How a result reaches its chart: by name, with the kinds and options that the chart takes and no others."""

from dataclasses import dataclass

import altair as alt
import pandas as pd
import pytest

from classay import charts, slices
from classay.charts.kinds import check_kind, without_options
from classay.expect import InputError
from classay.result import Result


@dataclass(frozen=True)
class Unnamed(Result):
    value: int = 1


class Inheriting(Unnamed):
    pass


class Named(Inheriting, chart="style.theme:titled"):
    pass


def test_a_result_names_its_chart_and_passes_it_on():
    class Child(Named):
        pass

    assert [kind._chart for kind in (Unnamed, Inheriting, Named, Child)] == ["", "", *["style.theme:titled"] * 2]


def test_draw_is_plot():
    found = slices(pd.DataFrame({"a": range(400)}), [row < 90 for row in range(400)])
    assert charts.draw(found).to_dict() == found.plot().to_dict() == charts.slices_chart(found).to_dict()
    for wrong in (3, None, pd.DataFrame(), Unnamed):
        with pytest.raises(TypeError, match="has no chart; draw what classay's measures return"):
            charts.draw(wrong)


def test_kinds_and_their_options():
    kinds = {"both": (), "map": ("metric",)}
    check_kind("both", kinds, {})
    check_kind("map", kinds, {"metric": 1})
    with pytest.raises(InputError, match=r"`kind` is 'mop'; expected one of 'both', 'map'. Did you mean map"):
        check_kind("mop", kinds, {})
    with pytest.raises(
        InputError, match=r"chart 'both' has no option 'metric'; it has none\. The charts that have it: 'map'\.$"
    ):
        check_kind("both", kinds, {"metric": 1})
    with pytest.raises(
        InputError, match=r"chart 'map' has no option 'metrik'; it has 'metric'\. Did you mean metric\?"
    ):
        check_kind("map", kinds, {"metrik": 1})


def test_an_only_chart_takes_no_options():
    @without_options
    def chart(*results):
        """Draw nothing."""
        return alt.Chart()

    assert isinstance(chart(1, 2), alt.Chart)
    assert chart.__doc__ == "Draw nothing."
    with pytest.raises(InputError, match="The chart of int takes no options; colour, kind was given"):
        chart(1, colour="red", kind="both")
    with pytest.raises(InputError, match="The chart of nothing takes no options"):
        without_options(nothing)(colour="red")


def nothing():
    return alt.Chart()
