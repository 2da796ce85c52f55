"""A data report as a document: verdict, findings, figures, and one section per question."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import charts
from ..data.model.baseline import MEASURES
from ..engine.machine import versions
from ..expect import counted
from ..intervals import Estimate, exact
from ..result import plain
from .data_report import MODEL, DataParts, findings_of_data
from .document import Cell, Figure, Finding, Picture, Recommendation, Report, Section, Sheet
from .document.figures import check_figures
from .document.geometry_section import (
    errors_section,
    geometry_section,
    measure_in_words,
    sentence_name,
    unlike_in_words,
    unlike_section,
)
from .document.learners_section import spec_of
from .document.phrases import counted_rows, distance_in_words, percent, points, quoted, share
from .document.reading_section import reading_section
from .document.shown_rows import cell, hardest_sheet, suspects_sheet
from .document.slices_section import concentrated, model_slices_section
from .model_check import ModelCheck
from .results import Results

NO_MODEL = "no predictions (`predictions`, --predictions) and no learner (`learner`, --learner) were given"
MOST_CLASSES = 50


def document_of(parts: DataParts, most: int, command: str | None = None) -> Report:
    """The document of all parts; `most` is the number of rows in each list."""
    findings, unasked = findings_of_data(parts)
    data, check = parts.data, parts.check
    checks = {} if check is None else {check.name: check}
    rows, numbers = parts.rows, parts.rows.number
    about: dict[str, Any] = {
        "name": data.name,
        "rows": int(data.codes.size),
        **({} if data.test is None else {"test rows": len(data.test.y)}),
        "columns": int(data.X.shape[1]),
        "target": data.target,
        "classes": plain(data.classes),
        **({} if check is None or check.name == MODEL else {"model": check.name}),
        "notes": list(dict.fromkeys([*_losses(parts), *data.notes, *parts.complexity.notes])),
    }
    if data.audit is not None:
        about["audit"] = data.audit.to_dict()
    return Report(
        title=f"{data.name}: data{'' if check is None else ' and model'} measured",
        about=about,
        findings=findings,
        unasked=unasked,
        figures=_figures(parts),
        sections=(
            geometry_section(checks, absent=NO_MODEL),
            errors_section(checks, absent=NO_MODEL),
            unlike_section(parts.unlike, rows, absent="no test rows were given (`X_test`, --test)", most=most),
            model_slices_section(check, parts.complexity.labels, numbers, absent=NO_MODEL),
            _labels_section(parts, most),
            _classes_section(parts),
            reading_section(Results(data, {})),
            _methods_section(parts),
        ),
        failed={},
        settings={
            **plain(parts.settings),
            "measured_by": distance_in_words(parts.complexity),
            "versions": versions(),
            "command": command if command is not None else _call(parts),
        },
        verdict=Recommendation(_verdict(parts, findings), _table(check)),
    )


def _losses(parts: DataParts) -> tuple[str, ...]:
    return () if parts.data.audit is None else parts.data.audit.losses


def _call(parts: DataParts) -> str:
    """The call that made the report, as far as it is known."""
    settings = dict(parts.settings)
    given = [] if parts.data.test is None else ["X_test=X_test", "y_test=y_test"]
    given += [f"{name}={name}" for name in settings.pop("model", "").split(", ") if name]
    given += [f"{name}={settings.pop(name)}" for name in ("learner", "groups") if name in settings]
    seed = settings.pop("seed")
    given += [f"{name}={value!r}" for name, value in settings.items()]
    return f"classay.data_report(X, y, {', '.join(given)}, random_state={seed})"


def _verdict(parts: DataParts, findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """Does the model beat the geometry, where are errors, do labels limit it, are test rows like the others?"""
    sentences = []
    warnings = [each for each in findings if each.level == "warning"]
    if warnings:
        first = warnings[0]
        more = f", the first of {counted(len(warnings), 'warning')}" if len(warnings) > 1 else ""
        sentences.append(f"First see to {first.code}{more}: {first.title[:1].lower()}{first.title[1:]}.")
    check = parts.check
    if check is None:
        majority = parts.complexity.geometry.counts.max() / parts.complexity.geometry.counts.sum()
        sentences.append(
            f"Taking the nearest class predicts {percent(parts.complexity.baseline_accuracy)} of "
            f"{counted_rows(len(parts.complexity))} correctly: that is what a model must beat, besides the largest "
            f"class ({share(float(majority))})."
        )
    else:
        versus = check.versus
        words = {"yes": "beats", "no": "is below", "not shown": "is not shown to beat"}[versus.verdict]
        sentences.append(
            f"{sentence_name(check.name)} {words} the geometry: {share(versus.model['accuracy'].value)} of "
            f"{counted_rows(versus.rows, verb=True)} predicted correctly, "
            f"{share(versus.baseline['accuracy'].value)} by the nearest class, a difference of "
            f"{points(versus.difference['accuracy'])}."
        )
        sentences.append(_where(check))
    sentences.append(_labels_in_words(parts))
    if parts.unlike is not None:
        sentences.append(unlike_in_words(parts.unlike))
    return tuple(sentences)


def _where(check: ModelCheck) -> str:
    """Where errors concentrate, or why that is unknown."""
    if check.slices is not None:
        return concentrated(check)
    # Without `against`, there are no two kinds of rows to compare.
    return check.why if check.against is None else f"Slices were not searched: {check.why}"


def _table(check: ModelCheck | None) -> Sheet | None:
    """The model beside the nearest class."""
    if check is None:
        return None
    versus = check.versus
    figures = (versus.model, versus.baseline, versus.difference)
    rows: list[tuple[Cell, ...]] = [
        (measure_in_words(measure), *(each[measure] for each in figures)) for measure in MEASURES
    ]
    columns = ("measure", quoted(check.name), "nearest class", "difference")
    return Sheet("verdict", "The model and the nearest class", columns, tuple(rows), sort=False)


def _labels_in_words(parts: DataParts) -> str:
    """Whether labels limit the accuracy, and how many to check."""
    labels = parts.labels
    if not labels.share.known:
        return f"Whether wrong labels limit the accuracy is {labels.share.kind}."
    listed = labels.listed.size
    look = (
        f"{counted(listed, 'label')} {'is' if listed == 1 else 'are'} worth a look" if listed else "none is suspected"
    )
    limit = f"about {percent(labels.share)} of the labels are wrong"
    if not labels.errors:
        return f"Labels: {limit}; {look}."
    explained = labels.explained
    limits = explained.low >= 0.5
    start = "Labels limit the accuracy" if limits else "Labels are not what limits the accuracy"
    if explained.low < 0.5 <= explained.high:
        start = "Whether labels limit the accuracy is open"
    if not limits and labels.unclear:
        # Labels wrong towards a similar class look like overlap, so no share of them can be given.
        limit = f"If they are spread over the classes, about {percent(labels.share)} of the labels are wrong"
        further = "whether labels wrong towards a similar class limit the accuracy is unknown"
        return f"{limit}, which explains {percent(explained)} {_whose_errors(parts)}; {further}; {look}."
    return f"{start}: {limit}, which explains {percent(explained)} {_whose_errors(parts)}; {look}."


def _whose_errors(parts: DataParts) -> str:
    """Whose errors the result on labels counts: the model's only if it predicts its likeliest class in every row."""
    shares = None if parts.check is None else parts.check.predictions.probabilities
    if parts.check is None or shares is None:
        return "of the nearest class's errors"
    if (parts.check.predictions.predicted == parts.known.classes[shares.argmax(axis=1)]).all():
        return f"of the errors of {quoted(parts.check.name)}"
    return "of the errors of the largest probability"


