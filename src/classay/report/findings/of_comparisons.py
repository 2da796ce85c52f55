"""What the figures say of learners beside each other."""

from __future__ import annotations

from ...intervals import exact
from ..figures import gap
from ..finding import Finding, Unasked
from ..parts import Learner, Parts
from ..saying import bits, percent, points, quoted, share
from .codes import CODES
from .judging import Judge, accuracy_difference, comparable, stability_difference
from .of_learners import EVERYONE, varies_less


def comparison_findings(parts: Parts, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    """Findings of learners beside each other, and those that could not be looked for."""
    found: list[Finding] = []
    unasked: list[Unasked] = []
    for rule in (_less_stable, _memorising, _kin):
        some, none = rule(parts, judge)
        found += some
        unasked += none
    return found, unasked


def _others(parts: Parts, one: Learner, judge: Judge) -> list[Learner]:
    """Learners that are not shown to be less accurate."""
    return [
        other
        for other in parts.learners.values()
        if other is not one and comparable(one, other) and accuracy_difference(other, one, judge.level).high >= 0
    ]


def _less_stable(parts: Parts, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    if len(parts.learners) < 2:
        return [], [Unasked("L102", CODES["L102"].title, "it takes two learners")]
    found = []
    for name, one in parts.learners.items():
        better = []
        for other in _others(parts, one, judge):
            accuracy = accuracy_difference(other, one, 0.95)
            steadier = stability_difference(other, one, judge.level)
            if steadier.low > (accuracy.high - accuracy.low) / 2:
                better.append((steadier.value, other, accuracy))
        if better:
            _, other, accuracy = max(better, key=lambda each: each[0])
            mine, its = one.stability.stability, other.stability.stability
            clearly = accuracy.low > 0
            how = (
                f"{quoted(other.name)} is more accurate by {points(accuracy)}, and steadier:"
                if clearly
                else f"{quoted(other.name)} is as accurate, as far as these rows can tell (it leads by "
                f"{points(accuracy)}), and far steadier:"
            )
            found.append(
                Finding(
                    "L102",
                    "warning",
                    name,
                    "Less accurate and less stable" if clearly else CODES["L102"].title,
                    f"{how} two refits of it agree on {percent(its)} of the points, two refits of {quoted(name)} on "
                    f"{percent(mine)}.",
                    mine,
                    f"{other.name}: {percent(its)}",
                    f"Prefer {quoted(other.name)}, or steady this one: average fits, prune, or bring more rows.",
                )
            )
    if not found:
        least = min(parts.learners.values(), key=lambda each: each.stability.stability.value)
        found.append(
            Finding(
                "L102",
                "fine",
                EVERYONE,
                "No learner is beaten on stability at equal accuracy",
                f"Where accuracies cannot be told apart, stabilities differ little; the least is that of {least.name}, "
                f"{percent(least.stability.stability)}.",
                least.stability.stability,
                f"{len(parts.learners)} learners compared",
            )
        )
    return found, []


def _memorising(parts: Parts, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    found = []
    for name, one in parts.learners.items():
        own, dice = gap(one), one.orientation.stochasticity
        own_rows = one.orientation.train_accuracy
        if not own.known:
            continue
        how = (
            f"It labels {share(own_rows.value)} of its own training rows rightly and {percent(one.stability.accuracy)} "
            f"of new ones, a gap of {points(own)}, and its answers spread by {bits(one.orientation.expressivity)}"
        )
        by_dice = f", {dice.value:.2f} of it by dice" if dice.known and dice.value > 0.005 else ""
        better = [other for other in _others(parts, one, judge) if varies_less(one, other, judge)]
        if better:
            other = min(better, key=lambda each: gap(each).value)
            found.append(
                Finding(
                    "L104",
                    "warning",
                    name,
                    CODES["L104"].title,
                    f"{how}{by_dice}. {quoted(other.name)} does as well on new rows with a gap of {points(gap(other))} "
                    f"and {bits(other.orientation.expressivity)}.",
                    own,
                    f"{other.name}: {points(gap(other))}",
                    "It remembers rows: limit its depth, its neighbours or its training, or take the other.",
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
                    "Compare it with a simpler learner: if that does as well, this one remembers rows.",
                )
            )
    if not found:
        widest = max(parts.learners.values(), key=lambda each: gap(each).value if gap(each).known else -1.0)
        found.append(
            Finding(
                "L104",
                "fine",
                EVERYONE,
                "No needless memorising",
                "No learner fits its own rows more closely than another that does as well; the widest train–test gap "
                f"is that of {widest.name}, {points(gap(widest))}.",
                gap(widest),
                f"{len(parts.learners)} learners compared" if len(parts.learners) > 1 else "no gap: 0",
            )
        )
    return found, []


def _kin(parts: Parts, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    kin = parts.kinship
    if kin is None:
        return [], [Unasked("L108", CODES["L108"].title, parts.why.get("kinship", "it takes two learners"))]
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
                        f"It cannot be told from {quoted(second)} by its answers: a Jensen–Shannon distance of "
                        f"{distance[a, b]:.2f}, where chance alone gives up to {chance[a, b]:.2f}.",
                        exact(float(distance[a, b]), "of these refits"),
                        f"chance alone: {chance[a, b]:.2f}",
                        f"One of them is enough; {quoted(faster)} is faster.",
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
                "Every learner has answers of its own",
                f"The nearest are {quoted(kin.names[a])} and {quoted(kin.names[b])}, at a Jensen–Shannon distance of "
                f"{distance[a, b]:.2f}.",
                exact(float(distance[a, b]), "of these refits"),
                f"chance alone: {chance[a, b]:.2f}",
            )
        )
    return found, []
