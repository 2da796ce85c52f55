"""The questions of `classay classes` about label sets: top-m, how many classes, added classes, who overtakes."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from .. import expect
from ..classes.curve.curve import Curve
from ..classes.extrapolate.overtake import Crossing
from ..classes.extrapolate.u_distribution import NestedAccuracy, UDistribution, count_text
from ..intervals import Estimate
from ..result import plain
from . import console

MOST_PAIRS = 10
FAR = 10**6


@dataclass(frozen=True)
class Questions:
    """What was asked: m of top-m, least accuracies, whether the observed classes are kept, whether to compare pairs."""

    top: int | None
    at_least: list[float]
    keep: bool
    compare: bool
    sizes: list[int]
    method: str
    level: float
    seed: int

    def __post_init__(self) -> None:
        """Refuse questions that cannot be decided, before anything is read."""
        if self.top is not None:
            expect.whole(self.top, "--top", at_least=1)
        for each in self.at_least:
            expect.fraction(each, "--at-least")
        if (self.keep or self.top is not None) and not self.sizes:
            name = "--keep" if self.keep else "--top"
            raise expect.InputError(f"{name} needs numbers of classes: add --k 1000, for example.")

    @property
    def any(self) -> bool:
        """Whether anything was asked."""
        return self.top is not None or bool(self.at_least) or self.keep or self.compare


@dataclass(frozen=True)
class Replies:
    """The results, by source."""

    top: dict[str, dict[int, Estimate]] = field(default_factory=dict)
    largest: dict[str, dict[float, Estimate]] = field(default_factory=dict)
    nested: dict[str, list[NestedAccuracy]] = field(default_factory=dict)
    crossings: list[Crossing] = field(default_factory=list)
    distributions: dict[str, UDistribution] = field(default_factory=dict)


def reply(questions: Questions, curves: dict[str, Curve]) -> Replies:
    """Estimate what was asked for every curve."""
    found = Replies()
    if not questions.any:
        return found
    for name, curve in curves.items():
        distribution = curve.u_distribution(questions.method, questions.seed)
        found.distributions[name] = distribution
        if questions.top is not None:
            found.top[name] = {k: distribution.top(questions.top, k) for k in questions.sizes}
        if questions.at_least:
            found.largest[name] = {each: distribution.largest(each) for each in questions.at_least}
        if questions.keep:
            more = [k for k in questions.sizes if k > curve.n_classes]
            found.nested[name] = [distribution.nested(k) for k in more]
    if questions.compare:
        pairs = list(combinations(found.distributions, 2))[:MOST_PAIRS]
        most = max([FAR, *questions.sizes])
        found.crossings.extend(found.distributions[one].crossing(found.distributions[two], most) for one, two in pairs)
    return found


def show(replies: Replies, questions: Questions) -> None:
    """Print the results in words."""
    out = console.out()
    for name, figures in replies.top.items():
        parts = "; ".join(f"{_share(each)} with {k:,}" for k, each in figures.items())
        out.print(f"{name}: the true class is among the first {questions.top}: {parts}.", markup=False)
    for name, sizes in replies.largest.items():
        parts = "; ".join(f"up to {count_text(each)} classes with accuracy {least:g}" for least, each in sizes.items())
        out.print(f"{name}: {parts} or more.", markup=False)
    for each_nested in (one for several in replies.nested.values() for one in several):
        out.print(str(each_nested), markup=False)
    for each_pair in replies.crossings:
        out.print(str(each_pair), markup=False)
    if replies.distributions:
        out.print()


def as_json(replies: Replies) -> dict[str, Any]:
    """Plain JSON values."""
    return {
        "top": {name: {str(k): plain(each) for k, each in sizes.items()} for name, sizes in replies.top.items()},
        "largest": {
            name: {f"{least:g}": plain(each) for least, each in sizes.items()}
            for name, sizes in replies.largest.items()
        },
        "nested": {name: [each.to_dict() for each in several] for name, several in replies.nested.items()},
        "crossings": [each.to_dict() for each in replies.crossings],
    }


def _share(estimate: Estimate) -> str:
    return str(estimate) if estimate.known else f"not identified [{estimate.low:.3g}, {estimate.high:.3g}]"
