"""`stabilities`: learners side by side, by how repeatable and how accurate they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from .. import expect
from ..intervals import Estimate
from ..result import Result
from .figures import figures_frame
from .labelings import Labelings
from .stability import Stability, stability

FIGURES = ("stability", "kappa", "accuracy")


@dataclass(frozen=True)
class StabilityTable(Result):
    """What `stabilities` finds: figures of each learner, in the order given.

    `unbeaten` are those than which no other is both at least as repeatable and at least as accurate, by the values.
    """

    names: tuple[str, ...]
    on: str
    pairs: str
    n_points: int
    stability: dict[str, Estimate]
    kappa: dict[str, Estimate]
    accuracy: dict[str, Estimate]
    unbeaten: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row a learner and figure: learner, on, figure, value, low, high, level, kind."""
        tables = [
            figures_frame(name, self.on, {figure: getattr(self, figure)[name] for figure in FIGURES})
            for name in self.names
        ]
        return pd.concat(tables, ignore_index=True)

    def __str__(self) -> str:
        def told(name: str) -> str:
            return f"{name} (stability {self.stability[name]}, accuracy {self.accuracy[name]})"

        steady = max(self.names, key=lambda name: self.stability[name].value)
        right = max(self.names, key=lambda name: self.accuracy[name].value)
        text = f"Of {expect.counted(len(self.names), 'learner')}, compared on {self.n_points} {self.on}, "
        if steady == right:
            return f"{text}{told(steady)} is the most repeatable and the most accurate."
        return (
            f"{text}{told(steady)} is the most repeatable and {told(right)} the most accurate. No other is both more "
            f"repeatable and more accurate than {', '.join(self.unbeaten)}."
        )


def stabilities(found: Mapping[str, Stability | Labelings]) -> StabilityTable:
    """Put learners side by side: stability, kappa and accuracy of each, and which of them no other beats on both.

    A learner is beaten if another is at least as repeatable and at least as accurate, and more so in one. Where
    intervals overlap, the order may be chance. The learners must have been compared on the same kind and number of
    points, by the same kind of pairs: use the same data, scheme, probes and random_state.

    Parameters
    ----------
    found : name -> what `stability` returned, or a record, at least one

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.arange(200) % 2
    >>> noisy = np.random.default_rng(0).random((20, 200)) < 0.2
    >>> records = {"always 0": np.zeros((20, 200), int), "noisy": noisy ^ truth}
    >>> table = stabilities({name: Labelings.from_arrays(labels, truth) for name, labels in records.items()})
    >>> table.unbeaten
    ('always 0', 'noisy')

    """
    if not isinstance(found, Mapping) or not found:
        raise expect.InputError("`found` is empty or no mapping; {name: stability(labelings), …} is expected.")
    results: dict[str, Stability] = {}
    for name, given in found.items():
        one = stability(given) if isinstance(given, Labelings) else given
        if not isinstance(one, Stability):
            raise expect.InputError(
                f"`found[{name!r}]` is {type(given).__name__}; what `classay.stability` returned for a classifier is "
                "expected."
            )
        results[str(name)] = one
    first = next(iter(results.values()))
    for name, one in results.items():
        if (one.on, one.n_points, one.pairs) != (first.on, first.n_points, first.pairs):
            raise expect.InputError(
                f"{name!r} was compared on {one.n_points} {one.on} by {one.pairs}, and {next(iter(results))!r} on "
                f"{first.n_points} {first.on} by {first.pairs}; the same is expected of all. Record them alike."
            )
    estimates = {figure: {name: getattr(one, figure) for name, one in results.items()} for figure in FIGURES}
    return StabilityTable(
        names=tuple(results),
        on=first.on,
        pairs=first.pairs,
        n_points=first.n_points,
        unbeaten=_unbeaten(results),
        **estimates,
    )


def _unbeaten(results: dict[str, Stability]) -> tuple[str, ...]:
    places = {name: (one.stability.value, one.accuracy.value) for name, one in results.items()}

    def beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
        return one[0] >= other[0] and one[1] >= other[1] and one != other

    return tuple(name for name, own in places.items() if not any(beats(other, own) for other in places.values()))
