"""The record of a network: inputs that it takes for members of each class, made by walking down the loss.

Read `prototypes` first (the verb and what it returns). `split` cuts a network into the feature extractor and the head,
its last linear layer: `trace` runs one forward pass and records what each layer takes and gives, `last_layer` decides
from that which layer is the head, or why none is. `schedule` chooses the walks and their step, `runner` runs them with
a store, `walks` is the walk itself and where it begins. `structure` is how far weights are from random numbers.
"""

from .prototypes import Prototypes, prototypes

__all__ = ["Prototypes", "prototypes"]
