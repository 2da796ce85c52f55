# The classes of results. This list is read by type checkers and, when a name is first used, by lazy_loader.
from .classes.curve.curve import Curve as Curve
from .classes.curve.risk import RiskCurve as RiskCurve
from .classes.extrapolate.extrapolate import Extrapolation as Extrapolation
from .classes.extrapolate.extrapolate import Plan as Plan
from .classes.extrapolate.u_distribution import NestedAccuracy as NestedAccuracy
from .classes.extrapolate.u_distribution import UDistribution as UDistribution
from .classes.identify.identify import Identification as Identification
from .classes.information.information import Decoders as Decoders
from .classes.information.information import Information as Information
from .data.checks.part_shift import Shift as Shift
from .data.checks.row_dependence import Dependence as Dependence
from .data.checks.target_leaks import Leaks as Leaks
from .data.labels.wrong_labels import WrongLabels as WrongLabels
from .data.model.baseline import ComplexityAgainst as ComplexityAgainst
from .data.model.baseline import VersusBaseline as VersusBaseline
from .data.model.error_slices import Slices as Slices
from .data.model.new_rows import UnlikeKnown as UnlikeKnown
from .data.row_complexity import Complexity as Complexity
from .learner.drift.verdict import Drift as Drift
from .learner.drift.verdict import Update as Update
from .learner.importance import Importance as Importance
from .learner.orientation.kinship import Kinship as Kinship
from .learner.orientation.orientation import Orientation as Orientation
from .learner.orientation.orientation import OrientationBySize as OrientationBySize
from .learner.preference.preference import Preference as Preference
from .learner.preference.preference import Preferences as Preferences
from .learner.scores.metrics import Metrics as Metrics
from .learner.scores.metrics import RefitSpread as RefitSpread
from .learner.scores.retrain_change import Retraining as Retraining
from .learner.scores.score_variance import ScoreVariance as ScoreVariance
from .learner.stability.disagreement import DisagreementRegions as DisagreementRegions
from .learner.stability.stability import RegressionStability as RegressionStability
from .learner.stability.stability import Stability as Stability
from .learner.stability.stability import StabilityTable as StabilityTable
from .learner.sweep.best_value import SweepComparison as SweepComparison
from .learner.sweep.result import Sweep as Sweep
from .learner.versions.compare import Comparison as Comparison
from .learner.versions.judges import Judges as Judges
from .learner.versions.repeats import Repeats as Repeats
from .network.prototypes.prototypes import Prototypes as Prototypes
from .network.quality.features import FeatureQuality as FeatureQuality
from .network.quality.head import HeadQuality as HeadQuality
from .network.quality.quality import NetworkQuality as NetworkQuality
from .network.quality.rank_networks import Ranking as Ranking
from .report.characterization import Characterization as Characterization

__all__: list[str]

def __dir__() -> list[str]: ...
