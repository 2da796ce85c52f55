"""What the refits themselves say: which failed, which warned, and where they disagree."""

from __future__ import annotations

import re

import numpy as np

from ...intervals import Estimate, exact
from ..finding import Finding, Unasked
from ..parts import Parts
from ..saying import joined, percent, quoted, share
from .codes import CODES
from .judging import Judge
from .of_learners import EVERYONE


def refit_findings(parts: Parts, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    """Findings of refits, and those that could not be looked for."""
    found: list[Finding] = []
    unasked: list[Unasked] = []
    for rule in (_failed, _warned, _regions):
        some, none = rule(parts, judge)
        found += some
        unasked += none
    return found, unasked


def _failed(parts: Parts, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
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
                    "Its figures are of the refits that did not fail. See why before you trust them.",
                )
            )
    for name, why in parts.failed.items():
        found.append(
            Finding(
                "L106",
                "warning",
                name,
                "No figures",
                f"It gave no figures: {_cut(why)}",
                Estimate(np.nan, np.nan, np.nan, kind="unknown"),
                f"{len(parts.learners)} others have figures",
                "Run it again to have it, too." if parts.settings.get("interrupted") else "Mend it, or leave it out.",
            )
        )
    if not found:
        refits = sum(int(one.labelings.present.sum()) for one in parts.learners.values())
        found.append(
            Finding(
                "L106",
                "fine",
                EVERYONE,
                "Every refit came to an end",
                f"None of {refits:,} refits failed.",
                exact(0, "count"),
                f"{refits:,} refits",
            )
        )
    return found, []


def _warned(parts: Parts, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
    found = []
    for name, one in parts.learners.items():
        for note in one.labelings.notes:
            told = re.match(r"(\d+) of (\d+) refits warned: (.*)", note)
            if told:
                times, refits, text = int(told[1]), int(told[2]), told[3]
                action = (
                    "Allow more iterations (max_iter), or scale its columns."
                    if "Convergence" in text
                    else "See whether the warning matters."
                )
                found.append(
                    Finding(
                        "L107",
                        "note",
                        name,
                        CODES["L107"].title,
                        f"{times:,} of {refits:,} refits warned: {_cut(text).rstrip(':.')}.",
                        exact(times, "count"),
                        f"{refits} refits",
                        action,
                    )
                )
    return found, []


def _regions(parts: Parts, judge: Judge) -> tuple[list[Finding], list[Unasked]]:
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
            "There is no region in which refits clearly disagree more than elsewhere; those of "
            f"{quoted(most.learner)} disagree most, on {percent(most.disagreement)} of the {most.on}.",
            most.disagreement,
            f"{len(most.tested)} regions tested",
        )
        return [fine], []
    # One is told, that in which most more answers change; the section has the others.
    _, name, first = max(
        (each.rate.value - each.rest_rate, name, each) for name, regions in clear.items() for each in regions.regions
    )
    others = [quoted(other) for other in clear if other != name]
    more = f" There are such regions for {joined(others)}, too." if others else ""
    note = Finding(
        "L110",
        "note",
        name,
        CODES["L110"].title,
        f"Where {first.condition}, two refits differ on {percent(first.rate)} of the {clear[name].on}, against "
        f"{share(first.rest_rate)} elsewhere.{more}",
        first.rate,
        f"elsewhere {share(first.rest_rate)}",
        "Expect other answers there after the next refit; more rows from there would help most.",
    )
    return [note], []


def _cut(text: str, most: int = 200) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
