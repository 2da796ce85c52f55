"""Findings on single learners."""

from __future__ import annotations

import numpy as np

from ...intervals import Estimate, difference, exact, of_proportion
from ...notes import Note
from ..document import Finding, Unasked
from ..figures import dice, gap
from ..phrases import bits, joined, percent, points, quoted, share
from ..results import LearnerResults, Results
from .rules import CODES, Judge, few_rows, over_rows, rightly

EVERYONE = "all learners"
NEVER = 0.05
HALFWAY = 0.5
"""The kappa halfway between chance and full agreement."""


def learner_findings(parts: Results, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    """Findings on single learners, and the checks that could not be made."""
    found: list[Finding] = []
    unasked: list[Unasked] = []
    for rule in (_guessing, _dice, _never, _chance):
        some, none = rule(parts, judge)
        found += some
        unasked += none
    return found, unasked


def _guessing(parts: Results, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
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
                f"It predicts {percent(accuracy)} of the rows correctly{few}; always predicting class {told} would "
                f"reach {share(chance.value)}{'' if clearly else f', which is lower by {points(lead)}'}.",
                accuracy,
                f"always class {told}: {share(chance.value)}",
                "Do not quote its accuracy alone: check each class, and whether the columns are informative."
                if clearly
                else "More rows would show whether it is better. Until then, check each class.",
            )
        )
    if not leads:
        return [], [Unasked("L101", CODES["L101"].title, "there are no cross-validated predictions")]
    if not found:
        least = min(leads, key=lambda name: leads[name].value)
        found.append(
            Finding(
                "L101",
                "fine",
                EVERYONE,
                CODES["L101"].title,
                f"Every learner beats always predicting class {told}, which reaches {share(chance.value)}; the "
                f"smallest lead is that of {quoted(least)}, {points(leads[least])}.",
                leads[least],
                f"always class {told}: {share(chance.value)}",
            )
        )
    return found, []


def _dice(parts: Results, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
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
                    "It varies by its own training randomness",
                    f"Refitted on the same rows, it still varies by {bits(own)} of {oriented.expressivity.value:.2f}: "
                    f"another random_state changes {percent(changed)} of its predictions.",
                    own,
                    reference,
                    "Average more members (n_estimators), or fix random_state and document it. More rows would not "
                    "help.",
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
                "It varies with the training sample",
                f"{quoted(most)} varies with its training rows: {bits(by_data[most])} of {whole.value:.2f}.{alone}",
                by_data[most],
                f"total: {bits(whole)}",
                "More rows or a stronger bias (pruning, regularisation) would stabilise it; other seeds would not.",
            )
        )
    if unknown and len(unknown) == len(parts.learners):
        return found, [
            Unasked("L103", CODES["L103"].title, "one refit per half cannot separate training randomness from data")
        ]
    if not found:
        steadiest = max(parts.learners.values(), key=lambda one: one.orientation.expressivity.value)
        found.append(
            Finding(
                "L103",
                "fine",
                EVERYONE,
                CODES["L103"].title,
                "No learner's variation clearly comes from training randomness or from the data; "
                f"{quoted(steadiest.name)} varies most, by {bits(steadiest.orientation.expressivity)}.",
                steadiest.orientation.expressivity,
                f"largest possible: {steadiest.orientation.log2_labelings:.2f} bits",
            )
        )
    return found, []


def _never(parts: Results, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
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
                    f"No refit ever predicts {'class' if missing.size == 1 else 'classes'} {names}{more}: "
                    f"{share(float(shares[missing].sum()))} of the rows.",
                    exact(missing.size, "count"),
                    f"{shares.size} classes",
                    "Weight the classes (class_weight='balanced'), change the threshold, or add rows of these classes.",
                )
            )
    if not found:
        found.append(
            Finding(
                "L105",
                "fine",
                EVERYONE,
                "Every class is predicted",
                "Every learner predicts every class that is frequent enough to judge.",
                exact(0, "count"),
                f"{parts.data.classes.size} classes",
            )
        )
    return found, []


def _chance(parts: Results, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
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
                f"Two refits agree on {percent(steady)} of the points; random predictions with the same class shares "
                f"would agree about as often (kappa {kappa:.2f}, where 0 is chance).",
                kappa,
                "kappa 0: chance",
                "Its prediction for a row depends mostly on the training sample. Add rows, columns or a stronger bias.",
            )
        )
    if open_:
        widest = max(open_, key=lambda name: open_[name].high - open_[name].low)
        found.append(
            Finding(
                "L109",
                "note",
                widest if len(open_) == 1 else EVERYONE,
                "Too few refits to separate agreement from chance",
                f"The interval of kappa reaches from chance to more than halfway to full agreement: "
                f"{joined([f'{quoted(name)} {each:.2f}' for name, each in open_.items()])}.",
                open_[widest],
                "kappa 0: chance, 1: full agreement",
                "Use more splits, or a larger budget.",
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
                f"Refits of every learner agree beyond chance; those of {quoted(least.name)} agree least, on "
                f"{percent(least.stability.stability)} of the points (kappa {least.stability.kappa:.2f}).",
                least.stability.kappa,
                "kappa 0: chance",
            )
        )
    return found, []


