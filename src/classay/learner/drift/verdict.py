"""What a drift monitor reports: `Update` of one batch, `Drift` of all, and how figures become a verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import pandas as pd

from ...expect import counted, shown
from ...intervals import Estimate
from ...result import Result
from .calibration import Calibration, fewest_draws

NEW, CONCEPT, ROWS, UNSTEADY = "new class", "concept moved", "rows moved", "learner unsteady"
NOTHING = "nothing shown"
ACCURACY, ERROR = "accuracy", "error"
ROWS_UNLIKE = 0.01
"""Rows count as unlike the reference at this p-value."""
MOSTLY_COUNTED = 2.0
"""A change counts as small only if the error in full is at most this many times the capped one."""
LOW, HIGH = "low_below", "high_above"
UNKNOWN = Estimate(math.nan, math.nan, math.nan)
COLUMNS = ["number", "name", "figure", "value", LOW, HIGH, "p_value", "verdict"]


@dataclass(frozen=True, kw_only=True)
class Update(Result, chart="drift:update_chart"):
    """The result of one batch.

    `agreement_reference` is the share of probes on which the batch's concept predicts the same as that of the
    reference, or, for numbers, the same within `tolerance`. `metric` says how good a concept is, and
    `metric_reference` how good the reference's is on the batch: its "accuracy"; or, for numbers, its "error", the mean
    absolute error with no error counted above `cap` (3 times the usual one); `metric_uncapped` counts all in full.
    `p_value` is that of both together; `p_reference` and `p_metric` those of each alone: agreement is unusual below
    `low_below_reference`, accuracy below and error above `metric_limit` (infinite if the reference has too few blocks).
    `p_rows` is that of the rows, whatever their labels.

    `verdict`: "new class" (`new_classes` are its rows by class, and all figures those of the other rows; NaN if these
    teach no concept), "concept moved" (p_value at most `level`: the rate, or with control over the stream what this
    update has of it), "rows moved" (only agreement is low, and the rows are unlike the reference), "learner unsteady"
    (agreement could not show a change), or "nothing shown". `alarm` is True for the first three. `agreement_last` and
    `metric_last` are those of the concept of the previous batch (NaN for the first). `stability` is the usual agreement
    of two batches of this size without change and the range of 95 % of pairs; `chance` the agreement of a concept
    unrelated to the reference; `usual_metric` that of the reference's concept on rows of its own kind.
    """

    learner: str
    n_reference: int
    name: str
    number: int
    n_rows: int
    verdict: str = NOTHING
    alarm: bool = False
    new_classes: dict[str, int] = field(default_factory=dict)
    p_value: float = math.nan
    false_alarm_rate: float
    level: float
    agreement_reference: float = math.nan
    agreement_last: float = math.nan
    p_reference: float = math.nan
    p_last: float = math.nan
    low_below_reference: float = math.nan
    metric: str
    metric_reference: float = math.nan
    metric_uncapped: float = math.nan
    metric_last: float = math.nan
    p_metric: float = math.nan
    metric_limit: float = math.nan
    usual_metric: Estimate = UNKNOWN
    tolerance: float = 0.0
    cap: float = math.inf
    p_rows: float = math.nan
    moved_column: str = ""
    stability: Estimate = UNKNOWN
    chance: float = math.nan
    fingerprint: str
    notes: tuple[str, ...] = ()

    @property
    def measured(self) -> bool:
        """Whether the batch has figures: a concept can be learned from its rows of known classes."""
        return not math.isnan(self.p_value)

    @property
    def n_known(self) -> int:
        """Rows of classes that the reference has."""
        return self.n_rows - sum(self.new_classes.values())

    @property
    def as_usual(self) -> str:
        """The old concept's accuracy or error, if it is not unusual, in words."""
        if self.metric == ACCURACY:
            return "as accurate as usual"
        return "as near to the truth as usual (large errors capped)"

    @property
    def metric_in_words(self) -> str:
        """The old concept's accuracy or error, and from where it is unusual."""
        if self.metric == ACCURACY:
            return f"{self.metric_reference:.3f} on the batch (low below {self.metric_limit:.3f})"
        return f"{self.metric_reference:.4g} on the batch (high above {self.metric_limit:.4g})"

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: number, name, figure, value, low_below, high_above, p_value, verdict."""
        side = LOW if self.metric == ACCURACY else HIGH
        rows = [
            ("agreement_reference", self.agreement_reference, self.p_reference, {LOW: self.low_below_reference}),
            (f"{self.metric}_reference", self.metric_reference, self.p_metric, {side: self.metric_limit}),
            ("both", math.nan, self.p_value, {}),
            ("rows", math.nan, self.p_rows, {}),
            ("agreement_last", self.agreement_last, self.p_last, {}),
            (f"{self.metric}_last", self.metric_last, math.nan, {}),
            ("stability", self.stability.value, math.nan, {}),
        ]
        batch = {"number": self.number, "name": self.name, "verdict": self.verdict}
        return pd.DataFrame(
            [{**batch, "figure": figure, "value": value, "p_value": p, **limit} for figure, value, p, limit in rows],
            columns=COLUMNS,
        )

    def __str__(self) -> str:
        if not self.measured:
            return f"Batch {self.name}: {self.verdict}. {' '.join(self.notes)}"
        within, metric = "", f"accuracy {self.metric_in_words[:-1]}, usually {self.usual_metric:.3f})"
        if self.metric == ERROR:
            within = f" within {self.tolerance:.3g}"
            metric = (
                f"a mean absolute error of {self.metric_in_words[:-1]}, usually {self.usual_metric:.4g}), errors above "
                f"{self.cap:.3g} counted as that ({self.metric_uncapped:.4g} in full)"
            )
        text = (
            f"Batch {self.name}: {self.verdict} (p = {self.p_value:.3g}, alarm at {self.level:.3g}). Its concept "
            f"agrees with the reference's on {self.agreement_reference:.3f} of comparison points{within} (low below "
            f"{self.low_below_reference:.3f}), and the reference's has {metric}."
        )
        if not math.isnan(self.agreement_last):
            text += f" With the previous batch's concept it agrees on {self.agreement_last:.3f}."
        text += f" Batches of {self.n_known} rows without change usually agree on {self.stability:.3f}."
        return " ".join([text, *self.notes])


@dataclass(frozen=True)
class Drift(Result, chart="drift:drift_chart"):
    """All updates of a monitor. `probes` says how they were drawn, `n_reference` how many rows the reference has."""

    learner: str
    probes: str
    false_alarm_rate: float
    n_reference: int
    updates: tuple[Update, ...]

    @property
    def alarms(self) -> tuple[str, ...]:
        """The names of the batches with an alarm."""
        return tuple(update.name for update in self.updates if update.alarm)

    @property
    def any_false_alarm(self) -> float:
        """The chance of at least one false alarm in the batches so far, if they were independent."""
        return 1 - math.prod(1 - update.level for update in self.updates)

    @property
    def rates_in_words(self) -> str:
        """The false-alarm rate of each batch, and of all so far."""
        rate, last = self.false_alarm_rate, self.updates[-1].level
        scope = f"over any number of batches ({last:.2g} for the last one; " if last < rate else "per batch ("
        seen = counted(len(self.updates), "batch", "batches")
        return f"a false-alarm rate of {rate:g} {scope}{self.any_false_alarm:.3g} for at least one in {seen})"

    def to_frame(self) -> pd.DataFrame:
        """One row per batch and figure: number, name, figure, value, low_below, high_above, p_value, verdict."""
        if not self.updates:
            return pd.DataFrame(columns=COLUMNS)
        return pd.concat([update.to_frame() for update in self.updates], ignore_index=True)

    def __str__(self) -> str:
        seen = counted(len(self.updates), "batch", "batches")
        rates = f", at {self.rates_in_words}" if self.updates else ""
        text = f"{self.learner}: {seen} after a reference of {self.n_reference} rows{rates}."
        sentences = {NEW: "New classes are in", CONCEPT: "The concept moved in", ROWS: "Only the rows moved in"}
        for verdict, sentence in sentences.items():
            names = [update.name for update in self.updates if update.verdict == verdict]
            text += f" {sentence} {', '.join(names)}." if names else ""
        unsteady = sum(update.verdict == UNSTEADY for update in self.updates)
        if self.updates and not self.alarms and unsteady < len(self.updates):
            text += " No change was shown."
        if unsteady:
            text += f" The learner is too unsteady to show a change in {unsteady} of them; their notes say why."
        return text


def judge(update: Update, calibration: Calibration, min_stability: float | None = None) -> Update:
    """The figures of a batch with its verdict.

    The concept has moved if agreement with the reference and quality of its concept are together less usual than the
    rate allows. If quality alone is usual and the rows are unlike the reference, the rows have moved.
    """
    rate = update.false_alarm_rate
    usual_but_elsewhere = update.p_metric > rate and bool(update.moved_column)
    if update.p_value <= update.level and not usual_but_elsewhere:
        return replace(update, alarm=True, verdict=CONCEPT, notes=_on_concept(update))
    if usual_but_elsewhere and min(update.p_value, update.p_reference) <= rate:
        note = (
            f"The concept of the batch differs, but the reference's is {update.as_usual}, and the rows are unlike "
            f"the reference (most in {update.moved_column}): where the batch has no rows, its concept means little."
        )
        return replace(update, alarm=True, verdict=ROWS, notes=(note,))
    unsteady = _unsteady(update, calibration, min_stability)
    return replace(update, verdict=UNSTEADY, notes=(unsteady,)) if unsteady else update


def on_new_classes(update: Update) -> Update:
    """The alarm of a batch with classes that the reference does not have."""
    rows, all_rows = update.n_rows, update.n_reference + update.n_rows
    # Without a change, the rows of a class are as likely in the reference as any others.
    chance = min(
        math.prod((rows - row) / (all_rows - row) for row in range(count)) for count in update.new_classes.values()
    )
    counts = shown((f"{name} ({count} of {rows} rows)" for name, count in update.new_classes.items()), 4)
    note = (
        f"The reference does not have {counts}. That a class with so many rows is in none of the {update.n_reference} "
        f"rows of the reference has a probability of {chance:.2g} without a change."
    )
    note += f" The other rows say: {update.verdict}." if update.measured else ""
    return replace(update, alarm=True, verdict=NEW, notes=(note, *update.notes))


def _on_concept(update: Update) -> tuple[str, ...]:
    if update.p_metric <= update.false_alarm_rate:
        too = f"The rows are unlike the reference too (most in {update.moved_column})."
        return (too,) if update.moved_column else ()
    meaning = "the change is small, or this is a false alarm"
    if update.metric == ERROR and update.metric_uncapped > MOSTLY_COUNTED * update.metric_reference:
        meaning = (
            f"in full, the mean absolute error is {update.metric_uncapped:.4g}, not {update.metric_reference:.4g}, "
            "so a few rows have changed far, or are outliers, or this is a false alarm"
        )
    return (f"The reference's concept is {update.as_usual}, or nearly so: {meaning}.",)


def _unsteady(update: Update, calibration: Calibration, min_stability: float | None) -> str:
    """Why agreement cannot show a change at this batch size, if so."""
    rate, blocks = update.false_alarm_rate, calibration.reference.size
    if blocks < (fewest := fewest_draws(rate, calibration.blocks)):
        return (
            f"Chance was estimated from {blocks} blocks of the reference; a false-alarm rate of {rate:g} needs "
            f"{fewest} before agreement alone, however low, is unusual. Raise `draws`, or leave it out."
        )
    if update.low_below_reference <= update.chance:
        return (
            f"A concept unrelated to the reference agrees with it on {update.chance:.3g} of comparison points, and "
            f"only less than {update.low_below_reference:.3g} is unusual: with {update.n_known} rows per batch, "
            f"{update.learner} is too unstable, or its predictions hardly vary. Only the {update.metric} of the "
            "reference's concept can show a change here. Use larger batches, a larger reference or a more stable "
            "learner."
        )
    if min_stability is not None and update.stability.value < min_stability:
        return (
            f"Stability with {update.n_known} rows per batch is {update.stability.value:.3g}, below min_stability = "
            f"{min_stability:g}."
        )
    return ""
