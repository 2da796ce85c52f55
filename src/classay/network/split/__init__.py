"""A network split into the feature extractor and the head, its last linear layer.

Read `split` first (the result, the verb, and the likely shape of inputs). `trace` runs one forward pass and records
what each layer takes and gives; `last_layer` decides from that which layer is the head, or why none is.
"""

from .split import split

__all__ = ["split"]
