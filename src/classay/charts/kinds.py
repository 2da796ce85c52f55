"""How `result.plot()` reaches a chart, and which kinds and options a chart takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import altair as alt

from ..expect import InputError, nearest, one_of, shown
from ..result import Result

Params = ParamSpec("Params")
ChartT = TypeVar("ChartT", bound=alt.TopLevelMixin)
Kinds = Mapping[str, tuple[str, ...]]
"""Each kind of a chart, with the options it takes."""
Charts = Mapping[str, tuple[Callable[..., alt.TopLevelMixin], tuple[str, ...]]]
"""Each kind of a chart: the function that draws it, and the options it takes."""


def draw(result: Any, **options: Any) -> alt.TopLevelMixin:
    """The chart of a result, as `result.plot()` returns it. `kind` and other options depend on what it is."""
    if not isinstance(result, Result):
        raise TypeError(f"{type(result).__name__} has no chart; draw what classay's measures return.")
    return result.plot(**options)


def check_kind(kind: str, kinds: Kinds, options: Mapping[str, Any]) -> None:
    """Refuse a kind that the chart does not have, and options that this kind does not take."""
    one_of(kind, "kind", kinds)
    for name in options:
        if name not in kinds[kind]:
            own = f"it has {', '.join(map(repr, kinds[kind]))}" if kinds[kind] else "it has none"
            others = [other for other, known in kinds.items() if name in known]
            elsewhere = f" The charts that have it: {', '.join(map(repr, others))}." if others else ""
            raise InputError(
                f"The chart {kind!r} has no option {name!r}; {own}.{elsewhere}{nearest(name, ['kind', *kinds[kind]])}"
            )


def draw_kind(result: Any, kind: str, charts: Charts, options: Mapping[str, Any]) -> alt.TopLevelMixin:
    """The chart of a kind, with the options that it takes."""
    check_kind(kind, {name: taken for name, (_, taken) in charts.items()}, options)
    return charts[kind][0](result, **options)


def without_options(chart: Callable[Params, ChartT]) -> Callable[Params, ChartT]:
    """Mark the only chart of a result: it refuses every keyword in the words of classay."""

    @wraps(chart)
    def checked(*results: Params.args, **options: Params.kwargs) -> ChartT:
        if options:
            subject = type(results[0]).__name__ if results else chart.__name__
            raise InputError(f"The chart of {subject} takes no options; {shown(options)} was given.")
        return chart(*results, **options)

    return checked
