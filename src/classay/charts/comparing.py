"""What may be drawn into one chart, and under which labels."""

from __future__ import annotations

from collections.abc import Sequence

from ..expect import InputError
from ..learner.orientation import Orientation
from .words import labels


def compared(orientations: Sequence[Orientation], *, same_holdouts: bool) -> dict[str, Orientation]:
    """Label -> orientation. With `same_holdouts` all must have one holdout size and one number of classes."""
    if not orientations:
        raise InputError("There is nothing to draw; give at least one orientation.")
    for each in orientations:
        if not isinstance(each, Orientation):
            raise InputError(f"{type(each).__name__} was given; what `classay.orientation` returns is expected.")
    first = orientations[0]
    found = dict(zip(labels([each.learner for each in orientations]), orientations))
    for label, each in found.items():
        if same_holdouts and (each.holdout_size, each.n_classes) != (first.holdout_size, first.n_classes):
            raise InputError(
                f"{label!r} has holdouts of {each.holdout_size} points and {each.n_classes} classes, "
                f"{next(iter(found))!r} of {first.holdout_size} and {first.n_classes}; one chart needs the same. "
                "Use one holdout_size, and draw each data set by itself."
            )
    return found
