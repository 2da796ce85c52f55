"""How `result.plot()` reaches a chart, and which kinds and options a chart takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

import altair as alt

from ..expect import InputError, nearest, one_of, shown
from ..result import Result

Chart = Callable[..., alt.TopLevelMixin]
Kinds = Mapping[str, Chart]
"""The charts of a result by kind, first the default. Their parameters with a default are the options of the kind."""


def draw(result: Any, **options: Any) -> alt.TopLevelMixin:
    """The chart of a result, as `result.plot()` returns it. `kind` and other options depend on what it is."""
    if not isinstance(result, Result):
        raise TypeError(f"{type(result).__name__} has no chart; draw what classay's measures return.")
    module, _, name = (result._chart or "style.parts:default_chart").partition(":")
    chart: Chart | Kinds = getattr(import_module(f"classay.charts.{module}"), name)
    if isinstance(chart, Mapping):
        return draw_kind(result, chart, **options)
    if options:
        raise InputError(f"The chart of {type(result).__name__} takes no options; {shown(options)} was given.")
    return chart(result)


def draw_kind(result: Any, kinds: Kinds, /, kind: str | None = None, **options: Any) -> alt.TopLevelMixin:
    """The chart of a kind (default: the first). Options that this kind does not take are refused."""
    kind = next(iter(kinds)) if kind is None else one_of(kind, "kind", kinds)
    taken = {
        name: [option for option, one in signature(chart).parameters.items() if one.default is not Parameter.empty]
        for name, chart in kinds.items()
    }
    for name in options:
        if name not in taken[kind]:
            own = f"it has {', '.join(map(repr, taken[kind]))}" if taken[kind] else "it has none"
            others = [other for other, known in taken.items() if name in known]
            elsewhere = f" The charts that have it: {', '.join(map(repr, others))}." if others else ""
            hint = nearest(name, ["kind", *taken[kind]])
            raise InputError(f"The chart {kind!r} has no option {name!r}; {own}.{elsewhere}{hint}")
    return kinds[kind](result, **options)
