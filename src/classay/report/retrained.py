"""What a retraining changes: fits of nearly full size on samples that share nine tenths of their rows."""

from __future__ import annotations

from ..expect import InputError
from ..learner.fitting.retrain_scheme import Retrain
from ..learner.record import record
from ..learner.records.labelings import Labelings
from ..learner.scores.retrain_change import Retraining, retraining
from .groundwork import Groundwork

SAMPLES = (10, 6, 4)
"""Numbers of training samples, the most that time allows."""
REPLACED = 0.1
ON_RETRAINING = 0.4
"""Share of the time that is left after the first round of refits for this."""


def samples_for(ground: Groundwork, names: list[str], left: float) -> int:
    """How many samples all learners can be fitted on in a share of the time that is left; 0 if none."""
    if ground.budget.retrains is not None:
        return ground.budget.retrains
    if ground.budget.is_plan:
        return SAMPLES[0]
    known = [ground.held_out[name] for name in names if name in ground.held_out]
    rows = (1 - REPLACED) * ground.setup.train.size
    each = sum(held.fit_seconds * rows / held.rows + held.predict_seconds * ground.setup.test.size for held in known)
    allowed = ON_RETRAINING * left * ground.workers
    return next((samples for samples in SAMPLES if samples * ground.setup.repeats * each <= allowed), 0)


def retrained(ground: Groundwork, name: str, samples: int) -> Retraining | str:
    """What a retraining of one learner changes, or why that is not known."""
    data, settings, test = ground.data, ground.settings, ground.data.test
    given = data.per_row
    try:
        refits = record(
            ground.learners[name],
            data.for_learners,
            data.labels,
            Retrain(samples, REPLACED),
            repeats=ground.setup.repeats,
            test_size=min(settings.test_size, ground.test_points / ground.rows),
            random_state=settings.seed,
            executor=ground.executor(samples * ground.setup.repeats * _seconds(ground, name)),
            store=settings.store,
            progress=settings.progress,
            time_limit=settings.time_limit,
            name=name,
            groups=given.groups,
            time=given.time,
            sample_weight=given.weights,
            X_test=None if test is None else test.X,
            y_test=None if test is None else test.y,
        )
        assert isinstance(refits, Labelings)
        return retraining(refits)
    except InputError as mistake:
        return str(mistake)


def _seconds(ground: Groundwork, name: str) -> float:
    held = ground.held_out.get(name)
    return 0.0 if held is None else held.fit_seconds
