"""`classay learner`: the bias of learners, how repeatable they are, their metrics, and what a retraining changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ... import charts as drawing
from ... import expect
from ...engine.dask import executor_of
from ...estimators.trial import ready
from ...learner.fitting.schemes import HalfSplits, Retrain, Subsets
from ...learner.orientation.entropy import draw_holdouts
from ...learner.orientation.entropy_parts import countable_size
from ...learner.orientation.kinship import Kinship, kinship
from ...learner.orientation.orientation import Orientation, orientation, usual_threshold
from ...learner.record import record
from ...learner.records.labelings import Labelings
from ...learner.scores.metrics import Metrics, metrics
from ...learner.scores.retrain_change import retraining
from ...learner.scores.score_variance import score_variance
from ...learner.scores.scorers import ALL, LABELS, needs_of
from ...learner.scores.threshold import costs_of
from ...learner.stability.disagreement import DisagreementRegions
from ...learner.stability.stability import Stability, StabilityTable, stability
from ...seeds import settle
from ...splits import split_rows
from ...tables.data import Data
from .. import options
from ..inputs import roles_of, rows_or_share
from ..runner import Outcome, cell, measure_each, region_table, worded_table

SAMPLES = {"subsets": 100, "halves": 25, "retrain": 20}
REPEATS = {"subsets": 5, "halves": 1, "retrain": 2}
METRICS = ("roc_auc", "balanced_accuracy", "brier")
"""Metrics of the table where no --metric is given, as far as the learners have them."""
MOVE = 0.1
Sections = dict[str, Any]
"""What the record of a learner shows, by name; None for what its scheme, or its scores, cannot show."""


def command(
    rows: options.Rows,
    learners: options.Learners,
    effort: options.Effort,
    output: options.Charts,
    scheme: str = "subsets",
    samples: int | None = None,
    size: float | None = None,
    replaced: float = 0.1,
    repeats: int | None = None,
    metric: list[str] | None = None,
    threshold: float | None = None,
    cost: str | None = None,
    probes: str | None = None,
    n_probes: int = 10_000,
    regions: int = 3,
    test_size: float = 0.2,
    holdout_size: int | None = None,
    holdouts: int = 100,
) -> Outcome:
    """Measure the bias of learners, their repeatability and metrics, and what a retraining changes."""
    named = learners.named()
    expect.one_of(scheme, "--scheme", tuple(SAMPLES))
    expect.whole(regions, "regions", at_least=0)
    needs_scores = any(needs_of(name) != LABELS for name in metric or ())
    costs = None if cost is None else costs_of(cost.split(","))
    count = SAMPLES[scheme] if samples is None else samples
    drawn = _scheme(scheme, count, None if size is None else rows_or_share(size), replaced)
    repeats = REPEATS[scheme] if repeats is None else repeats
    if probes is None and scheme == "halves":
        probes = "uniform"
    table = rows.read(output.quiet)
    _refuse_early(table, holdout_size, holdouts, test_size, effort.seed)
    chosen = {"scheme": drawn, "repeats": repeats, "test_size": test_size, "probes": probes, "n_probes": n_probes}
    with executor_of(effort.scheduler, effort.workers) as executor:
        settings = {**chosen, **effort.settings(executor, output.quiet), **roles_of(table)}
        recorded = measure_each(named, lambda name, learner: _record(name, learner, table, settings))
    records = recorded.results
    varied = scheme != "retrain"
    if holdout_size is None and varied:
        # One size for all, so that learners can be compared.
        holdout_size = min(countable_size(record, holdouts, effort.seed) for record in records.values())

    def measure(name: str, labelings: Labelings) -> Sections:
        if needs_scores and labelings.scores is None:
            labelings.scored()  # says what is missing
        probable = labelings.scores is not None and labelings.scores.probabilities and len(labelings.labels) > 2
        repeatable, variance = stability(labelings), score_variance(labelings) if probable else None
        return {
            "orientation": orientation(labelings, holdout_size, holdouts, effort.seed) if varied else None,
            "stability": repeatable,
            "regions": _regions(repeatable, regions, table, effort.seed, output) if regions else None,
            "metrics": metrics(labelings, [ALL, *(metric or ())], threshold=threshold, cost=costs),
            "retraining": None if varied else retraining(labelings),
            "score_variance": variance,
            "moved": variance.moved(MOVE) if variance and labelings.scores and not labelings.scores.compact else None,
            "about": labelings.about,
            "seconds_per_fit": np.nanmean(labelings.seconds),
            "failures": labelings.failures,
        }

    measured = measure_each(records, measure)
    sections: dict[str, Sections] = measured.results
    complete = {name: records[name] for name in sections if varied and not records[name].interrupted}
    distances = kinship(complete, holdout_size or 5, holdouts, effort.seed) if len(complete) > 1 else None
    comparison = stability({name: section["stability"] for name, section in sections.items()})
    return Outcome(
        {"learners": sections, "kinship": distances, "comparison": comparison},
        data=table,
        settings={"samples": count, "repeats": repeats, "probes": probes, "holdout_size": holdout_size},
        text=_text(sections, distances, comparison, metric or []),
        charts=lambda: _draw(sections, distances, comparison),
        failed={**recorded.failed, **measured.failed},
        interrupted=recorded.interrupted or measured.interrupted,
    )


def _scheme(name: str, samples: int, size: float | None, replaced: float) -> Subsets | HalfSplits | Retrain:
    if name == "halves":
        return HalfSplits(samples, size)
    return Retrain(samples, replaced) if name == "retrain" else Subsets(samples, 0.15 if size is None else size)


def _refuse_early(table: Data, holdout_size: int | None, holdouts: int, test_size: float, seed: int) -> None:
    """Refuse, before any fit, more test points at a time than the test part has."""
    if table.test is not None:
        points = len(table.test.y)
    elif test_size == 0:  # halves are tested on each other
        return
    else:
        share = expect.fraction(test_size, "test_size")
        points = split_rows(table.codes, share, settle(seed), table.per_row)[1].size
    draw_holdouts(points, holdout_size, holdouts, seed)


def _record(name: str, learner: Any, table: Data, settings: dict[str, Any]) -> Labelings:
    tried = ready(learner, table.X, table.y, settings["random_state"], table.texts)
    labelings = record(tried.learner, table.X, table.y, name=name, **settings)
    assert isinstance(labelings, Labelings)  # regressors were refused by name
    return replace(labelings, notes=(*labelings.notes, *tried.notes))


def _regions(
    repeatable: Stability, most: int, table: Data, seed: int, output: options.Output
) -> DisagreementRegions | None:
    """Where refits disagree. The other figures are valid without regions."""
    points = None if repeatable.points is not None else table.X if table.test is None else table.test.X
    try:
        return repeatable.regions(points, top=most, random_state=seed)
    except expect.InputError as too_little:
        output.say(f"{repeatable.learner}: no regions. {too_little}")
        return None


def _text(
    sections: dict[str, Sections], distances: Kinship | None, comparison: StabilityTable, names: list[str]
) -> Iterator[Any]:
    """Paragraphs, then a table of all learners for each section."""
    first = next(iter(sections.values()))
    parts: dict[str, dict[str, Any]] = {part: {name: row[part] for name, row in sections.items()} for part in first}
    varied = first["orientation"] is not None
    if varied:
        yield from (part.conclusion() for part in parts["orientation"].values())
    if len(sections) > 1:
        yield str(comparison)
    else:
        shown = ("stability", "metrics", "score_variance", "retraining")
        yield from (str(first[part]) for part in shown if first[part] is not None)
    if varied:
        described = {"learners": expect.counted(len(sections), "learner"), "bits": first["orientation"].log2_labelings}
        rows = {name: variation(measured) for name, measured in parts["orientation"].items()}
        yield worded_table("variation", rows, **described, **bias_at(first["orientation"]))
    yield worded_table("agreement", parts["stability"], result=first["stability"])
    for regions in parts["regions"].values():
        if regions is not None:
            yield str(regions)
            if regions.regions:
                yield region_table("", regions.regions, "disagreement")
    usual = [name for name in METRICS if any(name in measured.estimates for measured in parts["metrics"].values())]
    columns = {name: name.replace("_", " ") for name in [*(names or usual), "cost"]} | {"ece": "calibration error"}
    rows = {name: _scores(measured, columns) for name, measured in parts["metrics"].items()}
    yield worded_table("metrics", rows, columns, result=first["metrics"])
    if not varied:
        change = first["retraining"]
        rows = {name: {**vars(row["retraining"]), **_spread(row)} for name, row in sections.items()}
        newer = " by newer ones" if change.in_time else ""
        yield worded_table("changes", rows, result=change, newer=newer, points=100 * MOVE)
    if distances is not None:
        yield worded_table("kinship", distances.to_frame().query("distance == 'jensen_shannon'"))
    for name, row in sections.items() if len(sections) > 1 else ():
        noted = [row[part].notes for part in ("orientation", "stability", "metrics") if row[part] is not None]
        yield from (f"{name}: {note}" for note in dict.fromkeys(note for notes in noted for note in notes))


def variation(measured: Orientation) -> dict[str, Any]:
    """The figures of a learner, or of a value of a sweep, in a table."""
    return {**vars(measured), "bias": measured.bias[usual_threshold(measured.holdout_size)]}


def bias_at(measured: Orientation) -> dict[str, int]:
    """How many of how many test points the bias in `variation` is about."""
    return {"threshold": usual_threshold(measured.holdout_size), "size": measured.holdout_size}


def _scores(measured: Metrics, names: Iterable[str]) -> dict[str, str | None]:
    """Metrics with their range over refits; the calibration error beside what chance gives."""
    known = {name: measured.estimates[name] for name in names if name in measured.estimates and name != "ece"}
    cells = {name: f"{cell(estimate)}\nrefits {measured.refit_spread[name]}" for name, estimate in known.items()}
    floor = measured.calibration
    error = {} if floor is None else {"ece": f"{measured.estimates['ece'].value:.3f}\nchance {floor.floor.high:.3f}"}
    return {**cells, **error}


def _spread(row: Sections) -> dict[str, Any]:
    variance = row["score_variance"]
    return {"moved": row["moved"], "share_sample": None if variance is None else variance.share_sample}


def _draw(sections: dict[str, Sections], distances: Kinship | None, comparison: StabilityTable) -> dict[str, Any]:
    by_name: dict[str, Any] = {"stability": comparison.plot()}
    orientations = [row["orientation"] for row in sections.values() if row["orientation"] is not None]
    shared = {"bias": "bias_chart", "expressivity": "expressivity_chart", "plane": "plane_chart"}
    by_name |= {name: getattr(drawing, chart)(*orientations) for name, chart in shared.items() if orientations}
    if distances is not None:
        kinships = {"kinship": "heatmap", "kinship_map": "map", "kinship_dendrogram": "dendrogram"}
        by_name |= {name: distances.plot(kind=kind) for name, kind in kinships.items()}
    for number, row in enumerate(sections.values(), 1):
        measured = row["metrics"]
        kinds = ["spread", "confusion", *(["calibration"] if measured.calibration is not None else [])]
        kinds += ["roc", "precision_recall"] if "roc_auc" in measured.estimates else []
        by_name |= {f"{kind}_{number}": measured.plot(kind=kind) for kind in kinds}
        by_name[f"agreement_{number}"] = row["stability"].plot()
        for name in ("metrics", "retraining", "score_variance"):
            if row[name] is not None:
                by_name[f"{name}_{number}"] = row[name].plot()
        try:
            by_name[f"disagreement_{number}"] = drawing.disagreement_plane(row["stability"], regions=row["regions"])
        except expect.InputError:  # a plane needs two numeric columns
            continue
    return by_name
