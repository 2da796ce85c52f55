"""How do predictions vary over refits, with the data and by training randomness? Expressivity and its two parts.

Read `orientation` (the verb, its result and how few refits are corrected for), `entropy` (the estimators), `bounds`
(what bias leaves possible), then `kinship` (how far learners are apart).
"""

from .kinship import Kinship, kinship
from .orientation import Orientation, orientation

__all__ = ["Kinship", "Orientation", "kinship", "orientation"]
