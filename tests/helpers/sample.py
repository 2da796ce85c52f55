"""A report made of synthetic answers in a moment: what the page, the files and the gates are tested on."""

import dataclasses
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import classay
from classay import charts
from classay.estimators.adapters import short_name
from classay.intervals import Estimate, exact
from classay.report.document import Figure, Finding, Picture, Recommendation, Report, Section, Sheet, Unasked
from classay.report.run.records import MODEL, record_of_learner, record_of_predictions
from classay.report.run.rows import data_of

LEARNERS = ("tree", "forest", "nearest")
NASTY = (
    "<script>alert(1)</script>",
    '</script><img src=x onerror="alert(2)">',
    "\"quotes\" & 'more' {{ 7 * 7 }} ${8}",
    "👩‍🔬 emoji",
    "עברית ↔ العربية",
    "javascript:alert(3)//" + "very long " * 998,
)
"""Names that a page must show as text: a script, the end of one, quotes, emoji, right to left, 10,000 characters."""


def sample_report(**changes: Any) -> Report:
    """A report on three learners with findings of every level, all kinds of sections, and settings."""
    return dataclasses.replace(_made(LEARNERS, ("age", "job"), ("no", "yes")), **changes)


def nasty_report() -> Report:
    """The same, with everything that a user names called something nasty."""
    chosen = [NASTY[place] for place in (0, 1, 2, 3, 4, 0, 1, 1, 0, 1, 5, 2, 5, 0)]
    return dataclasses.replace(_named(chosen), title=f"{NASTY[1]} and {NASTY[4]}")


@cache
def nasty_data_report() -> Report:
    """A page on rows and predictions that were given, with everything that a user names called something nasty."""
    rng = np.random.default_rng(0)
    classes = np.array(sorted((NASTY[0], NASTY[1], NASTY[4])))
    codes = rng.integers(0, 3, 600)
    X = pd.DataFrame(rng.normal(size=(600, 2)) + 3 * np.eye(2, 3)[:, codes].T, columns=[NASTY[1], NASTY[2]])
    X[NASTY[0]] = rng.choice(NASTY, 600)
    X.iloc[-5:, :2] += 40  # unlike anything known
    wrong = rng.random(600) < np.where(X[NASTY[0]] == NASTY[0], 0.7, 0.05)
    predicted = classes[np.where(wrong, (codes + 1) % 3, codes)]
    return page_of_rows(
        X[:300],
        classes[codes[:300]],
        X_test=X[300:],
        y_test=classes[codes[300:]],
        predictions=predicted[300:],
        confidence=rng.random(300),
        name=NASTY[1],
        target=NASTY[2],
        model=NASTY[0],
        notes=NASTY,
        command=NASTY[5],
    ).report


def page_of_rows(
    X: Any,
    y: Any,
    *,
    predictions: Any = None,
    probabilities: Any = None,
    confidence: Any = None,
    learner: Any = None,
    model: str = MODEL,
    notes: tuple[str, ...] = (),
    name: str = "data",
    target: str = "label",
    roles: tuple[str, ...] = ("X_test", "y_test", "groups"),
    **more: Any,
) -> Any:
    """A report on rows, and on predictions for them or for the test rows."""
    data = data_of(X, y, name, target, **{role: more.pop(role) for role in roles if role in more})
    data = dataclasses.replace(data, notes=(*data.notes, *notes))
    rows, records = data if data.test is None else data.test, {}
    if learner is not None:
        records[short_name(learner)] = record_of_learner(short_name(learner), learner, data, 0)
    elif predictions is not None or probabilities is not None:
        given = (predictions, probabilities, confidence)
        records[model] = record_of_predictions(*given, data.classes, rows.y, model)
    return classay.characterize(records, data, **more)


def visible_words(page: str) -> list[str]:
    """The words of a page that are visible before anything is opened."""
    closed = r"<(script|style|title|template)\b.*?</\1>|<div [^>]*popover.*?</div>|<tr class=\"opens\">.*?</tr>"
    page = re.sub(rf'(?s){closed}|<(\w+) class="[^"]*\bhidden\b[^"]*">.*?</\2>', " ", page)
    innermost = r"(?s)<details([^>]*)>\s*<summary[^>]*>(.*?)</summary>(((?!<details).)*?)</details>"
    while page != (shorter := re.sub(innermost, lambda m: m[2] + (m[3] if " open" in m[1] else ""), page)):
        page = shorter
    return re.sub(r"<[^>]+>", " ", page).split()