def varies_less(one: LearnerResults, other: LearnerResults, judge: Judge) -> bool:
    """Whether the other varies less and fits its own rows less closely, over the whole intervals."""
    wider = difference(one.orientation.expressivity, other.orientation.expressivity)
    closer = difference(gap(one), gap(other))
    return judge.widened(wider).low > 0 and judge.widened(closer).low > 0


def _or_one(kappa: Estimate) -> float:
    return kappa.value if kappa.known else 1.0


# Findings on the refits: which failed, which issued warnings, and where they disagree.


def refit_findings(parts: Results, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    """Findings on refits, and the checks that could not be made."""
    found: list[Finding] = []
    unasked: list[Unasked] = []
    for rule in (_failed, _warned, _regions):
        some, none = rule(parts, judge)
        found += some
        unasked += none
    return found, unasked


def _failed(parts: Results, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    found = []
    for name, one in parts.learners.items():
        failures = one.labelings.failures
        if failures:
            found.append(
                Finding(
                    "L106",
                    "warning",
                    name,
                    CODES["L106"].title,
                    f"{len(failures)} of {one.labelings.present.size} refits failed, the first with: "
                    f"{_cut(failures[0].error)}",
                    exact(len(failures), "count"),
                    f"{one.labelings.present.size} refits",
                    "Its figures cover only the refits that succeeded. Find out why the others failed first.",
                )
            )
    for name, why in parts.failed.items():
        found.append(
            Finding(
                "L106",
                "warning",
                name,
                "No results",
                f"It gave no results: {_cut(why)}",
                Estimate(np.nan, np.nan, np.nan, kind="unknown"),
                f"{len(parts.learners)} others have results",
                "Run it again to include it." if parts.settings.get("interrupted") else "Fix it or drop it.",
            )
        )
    if not found:
        refits = sum(int(one.labelings.present.sum()) for one in parts.learners.values())
        found.append(
            Finding(
                "L106",
                "fine",
                EVERYONE,
                "Every refit succeeded",
                f"None of {refits:,} refits failed.",
                exact(0, "count"),
                f"{refits:,} refits",
            )
        )
    return found, []


def _warned(parts: Results, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    found = []
    for name, one in parts.learners.items():
        for note in one.labelings.notes:
            if isinstance(note, Note) and note.code == "refits-warned":
                times, refits, text = note.numbers["count"], note.numbers["refits"], note.subject
                action = (
                    "Allow more iterations (max_iter), or scale the columns."
                    if "Convergence" in text
                    else "Check whether the warning matters."
                )
                found.append(
                    Finding(
                        "L107",
                        "note",
                        name,
                        CODES["L107"].title,
                        f"{times:,} of {refits:,} refits issued a warning: {_cut(text).rstrip(':.')}.",
                        exact(times, "count"),
                        f"{refits} refits",
                        action,
                    )
                )
    return found, []


def _regions(parts: Results, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    asked = {name: one.regions for name, one in parts.learners.items() if one.regions is not None}
    if not asked:
        why = next(iter(parts.learners.values())).why.get("regions", "")
        return [], [Unasked("L110", CODES["L110"].title, why)]
    clear = {name: regions for name, regions in asked.items() if regions.regions}
    if not clear:
        most = max(asked.values(), key=lambda each: each.disagreement.value)
        fine = Finding(
            "L110",
            "fine",
            EVERYONE,
            "No region stands out",
            "There is no region in which refits clearly disagree more than elsewhere; refits of "
            f"{quoted(most.learner)} disagree most, on {percent(most.disagreement)} of the {most.on}.",
            most.disagreement,
            f"{len(most.tested)} regions tested",
        )
        return [fine], []
    # Only the region with the largest excess of changed predictions is reported; the section has the others.
    _, name, first = max(
        (each.rate.value - each.rest_rate, name, each) for name, regions in clear.items() for each in regions.regions
    )
    others = [quoted(other) for other in clear if other != name]
    more = f" {joined(others)} also {'has' if len(others) == 1 else 'have'} such regions." if others else ""
    note = Finding(
        "L110",
        "note",
        name,
        CODES["L110"].title,
        f"Where {first.condition}, two refits differ on {percent(first.rate)} of the {clear[name].on}, compared with "
        f"{share(first.rest_rate)} elsewhere.{more}",
        first.rate,
        f"elsewhere {share(first.rest_rate)}",
        "Expect changed predictions there after the next refit; more rows from this region would help most.",
    )
    return [note], []


def _cut(text: str, most: int = 200) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
