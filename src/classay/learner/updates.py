"""What a drift monitor tells: `Update` of one batch, `Drift` of all."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from ..expect import counted
from ..intervals import Estimate
from ..result import Result

NO_CHANGE, CHANGE, CANNOT = "no change", "change", "cannot monitor"
COLUMNS = ["number", "name", "figure", "value", "alarm_below", "p_value", "verdict"]


@dataclass(frozen=True)
class Update(Result):
    """What one batch tells.

    `agreement_reference` and `agreement_last` are the shares of probes on which the batch's concept answers as that of
    the reference, and of the batch before (NaN for the first batch); an alarm is raised if one is below its
    `alarm_below`. `p_value` is that of both together. `stability` is the usual agreement of two batches of this size
    without change and where 95 % of pairs lie; `chance` the agreement of a concept that has nothing to do with the
    reference. `accuracy_reference` and `accuracy_last` say how the two old concepts do on the new rows, and
    `usual_accuracy` how the reference's does on rows of its own kind.
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
        """One row a figure: number, name, figure, value, alarm_below, p_value, verdict."""
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
            f"{self.stability:.3f}. The reference's concept is right on {self.accuracy_reference:.3f} of the batch, "
            f"usually on {self.usual_accuracy:.3f}."
        )
        return " ".join([text, *self.notes])


@dataclass(frozen=True)
class Drift(Result):
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
        """One row a batch and figure: number, name, figure, value, alarm_below, p_value, verdict."""
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
            text += " No change is told."
        if unable:
            text += f" Of {unable} it cannot tell; their notes say why."
        return text
