"""Which classes does a network find most similar?

- *A note always:* The closest pair of rows of the head, for every network.
"""

from __future__ import annotations

from ...network.quality.quality import NetworkQuality
from ..document import Finding
from ..document.phrases import quoted
from ..results import Results
from .rules import Judge, Outcome

CODE = "N502"
TITLE = "Classes the network finds similar"


def check(results: Results, judge: Judge) -> Outcome:
    """One note per network."""
    return [_closest_pair(name, quality) for name, quality in results.networks.items()]


def _closest_pair(name: str, quality: NetworkQuality) -> Finding:
    pair = quality.per_pair.sort_values("rows", ascending=False).iloc[0]
    return Finding(
        code=CODE,
        level="note",
        of=name,
        title=TITLE,
        sentence=f"The rows of its head are closest for the classes {quoted(pair['first'])} and "
        f"{quoted(pair['second'])} (cosine {pair['rows']:.2f}).",
        value=quality.between,
        reference=f"mean cosine of all pairs {1 - quality.classifier_quality:.2f}",
        action="Test these two classes first.",
    )