FRAGMENTS = (
    *("<script>", "</script>", "<!--", "-->", "<![CDATA[", "]]>", "</style>", "</title>", "</template>", "<a href="),
    *("<svg onload=alert(1)>", "<img src=//evil.example/x>", "<base href=//evil.example>", "onerror=alert(1)"),
    *("javascript:alert(1)", "data:text/html,<b>", "url(//evil.example)", "@import '//evil.example';"),
    *('"', "'", "`", "&quot;", "&#x3c;", "&", "<", ">", "\\", "\\u003cscript\\u003e", "{{7*7}}", "{% raw %}", "${1}"),
    *("datum.x", "\u2028", "\u202e", "\u200b", "\x00", "\x1b[31m", "\ufffe", "__proto__", "constructor", "*/"),
    *("=cmd|' /C calc'!A0", "expression(alert(1))"),
)
"""Parts of names that are code somewhere: in HTML, CSS, scripts, charts, templates, terminals or spreadsheets."""


def hostile_report(seed: int) -> Report:
    """A report in which all names are random sequences of such fragments."""
    rng = np.random.default_rng(seed)

    def name() -> str:
        return "".join(rng.choice(FRAGMENTS, size=rng.integers(2, 7)))

    texts = tuple(f"{name()} {number}" for number in range(14))  # numbered, so that no two are the same
    return _named(texts)


def _named(texts: Sequence[str]) -> Report:
    """The report with these fourteen texts as names."""
    made = _made(tuple(texts[:3]), tuple(texts[3:5]), tuple(texts[5:7]))
    return dataclasses.replace(
        made,
        title=texts[7],
        about={"name": texts[8], "rows": 40, "columns": 2, "target": texts[9], "classes": 2, texts[8]: texts[11]},
        failed={texts[12]: texts[13], f"{texts[9]}!": texts[10]},
        settings={**made.settings, "command": texts[7], texts[8]: {texts[9]: texts[11]}, "texts": list(texts)},
        findings=tuple(dataclasses.replace(each, action=texts[8], reference=texts[12]) for each in made.findings),
        unasked=(Unasked("C301", texts[13], texts[10]),),
        sections=(*made.sections, Section(texts[8], texts[9], texts[10], sheets=(_texts(),), group=texts[11])),
    )


def answers(seed: int, wrong: float) -> classay.Labelings:
    """Refits of a learner that answers wrongly by chance."""
    rng = np.random.default_rng(seed)
    truth = np.arange(40) % 2
    return classay.Labelings.from_arrays(np.where(rng.random((8, 3, 40)) < wrong, 1 - truth, truth), truth)


@cache
def _made(names: tuple[str, ...], columns: tuple[str, ...], labels: tuple[str, ...]) -> Report:
    refits = {name: answers(seed, 0.05 + 0.1 * seed) for seed, name in enumerate(names)}
    table = classay.stability(refits)
    split = {
        name: dataclasses.replace(classay.orientation(each, holdouts=20), learner=name) for name, each in refits.items()
    }
    figures = [
        Figure("learner", name, key, estimate)
        for name, o in split.items()
        for key, estimate in {
            "accuracy": table.accuracy[name],
            "stability": table.stability[name],
            "kappa": table.kappa[name],
            "bias": o.bias[4],
            "capacity": o.capacity,
            "stochasticity": o.stochasticity,
            "seconds_per_fit": exact(0.012, "measured once"),
        }.items()
    ]
    return Report(
        title="An assay of three learners",
        about={"name": "synthetic", "rows": 40, "columns": 2, "target": "label", "classes": 2},
        findings=_findings(names, table),
        unasked=(Unasked("C301", "More classes", "there are 2 classes; at least 5 are needed."),),
        figures=(*figures, Figure("data", "data", "suspects", exact(2)), Figure("data", "data", "rows", exact(40))),
        sections=(
            _learners(names, figures, table, split, classay.kinship(refits)),
            _data(columns, labels),
            _slices(names, columns, labels),
            Section("classes", "Classes", "", absent="Left out: there are 2 classes; at least 5 are needed."),
        ),
        failed={"perceptron": "ValueError: it does not fit"},
        verdict=Recommendation(
            (f"Use {names[0]}.", "No other learner is shown to be more accurate."),
            Sheet(
                "verdict",
                "The learners in three figures",
                ("learner", "accuracy", "retrain_change", "fit_rows"),
                tuple((name, table.accuracy[name], Estimate(0.05, 0.01, 0.09), 32) for name in names),
                of=names,
                sort=False,
            ),
            names[0],
        ),
        settings={
            "budget": 60.0,
            "fitted": "8 subsets of half the rows, 3 repeats",
            "seed": 0,
            "command": "classay report synthetic --seed 0",
            "versions": {"numpy": "2.0", "scikit-learn": "1.6"},
            "stages": {"refits": 1.5, "data": 0.5},
        },
    )


