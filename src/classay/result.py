"""The common interface of all results."""

from __future__ import annotations

import dataclasses
import math
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from .intervals import Estimate

if TYPE_CHECKING:
    import altair as alt


class Result:
    """The interface of every result: a frozen dataclass that can be printed, tabulated, serialised and plotted.

    - `summary()`: the figures by name, from which the others are made unless a subclass has its own;
    - `str(result)`: one readable paragraph;
    - `to_frame()`: a tidy table, one row per figure;
    - `to_dict()`: plain JSON values;
    - `plot()`: an Altair chart, returned and never shown. The default draws the figures with their intervals.

    A notebook shows its first sentence, the first rows of its table and its chart. A field with `repr=False`, such as
    the record that a figure was measured from, is not part of `to_dict()`.

    A subclass declares the axis of the default chart, `class Shift(Result, unit="share of the rows")`, or names a chart
    that looks different, a function within `classay.charts`: `class Slices(Result, chart="regions:slices_chart")`.
    `columns` are fields that stand in every row of the table, such as the name of the learner.
    """

    _chart: ClassVar[str] = ""
    _unit: ClassVar[str] = "value"
    _columns: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(
        cls, *, chart: str = "", unit: str = "", columns: tuple[str, ...] = (), **keywords: Any
    ) -> None:
        super().__init_subclass__(**keywords)
        cls._chart, cls._unit, cls._columns = chart or cls._chart, unit or cls._unit, columns or cls._columns

    def summary(self) -> dict[str, Estimate]:
        """The figures by name; by default every field that is an estimate."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        return {name.replace("_", " "): value for name, value in values.items() if isinstance(value, Estimate)}

    def to_frame(self) -> pd.DataFrame:
        """A tidy table, one row per figure: figure, value, low, high, level, kind."""
        own = {name: getattr(self, name) for name in self._columns}
        return pd.DataFrame(
            [{**own, "figure": name, **parts_of(estimate)} for name, estimate in self.summary().items()]
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values: dicts with string keys, lists, strings, finite numbers, booleans and None."""
        return {
            field.name: plain(getattr(self, field.name))
            for field in dataclasses.fields(self)  # type: ignore[arg-type]  # every subclass is a dataclass
            if field.repr
        }

    def plot(self, **options: Any) -> alt.TopLevelMixin:
        """An Altair chart of this result. It is returned, not shown."""
        # By name and at call time: charts depend on results, and Altair is only loaded for plotting.
        chart: alt.TopLevelMixin = import_module("classay.charts.kinds").draw(self, **options)
        return chart

    def __str__(self) -> str:
        return "; ".join(f"{name} {estimate}" for name, estimate in self.summary().items()) + "."

    def _notebook_table(self) -> tuple[pd.DataFrame, str]:
        """The table whose first rows a notebook shows, and where the other rows are."""
        return self.to_frame(), "to_frame()"

    def _repr_html_(self) -> str:
        from .printable import html_of

        drawn = bool(self._chart or self.summary()) or type(self).plot is not Result.plot
        return html_of(str(self), self._notebook_table, self.plot if drawn else None)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """What a notebook shows, and `str(result)` where there is no HTML: the fields of a result are long."""
        return {"text/plain": str(self), "text/html": self._repr_html_()}


def plain(value: Any) -> Any:
    """Convert a value to JSON types. Numbers that are not finite become None."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int):
        return value
    if isinstance(value, Estimate):
        return {name: plain(part) for name, part in dataclasses.asdict(value).items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        if hasattr(value, "to_dict"):
            return value.to_dict()
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, pd.DataFrame):
        return [
            {str(name): plain(part) for name, part in zip(value.columns, row)}
            for row in value.itertuples(index=False, name=None)
        ]
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return str(value)


# Estimates as a table.


PARTS = ("value", "low", "high", "level", "kind")


def parts_of(estimate: Estimate) -> dict[str, Any]:
    """The columns of an estimate in a table."""
    return {part: getattr(estimate, part) for part in PARTS}


def figures_frame(learner: str, on: str, estimates: dict[str, Estimate]) -> pd.DataFrame:
    """One row per figure: learner, on, figure, value, low, high, level, kind."""
    rows = [
        {"learner": learner, "on": on, "figure": name, **parts_of(estimate)} for name, estimate in estimates.items()
    ]
    return pd.DataFrame(rows)