def _labels_section(parts: DataParts, most: int) -> Section:
    title = "Which labels should I check?"
    labels, complexity = parts.labels, parts.complexity
    pictures: tuple[Picture, ...] = ()
    if labels.share.known:
        text = "Estimated share of wrong labels, and the share of errors that they explain, with intervals."
        pictures = (Picture("wrong_labels", "Wrong labels", text, spec_of(labels.plot())),)
    sheets = (suspects_sheet(complexity, labels, parts.rows, most), hardest_sheet(complexity, labels, parts.rows, most))
    return Section("labels", title, str(labels), pictures, tuple(sheet for sheet in sheets if sheet.rows))


def _classes_section(parts: DataParts) -> Section:
    """Classes by complexity, which are near each other, and which are confused."""
    complexity, check = parts.complexity, parts.check
    by_class = complexity.by_class.sort_values("complexity", ascending=False, kind="stable", na_position="last")
    right = None if check is None else ~check.predictions.wrong(complexity.labels)
    rows: list[tuple[Cell, ...]] = []
    for label, count, value, other in (
        by_class[["class", "rows", "complexity", "confused_with"]].head(MOST_CLASSES).itertuples(index=False)
    ):
        own = complexity.labels == label
        recall = () if right is None else (float(right[own].mean()) if own.any() else None,)
        rows.append((cell(label), int(count), cell(value), cell(other), *recall))
    columns = ("class", "rows", "complexity", "nearest class most often instead")
    cut = f"The hardest {MOST_CLASSES} of {len(by_class)}." if len(by_class) > MOST_CLASSES else ""
    classes = Sheet("classes", "Classes", columns + (() if right is None else ("right",)), tuple(rows), cut)
    confused = complexity.confused(None if check is None else check.predictions.predicted).head(20)
    by = "the nearest class" if check is None else quoted(check.name)
    pairs = Sheet(
        "confused",
        f"Confused most often by {by}",
        ("label", "predicted as", "rows", "share of the label"),
        tuple(
            (cell(label), cell(predicted), int(number), float(part))
            for label, predicted, number, part in confused[["label", "predicted", "rows", "share"]].itertuples(
                index=False
            )
        ),
    )
    pictures = (
        Picture(
            "complexity",
            "How hard the rows of each class are",
            "Histogram of the complexity of rows, by class; the hardest class first.",
            spec_of(charts.complexity_histogram(complexity)),
        ),
        Picture(
            "nearest",
            "Which classes are close to each other",
            "Share of the rows of each class that are nearest to each class centre.",
            spec_of(charts.nearest_classes(complexity)),
        ),
    )
    lead = (
        f"Taking the nearest class by {distance_in_words(complexity)} predicts {percent(complexity.baseline_accuracy)} "
        f"of {counted_rows(len(complexity))} correctly."
    )
    sheets = tuple(sheet for sheet in (classes, pairs) if sheet.rows)
    return Section("data", "How hard are the rows? (complexity)", lead, pictures, sheets, folded=True)


