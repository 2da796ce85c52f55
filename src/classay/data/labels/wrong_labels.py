"""`wrong_labels`: how many labels are wrong, which, and whether they limit the accuracy that can be reached.

A row that looks like another class is either hard or labelled wrongly. Where classes overlap, labels differ among the
classes that are near; wrong labels are anywhere. A model of both (`label_model`), fitted to the labels, shows how many
are of the second kind.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2, norm

from ... import expect
from ...arrays import Floats, Ints, Mask
from ...expect import counted
from ...inputs import encode, take
from ...intervals import Estimate, exact, of_proportion
from ...seeds import generator
from ...tables.data import Data
from ..checks.verdicts import FOUND, NOTHING, UNDECIDED, Check, Looked
from .label_model import (
    CELLS,
    Evidence,
    LabelModel,
    NearestRows,
    class_shares,
    fit_labels,
    free_rates,
    interval_of_wrong,
    true_class,
)

if TYPE_CHECKING:
    from ..geometry.cross_fit import CrossFit
    from ..row_complexity import Complexity

FALSE_ALARMS = 0.1
"""Share of the listed rows whose label may be right."""
TWICE = 1.3
"""Labels are evidence for their neighbours' labels, too, so the likelihood counts them more than once (simulated)."""
UNCLEAR = 0.03
"""Beyond this share of rows that look more like another class, wrong labels may be hidden by overlap."""
TOO_WIDE = 0.25
"""Beyond this width of the interval of ε, wrong labels are indistinguishable from overlap."""
OVERLAP = "unknown: in these rows they are indistinguishable from classes that overlap"
LEAST_ROWS = 1000
"""The model is fitted on as many rows as have `CELLS` distances, at least this many, drawn at random."""
MOST_SHOWN = 15
"""Rows in the chart."""
CAUTION = 0.3
"""Rows that are hard are less rare than the model has them: lists keep the stated rate at this share of it (tuned)."""
MOST_NAMED = 3
"""Pairs of classes that are named."""
USED = "distances alone", "distances and the learner's probabilities"
LEAST_LISTED = 0.5
"""A label that is more likely right than wrong is not listed, even if the list could bear it."""


@dataclass(frozen=True, repr=False)
class WrongLabels(Check, unit="share, or probability that the label is wrong"):
    """The result of `Complexity.wrong_labels`.

    `probability` of each row that its label is wrong, and the class it `likely` has instead; NaN and the nearest class
    if its own class has no other rows. `share` and `number` of wrong labels, with intervals; unknown if they look like
    overlap, with the range that is possible. `in_any_direction` is the range of the number if wrong labels may always
    be given to a similar class: up to all rows that look more like another class. `verdict` is found if rows are
    listed, no if at most 3 % of the labels may be wrong, in any direction, and otherwise undecided. `ceiling` is the
    accuracy that a perfect classifier would reach on these labels if no classes overlapped: 1 − share. `errors` counts
    the rows that the learner (or, without one, the nearest class) predicts wrongly, and `explained` is the share of
    them that wrong labels explain. `listed` are the rows to check, the likeliest first, at most a share of
    `false_alarms` of them with a right label. `used` says what the probabilities come from, `notes` what they assume.
    """

    probability: Floats
    likely: NDArray[Any]
    labels: NDArray[Any]
    listed: Ints
    number: Estimate
    share: Estimate
    ceiling: Estimate
    in_any_direction: Estimate
    errors: int
    explained: Estimate
    false_alarms: float
    used: str
    weights: tuple[float, ...]
    notes: tuple[str, ...]
    actions: ClassVar[dict[str, str]] = {
        FOUND: "Check the listed rows, likeliest first, and correct wrong labels.",
        UNDECIDED: "Have some rows labelled twice, the likeliest first (`suspects(50)`).",
        NOTHING: "Nothing needs to be done.",
    }

    def looked_at(self) -> tuple[Looked, ...]:
        """All labels at once."""
        few = self.share.known and self.at_most <= UNCLEAR
        verdict = FOUND if self.listed.size else NOTHING if few else UNDECIDED
        return (Looked("labels", verdict, {"share": self.share, "number": self.number}),)

    @property
    def at_most(self) -> float:
        """The largest share of wrong labels that is possible, in any direction, and with rows that cannot be judged."""
        unjudged = int(np.isnan(self.probability).sum())
        return min(1.0, (self.in_any_direction.high + unjudged) / self.probability.size)

    def summary(self) -> dict[str, Estimate]:
        """The share of wrong labels, what it explains of the errors, and the likeliest rows."""
        figures = {"wrong labels, share": self.share, "errors they explain": self.explained}
        return figures | {
            f"row {row}": exact(float(self.probability[row])) for row in self.listed[:MOST_SHOWN].tolist()
        }

    def to_frame(self) -> pd.DataFrame:
        """One line per row, the likeliest first: label, likely class, the probability as `value`, if it is `listed`."""
        order = np.argsort(-np.nan_to_num(self.probability, nan=-1.0), kind="stable")
        rows = np.concatenate([self.listed, order[~np.isin(order, self.listed)]])
        return pd.DataFrame(
            {
                "row": rows,
                "label": self.labels[rows],
                "likely": self.likely[rows],
                "value": self.probability[rows],
                "listed": np.arange(rows.size) < self.listed.size,
            }
        )

    @property
    def answer(self) -> str:
        """Is my accuracy limited by the labels? One or two sentences."""
        if not self.share.known:
            possible = f"between {self.share.low:.0%} and {self.share.high:.0%} may be wrong"
            return f"Whether wrong labels limit the accuracy is {self.share.kind} ({possible})."
        limit = f"Labels that are wrong anywhere would alone limit the accuracy to {self.ceiling:.3f}."
        if self.errors:
            who = "the learner's" if "learner" in self.used else "the nearest class's"
            limit += f" They explain {self.explained:.0%} of {who} {self.errors} errors."
        if not self.unclear:
            return limit
        return (
            f"{limit} Whether labels limit it further is unknown: up to {self.at_most:.0%} of the rows look more like "
            "another class, because classes overlap or because labels are wrong towards a similar class."
        )

    @property
    def unclear(self) -> bool:
        """Whether many more rows look like another class, so that labels wrong in one direction may limit accuracy."""
        return not self.share.known or self.at_most - self.share.high > UNCLEAR

    def __str__(self) -> str:
        rows = self.probability.size
        if not self.share.known:
            return " ".join([self.answer, self.advice, *self.notes])
        if self.verdict == NOTHING:
            return " ".join([f"At most {self.at_most:.1%} of {rows} labels are wrong. {self.answer}", *self.notes])
        few = "no label is clear enough to be listed"
        many = f"{self.listed.size} labels to check, at most about {self.false_alarms:.0%} of them right"
        number = f"About {self.number:.0f} of {rows} labels are wrong, by {self.used}"
        return " ".join([f"{number}: {many if self.listed.size else few}. {self.answer}", *self.notes])

    __repr__ = __str__


