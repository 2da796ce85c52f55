"""Rules on single fits, where they disagree, and what more rows would change: L106, L107, L110, L113, L114."""

from __future__ import annotations

import math

import numpy as np

from ...intervals import Estimate, exact
from ...notes import Note
from ...regions.region import Region
from ..document import Finding
from ..document.phrases import joined, one_line, percent, points, quoted, share
from ..results import LearnerResults, Results
from .differences import mean_over_rows
from .rules import EVERYONE, Judge, Outcome, fine, full_fits, full_folds, most_accurate, note, refits, rule, warning


@rule("L106", "Refits failed")
def failed_refits(results: Results, judge: Judge) -> Outcome:
    """Did every refit succeed?

    - *A warning when:* A refit raised an error or took too long, or a learner gave no results at all.
    - *A note when:* A learner gave no results because it is too slow for the budget.
    - *Fine when:* No refit failed.
    """
    findings = [_failures(one) for one in results.learners.values() if one.labelings.failures]
    findings += [_no_results(name, results) for name in results.failed]
    if not (findings or results.learners):
        return refits(results)
    count = sum(int(one.labelings.present.sum()) for one in results.learners.values())
    sentence, reference = f"None of {count:,} refits failed.", f"{count:,} refits"
    return findings or fine(EVERYONE, sentence, exact(0, "count"), reference, "Every refit succeeded")


def _failures(learner: LearnerResults) -> Finding:
    failures, count = learner.labelings.failures, learner.labelings.present.size
    return warning(
        learner.name,
        f"{len(failures)} of {count} refits failed, the first with: {one_line(failures[0].error)}",
        exact(len(failures), "count"),
        f"{count} refits",
        "Its figures cover only the refits that succeeded. Find out why the others failed first.",
    )


def _no_results(name: str, results: Results) -> Finding:
    unknown = Estimate(math.nan, math.nan, math.nan, kind="unknown")
    others = f"{len(results.names)} others have results"
    if name in results.slow:
        return note(name, one_line(results.failed[name], 400), unknown, others, title="Too slow for the budget")
    action = "Run it again to include it." if results.settings.get("interrupted") else "Fix it or drop it."
    return warning(name, f"It gave no results: {one_line(results.failed[name])}", unknown, others, action, "No results")


@rule("L107", "Fits issued warnings")
def fit_warnings(results: Results, judge: Judge) -> Outcome:
    """Did fits issue warnings?

    - *A note when:* A fit issued a warning, for example that it did not converge.
    - *Not reported when:* No fit did.
    """
    return [
        _warned(name, each, learner)
        for name, learner in results.learners.items()
        for each in learner.labelings.notes
        if isinstance(each, Note) and each.code == "refits-warned"
    ]


def _warned(name: str, warned: Note, learner: LearnerResults) -> Finding:
    times, count = warned.numbers["count"], warned.numbers["refits"]
    action, effect = "Check whether the warning matters.", ""
    if "Convergence" in warned.subject:
        action = "Allow more iterations (max_iter)" + ("." if learner.scales else ", or scale the columns.")
        if learner.more_iterations is not None:
            effect = f" Ten times the iterations change {percent(learner.more_iterations)} of predictions."
    sentence = f"{times:,} of {count:,} refits issued a warning: {one_line(warned.subject).rstrip(':.')}.{effect}"
    return note(name, sentence, exact(times, "count"), f"{count} refits", action)


@rule("L110", "Where refits disagree", refits, basis="refits")
def disagreement_regions(results: Results, judge: Judge) -> Outcome:
    """Is there a region in which refits disagree more often than elsewhere?

    - *A note when:* A region was found with one half of the refits and points and confirmed with the other half
      (q ≤ .05).
    - *Fine when:* No region stands out for any learner.
    - *Not checked when:* There are too few test points or refits to search regions.
    - *Judged by:* Regions are searched among test points, which are rows of the data. One with more than half of them
      is stated by the rest.
    """
    searched = {name: learner.regions for name, learner in results.learners.items() if learner.regions is not None}
    if not searched:
        return next((one.why.get("regions", "") for one in results.learners.values()), "")
    clear = {name: regions for name, regions in searched.items() if regions.regions}
    if not clear:
        most = max(searched.values(), key=lambda each: each.disagreement.value)
        return fine(
            EVERYONE,
            "There is no region in which refits clearly disagree more than elsewhere; refits of "
            f"{quoted(most.learner)} disagree most, on {percent(most.disagreement)} of the {most.on}.",
            most.disagreement,
            f"{len(most.tested)} regions tested",
            "No region stands out",
        )
    # Only the region with the largest excess of changed predictions is reported; the section has the others.
    name, first = max(
        ((name, region) for name, regions in clear.items() for region in regions.regions),
        key=lambda pair: (pair[1].rate.value - pair[1].rest_rate, pair[0]),
    )
    others = [quoted(other) for other in clear if other != name]
    more = f" {joined(others)} also {'has' if len(others) == 1 else 'have'} such regions." if others else ""
    return note(
        name,
        f"{_region_in_words(first, clear[name].on)}{more}",
        first.rate,
        f"elsewhere {share(first.rest_rate)}",
        "Expect changed predictions there after the next refit.",
    )


def _region_in_words(region: Region, on: str) -> str:
    """The region; or, if it has more than half of the points, what lies outside it."""
    if region.share > 0.5:
        return (
            f"Outside of {region.condition} ({share(1 - region.share)} of the {on}), two refits differ on only "
            f"{share(region.rest_rate)} of the {on}, compared with {percent(region.rate)} within."
        )
    return (
        f"Where {region.condition} ({share(region.share)} of the {on}), two refits differ on {percent(region.rate)} of "
        f"the {on}, compared with {share(region.rest_rate)} elsewhere."
    )


