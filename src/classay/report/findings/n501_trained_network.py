"""Is a network distinguishable from an untrained one, by its weights alone?

- *A warning when:* Its weights look like random numbers, or less than 90% of its walks arrive.
- *Fine when:* Its weights have structure, and walks arrive.
- *Not checked when:* No network is given.
"""

from __future__ import annotations

import math

from ...intervals import Estimate, exact
from ...network.prototypes.probes import RANDOM_STRUCTURE
from ...network.quality.estimate import CONVERGED
from ...network.quality.quality import NetworkQuality
from ..document import Finding, Unasked
from ..document.phrases import percent, share
from ..results import Results
from .rules import Judge, Outcome

CODE = "N501"
TITLE = "A trained network"


def check(results: Results, judge: Judge) -> Outcome:
    """One finding per network."""
    if not results.networks:
        return Unasked(CODE, TITLE, "no network was given")
    return [_trained(name, quality) for name, quality in results.networks.items()]


def _trained(name: str, quality: NetworkQuality) -> Finding:
    structure = quality.figures.get("structure", math.nan)
    arrived = quality.converged.value
    trained = arrived >= CONVERGED and not quality.untrained
    said = "is unknown" if math.isnan(structure) else f"is {structure:.2f} (random weights: 0)"
    accuracy = (
        f"By labelled rows its accuracy is {percent(quality.labelled)}."
        if quality.labelled is not None
        else "Its accuracy cannot be known without labelled rows."
    )
    return Finding(
        code=CODE,
        level="fine" if trained else "warning",
        of=name,
        title=TITLE if trained else "Indistinguishable from an untrained network",
        sentence=f"The structure of its weights {said}, and {share(arrived)} of the walks to its classes arrived. "
        f"{accuracy}",
        value=Estimate(structure, 0.0, math.inf, kind="of weights") if math.isnan(structure) else exact(structure),
        reference=f"random weights below {RANDOM_STRUCTURE:g}",
        action="" if trained else "Test it on labelled data before anything else.",
    )
