"""`render`: a report as one self-contained HTML page.

All text from users reaches the page as escaped text, or as JSON with "<" escaped, and scripts insert it by
`textContent`. In addition, the page lists by hash the only scripts that can run, and forbids every request.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from ... import __version__
from ...charts.style.picture_files import library
from ...charts.style.theme import COLOURS, cut, house_style, labels, printable
from ...expect import counted
from ...intervals import Estimate
from ...result import plain
from ..document import LEVELS, Picture, Report, Section, Sheet, phrases
from ..document.glossary import TERMS
from .json_format import document

SCRIPTS = ("lighting.js", "tables.js", "charts.js", "page.js")
LONGEST = 240
"""Number of characters of a text that are shown before it is opened."""
UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
"""Characters that HTML cannot represent."""


def render(report: Report) -> str:
    """The page: findings, sections with charts and tables, settings, and the report itself as JSON.

    It draws its charts with the Vega that comes with vl-convert and works offline. Without scripts it still shows all
    text and tables. The same report gives the same bytes.

    >>> empty = Report("None", {}, (), (), (), (), {}, {})
    >>> render(empty).splitlines()[:2]
    ['<!DOCTYPE html>', '<html lang="en">']
    """
    texts = Texts()
    names = Names(report)
    config, inks = chart_style()
    start, library, script = _file("start.js"), _library(), "\n".join(_file(name) for name in SCRIPTS)
    shown = {
        "report": report,
        "levels": {level: [one for one in report.findings if one.level == level] for level in LEVELS},
        "slugs": _slugs(report),
        # What has nothing to show has no place on the page; the document says why.
        "shown": [(place, each) for place, each in enumerate(report.sections) if not each.is_empty],
        "names": names,
        "texts": texts,
        "settings": plain(report.settings),
        "has_settings": any(sheet.key == "settings" for sheet in report.sheets()),
        "about": plain(report.about),
        "version": __version__,
        "policy": _policy(start, library, script),
        "css": Markup(_file("page.css") + inks),
        "start": Markup(start),
        "library": Markup(library),
        "script": Markup(script),
        "document": _json(document(report)),
        "page": _json({"names": names.aliases(), "config": config}),
    }
    return _environment().get_template("page.html.jinja").render(shown)


class Texts:
    """Full texts of names that are shortened on the page; each gets a note that opens beside it."""

    def __init__(self) -> None:
        self.notes: dict[str, str] = {}

    def note(self, text: str) -> str:
        """The id of the note with the full text."""
        return self.notes.setdefault(text, f"whole-{len(self.notes)}")


def chart_style() -> tuple[dict[str, Any], str]:
    """Vega-Lite's configuration with named colours, and a style sheet that defines them for light and dark mode.

    So a chart that is drawn once follows the page: only values that differ between the two styles get a name.
    """
    inks: dict[tuple[str, str], str] = {}

    def named(light: Any, dark: Any) -> Any:
        if isinstance(light, dict):
            return {key: named(light[key], dark[key]) for key in light}
        return light if light == dark else f"var({inks.setdefault((light, dark), f'--chart-{len(inks)}')})"

    light, dark = house_style(dark=False), house_style(dark=True)
    # Charts use the background of the page. Screen readers get the sentence and the table, not every mark.
    own = {"background": "transparent", "aria": False, "padding": 4}
    config = named({**light, **own}, {**dark, **own})
    day, night = ("".join(f"{name}:{pair[side]};" for pair, name in inks.items()) for side in (0, 1))
    return config, (
        f":root{{{day}}}@media screen{{:root[data-theme=dark]{{{night}}}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{night}}}}}"
    )


def chart_title(picture: Picture) -> str:
    """Title and subtitle of a chart: the page shows them as text, which a phone does not shrink."""
    title = picture.spec.get("title")
    parts = title if isinstance(title, dict) else {"text": title}
    text, subtitle = (_line(parts.get(name)) for name in ("text", "subtitle"))
    if not text or text in (picture.title, picture.text):
        return subtitle
    return f"{text}{'' if text[-1] in '.?!' else '.'} {subtitle}".rstrip()


def height(picture: Picture) -> int:
    """Pixels reserved for a chart until it is drawn, so that the page does not jump."""
    pixels = picture.spec.get("height")
    return int(pixels) + 60 if isinstance(pixels, (int, float)) and not isinstance(pixels, bool) else 240


def parts(section: Section) -> list[tuple[str, int, Any]]:
    """The parts of a section in order: its overview, its charts, then other tables, each with its index."""
    sheets = [("sheet", place, sheet) for place, sheet in enumerate(section.sheets)]
    first = [part for part in sheets if part[2].key == "overview"]
    pictures = [("picture", place, picture) for place, picture in enumerate(section.pictures)]
    return [*first, *pictures, *(part for part in sheets if part not in first)]


def spans(estimates: list[Any]) -> list[tuple[float, float, float] | None]:
    """Positions of value and interval of a column's estimates on a scale from 0 to 100; None where unknown."""
    ends = [end for one in estimates if isinstance(one, Estimate) for end in (one.low, one.value, one.high)]
    known = [end for end in ends if end - end == 0]
    low, high = min(known, default=0.0), max(known, default=0.0)

    def at(end: float) -> float:
        return round(100 * (min(max(end, low), high) - low) / (high - low), 1)

    drawable = high > low and sum(isinstance(one, Estimate) for one in estimates) > 1
    return [
        (at(one.low), at(one.value), at(one.high)) if drawable and isinstance(one, Estimate) and one.known else None
        for one in estimates
    ]


