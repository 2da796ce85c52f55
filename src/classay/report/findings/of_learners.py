"""What the figures say of each learner by itself."""

from __future__ import annotations

import numpy as np

from ...intervals import Estimate, difference, exact, of_proportion
from ..figures import dice, gap
from ..finding import Finding, Unasked
from ..parts import Learner, Parts
from ..saying import bits, joined, percent, points, quoted, share
from .codes import CODES
from .judging import Judge, few_rows, over_rows, rightly

EVERYONE = "all learners"
NEVER = 0.05
HALFWAY = 0.5
"""A kappa in the middle between chance and full agreement."""


def learner_findings(parts: Parts, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    """Findings of single learners, and those that could not be looked for."""
    found: list[Finding] = []
    unasked: list[Unasked] = []
    for rule in (_guessing, _dice, _never, _chance):
        some, none = rule(parts, judge)
        found += some
        unasked += none
    return found, unasked


def _guessing(parts: Parts, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    data = parts.data
    largest = int(np.argmax(np.bincount(data.codes)))
    always = data.codes == largest
    told, chance = quoted(data.classes[largest]), exact(float(always.mean()))
    found: list[Finding] = []
    leads: dict[str, Estimate] = {}
    for name, one in parts.learners.items():
        right = rightly(one, data)
        if right is None:
            continue
        accuracy = of_proportion(int(right.sum()), right.size)
        lead = leads[name] = over_rows(right, always, 0.95)
        if lead.low > 0:
            continue
        clearly = lead.value <= 0
        few = few_rows(one, data)
        found.append(
            Finding(
                "L101",
                "warning" if clearly and not few else "note",
                name,
                "No better than the largest class" if clearly else "Not shown to beat the largest class",
                f"It labels {percent(accuracy)} of the rows rightly{few}; answering {told} always would reach "
                f"{share(chance.value)}{'' if clearly else f', which is behind by {points(lead)}'}.",
                accuracy,
                f"always {told}: {share(chance.value)}",
                "Do not quote its accuracy alone: look at each class, and whether the columns tell anything."
                if clearly
                else "More rows would tell whether it is better. Look at each class meanwhile.",
            )
        )
    if not leads:
        return [], [Unasked("L101", CODES["L101"].title, "there are no cross-validated answers")]
    if not found:
        least = min(leads, key=lambda name: leads[name].value)
        found.append(
            Finding(
                "L101",
                "fine",
                EVERYONE,
                CODES["L101"].title,
                f"Every learner beats answering {told} always, which reaches {share(chance.value)}; "
                f"{quoted(least)} by the least, {points(leads[least])}.",
                leads[least],
                f"always {told}: {share(chance.value)}",
            )
        )
    return found, []


def _dice(parts: Parts, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    found, unknown = [], []
    by_data: dict[str, Estimate] = {}
    for name, one in parts.learners.items():
        oriented = one.orientation
        capacity, own = oriented.capacity, oriented.stochasticity
        if not (capacity.known and own.known):
            unknown.append(name)
            continue
        # The two add up to the expressivity: an error in one is an error in the other.
        lead = judge.widened(difference(own, capacity, correlation=-1.0))
        changed, accuracy = dice(one), one.stability.accuracy
        margin = (accuracy.high - accuracy.low) / 2
        reference = f"capacity {bits(capacity)}"
        if lead.low > 0:
            material = judge.widened(changed).low > margin
            found.append(
                Finding(
                    "L103",
                    "warning" if material else "note",
                    name,
                    "It varies by its own dice",
                    f"With the rows held still it still varies by {bits(own)} of {oriented.expressivity.value:.2f}: "
                    f"another random_state changes {percent(changed)} of its answers.",
                    own,
                    reference,
                    "Average more members (n_estimators), or fix random_state and know that you did. More rows would "
                    "not cure it.",
                )
            )
        elif lead.high < 0 and judge.widened(capacity).low > 0:
            by_data[name] = capacity
    if by_data:
        most = max(by_data, key=lambda name: by_data[name].value)
        whole = parts.learners[most].orientation.expressivity
        others = [quoted(name) for name in by_data if name != most]
        alone = f" So do {joined(others)}." if len(others) > 1 else f" So does {others[0]}." if others else ""
        found.append(
            Finding(
                "L103",
                "note",
                most if len(by_data) == 1 else EVERYONE,
                "What varies comes from the data",
                f"{quoted(most)} varies with the rows it saw: {bits(by_data[most])} of {whole.value:.2f}.{alone}",
                by_data[most],
                f"all of it: {bits(whole)}",
                "More rows or a stronger bias (pruning, regularisation) would steady it; other seeds would not.",
            )
        )
    if unknown and len(unknown) == len(parts.learners):
        return found, [Unasked("L103", CODES["L103"].title, "one refit a half cannot tell dice from data")]
    if not found:
        steadiest = max(parts.learners.values(), key=lambda one: one.orientation.expressivity.value)
        found.append(
            Finding(
                "L103",
                "fine",
                EVERYONE,
                CODES["L103"].title,
                "No learner's variation is put down clearly to its dice or to its data; "
                f"{quoted(steadiest.name)} varies most, by {bits(steadiest.orientation.expressivity)}.",
                steadiest.orientation.expressivity,
                f"most possible: {steadiest.orientation.log2_labelings:.2f} bits",
            )
        )
    return found, []


def _never(parts: Parts, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    found = []
    for name, one in parts.learners.items():
        labels, truth = one.labelings.labels, one.labelings.truth
        times = np.bincount(labels[labels >= 0].ravel(), minlength=len(one.labelings.classes))
        shares = np.bincount(parts.data.codes) / parts.data.codes.size
        surprising = (1 - shares) ** truth.size < NEVER / shares.size
        missing = np.flatnonzero((times == 0) & surprising)
        if missing.size:
            names = joined([quoted(one.labelings.classes[code]) for code in missing[:3]])
            more = f" and {missing.size - 3} more" if missing.size > 3 else ""
            found.append(
                Finding(
                    "L105",
                    "warning",
                    name,
                    CODES["L105"].title,
                    f"No refit ever answers {names}{more}: {share(float(shares[missing].sum()))} of the rows.",
                    exact(missing.size, "count"),
                    f"{shares.size} classes",
                    "Weigh the classes (class_weight='balanced'), move its threshold, or bring more rows of them.",
                )
            )
    if not found:
        found.append(
            Finding(
                "L105",
                "fine",
                EVERYONE,
                "Every class is answered",
                "Every class that is frequent enough to tell is answered by every learner.",
                exact(0, "count"),
                f"{parts.data.classes.size} classes",
            )
        )
    return found, []


def _chance(parts: Parts, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    found: list[Finding] = []
    open_: dict[str, Estimate] = {}
    for name, one in parts.learners.items():
        kappa, steady = one.stability.kappa, one.stability.stability
        if not kappa.known or kappa.low > 0:
            continue
        if kappa.high >= HALFWAY:
            open_[name] = kappa
            continue
        found.append(
            Finding(
                "L109",
                "warning",
                name,
                "Agreement is not shown to be more than chance",
                f"Two refits agree on {percent(steady)} of the points; answers drawn by their shares would agree about "
                f"as often (kappa {kappa:.2f}, where 0 is chance).",
                kappa,
                "kappa 0: chance",
                "What it answers for a row is of the draw. Bring more rows, a stronger bias, or other columns.",
            )
        )
    if open_:
        widest = max(open_, key=lambda name: open_[name].high - open_[name].low)
        found.append(
            Finding(
                "L109",
                "note",
                widest if len(open_) == 1 else EVERYONE,
                "Too few refits to tell agreement from chance",
                f"The interval of kappa reaches from chance to more than half of what is possible: "
                f"{joined([f'{quoted(name)} {each:.2f}' for name, each in open_.items()])}.",
                open_[widest],
                "kappa 0: chance, 1: always the same",
                "Ask for more splits, or a larger budget.",
            )
        )
    if not found:
        least = min(parts.learners.values(), key=lambda one: _or_one(one.stability.kappa))
        found.append(
            Finding(
                "L109",
                "fine",
                EVERYONE,
                CODES["L109"].title,
                f"Refits of every learner agree beyond chance; of {quoted(least.name)} the least, on "
                f"{percent(least.stability.stability)} of the points (kappa {least.stability.kappa:.2f}).",
                least.stability.kappa,
                "kappa 0: chance",
            )
        )
    return found, []


def varies_less(one: Learner, other: Learner, judge: Judge) -> bool:
    """Whether the other varies less and fits its own rows less closely, intervals and all."""
    wider = difference(one.orientation.expressivity, other.orientation.expressivity)
    closer = difference(gap(one), gap(other))
    return judge.widened(wider).low > 0 and judge.widened(closer).low > 0


def _or_one(kappa: Estimate) -> float:
    return kappa.value if kappa.known else 1.0
