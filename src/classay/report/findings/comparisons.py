"""Findings on learners compared with each other."""

from __future__ import annotations

from ...intervals import Estimate, exact
from ..document import Finding, Unasked
from ..figures import gap
from ..phrases import bits, joined, percent, points, quoted, share
from ..results import LearnerResults, Results
from .learners import EVERYONE, varies_less
from .rules import CODES, Judge, accuracy_difference, comparable, stability_difference


def comparison_findings(parts: Results, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    """Findings on learners compared with each other, and the checks that could not be made."""
    found: list[Finding] = []
    unasked: list[Unasked] = []
    for rule in (_less_stable, _memorising, _kin):
        some, none = rule(parts, judge)
        found += some
        unasked += none
    return found, unasked


def _others(parts: Results, one: LearnerResults) -> list[LearnerResults]:
    """Learners that are not shown to be less accurate, at 95 %: a wider interval would accept worse ones."""
    return [
        other
        for other in parts.learners.values()
        if other is not one and comparable(one, other) and accuracy_difference(other, one, 0.95).high >= 0
    ]


def _less_stable(parts: Results, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    if len(parts.learners) < 2:
        return [], [Unasked("L102", CODES["L102"].title, "it needs at least 2 learners")]
    found: list[Finding] = []
    beaten: dict[str, tuple[LearnerResults, Estimate]] = {}
    for name, one in parts.learners.items():
        better = []
        for other in _others(parts, one):
            accuracy = accuracy_difference(other, one, 0.95)
            steadier = stability_difference(other, one, judge.level)
            if steadier.low > (accuracy.high - accuracy.low) / 2:
                better.append((steadier.value, other, accuracy))
        if not better:
            continue
        _, other, accuracy = max(better, key=lambda each: each[0])
        if all(each[2].low > 0 for each in better):
            beaten[name] = other, accuracy
            continue
        _, other, accuracy = max((each for each in better if each[2].low <= 0), key=lambda each: each[0])
        mine, its = one.stability.stability, other.stability.stability
        found.append(
            Finding(
                "L102",
                "warning",
                name,
                CODES["L102"].title,
                f"{quoted(other.name)} is equally accurate within the precision of these rows (a difference of "
                f"{points(accuracy)}) and more stable: two of its refits agree on {percent(its)} of the points, two "
                f"refits of {quoted(name)} on {percent(mine)}.",
                mine,
                f"{other.name}: {percent(its)}",
                f"Prefer {quoted(other.name)}, or make this one more stable: average fits, prune, or add rows.",
            )
        )
    if beaten:
        found.append(_beaten(parts, beaten))
    if not found:
        least = min(parts.learners.values(), key=lambda each: each.stability.stability.value)
        found.append(
            Finding(
                "L102",
                "fine",
                EVERYONE,
                "No learner is beaten on stability at equal accuracy",
                "Where accuracies are indistinguishable, stabilities differ little; the lowest is that of "
                f"{quoted(least.name)}, {percent(least.stability.stability)}.",
                least.stability.stability,
                f"{len(parts.learners)} learners compared",
            )
        )
    return found, []


def _beaten(parts: Results, beaten: dict[str, tuple[LearnerResults, Estimate]]) -> Finding:
    """One note for all learners that are less accurate and less stable: accuracy already shows that they are worse."""
    first = min(beaten, key=lambda name: parts.learners[name].stability.stability.value)
    other, accuracy = beaten[first]
    mine, its = parts.learners[first].stability.stability, other.stability.stability
    rest = [f"{quoted(name)} (by {quoted(beaten[name][0].name)})" for name in beaten if name != first]
    too = f" So {'are' if len(rest) > 1 else 'is'} {joined(rest)}." if rest else ""
    return Finding(
        "L102",
        "note",
        first,
        "Less accurate and less stable",
        f"{quoted(first)} is beaten on both by {quoted(other.name)}, which is more accurate by {points(accuracy)} and "
        f"whose refits agree on {percent(its)} of the points, compared with {percent(mine)}.{too}",
        mine,
        f"{other.name}: {percent(its)}",
        "Keep it only if it is faster or easier to explain.",
    )


def _memorising(parts: Results, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    found = []
    for name, one in parts.learners.items():
        own, dice = gap(one), one.orientation.stochasticity
        own_rows = one.orientation.train_accuracy
        if not own.known:
            continue
        how = (
            f"It predicts {share(own_rows.value)} of its own training rows correctly and "
            f"{percent(one.stability.accuracy)} of new rows, a gap of {points(own)}; its predictions vary by "
            f"{bits(one.orientation.expressivity)}"
        )
        by_dice = f", of which training randomness gives {dice.value:.2f}" if dice.known and dice.value > 0.005 else ""
        better = [other for other in _others(parts, one) if varies_less(one, other, judge)]
        if better:
            other = max(better, key=lambda each: each.stability.accuracy.value)
            found.append(
                Finding(
                    "L104",
                    "warning",
                    name,
                    CODES["L104"].title,
                    f"{how}{by_dice}. {quoted(other.name)} is not measurably less accurate on new rows, with a gap of "
                    f"{points(gap(other))} and {bits(other.orientation.expressivity)}.",
                    own,
                    f"{other.name}: {points(gap(other))}",
                    f"It memorises rows. Use {quoted(other.name)}, or regularise this one: less depth, fewer steps, "
                    "more neighbours, whichever it has.",
                )
            )
        elif (
            len(parts.learners) == 1
            and judge.widened(own).low > 0
            and dice.known
            and not one.orientation.deterministic
            and judge.widened(dice).low > 0
        ):
            found.append(
                Finding(
                    "L104",
                    "note",
                    name,
                    CODES["L104"].title,
                    f"{how}{by_dice}.",
                    own,
                    "no gap: 0",
                    "Compare it with a simpler learner: if that is as accurate, this one memorises rows.",
                )
            )
    if not found:
        widest = max(parts.learners.values(), key=lambda each: gap(each).value if gap(each).known else -1.0)
        found.append(
            Finding(
                "L104",
                "fine",
                EVERYONE,
                "No unnecessary memorising",
                "No learner fits its own rows more closely than another that is as accurate; the widest train–test gap "
                f"is that of {quoted(widest.name)}, {points(gap(widest))}."
                if len(parts.learners) > 1
                else f"Its train–test gap is {points(gap(widest))}.",
                gap(widest),
                f"{len(parts.learners)} learners compared" if len(parts.learners) > 1 else "no gap: 0",
            )
        )
    return found, []


def _kin(parts: Results, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    kin = parts.kinship
    if kin is None:
        return [], [Unasked("L108", CODES["L108"].title, parts.why.get("kinship", "it needs at least 2 learners"))]
    found = []
    distance, chance = kin.jensen_shannon, kin.floor["jensen_shannon"]
    for a, first in enumerate(kin.names):
        for b, second in enumerate(kin.names[:a]):
            if distance[a, b] <= chance[a, b]:
                seconds = {name: float(parts.learners[name].labelings.seconds.mean()) for name in (first, second)}
                faster = min(seconds, key=lambda name: seconds[name])
                found.append(
                    Finding(
                        "L108",
                        "note",
                        first,
                        CODES["L108"].title,
                        f"Its predictions are indistinguishable from those of {quoted(second)}: a Jensen–Shannon "
                        f"distance of {distance[a, b]:.2f}, where chance alone gives up to {chance[a, b]:.2f}.",
                        exact(float(distance[a, b]), "of these refits"),
                        f"chance alone: {chance[a, b]:.2f}",
                        f"On the evidence of these refits, one of them is enough; {quoted(faster)} is faster.",
                    )
                )
    if not found:
        apart = distance + 2 * (distance <= 0)
        a, b = divmod(int(apart.argmin()), len(kin.names))
        found.append(
            Finding(
                "L108",
                "fine",
                EVERYONE,
                "All learners predict differently",
                f"The most similar are {quoted(kin.names[a])} and {quoted(kin.names[b])}, at a Jensen–Shannon distance "
                f"of {distance[a, b]:.2f}.",
                exact(float(distance[a, b]), "of these refits"),
                f"chance alone: {chance[a, b]:.2f}",
            )
        )
    return found, []
