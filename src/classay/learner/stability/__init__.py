"""Does the learner predict the same when it is retrained, and where does it not?

Read `stability` (the verb for classifiers and regressors), `agreement` (pairs of refits, and its intervals),
`disagreement` (regions of the data where refits differ), then `comparison` (several learners, and several sizes of the
training sample).
"""

from .comparison import StabilityBySize, StabilityTable, stabilities, stability_by_size
from .disagreement import DisagreementRegions, disagreement_regions
from .stability import RegressionStability, Stability, stability

__all__ = [
    "DisagreementRegions",
    "RegressionStability",
    "Stability",
    "StabilityBySize",
    "StabilityTable",
    "disagreement_regions",
    "stabilities",
    "stability",
    "stability_by_size",
]
