"""A small report with everything that files, cards, gates and tracking have to cope with."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from classay.intervals import Estimate, exact
from classay.report.document import Figure, Finding, Picture, Report, Section, Sheet, Unasked

NASTY = "a|b\n`c` <script>alert(1)</script> \u2028 \x07 *d* _e_ 🌲 שלום"
STABILITY = Estimate(0.925, 0.9, 0.95, kind="over splits")


PARTS = ("code", "level", "of", "title", "sentence", "value", "reference", "action")
FINDINGS = (
    ("L102", "warning", "tree", "Less stable", "tree is less stable.", STABILITY, "forest has 0.99", "Refit more."),
    ("D101", "note", "data", "Suspects", f"12 rows look like {NASTY}.", exact(12.0), "3 by chance"),
    ("L101", "fine", "tree", "Beats baseline", "tree beats the baseline.", exact(0.1), ""),
)


def small_report(**changes: Any) -> Report:
    bar = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "data": {"values": [{"learner": "tree", "value": 0.1}, {"learner": NASTY, "value": None}]},
        "mark": "bar",
        "encoding": {
            "x": {"field": "learner", "type": "nominal"},
            "y": {"field": "value", "type": "quantitative"},
        },
    }
    rows = Sheet("rows", "Rows", ("row", "text"), ((3, NASTY), (4, None)))
    overview = Sheet(
        "overview",
        "Learners",
        ("learner", "accuracy", "stability", "capacity"),
        (
            ("tree", Estimate(0.1 + 0.2, 0.25, 1 / 3), STABILITY, Estimate(0.5, 0.2, 0.8)),
            (NASTY, Estimate(0.9, 0.8, 0.95), None, Estimate(math.nan, 0.0, math.inf)),
        ),
        note="Of 20 splits.",
        of=("tree", NASTY),
    )
    slices = Sheet("slices/tree", "Slices", ("where", "size"), (("x > 1", 30),), details=(rows,), sort=False)
    report = Report(
        title="Assay of forest|fire",
        about={"name": "forest|fire", "rows": 150, "columns": 4, "target": "kind", "classes": ["a", NASTY]},
        findings=tuple(Finding(**dict(zip(PARTS, row))) for row in FINDINGS),
        unasked=(Unasked("C101", "More classes", "there are 2 classes"),),
        figures=(
            Figure("learner", "tree", "accuracy", Estimate(0.1 + 0.2, 0.25, 1 / 3)),
            Figure("learner", "tree", "stability", STABILITY),
            Figure("learner", "tree", "capacity", Estimate(0.5, 0.2, 0.8)),
            Figure("learner", NASTY, "stability", Estimate(math.nan, -math.inf, math.inf)),
            Figure("learner", NASTY, "capacity", Estimate(1.5, 1.0, math.inf)),
            Figure("data", "data", "suspects", exact(12.0)),
            Figure("classes", "classes", "accuracy_double", Estimate(0.7, 0.6, 0.8)),
            Figure("network", "resnet", "estimate", Estimate(0.8, 0.7, 0.9)),
        ),
        sections=(
            Section(
                "learners",
                "Learners",
                "Two learners.",
                (Picture("plane", "Plane", "What it shows.", bar, overview),),
                (overview, slices),
            ),
            Section("networks", "Networks", "", absent="No network was given."),
        ),
        failed={"svm": "It did not converge."},
        settings={
            "budget": 120.0,
            "seed": 0,
            "command": "classay report 'forest|fire.csv' ```",
            "versions": {"classay": "0.1.0"},
            "stages": {"refits": 1.25},
        },
    )
    return replace(report, **changes)