def _findings(names: tuple[str, ...], table: classay.results.StabilityTable) -> tuple[Finding, ...]:
    first, middle, last = names
    stability = table.stability
    return (
        Finding(
            code="L102", level="warning", of=last, title=f"{last} is far less stable",
            sentence=f"Two refits of {last} agree less often.", value=stability[last],
            reference=f"{first}: {stability[first]}", action="Give it more rows, or average more members.",
        ),
        Finding(
            code="D201", level="note", of="data", title="Two labels look wrong",
            sentence="2 of 40 rows look like another class.", value=exact(2), reference="none, if labels are right",
            action="Look at these rows.",
        ),
        Finding(
            code="L101", level="fine", of=middle, title="Better than guessing",
            sentence=f"{middle} beats the largest class.", value=table.accuracy[middle],
            reference="0.5, the share of the largest class",
        ),
    )  # fmt: skip


def _learners(names: Any, figures: Any, table: Any, split: Any, akin: Any) -> Section:
    columns = tuple(dict.fromkeys(each.name for each in figures))
    by = {(each.of, each.name): each.estimate for each in figures}
    overview = Sheet(
        "overview",
        "The learners side by side",
        ("learner", *columns),
        tuple((name, *(by[name, column] for column in columns)) for name in names),
        note="Small: 95% intervals.",
        of=names,
    )
    behind = dataclasses.replace(
        overview, key="plane", columns=overview.columns[:3], rows=tuple(row[:3] for row in overview.rows)
    )
    return Section(
        "learners",
        "Learners",
        f"{names[0]} is the most accurate.",
        pictures=(
            _picture("plane", "Accuracy against stability", charts.stability_plane(table), behind),
            _picture("expressivity", "How far answers spread", charts.expressivity_chart(*split.values())),
            _picture("kinship", "Which learners answer alike", charts.kinship_heatmap(akin)),
        ),
        sheets=(overview,),
    )


def _picture(key: str, title: str, chart: Any, sheet: Sheet | None = None) -> Picture:
    return Picture(key, title, f"{title}, in one sentence.", chart.to_dict(), sheet)


def _data(columns: tuple[str, ...], labels: tuple[str, ...]) -> Section:
    rows = tuple((number, labels[number % 2], 0.9 - number / 100, None, "text") for number in range(60))
    return Section(
        "data",
        "Data",
        "Most rows are easy.",
        sheets=(
            Sheet("hardest", "Hardest rows", ("row", "label", "complexity", columns[0], columns[1]), rows, sort=False),
        ),
    )


def _slices(names: tuple[str, ...], columns: tuple[str, ...], labels: tuple[str, ...]) -> Section:
    content = pd.DataFrame({columns[0]: [31, 32], columns[1]: [labels[0], "cook"], "size": [3.5, True]})
    rows = Sheet(
        "rows",
        f"Rows with {columns[0]} above 30",
        tuple(content.columns),
        tuple(content.itertuples(index=False, name=None)),
    )
    found = Sheet(
        f"slices/{names[1]}",
        f"Where {names[1]} errs",
        ("slice", "size", "error_rate", "lift", "q_value"),
        (
            (f"{columns[0]} > 30", 12, Estimate(0.5, 0.3, 0.7, kind="of a proportion"), 3.0, 0.00001),
            (f"{columns[1]} is {labels[1]}", 20, Estimate(0.3, 0.2, 0.4, kind="of a proportion"), 1.8, 0.03),
        ),
        details=(rows, None),
    )
    nothing = Sheet(f"slices/{names[2]}", f"Where {names[2]} errs", ("slice",), (), note="No slice stands out.")
    return Section("slices", "Slices", "Errors gather in two places.", sheets=(found, nothing))


def _texts() -> Sheet:
    return Sheet(
        "texts",
        NASTY[0],
        NASTY,
        (NASTY, NASTY[::-1]),
        note=NASTY[1],
        details=(Sheet("d", NASTY[5], NASTY, (NASTY,), note=NASTY[2]), None),
    )
