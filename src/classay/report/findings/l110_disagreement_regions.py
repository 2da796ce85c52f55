"""Is there a region in which refits disagree more often than elsewhere?

- *A note when:* A region was found with one half of the refits and points and confirmed with the other half (q ≤ .05).
- *Fine when:* No region stands out for any learner.
- *Not checked when:* There are too few test points or refits to search regions.
- *Judged by:* Regions are searched among test points, which are rows of the data. One with more than half of them is
  stated by the rest.
"""

from __future__ import annotations

from ...learner.stability.disagreement import DisagreementRegions
from ...regions.region import Region
from ..document import Finding, Unasked
from ..document.phrases import joined, percent, quoted, share
from ..results import Results
from .rules import EVERYONE, Judge, Outcome

CODE = "L110"
TITLE = "Where refits disagree"
BASIS = "refits"


def check(results: Results, judge: Judge) -> Outcome:
    """One note on the region that stands out most, or one finding that none does."""
    searched = {name: learner.regions for name, learner in results.learners.items() if learner.regions is not None}
    if not searched:
        return Unasked(CODE, TITLE, next((one.why.get("regions", "") for one in results.learners.values()), ""))
    clear = {name: regions for name, regions in searched.items() if regions.regions}
    return [_region(clear) if clear else _fine(searched)]


def _region(clear: dict[str, DisagreementRegions]) -> Finding:
    """Only the region with the largest excess of changed predictions is reported; the section has the others."""
    name, first = max(
        ((name, each) for name, regions in clear.items() for each in regions.regions),
        key=lambda pair: (pair[1].rate.value - pair[1].rest_rate, pair[0]),
    )
    others = [quoted(other) for other in clear if other != name]
    more = f" {joined(others)} also {'has' if len(others) == 1 else 'have'} such regions." if others else ""
    return Finding(
        code=CODE,
        level="note",
        of=name,
        title=TITLE,
        sentence=f"{_in_words(first, clear[name].on)}{more}",
        value=first.rate,
        reference=f"elsewhere {share(first.rest_rate)}",
        action="Expect changed predictions there after the next refit.",
    )


def _in_words(region: Region, on: str) -> str:
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


def _fine(searched: dict[str, DisagreementRegions]) -> Finding:
    most = max(searched.values(), key=lambda each: each.disagreement.value)
    return Finding(
        code=CODE,
        level="fine",
        of=EVERYONE,
        title="No region stands out",
        sentence="There is no region in which refits clearly disagree more than elsewhere; refits of "
        f"{quoted(most.learner)} disagree most, on {percent(most.disagreement)} of the {most.on}.",
        value=most.disagreement,
        reference=f"{len(most.tested)} regions tested",
    )