def clean(value: Any) -> Any:
    """Text without characters that HTML cannot represent; anything else unchanged."""
    return UNPRINTABLE.sub("\ufffd", value) if type(value) is str else value


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("classay.report.export"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=clean,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["cut"] = cut
    environment.globals |= {
        "TERMS": TERMS,
        "LONGEST": LONGEST,
        "UNITS": phrases.UNITS,
        "printed": phrases.printed,
        "counted": counted,
        "chart_title": chart_title,
        "height": height,
        "parts": parts,
        "spans": spans,
    }
    return environment


@cache
def _library() -> str:
    """Vega, Vega-Lite and Vega-Embed. They define global names, but none that our scripts use."""
    # Within a string or pattern both mean the same; the unescaped form would end the script.
    return library().replace("</script", "<\\/script").replace("<!--", "<\\!--")


@cache
def _file(name: str) -> str:
    return files("classay.report.export").joinpath("templates", name).read_text(encoding="utf-8")


def _policy(*scripts: str) -> str:
    """The content security policy: only these scripts and inline styles, and no requests."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _json(value: Any) -> Markup:
    """JSON that no name can break out of: "<" is escaped, and so are characters that scripts or files cannot hold."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(re.sub("[<\u2028\u2029\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text))


def _slugs(report: Report) -> list[str]:
    """A unique name for each section that is valid in a URL."""
    taken: dict[str, None] = {}
    for number, section in enumerate(report.sections, start=1):
        slug = re.sub("[^a-z0-9]+", "-", section.key.lower()).strip("-") or "section"
        taken[
            slug if slug not in {*taken, "verdict", "findings", "figures", "settings", "terms"} else f"{slug}-{number}"
        ] = None
    return list(taken)


def _line(value: Any) -> str:
    return " ".join(str(part) for part in value) if isinstance(value, list) else str(value or "")


# Names of learners and networks in a report: their numbers, and their labels in charts.


class Names:
    """Learners and networks of a report by number. Scripts refer to them only by number, as a name can be any text.

    Learners come first, in the order in which charts colour them.
    """

    def __init__(self, report: Report) -> None:
        names = dict.fromkeys((*report.learners, *report.networks, *report.failed))
        for section in report.sections:
            names |= dict.fromkeys(name for name in (section.group,) if name)
            for sheet in _sheets(*section.sheets, *(each.sheet for each in section.pictures)):
                names |= dict.fromkeys(name for name in sheet.of if name)
        self.place = {name: number for number, name in enumerate(names)}
        self.coloured = len(report.learners)

    def __getitem__(self, name: str) -> int | None:
        """The number of a name, or None if there is no such name."""
        return self.place.get(name)

    def colour(self, number: int | None) -> str:
        """The colour that charts give to a learner; "" for others."""
        return COLOURS[number % len(COLOURS)] if number is not None and number < self.coloured else ""

    def aliases(self) -> list[list[str]]:
        """For each number, its names in charts: the printable name and its short label."""
        return [[printable(name), label] for name, label in zip(self.place, labels(list(self.place)))]


def _sheets(*sheets: Sheet | None) -> Iterator[Sheet]:
    for sheet in sheets:
        if sheet is not None:
            yield sheet
            yield from _sheets(*sheet.details)
