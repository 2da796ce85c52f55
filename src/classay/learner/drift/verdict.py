"""From agreement and accuracy to a verdict: how one batch is compared with chance, and what has moved."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import pandas as pd

from ...expect import counted
from ...intervals import Estimate
from ...result import Result
from .calibration import Calibration, fewest_draws
from .shift import RowShift

CONCEPT, ROWS, UNSTEADY, NOTHING = "concept moved", "rows moved", "learner unsteady", "nothing shown"
ROWS_UNLIKE = 0.01
"""Rows count as unlike the reference at this p-value."""
COLUMNS = ["number", "name", "figure", "value", "low_below", "p_value", "verdict"]


def judge(
    name: str,
    number: int,
    n_rows: int,
    agreements: dict[str, float],
    accuracies: list[float],
    calibrations: dict[str, Calibration],
    shift: RowShift,
    rate: float,
    min_stability: float | None,
    learner: str,
    n_reference: int,
    fingerprint: str,
) -> Update:
    """The update of a batch, from its agreement with the concepts of the `reference` and of the `last` batch, and the
    accuracy of these concepts on it.

    The concept has moved if agreement with the reference and accuracy of its concept are together less usual than the
    rate allows. If accuracy alone is usual and the rows are unlike the reference, the rows have moved.
    """
    calibration = calibrations["reference"]
    agreement, accuracy = agreements["reference"], accuracies[0]
    last = agreements.get("last", math.nan)
    update = Update(
        learner=learner,
        n_reference=n_reference,
        name=name,
        number=number,
        n_rows=n_rows,
        verdict=NOTHING,
        alarm=False,
        p_value=calibration.joint_p_value(agreement, accuracy),
        false_alarm_rate=rate,
        agreement_reference=agreement,
        agreement_last=last,
        p_reference=calibration.p_value(agreement, "reference"),
        p_last=math.nan if math.isnan(last) else calibrations["last"].p_value(last, "last"),
        p_accuracy=calibration.p_value(accuracy, "accuracy"),
        p_rows=shift.p_value,
        moved_column=shift.column if shift.p_value <= ROWS_UNLIKE else "",
        low_below_reference=calibration.low_below(rate, "reference"),
        low_below_accuracy=calibration.low_below(rate, "accuracy"),
        stability=calibration.usual("last"),
        chance=calibration.chance,
        accuracy_reference=accuracy,
        accuracy_last=accuracies[1] if len(accuracies) > 1 else math.nan,
        usual_accuracy=calibration.usual("accuracy"),
        fingerprint=fingerprint,
        notes=(),
    )
    usual_but_elsewhere = update.p_accuracy > rate and bool(update.moved_column)
    if update.p_value <= rate and not usual_but_elsewhere:
        return replace(update, alarm=True, verdict=CONCEPT, notes=_on_concept(update))
    few = _too_few(update, calibration, rate)
    if few:
        return replace(update, verdict=UNSTEADY, notes=(few,))
    if usual_but_elsewhere and min(update.p_value, update.p_reference) <= rate:
        note = (
            f"The concept of the batch differs, but the reference's is as accurate as usual, and the rows are unlike "
            f"the reference (most in {update.moved_column}): where the batch has no rows, its concept means little."
        )
        return replace(update, alarm=True, verdict=ROWS, notes=(note,))
    unsteady = _unsteady(update, calibration, min_stability)
    return replace(update, verdict=UNSTEADY, notes=(unsteady,)) if unsteady else update


def _on_concept(update: Update) -> tuple[str, ...]:
    if update.p_accuracy > update.false_alarm_rate:
        return (
            "Neither figure alone is that low; together they are. The reference's concept is about as accurate as "
            "usual, so the change is small, or this is a false alarm.",
        )
    return (f"The rows are unlike the reference too (most in {update.moved_column}).",) if update.moved_column else ()


def _too_few(update: Update, calibration: Calibration, rate: float) -> str | None:
    """Why there can be no alarm at this rate, if blocks are too few."""
    fewest = fewest_draws(rate, calibration.blocks)
    if calibration.reference.size >= fewest:
        return None
    return (
        f"Chance was estimated from {calibration.reference.size} blocks of the reference; a false-alarm rate of "
        f"{rate:g} needs {fewest} before any batch, however unusual, raises an alarm. Raise `draws`, or leave it out."
    )


def _unsteady(update: Update, calibration: Calibration, min_stability: float | None) -> str | None:
    """Why agreement cannot show a change at this batch size, if so."""
    if update.low_below_reference <= calibration.chance:
        return (
            f"A concept unrelated to the reference agrees with it on {calibration.chance:.3g} of probes, and only less "
            f"than {update.low_below_reference:.3g} is unusual: with {update.n_rows} rows per batch, {update.learner} "
            "is too unstable, or its predictions hardly vary. Only the accuracy of the reference's concept can show a "
            "change here. Use larger batches, a larger reference or a more stable learner."
        )
    if min_stability is not None and update.stability.value < min_stability:
        return (
            f"Stability with {update.n_rows} rows per batch is {update.stability.value:.3g}, below min_stability = "
            f"{min_stability:g}."
        )
    return None


# The results of a drift monitor: `Update` for one batch, `Drift` for all.


@dataclass(frozen=True)
class Update(Result, chart="learner.drift:update_chart"):
    """The result of one batch.

    `agreement_reference` is the share of probes on which the batch's concept predicts the same as that of the
    reference, `accuracy_reference` the accuracy of the reference's concept on the batch. `p_value` is that of both
    together; `p_reference` and `p_accuracy` those of each alone, and each is lower than usual below its `low_below`.
    `p_rows` is that of the rows, whatever their labels. `verdict`: "concept moved" (p_value at most the rate), "rows
    moved" (only agreement is low, and the rows are unlike the reference), "learner unsteady" (agreement could not show
    a change), or "nothing shown". `alarm` is True for the first two.
    `agreement_last` and `accuracy_last` are the same for the concept of the previous batch (NaN for the first batch).
    `stability` is the usual agreement of two batches of this size without change and the range of 95 % of pairs;
    `chance` the agreement of a concept unrelated to the reference; `usual_accuracy` that of the reference's concept on
    rows of its own kind.
    """

    learner: str
    n_reference: int
    name: str
    number: int
    n_rows: int
    verdict: str
    alarm: bool
    p_value: float
    false_alarm_rate: float
    agreement_reference: float
    agreement_last: float
    p_reference: float
    p_last: float
    p_accuracy: float
    p_rows: float
    moved_column: str
    low_below_reference: float
    low_below_accuracy: float
    stability: Estimate
    chance: float
    accuracy_reference: float
    accuracy_last: float
    usual_accuracy: Estimate
    fingerprint: str
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: number, name, figure, value, low_below, p_value, verdict."""
        figures = [
            ("agreement_reference", self.agreement_reference, self.low_below_reference, self.p_reference),
            ("accuracy_reference", self.accuracy_reference, self.low_below_accuracy, self.p_accuracy),
            ("both", math.nan, math.nan, self.p_value),
            ("rows", math.nan, math.nan, self.p_rows),
            ("agreement_last", self.agreement_last, math.nan, self.p_last),
            ("accuracy_last", self.accuracy_last, math.nan, math.nan),
            ("stability", self.stability.value, math.nan, math.nan),
        ]
        rows = [(self.number, self.name, *each, self.verdict) for each in figures]
        return pd.DataFrame(rows, columns=COLUMNS)

    def __str__(self) -> str:
        text = (
            f"Batch {self.name}: {self.verdict} (p = {self.p_value:.3g}). Its concept agrees with the reference's on "
            f"{self.agreement_reference:.3f} of probes (low below {self.low_below_reference:.3f}), and the "
            f"reference's has accuracy {self.accuracy_reference:.3f} on the batch (low below "
            f"{self.low_below_accuracy:.3f}, usually {self.usual_accuracy:.3f})."
        )
        if not math.isnan(self.agreement_last):
            text += f" With the previous batch's concept it agrees on {self.agreement_last:.3f}."
        text += f" Batches of {self.n_rows} rows without change usually agree on {self.stability:.3f}."
        return " ".join([text, *self.notes])


@dataclass(frozen=True)
class Drift(Result, chart="learner.drift:drift_chart"):
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

    def to_frame(self) -> pd.DataFrame:
        """One row per batch and figure: number, name, figure, value, low_below, p_value, verdict."""
        if not self.updates:
            return pd.DataFrame(columns=COLUMNS)
        return pd.concat([update.to_frame() for update in self.updates], ignore_index=True)

    def __str__(self) -> str:
        seen = counted(len(self.updates), "batch").replace("batchs", "batches")
        text = (
            f"{self.learner}: {seen} after a reference of {self.n_reference} rows, at a false-alarm rate of "
            f"{self.false_alarm_rate:g} for each."
        )
        for verdict, sentence in ((CONCEPT, "The concept moved in"), (ROWS, "Only the rows moved in")):
            names = [update.name for update in self.updates if update.verdict == verdict]
            text += f" {sentence} {', '.join(names)}." if names else ""
        unsteady = sum(update.verdict == UNSTEADY for update in self.updates)
        if self.updates and not self.alarms and unsteady < len(self.updates):
            text += " No change was shown."
        if unsteady:
            text += f" The learner is too unsteady to show a change in {unsteady} of them; their notes say why."
        return text
