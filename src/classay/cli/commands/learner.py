"""`classay learner`: the bias of learners, how repeatable they are, their metrics, and what a retraining changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import typer

from ... import charts as drawing
from ... import expect
from ...engine.dask import executor_of
from ...estimators.trial import ready
from ...intervals import Estimate
from ...learner.fitting.probes import KINDS
from ...learner.fitting.schemes import HalfSplits, Retrain, Subsets
from ...learner.orientation.entropy import draw_holdouts
from ...learner.orientation.entropy_parts import countable_size
from ...learner.orientation.kinship import Kinship, kinship
from ...learner.orientation.orientation import Orientation, orientation
from ...learner.record import record
from ...learner.records.labelings import Labelings
from ...learner.scores.metrics import ALL, Metrics, metrics
from ...learner.scores.retrain_change import Retraining, retraining
from ...learner.scores.score_variance import ScoreVariance, score_variance
from ...learner.scores.scorers import LABELS, needs_of
from ...learner.scores.threshold import costs_of
from ...learner.stability.disagreement import DisagreementRegions
from ...learner.stability.stability import Stability, StabilityTable, stability
from ...seeds import settle
from ...splits import split_rows
from ...tables.data import Data
from .. import options
from ..inputs import roles_of
from ..runner import Outcome, cell, each, figures_table, region_table, rows_table

EXAMPLES = """
**Examples**

    classay learner breast_cancer

    classay learner breast_cancer --learner DecisionTreeClassifier --learner "RandomForestClassifier(n_estimators=50)"

    classay learner steel.csv --target low_yield --scheme halves --probes uniform --charts charts/

    classay learner churn.csv --target left --scheme retrain --replaced 0.2 --metric roc_auc --cost 1,5 --json

    classay learner openml:credit-g --repeats 10 --store runs/

