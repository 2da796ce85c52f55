"""The record of a network: inputs that it takes for members of each class, made by walking down the loss.

Read `prototypes` (the verb) and `record` (what it returns) first. `schedule` chooses the walks and their step, `runner`
runs them with a store, `walks` is the walk itself and where it begins, and `probes` has the figures that need the
network or its weights.
"""

from .prototypes import prototypes
from .record import Prototypes

__all__ = ["Prototypes", "prototypes"]
