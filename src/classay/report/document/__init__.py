"""The report as a document: its types, its words, and its sections, all made from results.

Read `document` first: what a report is made of. `glossary` (a table in `glossary.toml`) and `phrases` have the words,
`figures` every figure of the results, `verdict` the sentences on top. Then the sections in the order of the page:
`learners_section`, `rows_section`, `slices_section`, `classes_section`, `methods_section`;
`shown_rows` has rows of the data as people need to see them.
"""

from __future__ import annotations

from .document import LEVELS, SCHEMA, Cell, Figure, Finding, Picture, Recommendation, Report, Section, Sheet, Unasked

__all__ = [
    "LEVELS",
    "SCHEMA",
    "Cell",
    "Figure",
    "Finding",
    "Picture",
    "Recommendation",
    "Report",
    "Section",
    "Sheet",
    "Unasked",
]