Training samples are drawn by a scheme. subsets: 100 random subsets of 15 %, for bias and variation, as in the paper.
halves: 25 splits into disjoint halves, for stability. retrain: 20 samples of nearly full size, for metrics and for what
a retraining changes. What a scheme cannot show is left out.
"""
SAMPLES = {"subsets": 100, "halves": 25, "retrain": 20}
REPEATS = {"subsets": 5, "halves": 1, "retrain": 2}
METRICS = ("roc_auc", "balanced_accuracy", "brier")
"""Metrics of the table where no --metric is given, as far as the learners have them."""
MOVE = 0.1
VARIATION = {
    "accuracy": "test\naccuracy", "train_accuracy": "train\naccuracy", "expressivity": "expressivity\n(bits)",
    "capacity": "= capacity\n(data)", "stochasticity": "+ stochasticity\n(randomness)", "seconds": "seconds\nper fit",
}  # fmt: skip
AGREEMENT = {
    "stability": "stability", "stability_new_data": "for new\ndata", "kappa": "kappa",
    "accuracy_new_data": "accuracy for\nnew data", "same_subset": "same\nrows",
}  # fmt: skip
CHANGES = {
    "change": "predictions\nthat change", "by_seed": "by another\nseed alone", "by_rows": "by the\nnew rows",
    "moved": f"probability moves\nby over {100 * MOVE:.0f} points", "share_sample": "variance from\nthe sample",
}  # fmt: skip


@dataclass(frozen=True)
class Sections:
    """What the record of a learner shows; None for what its scheme, or its scores, cannot show."""

    record: Labelings
    orientation: Orientation
    stability: Stability
    regions: DisagreementRegions | None
    metrics: Metrics
    variance: ScoreVariance | None
    retraining: Retraining | None

    @property
    def interrupted(self) -> bool:
        """Whether the record is incomplete."""
        return self.record.interrupted

    @property
    def moved(self) -> Estimate | None:
        """Share of rows whose probability moves; None if the probabilities of all classes are not known."""
        compact = self.record.scores is None or self.record.scores.compact
        return None if self.variance is None or compact else self.variance.moved(MOVE)

    def as_json(self) -> dict[str, Any]:
        """The results, where the record came from, the time per fit, and what failed."""
        return {
            "orientation": self.orientation, "stability": self.stability, "regions": self.regions,
            "metrics": self.metrics, "retraining": self.retraining, "score_variance": self.variance,
            "moved": self.moved, "about": self.record.about, "seconds_per_fit": np.nanmean(self.record.seconds),
            "failures": self.record.failures,
        }  # fmt: skip


def command(
    rows: options.Rows,
    learners: options.Learners,
    effort: options.Effort,
    output: options.Charts,
    scheme: str = typer.Option("subsets", help="How training samples are drawn: subsets, halves or retrain."),
    samples: int = typer.Option(
        None, help="Number of training samples (of halves: splits). Default: 100, 25 or 20, by scheme."
    ),
    size: float = typer.Option(
        None, help="Share of the training part in each subset; above 1: number of rows. Default: 0.15; halves: all."
    ),
    replaced: float = typer.Option(0.1, help="Share of the rows that a retraining replaces."),
    repeats: int = typer.Option(
        None, "--repeats", "-r", help="Refits on each sample; 2 or more show training randomness. Default: by scheme."
    ),
    test_size: options.TestSize = 0.2,
    metric: list[str] = typer.Option(
        None, "--metric", "-m", help="Metric to show: roc_auc, brier, f1, or a scikit-learn scorer. Repeat for more."
    ),
    threshold: float = typer.Option(
        None, help="Of two classes, decide for the second from this score on. Default: the learner's own decisions."
    ),
    cost: str = typer.Option(
        None,
        metavar="FP,FN",
        help="Costs of a false positive and a false negative; decisions are then at the threshold that costs least.",
    ),
    probes: str | None = typer.Option(
        None, help="Comparison points for refits: uniform, marginal or data (the test part). Default: by scheme."
    ),
    n_probes: int = typer.Option(10_000, help="Number of comparison points to draw."),
    regions: int = typer.Option(
        3, help="Maximum number of regions per learner to show where refits disagree; 0: none."
    ),
    holdout_size: options.HoldoutSize = None,
    holdouts: options.Holdouts = 100,
    replace: options.Replace = True,
    every_class: options.EveryClass = True,
    plugin: options.Plugin = False,
) -> Outcome:
    """Measure the bias of learners, how repeatable they are, their metrics, and what a retraining changes."""
    named = learners.named()
    expect.one_of(scheme, "--scheme", tuple(SAMPLES))
    if probes is not None:
        expect.one_of(probes, "probes", KINDS)
    elif scheme == "halves":
        probes = "uniform"
    expect.whole(regions, "regions", at_least=0)
    for name in metric or ():
        needs_of(name)
    costs = None if cost is None else costs_of(cost.split(","))
    count = SAMPLES[scheme] if samples is None else samples
    drawn = _scheme(scheme, count, size, replaced, replace, every_class)
    repeats = REPEATS[scheme] if repeats is None else repeats
    table = rows.read(output.quiet)
    _refuse_early(table, holdout_size, holdouts, test_size, effort.seed)
    chosen = {"scheme": drawn, "repeats": repeats, "test_size": test_size, "probes": probes, "n_probes": n_probes}
    with executor_of(effort.scheduler, effort.workers) as executor:
        settings = {**chosen, **effort.settings(executor, output.quiet), **roles_of(table)}
        recorded = each(named, lambda name, learner: _record(name, learner, table, settings))
    records = recorded.results
    if holdout_size is None:
        # One size for all, so that learners can be compared.
        holdout_size = min((countable_size(one, holdouts, effort.seed) for one in records.values()), default=None)

    def measure(name: str, labelings: Labelings) -> Sections:
        if any(needs_of(each) != LABELS for each in metric or ()) and labelings.scores is None:
            labelings.scored()  # says what is missing
        repeatable = stability(labelings)
        return Sections(
            labelings,
            orientation(labelings, holdout_size, holdouts, effort.seed),
            repeatable,
            _regions(repeatable, regions, table, effort.seed, output) if regions else None,
            metrics(labelings, [ALL, *(metric or ())], threshold=threshold, cost=costs),
            _variance(labelings),
            retraining(labelings) if scheme == "retrain" else None,
        )

    measured = each(records, measure)
    sections: dict[str, Sections] = measured.results
    complete = {name: records[name] for name in sections if not records[name].interrupted}
    distances = kinship(complete, holdout_size or 5, holdouts, effort.seed) if len(complete) > 1 else None
    comparison = stability({name: one.stability for name, one in sections.items()})
    return Outcome(
        {
            "learners": {name: one.as_json() for name, one in sections.items()},
            "kinship": distances,
            "comparison": comparison,
        },
        data=table,
        settings={"samples": count, "repeats": repeats, "probes": probes, "holdout_size": holdout_size},
        text=_text(sections, distances, comparison, metric or [], plugin),
        charts=lambda: _draw(sections, distances, comparison, plugin),
        failed={**recorded.failed, **measured.failed},
        interrupted=recorded.interrupted or measured.interrupted,
    )


def _scheme(
    name: str, samples: int, size: float | None, replaced: float, replace: bool, every_class: bool
) -> Subsets | HalfSplits | Retrain:
    rows = int(size) if size is not None and size > 1 and size.is_integer() else size
    if name == "halves":
        return HalfSplits(samples, rows)
    if name == "retrain":
        return Retrain(samples, replaced)
    return Subsets(samples, 0.15 if rows is None else rows, replace, every_class)


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
    rows = table.X if repeatable.points is None and table.test is None else None if table.test is None else table.test.X
    try:
        return repeatable.regions(None if repeatable.points is not None else rows, top=most, random_state=seed)
    except expect.InputError as too_little:
        output.say(f"{repeatable.learner}: no regions. {too_little}")
        return None


def _variance(labelings: Labelings) -> ScoreVariance | None:
    scores = labelings.scores
    known = scores is not None and scores.probabilities and len(labelings.labels) > 2
    return score_variance(labelings) if known else None


def _text(
    sections: dict[str, Sections], distances: Kinship | None, comparison: StabilityTable, names: list[str], plugin: bool
) -> Iterator[Any]:
    """Paragraphs, then a table of all learners for each section."""
    first = next(iter(sections.values()))
    for one in sections.values():
        # The tables have plain estimates then; the text always has the corrected ones.
        yield f"{'Corrected estimates: ' if plugin else ''}{one.orientation.conclusion()}"
    if len(sections) > 1:
        yield str(comparison)
    else:
        yield from (
            str(part) for part in (one.stability, one.metrics, one.variance, one.retraining) if part is not None
        )
    size, bits = first.orientation.holdout_size, first.orientation.log2_labelings
    yield figures_table(
        f"Predictions of {expect.counted(len(sections), 'learner')} on groups of {size} test points",
        {name: _variation(one, plugin) for name, one in sections.items()},
        VARIATION,
        f"Entropies range from 0 (always the same predictions) to {bits:.3g} bits (all predictions equally likely). "
        "Capacity: the part that depends on the training sample. Stochasticity: the part by training randomness."
        + (" Plain estimates of the paper, biased with few refits." if plugin else ""),
    )
    limits = {z: first.orientation.bounds[z - 1] for z in _thresholds(size)}
    possible = {z: f"{each.bias_low:.3f}\nto {each.bias_high:.3f}" for z, each in limits.items()}
    yield figures_table(
        "Algorithmic bias: how much more often than by chance at least z predictions are right",
        {**{name: one.orientation.bias for name, one in sections.items()}, "possible": possible},
        {z: f"{z} of {size}" for z in limits},
    )
    yield figures_table(
        f"Agreement of two refits on {first.stability.pairs}, on {first.stability.n_points} {first.stability.on}",
        {name: one.stability for name, one in sections.items()},
        AGREEMENT,
        "Stability: share of the points on which two refits predict the same class. A learner that always predicts one "
        "class has 1, so read it together with accuracy. Kappa: the same beyond chance. For new data: the interval for "
        "other data of the same source and size. Same rows: for refits on the same rows; the difference from 1 is "
        "training randomness.",
    )
    for one in sections.values():
        if one.regions is not None:
            yield str(one.regions)
            if one.regions.regions:
                yield region_table("", one.regions.regions, "disagreement")
    usual = [name for name in METRICS if any(name in one.metrics.estimates for one in sections.values())]
    columns = {name: name.replace("_", " ") for name in [*(names or usual), "cost"]} | {"ece": "calibration\nerror"}
    yield figures_table(
        f"Metrics on {first.metrics.n_points} test points",
        {name: _scores(one.metrics, columns) for name, one in sections.items()},
        columns,
        "Mean over refits, with its interval for other rows and training samples like these. Refits: the range of 90 % "
        "of the refits. Calibration error: beyond 'chance', perfectly calibrated scores would hardly ever show it.",
    )
    if first.retraining is not None:
        yield figures_table(
            f"What changes when {first.retraining.replaced:.0%} of {first.retraining.train_rows:,} training rows are "
            f"replaced{' by newer ones' if first.retraining.in_time else ''}",
            {name: _changes(one) for name, one in sections.items()},
            CHANGES,
            "Shares of test points, with intervals over data sets like this one. Variance from the sample: share of "
            "the variance of probabilities that training samples cause; the rest is training randomness.",
        )
    if distances is not None:
        yield rows_table(
            "Kinship: Jensen–Shannon distance between predictions (0: the same, 1: nothing in common)",
            distances.to_frame().query("distance == 'jensen_shannon'"),
            {"learner": "learner", "other": "other", "value": "distance", "floor": "by chance", "plain": "plain"},
            "Corrected for chance; two equal learners are at most this far apart in 19 of 20 cases (by chance). Plain: "
            "as in the paper, not corrected.",
        )
    if len(sections) > 1:
        for name, one in sections.items():
            notes = (*one.orientation.notes, *one.stability.notes, *one.metrics.notes)
            yield from (f"{name}: {note}" for note in dict.fromkeys(notes))


def _variation(one: Sections, plugin: bool) -> dict[str, Any]:
    entropies = one.orientation.plugin if plugin else one.orientation
    return {
        "accuracy": one.orientation.accuracy,
        "train_accuracy": one.orientation.train_accuracy,
        **{part: getattr(entropies, part) for part in ("expressivity", "capacity", "stochasticity")},
        "seconds": f"{np.nanmean(one.record.seconds):.2g}",
    }


def _scores(one: Metrics, names: Iterable[str]) -> dict[str, str | None]:
    """Metrics with their range over refits; the calibration error beside what chance gives."""
    known = {name: one.estimates[name] for name in names if name in one.estimates and name != "ece"}
    cells = {name: f"{cell(estimate)}\nrefits {one.refit_spread[name]}" for name, estimate in known.items()}
    floor = one.calibration
    error = {} if floor is None else {"ece": f"{one.estimates['ece'].value:.3f}\nchance {floor.floor.high:.3f}"}
    return {**cells, **error}


def _changes(one: Sections) -> dict[str, Any]:
    share = None if one.variance is None else one.variance.share_sample
    return {**vars(one.retraining), "moved": one.moved, "share_sample": share}


def _thresholds(holdout_size: int, most: int = 7) -> list[int]:
    """Thresholds to print: all, or evenly spaced ones that include the last."""
    if holdout_size <= most:
        return list(range(1, holdout_size + 1))
    return sorted({max(round(holdout_size * part / most), 1) for part in range(1, most + 1)})


def _draw(
    sections: dict[str, Sections], distances: Kinship | None, comparison: StabilityTable, plugin: bool
) -> dict[str, Any]:
    """Charts of all learners, and numbered charts of each."""
    orientations = [one.orientation for one in sections.values()]
    by_name: dict[str, Any] = {
        "bias": drawing.bias_chart(*orientations),
        "expressivity": drawing.expressivity_chart(*orientations, plugin=plugin),
        "plane": drawing.plane_chart(*orientations),
        "stability": comparison.plot(),
    }
    if distances is not None:
        by_name["kinship"] = drawing.kinship_heatmap(distances, plugin=plugin)
        by_name["kinship_map"] = drawing.kinship_map(distances, plugin=plugin)
        by_name["kinship_dendrogram"] = drawing.kinship_dendrogram(distances, plugin=plugin)
    for number, one in enumerate(sections.values(), 1):
        kinds = ["spread", "confusion", *(["calibration"] if one.metrics.calibration is not None else [])]
        kinds += ["roc", "precision_recall"] if "roc_auc" in one.metrics.estimates else []
        by_name[f"agreement_{number}"] = one.stability.plot()
        by_name[f"metrics_{number}"] = one.metrics.plot()
        by_name |= {f"{kind}_{number}": one.metrics.plot(kind=kind) for kind in kinds}
        for name, part in (("retraining", one.retraining), ("score_variance", one.variance)):
            if part is not None:
                by_name[f"{name}_{number}"] = part.plot()
        try:
            by_name[f"disagreement_{number}"] = drawing.disagreement_plane(one.stability, regions=one.regions)
        except expect.InputError:  # a plane needs two numeric columns
            continue
    return by_name