def _methods_section(parts: DataParts) -> Section:
    lead = (
        f"Rows are measured {parts.complexity.measured} by {distance_in_words(parts.complexity)}. No learner is "
        "refitted: how much predictions change with the training sample is in a report on learners (classay report)."
    )
    settings = {**parts.settings, "temperature": parts.complexity.temperature}
    rows = tuple((name.replace("_", " "), cell(value)) for name, value in settings.items())
    sheet = Sheet("settings", "How this page was made", ("setting", "value"), rows, sort=False)
    return Section("methods", "Methods and settings", lead, (), (sheet,), folded=True)


def _figures(parts: DataParts) -> tuple[Figure, ...]:
    """Every figure under its name in the glossary."""
    data, complexity, check = parts.data, parts.complexity, parts.check
    figures: list[Figure] = []
    if check is not None:
        model: dict[str, Estimate] = {
            "accuracy": check.versus.model["accuracy"],
            "balanced_accuracy": check.versus.model["balanced_accuracy"],
            **check_figures(check),
        }
        if check.slices is not None:
            model["slices"] = exact(len(check.slices.slices), "count")
        figures += [Figure("learner", check.name, name, value) for name, value in model.items()]
    counts = np.bincount(data.codes)
    of_data = {
        "rows": exact(data.codes.size, "count"),
        "columns": exact(data.X.shape[1], "count"),
        "classes": exact(data.classes.size, "count"),
        "majority_share": exact(counts.max() / counts.sum(), "of these rows"),
        "contradictions": exact(data.contradicted_rows.sum(), "count"),
        "duplicates": exact(data.duplicates, "count"),
        "baseline_accuracy": complexity.baseline_accuracy,
        "suspects": exact(parts.labels.listed.size, "count"),
        "wrong_share": parts.labels.share,
        "evenness": exact(complexity.normalised_entropy, "of these rows"),
    }
    if parts.unlike is not None:
        of_data["unlike_share"] = parts.unlike.share
    return (*figures, *(Figure("data", "data", name, value) for name, value in of_data.items()))
