"""From agreements to a verdict: how one batch is compared with chance."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import pandas as pd

from ...expect import counted
from ...intervals import Estimate
from ...result import Result
from .calibration import Calibration, fewest_draws


def judge(
    name: str,
    number: int,
    n_rows: int,
    agreements: dict[str, float],
    accuracies: list[float],
    calibrations: dict[str, Calibration],
    rate: float,
    min_stability: float | None,
    learner: str,
    n_reference: int,
    fingerprint: str,
) -> Update:
    """The update of a batch, from its agreement with the concepts of the `reference` and of the `last` batch.

    Each comparison may raise an alarm at its part of the rate, so that both together stay within it.
    """
    each = rate / len(agreements)
    p = {against: calibrations[against].p_value(value, against) for against, value in agreements.items()}
    below = {against: calibrations[against].alarm_below(each, against) for against in agreements}
    calibration = calibrations["reference"]
    update = Update(
        learner=learner,
        n_reference=n_reference,
        name=name,
        number=number,
        n_rows=n_rows,
        verdict=NO_CHANGE,
        alarm=False,
        p_value=min(1.0, len(p) * min(p.values())),
        false_alarm_rate=rate,
        agreement_reference=agreements["reference"],
        agreement_last=agreements.get("last", math.nan),
        p_reference=p["reference"],
        p_last=p.get("last", math.nan),
        alarm_below_reference=below["reference"],
        alarm_below_last=below.get("last", math.nan),
        stability=calibration.usual("last"),
        chance=calibration.chance,
        accuracy_reference=accuracies[0],
        accuracy_last=accuracies[1] if len(accuracies) > 1 else math.nan,
        usual_accuracy=calibration.usual("accuracy"),
        fingerprint=fingerprint,
        notes=(),
    )
    unable = _unable(update, calibration, rate, min_stability)
    if unable:
        return replace(update, verdict=CANNOT, notes=(unable,))
    if update.p_value > rate:
        return update
    usual = update.usual_accuracy
    notes: tuple[str, ...] = ()
    if update.accuracy_reference >= usual.low:
        notes = (
            "The reference's concept is as accurate as usual: this may be a false alarm, or the rows have shifted but "
            "not the concept.",
        )
    return replace(update, alarm=True, verdict=CHANGE, notes=notes)


def _unable(update: Update, calibration: Calibration, rate: float, min_stability: float | None) -> str | None:
    """Why the learner cannot monitor at this batch size, if so."""
    # Half of the rate, as for every batch but the first, so that the first is judged by the same rule.
    floor = calibration.alarm_below(rate / 2, "reference")
    fewest = fewest_draws(rate / 2, calibration.blocks)
    if calibration.reference.size < fewest:
        return (
            f"Chance was estimated from {calibration.reference.size} blocks of the reference; a false-alarm rate of "
            f"{rate:g} needs {fewest} before any agreement, however low, can raise an alarm. Raise `draws`, or leave "
            "it out."
        )
    if floor <= calibration.chance:
        return (
            f"A concept unrelated to the reference agrees with it on {calibration.chance:.3g} of probes, but an alarm "
            f"needs less than {floor:.3g}: with {update.n_rows} rows per batch, {update.learner} is too unstable, or "
            "its predictions hardly vary. Use larger batches, a larger reference or a more stable learner."
        )
    if min_stability is not None and update.stability.value < min_stability:
        return (
            f"Stability with {update.n_rows} rows per batch is {update.stability.value:.3g}, below min_stability = "
            f"{min_stability:g}."
        )
    return None


# The results of a drift monitor: `Update` for one batch, `Drift` for all.


NO_CHANGE, CHANGE, CANNOT = "no change", "change", "cannot monitor"
COLUMNS = ["number", "name", "figure", "value", "alarm_below", "p_value", "verdict"]


@dataclass(frozen=True)
class Update(Result, chart="learner.drift:update_chart"):
    """The result of one batch.

    `agreement_reference` and `agreement_last` are the shares of probes on which the batch's concept predicts the same
    as that of the reference, and of the previous batch (NaN for the first batch); an alarm is raised if one is below
    its `alarm_below`. `p_value` is that of both together. `stability` is the usual agreement of two batches of this
    size without change and the range of 95 % of pairs; `chance` the agreement of a concept unrelated to the reference.
    `accuracy_reference` and `accuracy_last` are the accuracies of the two old concepts on the new rows, and
    `usual_accuracy` that of the reference's concept on rows of its own kind.
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
    alarm_below_reference: float
    alarm_below_last: float
    stability: Estimate
    chance: float
    accuracy_reference: float
    accuracy_last: float
    usual_accuracy: Estimate
    fingerprint: str
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: number, name, figure, value, alarm_below, p_value, verdict."""
        figures = [
            ("agreement_reference", self.agreement_reference, self.alarm_below_reference, self.p_reference),
            ("agreement_last", self.agreement_last, self.alarm_below_last, self.p_last),
            ("stability", self.stability.value, math.nan, math.nan),
            ("accuracy_reference", self.accuracy_reference, math.nan, math.nan),
            ("accuracy_last", self.accuracy_last, math.nan, math.nan),
        ]
        rows = [(self.number, self.name, *each, self.verdict) for each in figures]
        return pd.DataFrame(rows, columns=COLUMNS)

    def __str__(self) -> str:
        text = (
            f"Batch {self.name}: {self.verdict}. Its concept agrees with the reference's on "
            f"{self.agreement_reference:.3f} of probes (alarm below {self.alarm_below_reference:.3f})"
        )
        if not math.isnan(self.agreement_last):
            text += f", with the last batch's on {self.agreement_last:.3f} (alarm below {self.alarm_below_last:.3f})"
        text += (
            f"; p = {self.p_value:.3g}. Batches of {self.n_rows} rows without change usually agree on "
            f"{self.stability:.3f}. The reference's concept has accuracy {self.accuracy_reference:.3f} on the batch, "
            f"usually {self.usual_accuracy:.3f}."
        )
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
        """One row per batch and figure: number, name, figure, value, alarm_below, p_value, verdict."""
        if not self.updates:
            return pd.DataFrame(columns=COLUMNS)
        return pd.concat([update.to_frame() for update in self.updates], ignore_index=True)

    def __str__(self) -> str:
        seen = counted(len(self.updates), "batch").replace("batchs", "batches")
        text = (
            f"{self.learner}: {seen} after a reference of {self.n_reference} rows, at a false-alarm rate of "
            f"{self.false_alarm_rate:g} for each."
        )
        unable = sum(update.verdict == CANNOT for update in self.updates)
        if self.alarms:
            text += f" Change in {', '.join(self.alarms)}."
        elif self.updates and unable < len(self.updates):
            text += " No change was found."
        if unable:
            text += f" It cannot monitor {unable} of them; their notes say why."
        return text
