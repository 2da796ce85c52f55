"""`preference`: which of two concepts a learner favours when the evidence is balanced, and how strongly.

Training sets t_p take each label from f1 with probability p and from f2 with 1 − p. At p = 0.5 the evidence supports
both equally; what the learner then predicts shows its own bias. The p at which its preference switches is the strength
of that bias.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ... import expect, seeds
from ...estimators.adapters import short_name
from ...expect import InputError, shown
from ...intervals import Estimate
from ...result import Result
from ..fitting import checks
from .concepts import concept, space_of
from .crossover import HALF, KIND, Search, mean_share
from .trials import conduct, rivals

CROSSES, EXCLUSIVE, AGAINST, NOT_TOLD = "crosses", "exclusive", "against the evidence", "undetermined"
PRECISE, SPENT, NO_CROSSING, INTERRUPTED = "precise enough", "budget spent", "no crossing", "interrupted"


@dataclass(frozen=True)
class Preference(Result, chart="preference:preference_chart", columns=("learner", "f1", "f2")):
    """The result of `preference`.

    `difference` is E agree(f1, f_L) − E agree(f2, f_L) at p = 0.5, between ±`disagreement`, the share of probes on
    which the two concepts differ; `favoured` is the concept that it favours, None if that interval contains 0, or if
    the one of `crossing` contains 0.5. `crossing` is p*, where the preference switches; `strength` the share of the
    evidence that the less favoured concept needs before the learner prefers it: 0.5 (no bias) to 1 (exclusive).
    `verdict`: "crosses"; "exclusive" (one concept is preferred whatever the evidence); "against the evidence" (more
    evidence for one makes it prefer the other); "undetermined" (within the budget). `evaluations` has one row per p
    evaluated, `per_fit` one per fit. `stopped` says why the search ended.
    """

    learner: str
    f1: str
    f2: str
    verdict: str
    favoured: str | None
    difference: Estimate
    crossing: Estimate
    strength: Estimate
    disagreement: float
    n_samples: int
    probes: str
    n_fits: int
    n_failed: int
    stopped: str
    evaluations: pd.DataFrame
    per_fit: pd.DataFrame
    notes: tuple[str, ...]

    def __str__(self) -> str:
        f1, f2 = f"`{self.f1}`", f"`{self.f2}`"
        gap = f"{self.difference:+.3f} of comparison points agree more with {f1} than with {f2}"
        if self.favoured is None:
            text = f"{self.learner}: no clear preference at equal evidence ({gap})."
        else:
            text = f"{self.learner} favours `{self.favoured}` at equal evidence ({gap})."
        if self.verdict == CROSSES:
            text += f" It prefers {f1} once more than {self.crossing:.3f} of the conflicting labels support it"
            spans = self.crossing.low < HALF < self.crossing.high
            text += "; that interval includes equal evidence." if spans else f" (strength {self.strength:.3f})."
        elif self.verdict == EXCLUSIVE:
            only, never = (f1, f2) if self.crossing.low < HALF else (f2, f1)
            text += f" It prefers {only} even if every label supports {never}: the bias is exclusive."
        elif self.verdict == AGAINST:
            text += " More evidence for a concept makes it prefer the other one."
        else:
            text += (
                f" {self.n_fits} fits do not determine where the preference switches: between p = "
                f"{self.crossing.low:.3g} and {self.crossing.high:.3g}, if at all."
            )
        return " ".join([text, *self.notes])


@dataclass(frozen=True)
class Preferences(Result, chart="preference:preferences_chart"):
    """What each learner prefers: name -> `Preference`, all about the same `f1` and `f2`.

    `notes` lists the learners that were not run, after Ctrl-C.
    """

    f1: str
    f2: str
    learners: dict[str, Preference]
    notes: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """One row per learner and figure: learner, f1, f2, figure, value, low, high, level, kind, favoured, verdict."""
        frames = [own.to_frame().assign(favoured=own.favoured, verdict=own.verdict) for own in self.learners.values()]
        return pd.concat(frames, ignore_index=True)

    def __str__(self) -> str:
        favoured: dict[str, list[str]] = {}
        for name, own in self.learners.items():
            favoured.setdefault(own.favoured or "", []).append(f"{name} (p* {own.crossing:.2f}, {own.verdict})")
        parts = [f"`{concept}` is favoured by {', '.join(names)}" for concept, names in favoured.items() if concept]
        if "" in favoured:
            parts.append(f"no clear preference: {', '.join(favoured[''])}")
        return " ".join([f"At equal evidence for `{self.f1}` and `{self.f2}`: {'; '.join(parts)}.", *self.notes])


def preference(
    learner: Any,
    f1: Any,
    f2: Any,
    *,
    attributes: Any = None,
    n_samples: int = 200,
    correlation: float = 0.0,
    probes: Any = None,
    budget: int = 600,
    precision: float = 0.02,
    level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
    executor: Executor | int | None = None,
    progress: bool = False,
    time_limit: float | None = None,
    name: str | None = None,
) -> Any:
    """Measure which of two concepts a learner favours at equal evidence, and how much evidence changes that.

    difference(p) = E agree(f1, f_L(t_p)) − E agree(f2, f_L(t_p)); p*: where it is 0. t_p has `n_samples` rows, each
    label from f1 with probability p, else from f2 (the paper's equation 3 has the two swapped; its text is as here).

    The difference runs from −disagreement to +disagreement; above 0, f1 is preferred. p* = 0.5 is no bias; above it the
    learner favours f2 and needs more evidence for f1, below it favours f1. Never crossing is an exclusive bias.

    It misleads if read as a property of the learner alone: it depends on these concepts, this distribution of training
    rows and their number. Preference is assumed to rise with p; `notes` says where it does not. The interval of p* is
    over training sets and probes.

    Parameters
    ----------
    learner : a scikit-learn classifier or regressor. Predictions of a regressor agree with the concept that they are
        nearer to. Or several, name -> learner: all get the same training rows and labels at the same p, as long as
        their searches go the same way; the result is `Preferences`
    f1, f2 : expressions over columns ("x0 > 0.5"), functions of rows, or fitted classifiers; any number of classes. For
        a regressor, functions that return numbers, or fitted regressors
    attributes : rows of data to draw training rows from; or columns as {"heat": (20, 80), "alloy": ["A", "B"], "wet":
        "bool"}; or a number of columns x0, x1, … between 0 and 1, inferred if both concepts are expressions over them
    n_samples : rows of a training set
    correlation : of every pair of described numeric columns, in training rows
    probes : None for uniform over the attribute space; otherwise as in `record`
    budget : maximum number of fits
    precision : p* is searched until its interval is no wider than twice this
    level : confidence level of the intervals
    random_state, executor, progress, time_limit, name : as in `record`

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> stump = DecisionTreeClassifier(max_depth=1)
    >>> p = preference(stump, "x0 > 0.5", "x0 > 0.3 and x1 > 0.3", n_samples=100, budget=100, executor=1)
    >>> p.favoured, p.verdict
    ('x0 > 0.5', 'crosses')
    >>> trees = {"depth 1": stump, "depth 3": DecisionTreeClassifier(max_depth=3)}
    >>> p = preference(trees, "x0 > 0.5", "x0 > 0.3 and x1 > 0.3", n_samples=100, budget=80, executor=1)
    >>> [one.favoured for one in p.learners.values()]    # None: no clear preference
    ['x0 > 0.5', None]

    References
    ----------
    Turney, Technical Note: Bias and the Quantification of Stability, Machine Learning 20 (1995), definitions 4 to 6.

    """
    if isinstance(learner, Mapping):
        options: dict[str, Any] = {
            "attributes": attributes,
            "n_samples": n_samples,
            "correlation": correlation,
            "probes": probes,
            "budget": budget,
            "precision": precision,
            "level": level,
            "random_state": seeds.settle(random_state),
            "executor": executor,
            "progress": progress,
            "time_limit": time_limit,
        }
        return _of_each(learner, partial(preference, f1=f1, f2=f2, **options))
    expect.whole(n_samples, "n_samples", at_least=2)
    expect.whole(budget, "budget", at_least=60, why="Fewer fits cannot show where the preference switches.")
    expect.fraction(precision, "precision")
    expect.fraction(level, "level")
    seed = seeds.settle(random_state)
    space = space_of(attributes, f1, f2, correlation)
    concepts = concept(f1, "f1", space), concept(f2, "f2", space)
    both, more = rivals(learner, concepts, space, n_samples, probes, seed, checks.seconds_limit(time_limit))
    called = name or short_name(learner)
    search, trials, interrupted = conduct(both, Search(budget, precision, level), executor, progress, called)

    notes: list[str] = [*more]
    failed = [trial for trial in trials if trial.error]
    if failed:
        notes.append(f"{len(failed)} of {len(trials)} fits failed and were dropped; the first: {failed[0].error}")
    single = sum(trial.one_class for trial in trials)
    if single:
        notes.append(f"{single} of {len(trials)} training sets had one class, which was taken as the prediction.")
    verdict, crossing = _verdict(search)
    if not search.rises and verdict != AGAINST:  # that it falls is then the verdict itself
        first = "; the reported crossing is the first" if verdict == CROSSES else ""
        notes.append(f"Preference does not rise with p everywhere{first}.")
    if interrupted:
        notes.append("Interrupted: the figures cover only what was done until then.")
    difference = _scaled(mean_share(search.shares[search.places == HALF], level), both.disagreement)
    stopped = INTERRUPTED if interrupted else SPENT
    if not interrupted and verdict in (EXCLUSIVE, AGAINST):
        stopped = NO_CROSSING
    elif not interrupted and crossing.high - crossing.low <= 2 * precision:
        stopped = PRECISE
    return Preference(
        learner=called,
        f1=concepts[0].name,
        f2=concepts[1].name,
        verdict=verdict,
        favoured=_favoured(concepts[0].name, concepts[1].name, difference, verdict, crossing),
        difference=difference,
        crossing=crossing,
        strength=_strength(verdict, crossing),
        disagreement=both.disagreement,
        n_samples=n_samples,
        probes=both.kind,
        n_fits=len(trials),
        n_failed=len(failed),
        stopped=stopped,
        evaluations=_evaluations(search, both.disagreement),
        per_fit=pd.DataFrame(
            {"p": search.places, "stage": search.stages, "difference": (2 * search.shares - 1) * both.disagreement}
        ),
        notes=tuple(notes),
    )


def _verdict(search: Search) -> tuple[str, Estimate]:
    """Whether and where the preference switches."""
    low, high = search.side(0.0), search.side(1.0)
    if low is False and high is True:
        return CROSSES, search.crossing()
    nowhere = Estimate(math.nan, 0.0, 1.0, search.level, "none")
    if low is True and high is False:
        return AGAINST, nowhere
    if low is True:
        return EXCLUSIVE, replace(nowhere, high=0.0)
    if high is False:
        return EXCLUSIVE, replace(nowhere, low=1.0)
    below, above = search.bracket()
    return NOT_TOLD, replace(nowhere, low=below, high=above, kind="undetermined")


def _favoured(f1: str, f2: str, difference: Estimate, verdict: str, crossing: Estimate) -> str | None:
    """The favoured concept, if both the difference at equal evidence and p* show it."""
    if difference.low <= 0 <= difference.high or (verdict == CROSSES and crossing.low < HALF < crossing.high):
        return None
    return f1 if difference.value > 0 else f2


def _strength(verdict: str, crossing: Estimate) -> Estimate:
    """The distance of p* from ½, as the share of the evidence that the less favoured concept needs."""
    if verdict == EXCLUSIVE:
        return replace(crossing, value=1.0, low=1.0, high=1.0, kind="exclusive")
    ends = crossing.low, crossing.high, 1 - crossing.low, 1 - crossing.high
    low = HALF if crossing.low < HALF < crossing.high else sorted(ends)[2]
    return replace(crossing, value=max(crossing.value, 1 - crossing.value), low=low, high=max(ends))


def _evaluations(search: Search, disagreement: float) -> pd.DataFrame:
    """One row per p: the difference there, its interval, and the number of fits behind it."""
    rows = []
    for place in np.unique(search.places):
        here = search.shares[search.places == place]
        mean = _scaled(mean_share(here, search.level), disagreement)
        rows.append(
            {"p": float(place), "difference": mean.value, "low": mean.low, "high": mean.high, "fits": here.size}
        )
    return pd.DataFrame(rows)


def _scaled(share: Estimate, disagreement: float) -> Estimate:
    """A share of conflicting predictions as a difference of agreements."""
    value, low, high = ((2 * each - 1) * disagreement for each in (share.value, share.low, share.high))
    return Estimate(value, low, high, share.level, KIND)


def _of_each(learners: Mapping[str, Any], measure: Callable[..., Preference]) -> Preferences:
    """The preference of each learner; Ctrl-C gives those that are done."""
    if not learners:
        raise InputError("`learner` is an empty dict; expected a learner, or at least one as {name: learner}.")
    by_learner: dict[str, Preference] = {}
    for name, learner in learners.items():
        try:
            by_learner[str(name)] = measure(learner, name=str(name))
        except KeyboardInterrupt:  # before this learner has any result
            if not by_learner:
                raise
            break
        if by_learner[str(name)].stopped == INTERRUPTED:
            break
    left = [str(name) for name in learners if str(name) not in by_learner]
    notes = (f"Interrupted: {shown(left)} not run.",) if left else ()
    first = next(iter(by_learner.values()))
    return Preferences(first.f1, first.f2, by_learner, notes)
