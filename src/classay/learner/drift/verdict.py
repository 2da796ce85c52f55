"""From agreement and quality to a verdict: how one batch is compared with chance, and what has moved."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import pandas as pd

from ...expect import counted
from ...intervals import Estimate
from ...result import Result
from .batches import RowShift
from .calibration import Calibration, NumberTarget, Target, fewest_draws

CONCEPT, ROWS, UNSTEADY, NOTHING = "concept moved", "rows moved", "learner unsteady", "nothing shown"
ROWS_UNLIKE = 0.01
"""Rows count as unlike the reference at this p-value."""
SMALL_CHANGE = "the change is small, or this is a false alarm"
MOSTLY_COUNTED = 2.0
"""A change counts as small only if the error in full is at most this many times the capped one."""
COLUMNS = ["number", "name", "figure", "value", "low_below", "high_above", "p_value", "verdict"]


def judge(
    name: str,
    number: int,
    n_rows: int,
    target: Target,
    agreements: dict[str, float],
    qualities: list[float],
    uncapped: float,
    calibrations: dict[str, Calibration],
    shift: RowShift,
    rate: float,
    min_stability: float | None,
    learner: str,
    n_reference: int,
    fingerprint: str,
) -> Update | RegressionUpdate:
    """The update of a batch, from its agreement with the concepts of the `reference` and of the `last` batch, and the
    quality of these concepts on it: accuracy, or minus their error. `uncapped` is the first with all errors in full.

    The concept has moved if agreement with the reference and quality of its concept are together less usual than the
    rate allows. If quality alone is usual and the rows are unlike the reference, the rows have moved.
    """
    calibration = calibrations["reference"]
    agreement, last = agreements["reference"], agreements.get("last", math.nan)
    usual = calibration.usual("quality")
    with_figures: Callable[..., Any] = partial(
        RegressionUpdate if isinstance(target, NumberTarget) else Update,
        learner=learner,
        n_reference=n_reference,
        name=name,
        number=number,
        n_rows=n_rows,
        verdict=NOTHING,
        alarm=False,
        p_value=calibration.joint_p_value(agreement, qualities[0]),
        false_alarm_rate=rate,
        agreement_reference=agreement,
        agreement_last=last,
        p_reference=calibration.p_value(agreement, "reference"),
        p_last=math.nan if math.isnan(last) else calibrations["last"].p_value(last, "last"),
        p_rows=shift.p_value,
        moved_column=shift.column if shift.p_value <= ROWS_UNLIKE else "",
        low_below_reference=max(calibration.low_below(rate, "reference"), 0.0),
        stability=calibration.usual("last"),
        chance=calibration.chance,
        fingerprint=fingerprint,
        notes=(),
    )
    p_old, least = calibration.p_value(qualities[0], "quality"), calibration.low_below(rate, "quality")
    quality, before = qualities[0], qualities[1] if len(qualities) > 1 else math.nan
    update: Update | RegressionUpdate
    if isinstance(target, NumberTarget):
        error = target.error
        update = with_figures(
            tolerance=target.tolerance,
            cap=calibration.cap,
            p_error=p_old,
            high_above_error=error(least),
            error_reference=error(quality),
            mean_absolute_error=error(uncapped),
            error_last=before if math.isnan(before) else error(before),
            usual_error=replace(usual, value=error(usual.value), low=error(usual.high), high=error(usual.low)),
        )
    else:
        update = with_figures(
            p_accuracy=p_old,
            low_below_accuracy=max(least, 0.0),
            accuracy_reference=quality,
            accuracy_last=before,
            usual_accuracy=usual,
        )
    usual_but_elsewhere = update.p_old > rate and bool(update.moved_column)
    if update.p_value <= rate and not usual_but_elsewhere:
        return replace(update, alarm=True, verdict=CONCEPT, notes=_on_concept(update))
    few = _too_few(calibration, rate)
    if few:
        return replace(update, verdict=UNSTEADY, notes=(few,))
    if usual_but_elsewhere and min(update.p_value, update.p_reference) <= rate:
        note = (
            f"The concept of the batch differs, but the reference's is {update.AS_USUAL}, and the rows are unlike "
            f"the reference (most in {update.moved_column}): where the batch has no rows, its concept means little."
        )
        return replace(update, alarm=True, verdict=ROWS, notes=(note,))
    unsteady = _unsteady(update, calibration, min_stability)
    return replace(update, verdict=UNSTEADY, notes=(unsteady,)) if unsteady else update


def _on_concept(update: Update | RegressionUpdate) -> tuple[str, ...]:
    if update.p_old > update.false_alarm_rate:
        which = f"The concept of the batch differs, while the reference's is {update.AS_USUAL}, or nearly so"
        if update.p_reference > update.false_alarm_rate:
            which = (
                "Neither figure alone is that unusual; together they are. The reference's concept is "
                f"{update.AS_USUAL}, or nearly so"
            )
        return (f"{which}: {update.if_as_usual}.",)
    return (f"The rows are unlike the reference too (most in {update.moved_column}).",) if update.moved_column else ()


def _too_few(calibration: Calibration, rate: float) -> str | None:
    """Why there can be no alarm at this rate, if blocks are too few."""
    fewest = fewest_draws(rate, calibration.blocks)
    if calibration.reference.size >= fewest:
        return None
    return (
        f"Chance was estimated from {calibration.reference.size} blocks of the reference; a false-alarm rate of "
        f"{rate:g} needs {fewest} before any batch, however unusual, raises an alarm. Raise `draws`, or leave it out."
    )


def _unsteady(update: Update | RegressionUpdate, calibration: Calibration, min_stability: float | None) -> str | None:
    """Why agreement cannot show a change at this batch size, if so."""
    if update.low_below_reference <= calibration.chance:
        return (
            f"A concept unrelated to the reference agrees with it on {calibration.chance:.3g} of comparison points, "
            f"and only less than {update.low_below_reference:.3g} is unusual: with {update.n_rows} rows per batch, "
            f"{update.learner} is too unstable, or its predictions hardly vary. Only the {update.OLD} of the "
            "reference's concept can show a change here. Use larger batches, a larger reference or a more stable "
            "learner."
        )
    if min_stability is not None and update.stability.value < min_stability:
        return (
            f"Stability with {update.n_rows} rows per batch is {update.stability.value:.3g}, below min_stability = "
            f"{min_stability:g}."
        )
    return None


# The results of a drift monitor: `Update` or `RegressionUpdate` for one batch, `Drift` for all.


@dataclass(frozen=True, kw_only=True)
class BatchFigures:
    """What the results of a batch share, whatever the target is."""

    OLD: ClassVar[str]
    AS_USUAL: ClassVar[str]

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
    p_rows: float
    moved_column: str
    low_below_reference: float
    stability: Estimate
    chance: float
    fingerprint: str
    notes: tuple[str, ...]

    def _table(self, old: dict[str, float], last: float) -> pd.DataFrame:
        """One row per figure. `old` is the row of the old concept on the batch, `last` its figure for the last one."""
        rows: list[dict[str, Any]] = [
            {
                "figure": "agreement_reference",
                "value": self.agreement_reference,
                "low_below": self.low_below_reference,
                "p_value": self.p_reference,
            },
            {"figure": f"{self.OLD}_reference", **old},
            {"figure": "both", "p_value": self.p_value},
            {"figure": "rows", "p_value": self.p_rows},
            {"figure": "agreement_last", "value": self.agreement_last, "p_value": self.p_last},
            {"figure": f"{self.OLD}_last", "value": last},
            {"figure": "stability", "value": self.stability.value},
        ]
        columns = [each for each in COLUMNS if each != "high_above" or each in old]
        return pd.DataFrame(
            [{"number": self.number, "name": self.name, "verdict": self.verdict, **row} for row in rows],
            columns=columns,
        )

    def _paragraph(self, alike: str, old: str) -> str:
        """Verdict and figures in words. `alike`: what agreement is; `old`: how good the reference's concept is."""
        text = (
            f"Batch {self.name}: {self.verdict} (p = {self.p_value:.3g}). Its concept agrees with the reference's on "
            f"{self.agreement_reference:.3f} of comparison points{alike} (low below {self.low_below_reference:.3f}), "
            f"and the reference's has {old}."
        )
        if not math.isnan(self.agreement_last):
            text += f" With the previous batch's concept it agrees on {self.agreement_last:.3f}."
        text += f" Batches of {self.n_rows} rows without change usually agree on {self.stability:.3f}."
        return " ".join([text, *self.notes])


