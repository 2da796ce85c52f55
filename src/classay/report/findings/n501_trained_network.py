"""Is a network distinguishable from an untrained one, by its weights alone?

- *A warning when:* The interval of the estimated accuracy reaches chance.
- *Fine when:* The whole interval is above chance.
- *Not checked when:* No network is given.
"""

from __future__ import annotations

from ...network.quality.quality import NetworkQuality
from ..document import Finding, Unasked
from ..phrases import percent, share
from ..results import Results
from .rules import Judge, Outcome

CODE = "N501"
TITLE = "A trained network"


def check(results: Results, judge: Judge) -> Outcome:
    """One finding per network."""
    if not results.networks:
        return Unasked(CODE, TITLE, "no network was given")
    return [_trained(name, quality, judge) for name, quality in results.networks.items()]


def _trained(name: str, quality: NetworkQuality, judge: Judge) -> Finding:
    chance = 1 / quality.classes
    trained = quality.estimate.known and judge.widened(quality.estimate).low > chance
    return Finding(
        code=CODE,
        level="fine" if trained else "warning",
        of=name,
        title=TITLE if trained else "Indistinguishable from an untrained network",
        sentence=f"From its weights alone its accuracy is estimated at {percent(quality.estimate)}, where chance is "
        f"{share(chance)}. The estimate ranks checkpoints of one task; do not rely on its absolute value.",
        value=quality.estimate,
        reference=f"chance {share(chance)}",
        action="" if trained else "Test it on labelled data before anything else.",
    )
