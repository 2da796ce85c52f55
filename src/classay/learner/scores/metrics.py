"""`metrics`: the usual metrics of a classifier, each with its interval and with how far it moves over refits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from ... import expect
from ...arrays import Floats, Ints
from ...expect import InputError, counted, shown
from ...intervals import ROUNDING, Estimate, bounded, of_table, positive_around, within_limits
from ...result import Result, parts_of
from ..records.labelings import Labelings, expect_record
from ..records.scores import Scores
from .curves import Calibration, bin_edges, calibration, calibration_figures, judged, refit_curves
from .row_blocks import (
    COUNT_LIMITS,
    LEAST_EVENTS,
    Compute,
    block_of_rows,
    by_points,
    error_of,
    interval,
    of_blocks,
    rarest,
)
from .score_variance import ScoreVariance, score_variance
from .scorers import (
    ALL,
    LABELS,
    LEAST,
    PROBABILITIES,
    RANKS,
    USUAL,
    Answers,
    Metric,
    chosen_metrics,
    log_losses,
    metric_named,
    needs_of,
    quiet,
    squared_errors,
)
from .threshold import cheapest_threshold, costs_of, expect_threshold, expect_two

LIMITS = {"ece": (0.0, 1.0), "reliability": (-1.0, 1.0), "resolution": (-1.0, 1.0)}
MOST_CELLS = 30
"""With more classes, the confusion matrix has no intervals."""

HEADLINES = ("roc_auc", "balanced_accuracy", "accuracy", "brier")
Values = dict[str, tuple[Estimate, Floats]]  # by name: the estimate, and the values of all refits (K, R)


@dataclass(frozen=True)
class RefitSpread:
    """How far a metric moves when the learner is refitted: standard deviation, and the range of 90 % of the refits."""

    sd: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Floats) -> RefitSpread:
        """Of the metric of all refits."""
        known = values[np.isfinite(values)]
        if known.size < 2:
            return cls(math.nan, math.nan, math.nan)
        low, high = np.quantile(known, [0.05, 0.95])
        return cls(float(known.std(ddof=1)), float(low), float(high))

    def __str__(self) -> str:
        return "unknown" if math.isnan(self.sd) else f"{self.low:.3g} to {self.high:.3g}"


@dataclass(frozen=True)
class Metrics(Result, chart="scores:METRICS"):
    """The result of `metrics`: by name, an interval (`estimates`), the spread over refits, and the raw values.

    `estimates[name]` is the mean over refits; `refit_spread[name]` how far single refits are apart; `per_refit[name]`
    (K, R) their values. Names with a class, such as "recall[spam]", are of that class. `confusion` has a row for each
    true and predicted class: mean number of rows per refit, share of the true class with its interval. `calibration`
    compares probabilities with what came true. `threshold` is that of decisions, NaN where they are the learner's own
    predictions. `skipped` says which metrics could not be computed, and why.
    """

    learner: str
    on: str
    scores: str
    classes: tuple[str, ...]
    positive: str
    n_points: int
    n_subsets: int
    n_refits: int
    threshold: float
    estimates: dict[str, Estimate]
    refit_spread: dict[str, RefitSpread]
    per_refit: dict[str, Floats]
    confusion: pd.DataFrame
    calibration: Calibration | None
    skipped: dict[str, str]
    notes: tuple[str, ...]
    record: Labelings = field(repr=False)

    def __getitem__(self, name: str) -> Estimate:
        if name not in self.estimates:
            why = self.skipped.get(name)
            raise InputError(
                f"There is no {name!r} here{f': {why}' if why else ''}. There are {shown(self.estimates, 20)}."
            )
        return self.estimates[name]

    def curve(self, kind: str = "roc") -> pd.DataFrame:
        """The ROC curve ('roc') or the precision-recall curve ('precision_recall') over refits: see `refit_curves`."""
        record, scores = self.record.scored()
        return refit_curves(record, scores, kind)

    def score_variance(self, scale: str = "probability", level: float = 0.95) -> ScoreVariance:
        """How much of the variance of predicted scores comes from the training sample, and how much from chance."""
        return score_variance(self.record, scale, level)

    def to_frame(self) -> pd.DataFrame:
        """One row per metric: learner, on, figure, class, value, low, high, level, kind, and the spread over refits."""
        rows = []
        for name, estimate in self.estimates.items():
            figure, _, of = name.partition("[")
            spread = {f"refit_{part}": value for part, value in vars(self.refit_spread[name]).items()}
            about = {"learner": self.learner, "on": self.on, "figure": figure, "class": of.removesuffix("]") or None}
            rows.append(about | parts_of(estimate) | spread)
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        first: list[str] = [name for name in HEADLINES if name in self.estimates]
        first = first or [name for name in self.estimates if "[" not in name]
        parts = [f"{name.replace('_', ' ')} {self.estimates[name]}, refits {self.refit_spread[name]}" for name in first]
        fits = f"{self.n_subsets} training samples x {counted(self.n_refits, 'refit')} on {self.n_points} {self.on}"
        text = (
            f"{self.learner}: {'; '.join(parts)}. Means over {fits}; the interval is for other rows and samples like "
            "these, 'refits' the range of 90 % of the refits."
        )
        if self.record.predicted is not None:
            parts = [f"{name.replace('_', ' ')} {self.estimates[name]}" for name in first]
            text = (
                f"{self.learner}: {'; '.join(parts)}. Of {self.n_points} rows, each predicted by a fit that was not "
                "trained on it; the interval is for other rows like these."
            )
        if self.positive:
            at = "" if math.isnan(self.threshold) else f"; decisions at {self.threshold:.3g}"
            text += f" The positive class is {self.positive}{at}."
        if self.calibration is not None and "ece" in self.estimates:
            error, floor = self.estimates["ece"], self.calibration.floor
            beyond = error.value > floor.high
            text += (
                f" Expected calibration error {error.value:.3g}; perfectly calibrated scores would show "
                f"{floor.value:.3g} ({floor.low:.3g} to {floor.high:.3g}) with as many rows: "
                f"{'it is miscalibrated' if beyond else 'no sign of miscalibration'}."
            )
        for name, why in self.skipped.items():
            text += f" No {name}: {why}"
        return " ".join([text, *self.notes])


def metrics(
    labelings: Labelings,
    names: str | Iterable[str] | None = None,
    threshold: float | None = None,
    cost: Any = None,
    level: float = 0.95,
) -> Metrics:
    """Measure the usual metrics of a classifier, and how far each moves when the learner is refitted.

    Each metric is that of scikit-learn for every refit on the test points. Its value is the mean over refits; average
    precision is corrected for its bias, as few positive rows make it too high. Its interval is over training samples
    drawn like these and over test rows like these (over groups, if the record has them): the variance over subsets plus
    that over test points. It does not cover another data set to draw the samples from. `refit_spread` is the range of
    single refits on the same test points: what you would see if you retrained, apart from other test rows.

    By default: accuracy, balanced accuracy, F1 and Matthews' coefficient; from scores, area under the ROC curve and
    average precision (of two classes those of the second; of more, the mean over classes, each against the rest);
    from probabilities, log loss, Brier score with its reliability (0 is best) and resolution (higher is better), and
    the expected calibration error. Recall and precision of each class, and the confusion matrix.

    With a record of `Folds`, the metrics are those of the predictions of all folds together, with intervals over rows.

    It misleads where a class has few test rows: below 5, its intervals are withheld. The calibration error is never 0:
    compare it with `calibration.floor`, what perfectly calibrated scores would show. Scores are stored with 32 bits, so
    log loss takes a probability of 0 as about 1e-7. Decision values have no log loss, Brier score or calibration.

    Parameters
    ----------
    labelings : what `record` returned; without scores, only metrics of labels are computed
    names : metrics to compute, by their names here or those of scikit-learn's scorers ('f1_macro'); 'usual' stands for
        all that are computed by default
    threshold : of two classes, decide for the second from this score on; default: the learner's own predictions
    cost : of two classes, a pair (cost of a false positive, of a false negative): decide at the threshold that costs
        least on the test points, and report the cost, cross-fitted
    level : confidence level of the intervals

    Examples
    --------
    >>> import classay
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> labelings = classay.record(GaussianNB(), *load_breast_cancer(return_X_y=True), classay.Subsets(10), executor=1)
    >>> m = metrics(labelings)
    >>> round(m["roc_auc"].value, 2), m.refit_spread["roc_auc"].sd < 0.02
    (0.99, True)

    """
    expect.fraction(level, "level")
    record = expect_record(labelings, "labelings").joined()
    if (record.truth < 0).any():
        raise InputError(f"The true labels of {record.name} are not known, and metrics compare predictions with them.")
    names = names if names is None or isinstance(names, str) else list(names)
    chosen = chosen_metrics(names)
    if threshold is not None and cost is not None:
        raise InputError("`threshold` and `cost` are both given; the cost decides the threshold. Pass one of them.")
    if threshold is not None or cost is not None:
        expect_two(record, "`threshold`" if cost is None else "`cost`")
    if record.scores is None:
        if threshold is not None or cost is not None:
            record.scored()  # says what is missing
        smaller, scores = record.taken(*record.chosen()), None
    else:
        smaller, scores = record.scored()
    work = _Work(smaller, scores, block_of_rows(smaller.truth, smaller.groups), level)
    at = math.nan  # the learner's own predictions
    if threshold is not None and scores is not None:
        at = expect_threshold(threshold, scores)
        work = work.decided(at)
    extra: Values = {}
    if cost is not None and scores is not None:
        pair = costs_of(cost)
        at, cross_fitted = cheapest_threshold(scores, smaller.truth, pair, work.block)
        work = work.decided(at)
        extra["cost"] = work.cost(pair, cross_fitted)
    return work.result(chosen, names is None or ALL in names, at, extra)


@dataclass(frozen=True)
class _Work:
    """A record without gaps, and how its metrics are computed."""

    record: Labelings
    scores: Scores | None
    block: Ints
    level: float

    @property
    def units(self) -> int:
        """Points that are independent, or groups."""
        return self.record.truth.size if self.record.groups is None else np.unique(self.record.groups).size

    def decided(self, threshold: float) -> _Work:
        """With decisions at a threshold in place of the learner's own predictions."""
        assert self.scores is not None
        labels = (self.scores.positive >= threshold).astype(self.record.labels.dtype)
        return replace(self, record=replace(self.record, labels=labels))

    def cost(self, pair: tuple[float, float], cross_fitted: float) -> tuple[Estimate, Floats]:
        """Mean cost per row of the decisions; its value is cross-fitted, its interval that of the decisions."""
        truth, labels = self.record.truth, self.record.labels
        costs = pair[0] * ((labels == 1) & (truth == 0)) + pair[1] * ((labels == 0) & (truth == 1))
        per_refit = costs.mean(axis=2)
        error, draws = error_of(costs.mean(axis=1), self.record.groups, truth.size)
        return bounded(
            cross_fitted, error, self.units, self.level, self.record.over(), draws, most=max(pair)
        ), per_refit

    def result(self, chosen: list[str], everything: bool, threshold: float, extra: Values) -> Metrics:
        """All of it. `everything`: also calibration, and recall and precision of each class."""
        record, scores = self.record, self.scores
        able, skipped = self._able(chosen)
        values = self._values(able)
        values = {name: values[name] for name in able}
        notes = list(record.notes)
        shape: Calibration | None = None
        if everything:
            if scores is not None and scores.probabilities:
                more, shape = self._calibration()
                values |= more
            values |= self._by_class()
        values |= extra
        if record.groups is not None and shape is not None:
            notes.append("Rows of a group depend on each other, so the floor of the calibration error is too low.")
        counts = np.bincount(record.truth, minlength=record.classes.size)
        few = [str(record.classes[code]) for code in np.flatnonzero(counts < LEAST_EVENTS)]
        if few:
            notes.append(f"Fewer than {LEAST_EVENTS} test rows: {shown(few, 5)}; intervals of these are withheld.")
        return Metrics(
            learner=record.name,
            on="test points",
            scores="none" if scores is None else scores.kind,
            classes=tuple(str(each) for each in record.classes.tolist()),
            positive=str(record.classes[1]) if record.classes.size == 2 else "",
            n_points=record.truth.size,
            n_subsets=record.labels.shape[0],
            n_refits=record.labels.shape[1],
            threshold=threshold,
            estimates={name: estimate for name, (estimate, _) in values.items()},
            refit_spread={name: RefitSpread.of(raw) for name, (_, raw) in values.items()},
            per_refit={name: raw for name, (_, raw) in values.items()},
            confusion=self._confusion(),
            calibration=shape,
            skipped=skipped,
            notes=tuple(notes),
            record=record,
        )

    def _able(self, chosen: list[str]) -> tuple[list[str], dict[str, str]]:
        able, skipped = [], {}
        for name in chosen:
            needs = needs_of(name)
            if needs == LABELS:
                able.append(name)
            elif self.scores is None:
                skipped[name] = "the record has no scores."
            elif needs == PROBABILITIES and not self.scores.probabilities:
                skipped[name] = "it needs probabilities, and the learner gives decision values."
            elif self.scores.compact and name != "log_loss":
                skipped[name] = "with more than 20 classes, the record does not have the scores of all classes."
            elif not self.scores.compact and np.isnan(self.scores.values).any():
                skipped[name] = "some refits were not trained on all classes."
            else:
                able.append(name)
        return able, skipped

    def _values(self, names: list[str]) -> Values:
        values: Values = {}
        record, scores = self.record, self.scores
        if "accuracy" in names:
            values["accuracy"] = record.accuracy("test", self.level), record.test_accuracy
        if "log_loss" in names and scores is not None:
            values["log_loss"] = self._mean(log_losses(scores, record.truth), -math.log(LEAST))
        if "brier" in names and scores is not None:
            values["brier"] = self._mean(squared_errors(scores, record.truth), 1.0 if record.classes.size == 2 else 2.0)
        refits = Answers(record.truth, record.labels, None, False, record.classes.size)
        if scores is not None:
            refits = replace(refits, scores=scores.values, probabilities=scores.probabilities)
        for name in names:
            if name in COUNT_LIMITS or USUAL.get(name) == RANKS:
                figure = by_points(name, refits, record.groups, self.level, record.over())
                values[name] = figure.estimate, figure.per_refit
        return values | self._by_refit({name: metric_named(name) for name in names if name not in USUAL})

    def _mean(self, losses: Floats, most: float) -> tuple[Estimate, Floats]:
        """A mean over points of losses (K, R, n) from 0 to `most`: the interval on the log scale."""
        value, kind = float(losses.mean()), self.record.over()
        error, draws = error_of(losses.mean(axis=1), self.record.groups, losses.shape[2])
        if error < ROUNDING:
            return bounded(value, 0.0, self.units, self.level, kind, most=most), losses.mean(axis=2)
        estimate = positive_around(value, error, self.level, kind, draws)
        return within_limits(estimate, 0.0, most), losses.mean(axis=2)

    def _by_refit(self, metrics_: dict[str, Metric]) -> Values:
        if not metrics_:
            return {}
        scores = self.scores
        full = scores is not None and not scores.compact
        probabilities = scores is not None and scores.probabilities

        def compute(subset: int, refit: int, points: Ints | None) -> Floats:
            given = scores.values[subset, refit] if full and scores is not None else None
            labels = self.record.labels[subset, refit]
            answers = Answers(self.record.truth, labels, given, probabilities, self.record.classes.size)
            answers = answers if points is None else answers.take(points)
            return np.array([_value(metric, answers) for metric in metrics_.values()])

        limits = {name: (metric.low, metric.high) for name, metric in metrics_.items()}
        return self._computed(compute, limits, rarest(self.record.truth, self.record.classes.size, self.record.groups))

    def _computed(self, compute: Compute, limits: dict[str, tuple[float, float]], events: int) -> Values:
        """Metrics that `compute` gives for single refits, in the order of `limits`; withheld with too few `events`."""
        with quiet():
            subsets, refits = self.record.labels.shape[:2]
            every, errors, draws = of_blocks(compute, subsets, refits, self.block)
        values: Values = {}
        for place, (name, range_) in enumerate(limits.items()):
            known = np.isfinite(every[place])
            value = float(every[place][known].mean()) if known.mean() >= 0.8 else math.nan
            error = float(errors[place]) if events >= LEAST_EVENTS else math.nan
            common = range_, self.level, self.record.over(), events
            values[name] = interval(value, error, int(draws[place]), *common), every[place]
        return values

    def _calibration(self) -> tuple[Values, Calibration]:
        assert self.scores is not None
        probabilities, outcomes = judged(self.scores, self.record.truth)
        edges = bin_edges(probabilities)

        def compute(subset: int, refit: int, points: Ints | None) -> Floats:
            some = slice(None) if points is None else points
            return calibration_figures(probabilities[subset, refit][some], outcomes[subset, refit][some], edges)

        values = self._computed(compute, LIMITS, self.record.truth.size)
        two = self.record.classes.size == 2
        of = f"probability of {self.record.classes[1]}" if two else "probability of the predicted class"
        return values, calibration(probabilities, outcomes, edges, of, self.level)

    def _by_class(self) -> Values:
        names = [str(each) for each in self.record.classes.tolist()]
        values: Values = {f"recall[{name}]": self._recall(code) for code, name in enumerate(names)}
        return values | {f"precision[{name}]": self._precision(code) for code, name in enumerate(names)}

    def _precision(self, code: int) -> tuple[Estimate, Floats]:
        """A ratio of two means over points: right predictions of a class, and all of them."""
        of_it, predicted = self.record.truth == code, self.record.labels == code
        number = predicted.sum(axis=2)
        with np.errstate(invalid="ignore", divide="ignore"):
            raw = (predicted & of_it).sum(axis=2) / number
        known, events = np.isfinite(raw), int(number.mean())
        value = float(raw[known].mean()) if known.mean() >= 0.8 else math.nan
        error, draws = math.nan, 2
        if events >= LEAST_EVENTS and known.any(axis=1).all():
            weight = of_it.size / np.maximum(number, 1)
            apart = [predicted[:, refit] * (of_it - np.nan_to_num(raw[:, refit, None])) * weight[:, refit, None]
                     for refit in range(raw.shape[1])]  # fmt: skip
            error, draws = error_of(np.mean(apart, axis=0), self.record.groups, events)
        return interval(value, error, draws, (0.0, 1.0), self.level, self.record.over(), events), raw

    def _recall(self, code: int) -> tuple[Estimate, Floats]:
        here = np.flatnonzero(self.record.truth == code)
        if not here.size:
            empty = np.full(self.record.labels.shape[:2], math.nan)
            return Estimate(math.nan, 0.0, 1.0, self.level, "undefined: no test rows"), empty
        right = self.record.labels[:, :, here] == code
        return self._share(right.mean(axis=1), here), right.mean(axis=2)

    def _share(self, table: Floats, points: Ints) -> Estimate:
        """The mean of a table of subsets x points of one class, as a share."""
        value = float(table.mean())
        if points.size < LEAST_EVENTS:
            return Estimate(value, 0.0, 1.0, self.level, f"unknown: {counted(points.size, 'test row')}")
        groups = None if self.record.groups is None else self.record.groups[points]
        draws = error_of(table, groups, points.size)[1]
        return of_table(table, self.level, self.record.over(), groups, draws=draws)

    def _confusion(self) -> pd.DataFrame:
        record = self.record
        names = [str(each) for each in record.classes.tolist()]
        rows = []
        for code, name in enumerate(names):
            here = np.flatnonzero(record.truth == code)
            for other, predicted in enumerate(names):
                hits = record.labels[:, :, here] == other
                row: dict[str, Any] = {"true": name, "predicted": predicted, "rows": float(hits.sum(axis=2).mean())}
                if here.size and len(names) <= MOST_CELLS:
                    share = self._share(hits.mean(axis=1), here)
                    row |= {"value": share.value, "low": share.low, "high": share.high}
                else:
                    value = float(hits.mean()) if here.size else math.nan
                    row |= {"value": value, "low": math.nan, "high": math.nan}
                rows.append(row)
        return pd.DataFrame(rows)


def _value(metric: Metric, answers: Answers) -> float:
    """One metric of one refit; NaN where it is undefined, such as the AUC of one class."""
    try:
        return metric.compute(answers)
    except ValueError:
        return math.nan