def wrong_labels(
    result: Complexity, probabilities: ArrayLike | None = None, false_alarms: float = FALSE_ALARMS, level: float = 0.95
) -> WrongLabels:
    """How many labels are wrong, and which: see `Complexity.wrong_labels`."""
    expect.fraction(false_alarms, "false_alarms")
    expect.fraction(level, "level")
    codes = encode(result.labels, result.classes)
    usable = result.known & (codes >= 0)
    shares = _checked_probabilities(probabilities, codes.size, result.classes.size)
    everything, least, why = np.flatnonzero(usable), 2 * result.classes.size, ""
    if everything.size < least:
        why = f"{everything.size:,} rows whose class has other rows are too few, at least {least:,} are needed"
    elif copies := _copies(result.evidence, everything):
        why = f"{copies:,} rows repeat others with their label, and copies confirm each other; drop them, or group them"
    if why:
        unknown = Estimate(math.nan, 0.0, 1.0, level, f"unknown: {why}")
        return _nothing(result, unknown, shares is not None, false_alarms)
    rows = generator(0, "wrong labels").permutation(everything)
    rows = np.sort(rows[: max(LEAST_ROWS, CELLS // result.classes.size)])
    evidence = Evidence(result, shares, NearestRows.among(result.evidence, result.distance, everything))
    model = fit_labels(evidence.fitted_on(rows), codes[rows])
    ends = interval_of_wrong(model, TWICE * chi2.ppf(level, 1))
    likely, lead, (cautious, most, probability) = _posteriors(
        evidence, (*ends, model.parameters), model.pattern, everything, codes
    )
    # By class distances alone: neighbours, and a learner, take labels that are wrong in one direction for overlap.
    alone = Evidence(result, None, None)
    apart = fit_labels(alone.fitted_on(rows), codes[rows])
    seen, led, (distant,) = _posteriors(alone, [apart.parameters], apart.pattern, everything, codes)
    tables = [np.zeros((result.classes.size, result.classes.size)) for _ in range(2)]  # of rows that look like each
    for table, ahead, other in zip(tables, (lead, led), (likely, seen)):
        np.add.at(table, (np.where(ahead < 0, other, codes)[everything], codes[everything]), 1)
    rows_used, unjudged = everything.size, codes.size - everything.size
    doubted = of_proportion(int((lead[everything] < 0).sum()), rows_used, level)
    one_way = [_one_way(table) / rows_used for table in tables]
    wrong = _share(model, ends, apart, [*one_way, doubted.high], level)
    if not wrong.known and not model.pairs:
        # By pairs of classes, as if half of the rows that look like another class were labelled wrongly.
        halved = np.append(model.parameters[:-1], 0.5)
        _, _, (probability,) = _posteriors(evidence, [halved], free_rates(tables[0]), everything, codes)
    probability[~usable] = np.nan
    if wrong.low <= 0:
        np.maximum(most, lead < 0, out=most)  # any row that looks like another class may be one
    # Of all rows: the number in these data, when the model was fitted on a sample of them.
    number = Estimate(rows_used * wrong.value, rows_used * wrong.low, rows_used * wrong.high, level, wrong.kind)
    predicted = encode(result.predicted, result.classes) if shares is None else shares.argmax(axis=1)
    errors = usable & (predicted != codes)
    in_any_direction = Estimate(
        math.nan, number.low, rows_used * max(wrong.high, doubted.high), level, "wrong in any direction"
    )
    # Rows may be near each other for another reason than their class, such as messages with the same signature: a
    # label is listed only if distances to the classes (and the learner) do not take it for right.
    confirmed = np.where(distant > LEAST_LISTED, cautious, 0.0) if shares is None and apart.informative else cautious
    return WrongLabels(
        probability=probability,
        likely=np.where(usable, result.classes[likely], result.nearest),
        labels=result.labels,
        listed=_listed(confirmed, CAUTION * false_alarms) if wrong.known else np.empty(0, dtype=np.int64),
        number=number,
        share=wrong,
        ceiling=Estimate(1 - wrong.value, 1 - wrong.high, 1 - wrong.low, level, wrong.kind),
        in_any_direction=in_any_direction,
        errors=int(errors.sum()),
        explained=_explained(probability[errors], cautious[errors], most[errors], wrong),
        false_alarms=false_alarms,
        used=USED[shares is not None],
        weights=tuple(model.parameters[:-1].tolist()),
        notes=(
            *_directions(model, result.classes),
            "Wrong labels that are exchanged between two similar classes look like overlap: with them, "
            f"between {in_any_direction.low:.0f} and {in_any_direction.high:.0f} labels may be wrong.",
            *([f"{counted(unjudged, 'row')} cannot be judged: no other row has the class."] if unjudged else []),
        ),
    )


def _copies(evidence: CrossFit, rows: Ints) -> int:
    """How many rows repeat another one and its label outside of their group; 0 if these are few, or usual by chance."""
    if evidence.row_groups is not None:
        own = np.column_stack([evidence.row_groups[rows], evidence.codes[rows]])
        rows = rows[np.unique(own, axis=0, return_index=True)[1]]
    if hasattr(evidence.table, "toarray"):
        return 0  # sparse rows are not compared with rows
    data = Data.of(pd.DataFrame(take(evidence.table, rows)), evidence.codes[rows])
    return data.duplicates if data.duplicates > max(UNCLEAR * rows.size, 2 * data.chance_duplicates) else 0


def _share(
    model: LabelModel, ends: tuple[Floats, Floats], apart: LabelModel, hidden: Sequence[float], level: float
) -> Estimate:
    """ε with its interval; unknown where wrong labels cannot be told from overlap.

    If labels are wrong in one direction, or may be, what class distances alone show is possible as well. `hidden` are
    shares that may be: in one direction by all evidence, by class distances alone, and all rows that look like another
    class, as many as may be wrong if the model sees none, or if one direction prevails that it does not explain.
    """
    low, high = (float(end[-1]) for end in ends)
    if not model.informative:
        return Estimate(math.nan, 0.0, 1 - 1 / len(model.pattern), level, OVERLAP)
    unexplained = not model.pairs and hidden[0] > high
    nothing, most = low <= 0, max(high, hidden[-1])
    if model.pairs or unexplained:
        others = interval_of_wrong(apart, TWICE * chi2.ppf(level, 1))
        low, high = min(low, float(others[0][-1])), max(high, float(others[1][-1]), *hidden[:2])
    unknown = high - low > TOO_WIDE or unexplained or (nothing and most - high > UNCLEAR)
    high = max(high, most) if unknown or nothing else high
    if unknown:
        return Estimate(math.nan, low, high, level, OVERLAP)
    kind = "of one class and labelled as another" if model.pairs else "wrong labels anywhere"
    return Estimate(model.wrong, low, high, level, f"profile likelihood, {kind}")


def _one_way(table: Floats) -> float:
    """How many labels may be wrong in one direction: rows that look like a class and are labelled as another, less
    those the other way round, with two standard errors, for the pairs in which the difference is larger than that.

    Where classes overlap, rows of both look like the other.
    """
    more, error = table - table.T, 2 * np.sqrt(table + table.T)
    return float(np.where(more > error, more + error, 0.0).sum())


def _directions(model: LabelModel, classes: NDArray[Any]) -> list[str]:
    """The pairs of classes with many wrong labels in one direction, in words."""
    if not model.pairs:
        return []
    named = [f"{classes[a]!s} labelled as {classes[j]!s}" for a, j in model.pairs[:MOST_NAMED]]
    more = f" and {len(model.pairs) - MOST_NAMED} more pairs" if len(model.pairs) > MOST_NAMED else ""
    return [f"Many of the wrong labels are of one class and given to another: {', '.join(named)}{more}."]


def _posteriors(
    evidence: Evidence, fits: Sequence[Floats], pattern: Floats, rows: Ints, codes: Ints
) -> tuple[Ints, Floats, list[Floats]]:
    """For these rows, 0 elsewhere: the likeliest other class, by how much the label is likelier, P(wrong) by each fit.

    The first two are by the last fit.
    """
    likely, lead = np.zeros(codes.size, dtype=np.int64), np.zeros(codes.size)
    probabilities = [np.zeros(codes.size) for _ in fits]
    for place, against in evidence.of(rows):
        at_label = (np.arange(place.size), codes[place])
        for probability, parameters in zip(probabilities, fits):
            q = class_shares(parameters[:-1], against)
            true, _ = true_class(q, codes[place], parameters[-1], pattern)
            probability[place] = 1 - true[at_label]
        own, q[at_label] = q[at_label], -1.0
        lead[place] = own - q.max(axis=1)
        likely[place] = (q * pattern[:, codes[place]].T).argmax(axis=1)
    return likely, lead, probabilities


def _explained(middle: Floats, least: Floats, most: Floats, wrong: Estimate) -> Estimate:
    """The share of wrong labels among errors, from the probability of each at ε and at the ends of its interval.

    It is at least as uncertain as ε, relatively; and how many labels are wrong varies as coins with these
    probabilities do.
    """
    if not middle.size or not wrong.known:
        return Estimate(math.nan, 0.0, 1.0, wrong.level, "no errors" if wrong.known else wrong.kind)
    value = float(middle.mean())
    chance = norm.ppf((1 + wrong.level) / 2) * math.sqrt(float((middle * (1 - middle)).sum())) / middle.size
    below = max(value - float(least.mean()), value * (1 - wrong.low / wrong.value))
    above = max(float(most.mean()) - value, value * (wrong.high / wrong.value - 1))
    low, high = max(0.0, value - math.hypot(below, chance)), min(1.0, value + math.hypot(above, chance))
    return Estimate(value, low, high, wrong.level, wrong.kind)


def _nothing(result: Complexity, unknown: Estimate, learner: bool, false_alarms: float) -> WrongLabels:
    """The result where nothing is known."""
    rows, level = len(result), unknown.level
    return WrongLabels(
        probability=np.full(rows, np.nan),
        likely=result.nearest,
        labels=result.labels,
        listed=np.empty(0, dtype=np.int64),
        number=Estimate(math.nan, rows * unknown.low, rows * unknown.high, level, unknown.kind),
        share=unknown,
        ceiling=Estimate(math.nan, 1 - unknown.high, 1 - unknown.low, level, unknown.kind),
        in_any_direction=Estimate(math.nan, rows * unknown.low, float(rows), level, unknown.kind),
        errors=0,
        explained=Estimate(math.nan, 0.0, 1.0, level, unknown.kind),
        false_alarms=false_alarms,
        used=USED[learner],
        weights=(),
        notes=(),
    )


def _checked_probabilities(probabilities: Any, rows: int, classes: int) -> Floats | None:
    if probabilities is None:
        return None
    table = np.asarray(probabilities, dtype=float)
    if table.shape != (rows, classes):
        shape = " x ".join(map(str, table.shape)) or "one number"
        raise expect.InputError(
            f"`probabilities` is {shape}; expected {rows} rows x {classes} classes, in the order of `classes`."
        )
    if not np.isfinite(table).all() or (table < 0).any() or (np.abs(table.sum(axis=1) - 1) > 1e-3).any():
        raise expect.InputError(
            "`probabilities` has negative or missing values, or rows that do not sum to 1. Pass predict_proba of a "
            "cross-validated learner."
        )
    return table


def _listed(probability: Floats, false_alarms: float) -> Ints:
    """The likeliest rows, as many as have a mean of 1 − P(wrong) of at most `false_alarms`; none likelier right."""
    order = np.argsort(-probability, kind="stable")
    order = order[probability[order] >= LEAST_LISTED]
    alarms = np.cumsum(1 - probability[order]) / np.arange(1, order.size + 1)
    enough: Mask = alarms <= false_alarms
    return order[: int(np.flatnonzero(enough)[-1]) + 1] if enough.any() else order[:0]
