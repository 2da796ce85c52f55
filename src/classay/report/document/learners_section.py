"""The sections of a report that are about learners."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from ... import charts
from ...charts.style.theme import labels
from ...expect import counted
from ...learner.orientation.orientation import usual_threshold
from ...learner.records.base import OutOfFold
from ...learner.records.labelings import Labelings
from ...learner.scores.curves import Curve, calibration_curve, precision_recall, roc
from ...learner.scores.scorers import confusion_counts
from ...learner.stability.stability import stability
from ...learner.versions.judges import Judges
from ..results import LearnerResults, Results
from .document import Cell, Picture, Section, Sheet
from .figures import learner_figures
from .glossary import term_of
from .phrases import joined, percent, quoted, share

OF_GIVEN = ("predicted", "self_agreement", "changed_items", "overconfidence")
"""Figures of predictions that were given; they are shown where they are known."""
SPLIT = ("expressivity", "capacity", "stochasticity", "seed_change")
REFITS = ("refit_accuracy", "stability", "kappa", "bias", *SPLIT, "gap")
"""Figures of how much predictions vary over refits, and all figures of refits."""
MOST_CLASSES, MOST_SHOWN = 30, 20
"""With more classes, no confusion matrix is drawn; so many of the items that change are listed."""


def spec_of(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """A chart as a specification for the page."""
    spec: dict[str, Any] = chart.to_dict()
    spec.pop("$schema", None)  # a URL, although it is never loaded
    return spec


def sheet_of(key: str, title: str, names: Sequence[str], results: Results, note: str = "") -> Sheet:
    """Figures of all learners, one row per learner."""
    rows: list[tuple[Cell, ...]] = []
    for name in results.names:
        values = learner_figures(results, name)
        rows.append((name, *(values.get(figure) for figure in names)))
    return Sheet(key, title, ("learner", *names), tuple(rows), note, results.names)


def learners_section(results: Results) -> Section:
    """What decides between learners: the metric with its interval, what refits change, seconds; then curves."""
    title = "Learners side by side" if results.fitted else "Models side by side"
    if not results.names:
        absent = "no learner was measured" if results.fitted else "no learner and no predictions were given"
        return Section("learners", title, "", absent=absent)
    leak, tied = results.suspicions.leak, results.suspicions.rows_belong_together
    known = any(one.retraining is not None for one in results.learners.values())
    retrained = ("retrain_change", "retrain_by_seed") if known else ("sample_change",)
    refits = ("refit_spread", *retrained, "seconds_per_fit") if results.fitted or results.learners else ()
    values = [learner_figures(results, name) for name in results.names]
    metrics = dict.fromkeys((results.metric, "accuracy", *results.more_metrics))
    shown, given = (
        [figure for figure in figures if any(figure in known for known in values)] for figures in (metrics, OF_GIVEN)
    )
    notes = [_predictions_in_words(results, shown), *([_refits_in_words(results)] if refits else [])]
    note = " ".join([*filter(None, notes), "Small numbers: 95 % interval."])
    shown = shown or ["refit_accuracy"]
    overview = sheet_of("overview", title, (*shown, *given, *refits), results, note)
    wrong = [code for code, so in (("D205", leak), ("D206", tied)) if so]
    lead = f"These figures promise too much ({joined(wrong)})." if wrong else ""
    return Section("learners", title, lead, _curves(results), (overview,), folded=bool(wrong))


def _predictions_in_words(results: Results, metrics: list[str]) -> str:
    """What the metrics are of."""
    if not results.fitted:
        return f"Over {len(results.rows):,} {'rows' if results.part is None else 'test rows'}."
    if not metrics:
        return ""
    named = joined([term_of(name).label for name in metrics])
    sizes = sorted({held.fit_rows for held in results.predicted.values()})
    return f"{named[0].upper()}{named[1:]}: cross-validated, fits on {joined([f'{rows:,}' for rows in sizes])} rows."


def _refits_in_words(results: Results) -> str:
    """What refits were fitted on."""
    if not results.fitted:
        return "Refit spread: over the refits of the record."
    rows = results.refit_rows
    return f"Refit spread: from refits on random halves{'' if rows is None else f' of {rows:,} rows'}."


def _curves(results: Results) -> tuple[Picture, ...]:
    """Calibration, ROC and precision against recall of the learners that were asked for, and a confusion matrix."""
    asked = [name for name in results.predicted if name not in results.contrast]
    short = dict(zip(results.names, labels(list(results.names))))
    two = results.rows.classes.size == 2
    positive = quoted(results.rows.classes[results.rows.rarer])
    what = f"class {positive}" if two else "the predicted class"
    band = "Bands: nine of ten refits on fewer rows than the line, which may lie outside." if results.learners else ""
    drawn = [
        (
            "calibration",
            "Are its probabilities right? (calibration)",
            f"Share of rows of {what} by the probability that each learner gave it; on the diagonal they agree. {band}",
            calibration_curve,
            ("predicted probability", f"share of {what}"),
            True,
        ),
        (
            "roc",
            f"How many of class {positive} are found, at which false alarms? (ROC)",
            f"True positive rate against false positive rate, class {positive}; the diagonal is chance. {band}",
            roc,
            ("false alarms", "found"),
            True,
        ),
        (
            "precision",
            f"Precision against recall, class {positive}",
            f"Share of predictions of class {positive} that are right, by the share of its rows that are found. {band}",
            precision_recall,
            ("recall", "precision"),
            False,
        ),
    ]
    pictures = []
    for key, title, text, curve, (across, up), diagonal in drawn:
        curves = {name: line for name in asked if (line := curve(*_predictions(results, name))) is not None}
        if not curves:
            continue
        rows = [row for name, line in curves.items() for row in _chart_rows(name, short[name], line)]
        chart = charts.curves_with_bands(rows, list(short.values()), across, up, title, diagonal=diagonal)
        pictures.append(Picture(key, title, text.rstrip(), spec_of(chart), _points(key, title, curves)))
    return (*pictures, *_confusion(results))


def _predictions(results: Results, name: str) -> tuple[OutOfFold, int, Labelings | None]:
    """One prediction per row, the class that curves are about, and refits for the bands."""
    one = results.learners.get(name)
    return results.predicted[name], results.rows.rarer, None if one is None else one.labelings


def _chart_rows(name: str, label: str, line: Curve) -> Iterator[dict[str, Any]]:
    for x, y, low, high in zip(*(values.tolist() for values in (line.x, line.y, line.low, line.high))):
        if not math.isnan(y):
            ends = (None if math.isnan(end) else end for end in (low, high))
            yield {"label": label, "learner": name, "x": x, "y": y, **dict(zip(("low", "high"), ends))}


def _points(key: str, title: str, curves: dict[str, Curve]) -> Sheet:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, *(None if math.isnan(value) else round(float(value), 4) for value in point))
        for name, line in curves.items()
        for point in zip(line.x, line.y, line.low, line.high)
    )
    columns = ("learner", "across", "up", "low end of the band", "high end of the band")
    return Sheet(key, title, columns, rows, "", tuple(str(row[0]) for row in rows))


def _confusion(results: Results) -> tuple[Picture, ...]:
    """Of the learner that the verdict names, or the most accurate one."""
    data, held = results.rows, results.predicted
    if not held or data.classes.size > MOST_CLASSES:
        return ()
    best = max(held, key=lambda name: results.scored[name].estimate.value if name in results.scored else -math.inf)
    matrix = confusion_counts(held[best].truth, held[best].labels, held[best].classes.size)
    names = [str(label) for label in held[best].classes]
    title = f"Which classes does {best} confuse? (confusion matrix)"
    fits = f"; fits on {held[best].fit_rows:,} rows" if held[best].fit_rows else ""
    text = f"Rows by class and prediction{fits}. Shades: share of the class."
    rows = tuple((names[a], names[b], int(matrix[a, b])) for a in range(len(names)) for b in range(len(names)))
    sheet = Sheet("confusion", title, ("class", "prediction", "rows"), rows)
    return (Picture("confusion", title, text, spec_of(charts.confusion_of_rows(matrix, names, title)), sheet),)


def runs_section(results: Results) -> Section:
    """How far runs of a variant agree, and variants with each other; how many runs suffice."""
    title = "Asked again"
    if results.runs is None:
        return Section("runs", title, "", absent=results.why.get("runs", "predictions are not from several runs"))
    steady, raters, repeats = results.runs.steady, results.runs.raters, results.runs.repeats
    sentences, sheets, pictures = [], [], []
    again = [each for each in raters.raters if each.self_agreement.known]
    if again:
        worst = min(again, key=lambda each: each.self_agreement.value)
        sentences.append(
            f"Asked again, {quoted(worst.name)} predicts the same for {percent(worst.self_agreement)} of the items; "
            f"in {counted(worst.n_runs, 'run')} it changed its prediction for {percent(worst.changed)} of them."
        )
    if len(raters.raters) > 1:
        sentences.append(f"Two variants agree on {percent(raters.agreement)} of the items.")
        if again and steady.same_subset.known and steady.stability.value < 1:
            sentences.append(
                f"Of the disagreement between variants, {share(min(steady.seed_share, 1.0))} is randomness: the same "
                "variant would disagree with itself as often."
            )
    if repeats is not None:
        number = counted(int(repeats.repeats.value), "run")
        sentences.append(
            f"{number} per item {'suffice' if repeats.repeats.value != 1 else 'suffices'} (between "
            f"{repeats.repeats.low:.0f} and {repeats.repeats.high:.0f}): then asking again gives at most "
            f"{repeats.share:.0%} of the variance of accuracy, or moves it by at most "
            f"{100 * repeats.precision:g} {'point' if repeats.precision == 0.01 else 'points'}."
        )
        table = repeats.to_frame()[["runs", "value", "share_by_runs"]].to_numpy(dtype=float)
        rows: list[tuple[Cell, ...]] = [(int(runs), float(width), float(part)) for runs, width, part in table]
        sheets.append(
            Sheet("repeats", "How many runs suffice", ("runs", "accuracy known to within", "share by asking again"),
                  tuple(rows), "Half the width of the 95 % interval of accuracy, over items.", sort=False)
        )  # fmt: skip
    flips = raters.items[raters.items["value"] > 0].head(MOST_SHOWN)
    if len(flips):
        cells = zip(flips["item"], flips["rater"], flips["usual"], flips["value"])
        rows = [(str(item), str(rater), str(usual), float(value)) for item, rater, usual, value in cells]
        sheets.append(
            Sheet("flips", "Items that change most", ("item", "variant", "usual prediction", "runs differ"),
                  tuple(rows), f"The first {len(rows)} of {int((raters.items['value'] > 0).sum()):,}.")
        )  # fmt: skip
    pictures.append(
        Picture("agreement", "Agreement", "How often runs of a variant agree, and variants with each other.",
                spec_of(raters.plot()), _agreement_sheet(raters))
    )  # fmt: skip
    return Section("runs", title, " ".join(sentences), tuple(pictures), tuple(sheets))


def _agreement_sheet(raters: Judges) -> Sheet:
    rows: list[tuple[Cell, ...]] = [(each.name, each.name, each.self_agreement) for each in raters.raters]
    rows += [(pair.one, pair.other, pair.agreement) for pair in raters.pairs]
    return Sheet("agreement", "Agreement", ("variant", "with", "self_agreement"), tuple(rows))


def variation_section(results: Results) -> Section:
    """How much predictions vary over refits, and why; which learners predict alike."""
    learners, title = results.learners, "How far do refits differ? (stability, capacity, stochasticity)"
    if not learners:
        return Section("variation", title, "", absent="there are no refits", folded=True)
    oriented = next(iter(learners.values())).orientation
    threshold = usual_threshold(oriented.holdout_size)
    table = stability({name: one.stability for name, one in learners.items()})
    variation = sheet_of(
        "variation",
        "Refits in figures",
        REFITS,
        results,
        f"Bias: at least {threshold} of {oriented.holdout_size} test predictions right, beyond chance. Bits: for the "
        f"predictions on {oriented.holdout_size} test points.",
    )
    pictures = [
        Picture(
            "plane",
            "Accuracy against stability",
            f"How often refits on {_trained(results)} are right, and how often two of them predict the same. Best is "
            "top right.",
            spec_of(charts.stability_plane(table)),
            sheet_of(
                "plane", "Accuracy and stability", ("refit_accuracy", "stability", "kappa", "stability_probes"), results
            ),
        ),
        Picture(
            "expressivity",
            "How much do predictions change with the training sample (capacity), and with the seed (stochasticity)?",
            "How much the predictions of each learner vary over refits (expressivity), split into both parts.",
            spec_of(charts.expressivity_chart(*(one.orientation for one in learners.values()))),
            sheet_of("split", "Bits by source", SPLIT, results),
        ),
    ]
    if results.kinship is not None:
        kin = results.kinship
        distances = Sheet(
            "kinship",
            "Jensen–Shannon distance between predictions",
            ("learner", *kin.names),
            tuple((name, *(float(value) for value in row)) for name, row in zip(kin.names, kin.jensen_shannon)),
            "0: the same predictions, 1: nothing in common.",
            kin.names,
        )
        drawn = charts.kinship_heatmap(kin) if len(kin.names) < 3 else charts.kinship_map(kin)
        alike = "Which learners predict alike? (kinship)"
        pictures.append(Picture("kinship", alike, str(kin), spec_of(drawn), distances))
    steady = max(learners.values(), key=lambda one: one.stability.stability.value)
    lead = (
        f"From refits on {_trained(results)}. {quoted(steady.name)} is the most stable: two of its refits agree on "
        f"{percent(steady.stability.stability)} of the test points."
    )
    return Section("variation", title, lead, tuple(pictures), (variation,), folded=True)


def _trained(results: Results) -> str:
    """The rows on which refits were trained."""
    rows = results.refit_rows
    if results.settings.get("size", "all") != "all":
        return f"{rows:,} rows"
    return "half of the training part" if rows is None else f"half of the training part ({rows:,} rows)"


TITLE = "Where do refits disagree?"


def disagreement_section(results: Results) -> Section:
    """Where refits of each learner disagree."""
    sheets, lacking = [], []
    for name, one in results.learners.items():
        if one.regions is None:  # mostly for all learners and for the same reason
            lacking.append(one.why.get("regions", "unknown"))
            continue
        sheets.append(_regions(name, one))
    if not sheets:
        return Section(
            "disagreement", TITLE, "", absent=" ".join(dict.fromkeys(lacking)) or "there are no refits", folded=True
        )
    empty = [name for name, one in results.learners.items() if one.regions is not None and not one.regions.regions]
    lead = (
        "Ranges and categories in which two refits disagree more often than elsewhere, on the test points: "
        "found with half of the refits and points, confirmed with the other half."
    )
    if empty:
        lead += f" For {joined([quoted(name) for name in empty])} no region stands out."
    filled = tuple(sheet for sheet in sheets if sheet.rows)
    return Section("disagreement", TITLE, lead, _plane(results), filled, folded=True)


def _regions(name: str, one: LearnerResults) -> Sheet:
    assert one.regions is not None
    rows = tuple(
        (each.condition, each.share, each.rate, each.rest_rate, each.lift, each.q_value) for each in one.regions.regions
    )
    return Sheet(
        f"disagreement/{name}",
        f"Where refits of {name} disagree",
        ("where", "share of points", "disagreement", "rest_disagreement", "lift", "q_value"),
        rows,
        f"{counted(len(one.regions.tested), 'region')} tested on {one.regions.n_points} {one.regions.on}.",
        (name,) * len(rows),
    )


def _plane(results: Results) -> tuple[Picture, ...]:
    """The least stable learner with a region of two numeric columns, drawn on them."""
    for name, one in sorted(results.learners.items(), key=lambda item: item[1].stability.stability.value):
        if one.regions is None or not one.regions.regions:
            continue
        try:
            drawn = charts.disagreement_plane(one.stability, X=one.points, regions=one.regions)
        except ValueError:
            continue
        text = f"Where refits of {name} disagree, on the two columns that show it best."
        return (Picture("where", f"Where refits of {name} disagree", text, spec_of(drawn), _regions(name, one)),)
    return ()
