"""`Report`: all results as a document. The page, the JSON file, the model card and the gates are all made from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ...expect import InputError, counted, nearest, one_of, shown
from ...intervals import Estimate
from ...result import Result, plain

if TYPE_CHECKING:
    import altair as alt


SCHEMA = 2
"""Version of the JSON format; it grows when readers of the previous version would misread a file."""
Cell = str | int | float | bool | Estimate | None


@dataclass(frozen=True)
class Figure:
    """One figure: its subject, its name in the glossary, and its estimate.

    `subject` is learner, data, classes or network; `of` is the name of the learner or network, else the subject again.
    """

    subject: str
    of: str
    name: str
    estimate: Estimate


@dataclass(frozen=True)
class Sheet:
    """A table: column names (from the glossary, if they are figures), rows of cells, and a remark.

    `of` has the learner or network of each row, or is empty; `details` has a sheet to open for each row, or is empty.
    `sort` is whether readers can sort it; it is false where the order itself has a meaning.
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
    """A chart as a Vega-Lite specification, one sentence on what it shows, and the same data as a table."""

    key: str
    title: str
    text: str
    spec: dict[str, Any] = field(repr=False)
    sheet: Sheet | None = None


@dataclass(frozen=True)
class Section:
    """A section of the page: a lead paragraph, then charts and tables in order. `absent` says why there are none."""

    key: str
    title: str
    lead: str
    pictures: tuple[Picture, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    absent: str = ""
    group: str = ""
    """The learner or network that the section is about, if there is one section for each."""
    folded: bool = False
    """Whether the page shows only its title until it is opened."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show, and so no place for it on the page."""
        return not (self.pictures or self.sheets or self.lead)


@dataclass(frozen=True)
class Recommendation:
    """What to use, how sure that is, and what to do next: sentences, the table that shows it, and the learner."""

    sentences: tuple[str, ...] = ()
    table: Sheet | None = None
    learner: str = ""


@dataclass(frozen=True)
class Report(Result):
    """All results, ready to be read, saved, and checked against gates.

    `about` describes the data (name, rows, columns, target, classes); `findings` has the findings, most important
    first; `unasked` has the checks that do not apply; `figures` has every figure with its interval; `sections` is the
    body of the page; `failed` says why learners gave no results; `settings` has the numbers that the budget set, the
    seed, versions and the command that reproduces the report; `verdict` says which learner, how sure, what next.
    """

    title: str
    about: dict[str, Any]
    findings: tuple[Finding, ...]
    unasked: tuple[Unasked, ...]
    figures: tuple[Figure, ...]
    sections: tuple[Section, ...]
    failed: dict[str, str]
    settings: dict[str, Any]
    verdict: Recommendation = field(default_factory=Recommendation)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings of level warning."""
        return tuple(each for each in self.findings if each.level == "warning")

    @property
    def learners(self) -> tuple[str, ...]:
        """Names of the learners with figures, in the order given."""
        return tuple(dict.fromkeys(each.of for each in self.figures if each.subject == "learner"))

    @property
    def networks(self) -> tuple[str, ...]:
        """Names of the networks with figures, in the order given."""
        return tuple(dict.fromkeys(each.of for each in self.figures if each.subject == "network"))

    def figure(self, of: str, name: str) -> Estimate:
        """The estimate of one figure, as in report.figure("tree", "stability")."""
        by_name = {each.name: each.estimate for each in self.figures if each.of == of}
        if not by_name:
            known = dict.fromkeys(each.of for each in self.figures)
            raise InputError(
                f"There are no figures for {of!r}.{nearest(of, known)} There are figures for {shown(known)}."
            )
        if name not in by_name:
            raise InputError(f"{of!r} has no figure {name!r}.{nearest(name, by_name)} It has {shown(by_name, 20)}.")
        return by_name[name]

    def sheets(self) -> Iterator[Sheet]:
        """Every table of the page, including those of charts."""
        for section in self.sections:
            yield from (picture.sheet for picture in section.pictures if picture.sheet is not None)
            yield from section.sheets

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: subject, of, figure, value, low, high, level, kind."""
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
        """Plain JSON values, as `classay report --schema` describes them."""
        return {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}

    def plot(self, **options: Any) -> alt.TopLevelMixin:
        """The first chart of the page; `key` names another."""
        import altair as alt

        for name in options:
            one_of(name, "option", ("key",))
        pictures = {each.key: each for section in self.sections for each in section.pictures}
        key = one_of(options.get("key", next(iter(pictures), None)), "key", pictures)
        return alt.Chart.from_dict(pictures[str(key)].spec)

    def save(self, path: str | Path, *, force: bool = True) -> Path:
        """Write it in the format of the suffix: .html (page), .json, or .md (section for a model card)."""
        from ..export.files import save

        return save(self, path, force)

    def _notebook_table(self) -> tuple[pd.DataFrame, str]:
        rows = [(each.level, each.code, each.of, each.sentence, each.action) for each in self.findings]
        return pd.DataFrame(rows, columns=["level", "code", "of", "finding", "what to do"]), "findings"

    def __str__(self) -> str:
        counts = {level: sum(each.level == level for each in self.findings) for level in LEVELS}
        first = " ".join(str(each) for each in self.warnings[:3])
        more = f" {len(self.warnings) - 3} more warnings." if len(self.warnings) > 3 else ""
        verdict = "".join(f" {each}" for each in self.verdict.sentences)
        undecided = f"{counts['unknown']} not decided, " if counts["unknown"] else ""
        return (
            f"{self.title}.{verdict} {counted(counts['warning'], 'warning')}, {counted(counts['note'], 'note')}, "
            f"{undecided}{counted(counts['fine'], 'check')} passed. {first}{more}".rstrip()
        )


# `Finding`: one conclusion from the figures, with what it is compared with and what to do next.


LEVELS = ("warning", "note", "unknown", "fine")
"""Act on it; good to know; checked, not decided; checked, no problem."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One plain conclusion that the figures support.

    `code` is stable over versions (`L102`); its letter is the subject: L learner, D data, S slices, C classes,
    N network. `level` is warning, note, unknown or fine. `of` is the learner or network that it is about, or "data" or
    "classes". `sentence` states the finding, `value` is the figure, `reference` is what to compare it with (chance
    for this number of classes, the baseline of this data, another learner), and `action` is what to do next ("" if
    nothing).
    """

    code: str
    level: str
    of: str
    title: str
    sentence: str
    value: Estimate
    reference: str
    action: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in (f"{self.code} {self.of}: {self.sentence}", self.action) if part)


@dataclass(frozen=True)
class Unasked:
    """A check that could not be made, and why, in one line."""

    code: str
    title: str
    why: str

    def __str__(self) -> str:
        return f"{self.code} {self.title}: {self.why}"
