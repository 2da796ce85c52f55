"""`preferences`: the same two concepts put to several learners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..expect import InputError, shown
from ..result import Result
from .preference import INTERRUPTED, Preference, preference


@dataclass(frozen=True)
class Preferences(Result):
    """What each learner prefers: name -> `Preference`, all about the same `f1` and `f2`.

    `notes` says which learners were not asked, if Ctrl-C came.
    """

    f1: str
    f2: str
    learners: dict[str, Preference]
    notes: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """One row a learner and figure: learner, f1, f2, figure, value, low, high, level, kind, favoured, verdict."""
        frames = [
            each.to_frame().assign(favoured=each.favoured, verdict=each.verdict) for each in self.learners.values()
        ]
        return pd.concat(frames, ignore_index=True)

    def __str__(self) -> str:
        favoured: dict[str, list[str]] = {}
        for name, each in self.learners.items():
            favoured.setdefault(each.favoured or "", []).append(f"{name} (p* {each.crossing:.2f}, {each.verdict})")
        parts = [f"«{concept}» is favoured by {', '.join(names)}" for concept, names in favoured.items() if concept]
        if "" in favoured:
            parts.append(f"no preference is told of {', '.join(favoured[''])}")
        return " ".join([f"At equal evidence for «{self.f1}» and «{self.f2}»: {'; '.join(parts)}.", *self.notes])


def preferences(learners: Mapping[str, Any], f1: Any, f2: Any, **options: Any) -> Preferences:
    """Tell which of two concepts each learner favours, and how much evidence turns it: `preference`, side by side.

    All learners are asked with the same training rows and labels at the same p, as far as their searches go the same
    way. What the figures are, and when they mislead, is said at `preference`; `options` are its own. Ctrl-C ends it
    with what is done.

    Parameters
    ----------
    learners : name -> learner
    f1, f2, options : as in `preference`

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> trees = {f"depth {depth}": DecisionTreeClassifier(max_depth=depth) for depth in (1, 3)}
    >>> p = preferences(trees, "x0 > 0.5", "x0 > 0.3 and x1 > 0.3", n_samples=100, budget=80, executor=1)
    >>> [each.favoured for each in p.learners.values()]    # None: not told
    ['x0 > 0.5', None]

    """
    if not isinstance(learners, Mapping) or not learners:
        raise InputError("`learners` must be a dict, name -> learner, with at least one. For one, use `preference`.")
    found: dict[str, Preference] = {}
    for name, learner in learners.items():
        try:
            found[str(name)] = preference(learner, f1, f2, name=str(name), **options)
        except KeyboardInterrupt:  # before anything could be told of this one
            if not found:
                raise
            break
        if found[str(name)].stopped == INTERRUPTED:
            break
    left = [str(name) for name in learners if str(name) not in found]
    notes = (f"Interrupted: {shown(left)} not asked.",) if left else ()
    first = next(iter(found.values()))
    return Preferences(first.f1, first.f2, found, notes)
