"""From the result objects to the document: title, findings, figures, sections, settings."""

from __future__ import annotations

from typing import Any

from ..expect import counted
from ..result import plain
from .budget import told
from .document import Cell, Report, Section, Sheet
from .figures import figures_of
from .findings.all_rules import findings_of
from .results import Results
from .sections.classes_and_networks import classes_section, networks_section
from .sections.data import data_section
from .sections.learners import disagreement_section, learners_section
from .sections.slices import slices_section


def report_of(parts: Results) -> Report:
    """The document of all results."""
    data = parts.data
    findings, unasked = findings_of(parts)
    return Report(
        title=f"{data.name}: {counted(len(parts.learners), 'learner')} assayed",
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
        figures=figures_of(parts),
        sections=(
            learners_section(parts),
            disagreement_section(parts),
            data_section(parts),
            slices_section(parts),
            classes_section(parts),
            networks_section(parts),
            _methods(parts),
        ),
        failed=dict(parts.failed),
        settings=plain(parts.settings),
    )


def _methods(parts: Results) -> Section:
    settings = parts.settings
    widths = [one.stability.stability for one in parts.learners.values()]
    half = max((each.high - each.low) / 2 for each in widths)
    accuracy = max((one.stability.accuracy.high - one.stability.accuracy.low) / 2 for one in parts.learners.values())
    lead = (
        f"The budget of {told(settings['budget'])} allowed {settings['bought']}. It took {told(settings['seconds'])}. "
        f"Stabilities are known to within {100 * half:.1f} points and accuracies to within {100 * accuracy:.1f} (half "
        "the width of the widest 95 % interval). Warnings use wider intervals than the 95 % intervals shown: at their "
        "level, all warnings of a page together should be wrong in at most 5 % of pages."
    )
    if settings.get("interrupted"):
        lead = "Interrupted: the results cover only what had finished. " + lead
    rows: list[tuple[Cell, ...]] = [("command", settings["command"])]
    rows += [
        (name, _told(settings[name]))
        for name in settings
        if name not in ("command", "bought", "foreseen", "stages", "versions")
    ]
    rows += [(f"time: {name}", told(seconds)) for name, seconds in settings["stages"].items()]
    rows += [(name, str(version)) for name, version in settings["versions"].items()]
    rows += [("note on the data", note) for note in parts.data.notes]
    for name, one in parts.learners.items():
        rows += [(f"note on {name}", note) for note in dict.fromkeys((*one.labelings.notes, *one.orientation.notes))]
    sheet = Sheet("settings", "How this page was made", ("setting", "value"), tuple(rows), sort=False)
    return Section("methods", "Methods and settings", lead, (), (sheet,))


def _told(value: Any) -> Cell:
    if isinstance(value, dict):
        return "; ".join(f"{name}: {part}" for name, part in value.items())
    return value if isinstance(value, (str, int, float, bool)) else str(value)
