"""From agreements to a verdict: how one batch is judged against what chance does."""

from __future__ import annotations

import math
from dataclasses import replace

from .calibration import Calibration, fewest_draws
from .updates import CANNOT, CHANGE, NO_CHANGE, Update


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
    """The update of a batch that agrees so much with the concepts of the `reference` and of the `last` batch.

    Each of the comparisons may raise an alarm at its part of the rate, so that both together stay within it.
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
            "The reference's concept is right as often as usual: it may be a false alarm, or the rows have moved and "
            "not the concept.",
        )
    return replace(update, alarm=True, verdict=CHANGE, notes=notes)


def _unable(update: Update, calibration: Calibration, rate: float, min_stability: float | None) -> str | None:
    """Why the learner cannot monitor at this batch size, if so."""
    # Half of the rate, as for every batch but the first, so that the first is not judged by another rule.
    floor = calibration.alarm_below(rate / 2, "reference")
    fewest = fewest_draws(rate / 2, calibration.blocks)
    if calibration.reference.size < fewest:
        return (
            f"What chance does was learnt from {calibration.reference.size} parts of the reference; at a false-alarm "
            f"rate of {rate:g} it takes {fewest} before any agreement, however low, can raise an alarm. Raise `draws`, "
            "or leave it out."
        )
    if floor <= calibration.chance:
        return (
            f"A concept that has nothing to do with the reference agrees with it on {calibration.chance:.3g} of "
            f"probes, and only below {floor:.3g} would there be an alarm: at {update.n_rows} rows a batch, "
            f"{update.learner} is too unstable, or answers too much the same. Use larger batches, a larger reference "
            "or a steadier learner."
        )
    if min_stability is not None and update.stability.value < min_stability:
        return (
            f"Stability at {update.n_rows} rows a batch is {update.stability.value:.3g}, below min_stability = "
            f"{min_stability:g}."
        )
    return None