MATTERS, CLEAR, LEVEL = 0.01, 0.99, 0.95
SLOW, FAST = 0.5, 1.0
"""Powers with which errors usually fall: between these."""


@rule("L113", "More rows would help", full_fits)
def more_rows(results: Results, judge: Judge) -> Outcome:
    """Would more rows help?

    - *A note when:* The most accurate learner is more accurate when fitted on all rows but a fold than on half of the
      training part, on the same test points, by a point or more (the 99 % interval above 0). How errors usually fall
      (with the square root of the number of rows, or in proportion to it) then says what twice as many rows would add.
    - *Fine when:* The 95 % interval of that gain ends below one point: more rows like these would hardly help.
    - *Not reported when:* Neither is shown.
    - *Not checked when:* A test part was given, rows belong together (D206), or the folds or the refits used fewer rows
      than there are.
    """
    full, codes = full_folds(results), results.data.codes
    test, settings = results.suspicions.test_rows, results.settings
    small = settings.get("half", 0)
    if test is None or settings.get("size", "all") != "all" or not small:
        return "it needs refits on all rows of each half, tested on rows of the same table"
    if results.suspicions.rows_belong_together:
        return "rows belong together (D206), so that more of them need not be new ones"
    best = most_accurate(full, results)
    if best not in results.learners:
        return f"there are no refits of {best}"
    held, labelings = full[best], results.learners[best].labelings
    place = np.searchsorted(held.tested, test)
    there = np.flatnonzero((place < held.tested.size) & (held.tested[np.minimum(place, held.tested.size - 1)] == test))
    if there.size < 2 or labelings.truth.size != test.size:
        return "test points have no cross-validated predictions"
    before = (labelings.labels == labelings.truth).mean(axis=(0, 1))[there]
    gains, groups = held.right(codes)[place[there]].astype(float) - before, results.data.groups_of(test[there])
    clearly, usual = (mean_over_rows(gains, level, groups) for level in (CLEAR, LEVEL))
    sizes = f"on {held.rows:,} rows are more accurate than fits on {small:,} rows by"
    if clearly.low > 0 and clearly.value >= MATTERS:
        least, most = sorted(100 * twice(clearly.value, held.rows / small, power) for power in (SLOW, FAST))
        return note(
            best,
            f"Fits {sizes} {points(clearly)}. If errors go on falling as they usually do, twice as many rows would add "
            f"about {least:.1f} to {most:.1f} points.",
            clearly,
            "0: more rows add nothing",
            "Weigh this against the cost of more rows. It is a rule of thumb from two sizes.",
        )
    if usual.high >= MATTERS:
        return []
    return fine(
        best,
        f"Fits of {quoted(best)} {sizes} {points(usual)}: more rows like these would add less than a point.",
        usual,
        "0: more rows add nothing",
        "More rows would hardly help",
    )


def twice(gain: float, factor: float, power: float) -> float:
    """What twice as many rows would add, if `factor` times as many added `gain` and errors fall as rows^−power.

    With error a + b·n^−power, the gain is b·n^−power · (1 − factor^−power), and the next one is smaller by
    factor^−power.

    >>> round(twice(0.04, 2, 1), 3), round(twice(0.04, 2, 0.5), 3)
    (0.02, 0.028)
    """
    shrink = float(factor**-power)
    return gain * shrink * float(1 - 2**-power) / (1 - shrink)


STABLE = 0.8


@rule("L114", "Which columns matter changes on retraining")
def unstable_importance(results: Results, judge: Judge) -> Outcome:
    """Does a learner rely on other columns when it is retrained?

    - *A note when:* Two refits on halves of the training rows share fewer of their three leading columns than half-way
      between random orders and the same order (the mean over pairs of six refits). Leading: predictions get worst when
      the column is shuffled.
    - *Fine when:* They share at least four fifths of them.
    - *Not reported when:* It is in between.
    - *Not checked when:* There are fewer than 6 columns or more than 100, or it would take more than a tenth of the
      time that is left.
    """
    if results.suspicions.importance is None:
        return results.suspicions.why.get("importance", "it was not measured")
    name, measured = results.suspicions.importance
    overlap, reference = measured.overlap, f"random orders: {share(measured.chance)}"
    leading = measured.to_frame().head(measured.first)
    if overlap.value >= STABLE:
        return fine(
            name,
            f"Refits of {quoted(name)} share {percent(overlap)} of their {measured.first} most important columns: "
            f"{joined([quoted(column) for column in leading['column']])}.",
            overlap,
            reference,
            "The same columns matter in every refit",
        )
    if overlap.value >= (1 + measured.chance) / 2:
        return []
    ranks = leading[["column", "best_rank", "worst_rank"]].to_numpy().tolist()
    named = joined([f"{quoted(column)} (rank {best} to {worst})" for column, best, worst in ranks])
    return note(
        name,
        f"Two of {len(measured.per_refit)} refits on halves of the training rows share {percent(overlap)} of their "
        f"{measured.first} most important columns; random orders would share {share(measured.chance)}. On average the "
        f"first are {named}.",
        overlap,
        reference,
        "Do not read one fit's importances as facts. If columns carry the same information, keep one of them or judge "
        "them together; otherwise none may matter much.",
    )
