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
from ...arrays import Floats
from ...estimators.adapters import short_name
from ...expect import InputError, shown
from ...intervals import Estimate, bounded
from ...result import Result
from ..fitting import checks
from .concepts import concept, space_of
from .curve import HALF, KIND, Curve, fitted
from .trials import conduct, outcomes, rivals

CROSSES, EXCLUSIVE, AGAINST, NOT_TOLD = "crosses", "exclusive", "against the evidence", "undetermined"
CERTAIN = 0.999
"""Level at which one p counts as preferring a concept, in the search for a fall. Strict, because there are many p."""


@dataclass(frozen=True)
class Preference(Result, chart="preference:preference_chart", columns=("learner", "f1", "f2")):
    """The result of `preference`.

    `difference` is E agree(f1, f_L) − E agree(f2, f_L) at p = 0.5, between ±`disagreement`, the share of probes on
    which the two concepts differ; `favoured` is the concept that it favours, None if that interval contains 0, which is
    when the one of `crossing` contains 0.5. `crossing` is p*, where the preference switches; `strength` the share of
    the evidence that the less favoured concept needs before the learner prefers it: 0.5 (no bias) to 1 (exclusive).
    `verdict`: "crosses"; "exclusive" (one concept is preferred whatever the evidence); "against the evidence" (more
    evidence for one makes it prefer the other); "undetermined" (within the budget). `evaluations` has one row per p
    evaluated, with the `fitted` curve there, `per_fit` one per fit. `interrupted`: by Ctrl-C.
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
    interrupted: bool
    evaluations: pd.DataFrame
    per_fit: pd.DataFrame
    notes: tuple[str, ...]

    def __str__(self) -> str:
        f1, f2 = f"`{self.f1}`", f"`{self.f2}`"
        gap = self.difference
        text = f"{self.learner}: no clear preference at equal evidence (agreement with {f1} minus {f2}: {gap:+.3f})."
        if self.favoured is not None:
            other = f2 if self.favoured == self.f1 else f1
            if gap.value < 0:
                gap = replace(gap, value=-gap.value, low=-gap.high, high=-gap.low)
            text = f"{self.learner} favours `{self.favoured}` at equal evidence: its predictions agree with it on"
            text += f" {gap:.3f} more of the comparison points than with {other}."
        if self.verdict == CROSSES:
            text += f" It prefers {f1} once more than {self.crossing:.3f} of the conflicting labels support it"
            unclear = "; that interval includes equal evidence."
            text += unclear if self.favoured is None else f" (strength {self.strength:.3f})."
        elif self.verdict == EXCLUSIVE:
            text += f" It prefers it even if every label supports {other}: the bias is exclusive."
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
            about = f"p* {own.crossing:.2f}" if own.verdict == CROSSES else own.verdict
            favoured.setdefault(own.favoured or "", []).append(f"{name} ({about})")
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
    budget: int = 300,
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
    rows and their number. Preference is assumed to rise with p; `notes` says where it does not. Both figures are of one
    monotone regression over all fits (`curve`); their intervals are over training sets and probes.

    Parameters
    ----------
    learner : a scikit-learn classifier or regressor. Predictions of a regressor agree with the concept that they are
        nearer to. Or several, name -> learner: all get the same training rows, and the same labels at the same p; the
        result is `Preferences`
    f1, f2 : expressions over columns ("x0 > 0.5"), functions of rows, or fitted classifiers; any number of classes. For
        a regressor, functions that return numbers, or fitted regressors
    attributes : rows of data to draw training rows from; or columns as {"heat": (20, 80), "alloy": ["A", "B"], "wet":
        "bool"}; or a number of columns x0, x1, … between 0 and 1, inferred if both concepts are expressions over them
    n_samples : rows of a training set
    correlation : of every pair of described numeric columns, in training rows
    probes : None for uniform over the attribute space; otherwise as in `record`
    budget : number of fits, at least 10; four times as many halve the intervals
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
        same: dict[str, Any] = {"f1": f1, "f2": f2, "attributes": attributes, "correlation": correlation}
        same |= {"n_samples": n_samples, "probes": probes, "random_state": seeds.settle(random_state)}
        same |= {"budget": budget, "level": level, "executor": executor, "progress": progress, "time_limit": time_limit}
        return _of_each(learner, partial(preference, **same))
    expect.whole(n_samples, "n_samples", at_least=2)
    expect.whole(budget, "budget", at_least=10, why="Fewer fits cannot show where the preference switches.")
    expect.fraction(level, "level")
    seed = seeds.settle(random_state)
    space = space_of(attributes, f1, f2, correlation)
    concepts = concept(f1, "f1", space), concept(f2, "f2", space)
    both, more = rivals(learner, concepts, space, n_samples, probes, seed, checks.seconds_limit(time_limit))
    called = name or short_name(learner)
    trials, window, interrupted = conduct(both, budget, level, executor, progress, called)
    p, shares = outcomes(trials)
    differences = (2 * shares - 1) * both.disagreement
    verdict, crossing, curve = _verdict(p, shares, level, window, n_samples)
    side = curve.side(HALF)

    notes: list[str] = [*more]
    failed = [trial for trial in trials if trial.error]
    if failed:
        notes.append(f"{len(failed)} of {len(trials)} fits failed and were dropped; the first: {failed[0].error}")
    single = sum(trial.one_class for trial in trials)
    if single:
        notes.append(f"{single} of {len(trials)} training sets had one class, which was taken as the prediction.")
    certain = _evaluations(p, differences, both.disagreement, CERTAIN)
    if verdict != AGAINST and certain["p"][certain["high"] < 0].max() > certain["p"][certain["low"] > 0].min():
        notes.append("Preference does not rise with p everywhere; the figures are of the rising curve nearest to it.")
    if interrupted:
        notes.append("Interrupted: the figures cover only what was done until then.")
    evaluations = _evaluations(p, differences, both.disagreement, level)
    rising = evaluations["p"] if verdict != AGAINST else 1 - evaluations["p"]
    return Preference(
        learner=called,
        f1=concepts[0].name,
        f2=concepts[1].name,
        verdict=verdict,
        favoured={1: concepts[0].name, -1: concepts[1].name}.get(side),
        difference=_scaled(curve.share(HALF), both.disagreement),
        crossing=crossing,
        strength=_strength(verdict, crossing),
        disagreement=both.disagreement,
        n_samples=n_samples,
        probes=both.kind,
        n_fits=len(trials),
        n_failed=len(failed),
        interrupted=interrupted,
        evaluations=evaluations.assign(fitted=(2 * curve.mean(rising.to_numpy()) - 1) * both.disagreement),
        per_fit=pd.DataFrame({"p": p, "difference": differences}),
        notes=tuple(notes),
    )


def _verdict(
    p: Floats, shares: Floats, level: float, window: tuple[float, float], n_samples: int
) -> tuple[str, Estimate, Curve]:
    """Whether and where the preference switches, and the curve that shows it; one that falls is fitted to 1 − p."""
    rising, falling = fitted(p, shares, level, window), fitted(1 - p, shares, level)
    low, high = rising.side(0.0), rising.side(1.0)
    nowhere = Estimate(math.nan, 0.0, 1.0, level, "none")
    if rising.deviance - falling.deviance > falling.limit and (falling.side(0.0), falling.side(1.0)) == (-1, 1):
        return AGAINST, nowhere, falling
    if low == 1:  # a training set shows evidence in steps of one label
        return EXCLUSIVE, replace(nowhere, high=1 / n_samples), rising
    if high == -1:
        return EXCLUSIVE, replace(nowhere, low=1 - 1 / n_samples), rising
    crossing = rising.crossing()
    if (low, high) == (-1, 1):
        return CROSSES, crossing, rising
    return NOT_TOLD, replace(crossing, value=math.nan, kind="undetermined"), rising


def _strength(verdict: str, crossing: Estimate) -> Estimate:
    """The distance of p* from ½, as the share of the evidence that the less favoured concept needs."""
    ends = crossing.low, crossing.high, 1 - crossing.low, 1 - crossing.high
    low = HALF if crossing.low < HALF < crossing.high else sorted(ends)[2]
    value, kind = max(crossing.value, 1 - crossing.value), crossing.kind
    if verdict == EXCLUSIVE:
        value, kind = 1.0, "exclusive"
    return replace(crossing, value=value, low=low, high=max(ends), kind=kind)


def _evaluations(p: Floats, differences: Floats, disagreement: float, level: float) -> pd.DataFrame:
    """One row per p: the mean difference there, its interval, and the number of fits behind it."""
    rows = []
    for place in np.unique(p):
        here = differences[p == place]
        error = float(here.std(ddof=1)) / math.sqrt(here.size) if here.size > 1 else 0.0
        limits = {"least": -disagreement, "most": disagreement}
        mean = bounded(float(here.mean()), error, here.size, level, KIND, here.size, **limits)
        rows.append({"p": place, "difference": mean.value, "low": mean.low, "high": mean.high, "fits": here.size})
    return pd.DataFrame(rows)


def _scaled(share: Estimate, disagreement: float) -> Estimate:
    """A share of conflicting predictions as a difference of agreements."""
    value, low, high = ((2 * part - 1) * disagreement for part in (share.value, share.low, share.high))
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
        if by_learner[str(name)].interrupted:
            break
    left = [str(name) for name in learners if str(name) not in by_learner]
    notes = (f"Interrupted: {shown(left)} not run.",) if left else ()
    first = next(iter(by_learner.values()))
    return Preferences(first.f1, first.f2, by_learner, notes)
