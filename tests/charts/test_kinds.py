"""How a result reaches its chart: by name, with the kinds and options that the chart takes and no others."""

from dataclasses import dataclass

import pandas as pd
import pytest

from classay import charts, slices
from classay.charts.kinds import draw_kind
from classay.expect import InputError
from classay.result import Result


@dataclass(frozen=True)
class Unnamed(Result):
    value: int = 1


class Named(Unnamed, chart="style.theme:titled"):
    pass


def test_a_result_names_its_chart_and_passes_it_on():
    class Child(Named):
        pass

    assert [kind._chart for kind in (Unnamed, Named, Child)] == ["", *["style.theme:titled"] * 2]


def test_draw_is_plot():
    found = slices(pd.DataFrame({"a": range(400)}), [row < 90 for row in range(400)])
    assert charts.draw(found).to_dict() == found.plot().to_dict() == charts.slices_chart(found).to_dict()
    with pytest.raises(InputError, match="The chart of Slices takes no options; colour, kind was given"):
        found.plot(colour="red", kind="both")
    for wrong in (3, None, pd.DataFrame(), Unnamed):
        with pytest.raises(TypeError, match="has no chart; draw what classay's measures return"):
            charts.draw(wrong)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kind": "mop"}, r"`kind` is 'mop'; expected one of 'both', 'map'. Did you mean map"),
        ({"metric": 1}, r"chart 'both' has no option 'metric'; it has none\. The charts that have it: 'map'\.$"),
        ({"kind": "map", "metrik": 1}, r"'map' has no option 'metrik'; it has 'metric'\. Did you mean metric\?"),
    ],
)
def test_kinds_and_their_options(options, words):
    kinds = {"both": lambda result: "both", "map": lambda result, metric=0: metric}
    assert draw_kind(None, kinds) == "both"
    assert draw_kind(None, kinds, "map", metric=1) == 1
    with pytest.raises(InputError, match=words):
        draw_kind(None, kinds, **options)
