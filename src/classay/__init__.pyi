# The public names. This list is read by type checkers and, when a name is first used, by lazy_loader.
from . import results as results
from .classes.curve.curve import accuracy_curve as accuracy_curve
from .classes.extrapolate.extrapolate import extrapolate as extrapolate
from .classes.identify.identify import identify as identify
from .classes.information.information import information as information
from .classes.ranks.ranks import Ranks as Ranks
from .data.checks.part_shift import shift as shift
from .data.checks.row_dependence import dependence as dependence
from .data.checks.target_leaks import leaks as leaks
from .data.geometry.moments import Geometry as Geometry
from .data.model.baseline import BaselineClassifier as BaselineClassifier
from .data.model.error_slices import slices as slices
from .data.rows import complexity as complexity
from .data.text import embed as embed
from .estimators.encoder import encoded as encoded
from .expect import InputError as InputError
from .intervals import Estimate as Estimate
from .learner.drift.memory import MemorizingClassifier as MemorizingClassifier
from .learner.drift.memory import MemorizingRegressor as MemorizingRegressor
from .learner.drift.monitor import DriftMonitor as DriftMonitor
from .learner.fitting.folds import Folds as Folds
from .learner.fitting.schemes import HalfSplits as HalfSplits
from .learner.fitting.schemes import Retrain as Retrain
from .learner.fitting.schemes import Subsets as Subsets
from .learner.importance import importance as importance
from .learner.orientation.kinship import kinship as kinship
from .learner.orientation.orientation import orientation as orientation
from .learner.preference.concepts import agreement as agreement
from .learner.preference.preference import preference as preference
from .learner.record import record as record
from .learner.records.labelings import Labelings as Labelings
from .learner.records.predictions import Predictions as Predictions
from .learner.scores.metrics import metrics as metrics
from .learner.scores.retrain_change import retraining as retraining
from .learner.stability.stability import stability as stability
from .learner.sweep.sweep import sweep as sweep
from .learner.versions.compare import compare as compare
from .learner.versions.judges import judges as judges
from .network.prototypes.prototypes import prototypes as prototypes
from .network.quality.features import feature_quality as feature_quality
from .network.quality.head import head_quality as head_quality
from .network.quality.quality import network_quality as network_quality
from .network.quality.rank_networks import rank_networks as rank_networks
from .report.characterization import characterize as characterize
from .report.document import Report as Report
from .report.export.files import load as load
from .report.gates.gates import assert_gates as assert_gates

__version__: str
__all__: list[str]

def __dir__() -> list[str]: ...
