"""How do predictions vary over refits, with the data and by training randomness? Expressivity and its two parts.

Read `orientation` (the verb and its result), `entropy_parts` (what data and training randomness add, and what cannot be
counted), `entropy` (the estimators and the bounds), `plugin` (the paper's plain estimates), `labeling_distribution`
(the distributions themselves, and the bias to any target), `by_size` (by the number of points), then `kinship` (how far
learners are apart).
"""

from .by_size import OrientationBySize, orientation_by_size
from .kinship import Kinship, kinship
from .orientation import Orientation, orientation

__all__ = ["Kinship", "Orientation", "OrientationBySize", "kinship", "orientation", "orientation_by_size"]
