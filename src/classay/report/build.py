"""From the result objects to the document: title, findings, figures, sections, settings."""

from __future__ import annotations

from typing import Any

from ..expect import counted
from ..result import plain
from .budget import time_text
from .document import Cell, Report, Section, Sheet
from .figures import figures_of
from .findings import findings_of
from .results import Results
from .sections.classes_and_networks import classes_section, networks_section
from .sections.data import data_section, slices_section
from .sections.learners import disagreement_section, learners_section


def report_of(results: Results) -> Report:
    """The document of all results."""
    data = results.data
    findings, unasked = findings_of(results)
    return Report(
        title=f"{data.name}: {counted(len(results.learners), 'learner')} assayed",
        about={
            "name": data.name,
            "rows": int(data.codes.size),
            "columns": int(data.X.shape[1]),
            "target": data.target,
            "classes": plain(data.classes),
            "notes": list(data.notes),
        },
        findings=findings,
        unasked=unasked,
        figures=figures_of(results),
        sections=(
            learners_section(results),
            disagreement_section(results),
            data_section(results),
            slices_section(results),
            classes_section(results),
            networks_section(results),
            _methods(results),
        ),
        failed=dict(results.failed),
        settings=plain(results.settings),
    )


def _methods(results: Results) -> Section:
    settings = results.settings
    widths = [one.stability.stability for one in results.learners.values()]
    half = max((each.high - each.low) / 2 for each in widths)
    accuracy = max((one.stability.accuracy.high - one.stability.accuracy.low) / 2 for one in results.learners.values())
    lead = (
        f"The budget of {time_text(settings['budget'])} allowed {settings['bought']}. It took "
        f"{time_text(settings['seconds'])}. Stabilities are known to within {100 * half:.1f} points and accuracies to "
        f"within {100 * accuracy:.1f} (half the width of the widest 95 % interval). Warnings use wider intervals than "
        "the 95 % intervals shown: at their level, all warnings of a page together should be wrong in at most 5 % of "
        "pages."
    )
    if settings.get("interrupted"):
        lead = "Interrupted: the results cover only what had finished. " + lead
    rows: list[tuple[Cell, ...]] = [("command", settings["command"])]
    rows += [
        (name, _cell(settings[name]))
        for name in settings
        if name not in ("command", "bought", "foreseen", "stages", "versions")
    ]
    rows += [(f"time: {name}", time_text(seconds)) for name, seconds in settings["stages"].items()]
    rows += [(name, str(version)) for name, version in settings["versions"].items()]
    rows += [("note on the data", note) for note in results.data.notes]
    for name, one in results.learners.items():
        rows += [(f"note on {name}", note) for note in dict.fromkeys((*one.labelings.notes, *one.orientation.notes))]
    sheet = Sheet("settings", "How this page was made", ("setting", "value"), tuple(rows), sort=False)
    return Section("methods", "Methods and settings", lead, (), (sheet,))


def _cell(value: Any) -> Cell:
    if isinstance(value, dict):
        return "; ".join(f"{name}: {part}" for name, part in value.items())
    return value if isinstance(value, (str, int, float, bool)) else str(value)