@dataclass(frozen=True, kw_only=True)
class Update(BatchFigures, Result, chart="learner.drift:update_chart"):
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

    OLD: ClassVar[str] = "accuracy"
    AS_USUAL: ClassVar[str] = "as accurate as usual"

    p_accuracy: float
    low_below_accuracy: float
    accuracy_reference: float
    accuracy_last: float
    usual_accuracy: Estimate

    @property
    def p_old(self) -> float:
        """The p-value of the old concept's accuracy alone."""
        return self.p_accuracy

    @property
    def if_as_usual(self) -> str:
        """What an alarm means while the old concept is as accurate as usual."""
        return SMALL_CHANGE

    @property
    def old_in_words(self) -> str:
        """The old concept's accuracy, and from where it is unusual."""
        return f"{self.accuracy_reference:.3f} on the batch (low below {self.low_below_accuracy:.3f})"

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: number, name, figure, value, low_below, p_value, verdict."""
        old = {"value": self.accuracy_reference, "low_below": self.low_below_accuracy, "p_value": self.p_accuracy}
        return self._table(old, self.accuracy_last)

    def __str__(self) -> str:
        return self._paragraph(
            "",
            f"accuracy {self.accuracy_reference:.3f} on the batch (low below {self.low_below_accuracy:.3f}, usually "
            f"{self.usual_accuracy:.3f})",
        )


@dataclass(frozen=True, kw_only=True)
class RegressionUpdate(BatchFigures, Result, chart="learner.drift:update_chart"):
    """The result of one batch for a regressor: see `Update`.

    Concepts agree on a probe if their predictions differ by at most `tolerance`. `error_reference` is the mean absolute
    error of the reference's concept on the batch, in units of the target, no error counted above `cap` (3 times the
    usual one), and `mean_absolute_error` the same with all errors in full. `p_error` is the p-value of the first alone:
    it is unusual above `high_above_error` (infinite if the reference has too few blocks). `usual_error` is that of the
    reference's concept on rows of its own kind, `error_last` that of the previous batch's concept on the batch.
    """

    OLD: ClassVar[str] = "error"
    AS_USUAL: ClassVar[str] = "as near to the truth as usual (large errors capped)"

    tolerance: float
    cap: float
    p_error: float
    high_above_error: float
    error_reference: float
    mean_absolute_error: float
    error_last: float
    usual_error: Estimate

    @property
    def p_old(self) -> float:
        """The p-value of the old concept's error alone."""
        return self.p_error

    @property
    def if_as_usual(self) -> str:
        """What an alarm means while the old concept's error, large ones capped, is as usual."""
        if self.mean_absolute_error <= MOSTLY_COUNTED * self.error_reference:
            return SMALL_CHANGE
        return (
            f"in full, the mean absolute error is {self.mean_absolute_error:.4g}, not {self.error_reference:.4g}, "
            "so a few rows have changed far, or are outliers, or this is a false alarm"
        )

    @property
    def old_in_words(self) -> str:
        """The old concept's error, and from where it is unusual."""
        return f"{self.error_reference:.4g} on the batch (high above {self.high_above_error:.4g})"

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: number, name, figure, value, low_below, high_above, p_value, verdict."""
        old = {"value": self.error_reference, "high_above": self.high_above_error, "p_value": self.p_error}
        return self._table(old, self.error_last)

    def __str__(self) -> str:
        return self._paragraph(
            f" within {self.tolerance:.3g}",
            f"a mean absolute error of {self.error_reference:.4g} on the batch (high above "
            f"{self.high_above_error:.4g}, usually {self.usual_error:.4g}), errors above {self.cap:.3g} counted as "
            f"that ({self.mean_absolute_error:.4g} in full)",
        )


@dataclass(frozen=True)
class Drift(Result, chart="learner.drift:drift_chart"):
    """All updates of a monitor. `probes` says how they were drawn, `n_reference` how many rows the reference has."""

    learner: str
    probes: str
    false_alarm_rate: float
    n_reference: int
    updates: tuple[Update, ...] | tuple[RegressionUpdate, ...]

    @property
    def alarms(self) -> tuple[str, ...]:
        """The names of the batches with an alarm."""
        return tuple(update.name for update in self.updates if update.alarm)

    def to_frame(self) -> pd.DataFrame:
        """One row per batch and figure: number, name, figure, value, low_below, p_value, verdict."""
        if not self.updates:
            return pd.DataFrame(columns=[each for each in COLUMNS if each != "high_above"])
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
