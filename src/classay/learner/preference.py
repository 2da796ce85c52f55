"""`preference`: which of two concepts a learner leans to when the evidence is balanced, and how strongly.

Training sets t_p take each label from f1 with probability p and from f2 with 1 − p. At p = 0.5 the evidence speaks for
both alike; what the learner then answers is its own bias. The p at which it changes over is the strength of that bias.
"""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from .. import expect, seeds
from ..intervals import Estimate
from ..learners import short_name
from ..result import Result
from . import examine
from .attributes import attributes as described
from .concepts import columns_named, concept
from .crossing import HALF, Search
from .shares import KIND, mean_share
from .trials import conduct, rivals

CROSSES, EXCLUSIVE, AGAINST, NOT_TOLD = "crosses", "exclusive", "against the evidence", "not told"
PRECISE, SPENT, NO_CROSSING, INTERRUPTED = "precise enough", "budget spent", "no crossing", "interrupted"


@dataclass(frozen=True)
class Preference(Result):
    """What `preference` finds.

    `difference` is E agree(f1, f_L) − E agree(f2, f_L) at p = 0.5, between ±`disagreement`, the share of probes on
    which the two concepts differ; `favoured` is the concept that it speaks for, None if the interval contains 0.
    `crossing` is p*, where preference changes over. `verdict`: «crosses»; «exclusive» (one concept is preferred
    whatever the evidence); «against the evidence» (more evidence for one makes it prefer the other); «not told» (within
    the budget). `evaluations` has one row for each p asked, `per_fit` one for each fit. `stopped` says why the search
    ended.
    """

    learner: str
    f1: str
    f2: str
    verdict: str
    favoured: str | None
    difference: Estimate
    crossing: Estimate
    disagreement: float
    n_samples: int
    probes: str
    n_fits: int
    n_failed: int
    stopped: str
    evaluations: pd.DataFrame
    per_fit: pd.DataFrame
    notes: tuple[str, ...]

    @property
    def strength(self) -> Estimate:
        """How much of the evidence must speak for the less favoured concept before the learner prefers it: ½ to 1."""
        p = self.crossing
        if self.difference.value > 0:
            return replace(p, value=1 - p.value, low=1 - p.high, high=1 - p.low)
        return p

    def to_frame(self) -> pd.DataFrame:
        """One row a figure: learner, f1, f2, figure, value, low, high, level, kind."""
        rows = [
            {"figure": name, "value": each.value, "low": each.low, "high": each.high}
            | {"level": each.level, "kind": each.kind}
            for name, each in (("difference", self.difference), ("crossing", self.crossing))
        ]
        frame = pd.DataFrame(rows)
        for place, name in enumerate(("learner", "f1", "f2")):
            frame.insert(place, name, getattr(self, name))
        return frame

    def __str__(self) -> str:
        f1, f2 = f"«{self.f1}»", f"«{self.f2}»"
        gap = f"{self.difference:+.3f} of probes agree more with {f1} than with {f2}"
        if self.favoured is None:
            text = f"{self.learner}: no preference is told at equal evidence ({gap})."
        else:
            text = f"{self.learner} favours «{self.favoured}» at equal evidence ({gap})."
        if self.verdict == CROSSES:
            text += f" It prefers {f1} once more than {self.crossing:.3f} of the rival labels speak for it"
            leans = f1 if self.crossing.high < HALF else f2 if self.crossing.low > HALF else ""
            text += f", so it leans to {leans}." if leans and self.favoured is None else "."
        elif self.verdict == EXCLUSIVE:
            only, never = (f1, f2) if self.crossing.low < HALF else (f2, f1)
            text += f" It prefers {only} even if every label speaks for {never}: the bias is exclusive."
        elif self.verdict == AGAINST:
            text += " More evidence for a concept makes it prefer the other one."
        else:
            text += (
                f" Where preference changes over is not told by {self.n_fits} fits: between p = "
                f"{self.crossing.low:.3g} and {self.crossing.high:.3g}, if at all."
            )
        return " ".join([text, *self.notes])


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
) -> Preference:
    """Tell which of two concepts a learner favours at equal evidence, and how much evidence turns it.

    difference(p) = E agree(f1, f_L(t_p)) − E agree(f2, f_L(t_p)); p*: where it is 0. t_p has `n_samples` rows, each
    label from f1 with probability p, else from f2 (the paper's equation 3 has the two swapped; its text is as here).

    The difference runs from −disagreement to +disagreement; above 0, f1 is preferred. p* = 0.5 is no bias; above it the
    learner leans to f2 and needs more evidence for f1, below it leans to f1. Never crossing is an exclusive bias.

    It misleads if read as a property of the learner alone: it belongs to these concepts, this distribution of training
    rows and this number of them. Preference is taken to rise with p; `notes` says where it does not. The interval of p*
    is over training sets and probes.

    Parameters
    ----------
    learner : a scikit-learn classifier
    f1, f2 : expressions over columns ("x0 > 0.5"), functions of rows, or fitted classifiers; any number of classes
    attributes : rows of data to draw training rows from; or columns as {"heat": (20, 80), "alloy": ["A", "B"], "wet":
        "bool"}; or a number of columns x0, x1, … between 0 and 1, which two expressions over such names say themselves
    n_samples : rows of a training set
    correlation : of every pair of numeric columns that are described, in training rows
    probes : None for uniform over the attribute space; otherwise as in `record`
    budget : most fits to spend
    precision : p* is searched until its interval is no wider than twice this
    level : of the intervals
    random_state, executor, progress, time_limit, name : as in `record`

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> stump = DecisionTreeClassifier(max_depth=1)
    >>> p = preference(stump, "x0 > 0.5", "x0 > 0.3 and x1 > 0.3", n_samples=100, budget=100, executor=1)
    >>> p.favoured, p.verdict
    ('x0 > 0.5', 'crosses')

    References
    ----------
    Turney, Technical Note: Bias and the Quantification of Stability, Machine Learning 20 (1995), definitions 4 to 6.

    """
    expect.whole(n_samples, "n_samples", at_least=2)
    expect.whole(budget, "budget", at_least=60, why="Fewer fits cannot tell where preference changes over.")
    expect.fraction(precision, "precision")
    expect.fraction(level, "level")
    seed = seeds.settle(random_state)
    if attributes is None:
        attributes = columns_named(f1, f2)
        if attributes is None:
            raise expect.InputError(
                "`attributes` is missing: only expressions over x0, x1, … say by themselves which columns there are. "
                "Describe them, as in attributes={'heat': (20, 80), 'alloy': ['A', 'B']}, or pass rows of data."
            )
    space = described(attributes, correlation)
    concepts = concept(f1, "f1", space), concept(f2, "f2", space)
    both, notes = rivals(learner, concepts, space, n_samples, probes, seed, examine.time_limit(time_limit))
    called = name or short_name(learner)
    search, trials, interrupted = conduct(both, Search(budget, precision, level), executor, progress, called)

    failed = [trial for trial in trials if trial.error]
    if failed:
        notes.append(f"{len(failed)} of {len(trials)} fits failed and were left out; the first: {failed[0].error}")
    single = sum(trial.one_class for trial in trials)
    if single:
        notes.append(f"{single} of {len(trials)} training sets had one class, which was taken as the answer.")
    if not search.rises:
        notes.append("Preference does not rise with p everywhere; the crossing given is the first.")
    if interrupted:
        notes.append("Interrupted: the figures are of what was done by then.")
    difference = _scaled(mean_share(search.shares[search.places == HALF], level), both.disagreement)
    verdict, crossing = _verdict(search)
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
        favoured=concepts[0].name if difference.low > 0 else concepts[1].name if difference.high < 0 else None,
        difference=difference,
        crossing=crossing,
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
    """Whether and where preference changes over."""
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
    return NOT_TOLD, replace(nowhere, low=below, high=above, kind="not told")


def _evaluations(search: Search, disagreement: float) -> pd.DataFrame:
    """One row for each p: the difference there, its interval, and how many fits tell it."""
    rows = []
    for place in np.unique(search.places):
        here = search.shares[search.places == place]
        mean = _scaled(mean_share(here, search.level), disagreement)
        rows.append(
            {"p": float(place), "difference": mean.value, "low": mean.low, "high": mean.high, "fits": here.size}
        )
    return pd.DataFrame(rows)


def _scaled(share: Estimate, disagreement: float) -> Estimate:
    """A share of rival answers as a difference of agreements."""
    value, low, high = ((2 * each - 1) * disagreement for each in (share.value, share.low, share.high))
    return Estimate(value, low, high, share.level, KIND)
