"""`Report`: an assay as a document. The page, the JSON file, the model card and the gates are all made of it alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..expect import counted
from ..intervals import Estimate
from ..result import Result, plain
from .finding import LEVELS, Finding, Unasked

if TYPE_CHECKING:
    import altair as alt

SCHEMA = 1
"""Of the JSON file; it grows when a reader of the former one would misread it."""
Cell = str | int | float | bool | Estimate | None


@dataclass(frozen=True)
class Figure:
    """One figure: whose it is, which (a name of the glossary), and its estimate.

    `subject` is learner, data, classes or network; `of` the name of the learner or network, else the subject again.
    """

    subject: str
    of: str
    name: str
    estimate: Estimate


@dataclass(frozen=True)
class Sheet:
    """A table: names of columns (of the glossary, where they are figures), rows of cells, and a remark.

    `of` has the learner or network of each row, or is empty; `details` a sheet for each row that opens with it, or is
    empty. `sort` is whether readers may sort it: the order of others is part of what they say.
    """

    key: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    of: tuple[str, ...] = ()
    details: tuple[Sheet | None, ...] = ()
    sort: bool = True


@dataclass(frozen=True)
class Picture:
    """A chart as a Vega-Lite specification, what it shows in one sentence, and the same as a table."""

    key: str
    title: str
    text: str
    spec: dict[str, Any] = field(repr=False)
    sheet: Sheet | None = None


@dataclass(frozen=True)
class Section:
    """A part of the page: a lead paragraph, then pictures and sheets in order. `absent` says why there are none."""

    key: str
    title: str
    lead: str
    pictures: tuple[Picture, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    absent: str = ""
    group: str = ""
    """The learner or network it is about, where a section is one of several of a kind."""


@dataclass(frozen=True)
class Report(Result):
    """What an assay found, ready to be read, saved, and held against gates.

    `about` is the data (name, rows, columns, target, classes), `findings` are in order of weight, `unasked` those
    that do not apply, `figures` every figure with its interval, `sections` the body of the page, `failed` why learners
    gave no figures, `settings` what the budget bought, seed, versions and the command that repeats it.
    """

    title: str
    about: dict[str, Any]
    findings: tuple[Finding, ...]
    unasked: tuple[Unasked, ...]
    figures: tuple[Figure, ...]
    sections: tuple[Section, ...]
    failed: dict[str, str]
    settings: dict[str, Any]

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Findings to act on."""
        return tuple(each for each in self.findings if each.level == "warning")

    @property
    def learners(self) -> tuple[str, ...]:
        """Names of the learners with figures, in the order given."""
        return tuple(dict.fromkeys(each.of for each in self.figures if each.subject == "learner"))

    def figure(self, of: str, name: str) -> Estimate:
        """The estimate of one figure, as in report.figure("tree", "stability")."""
        from ..expect import InputError, nearest, shown

        found = {each.name: each.estimate for each in self.figures if each.of == of}
        if not found:
            known = dict.fromkeys(each.of for each in self.figures)
            raise InputError(f"There are no figures of {of!r}.{nearest(of, known)} There are some of {shown(known)}.")
        if name not in found:
            raise InputError(f"{of!r} has no figure {name!r}.{nearest(name, found)} It has {shown(found, 20)}.")
        return found[name]

    def sheets(self) -> Iterator[Sheet]:
        """Every sheet of the page, also those behind pictures."""
        for section in self.sections:
            yield from (picture.sheet for picture in section.pictures if picture.sheet is not None)
            yield from section.sheets

    def to_frame(self) -> pd.DataFrame:
        """One row a figure: subject, of, figure, value, low, high, level, kind."""
        rows = [
            {
                "subject": each.subject,
                "of": each.of,
                "figure": each.name,
                "value": each.estimate.value,
                "low": each.estimate.low,
                "high": each.estimate.high,
                "level": each.estimate.level,
                "kind": each.estimate.kind,
            }
            for each in self.figures
        ]
        return pd.DataFrame(rows, columns=["subject", "of", "figure", "value", "low", "high", "level", "kind"])

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, as `classay schema` describes them."""
        return {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}

    def plot(self, **options: Any) -> alt.TopLevelMixin:
        """The first chart of the page; `key` names another."""
        import altair as alt

        from ..expect import one_of

        for name in options:
            one_of(name, "option", ("key",))
        pictures = {each.key: each for section in self.sections for each in section.pictures}
        key = one_of(options.get("key", next(iter(pictures), None)), "key", pictures)
        return alt.Chart.from_dict(pictures[str(key)].spec)

    def save(self, path: str | Path, *, force: bool = True) -> Path:
        """Write it as the suffix says: .html (the page), .json, or .md (a section for a model card)."""
        from .files import save

        return save(self, path, force)

    def __str__(self) -> str:
        counts = {level: sum(each.level == level for each in self.findings) for level in LEVELS}
        first = " ".join(str(each) for each in self.warnings[:3])
        more = f" {len(self.warnings) - 3} more warnings." if len(self.warnings) > 3 else ""
        return (
            f"{self.title}: {counted(counts['warning'], 'warning')}, {counted(counts['note'], 'note')}, "
            f"{counted(counts['fine'], 'check')} passed. {first}{more}".rstrip()
        )
