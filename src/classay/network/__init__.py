"""A trained network, judged from architecture and weights alone. Everything that runs a network needs torch.

Read in this order: `files` (networks and weights from files), `prototypes` (which layer is the head, and the record:
inputs that the network takes for members of each class), `quality` (every measure of head, features and prototypes, and
the ranking of several networks). `cosines` is the geometry that the last two share. Torch is imported inside functions,
so that importing this package does not load it.
"""

from .quality.labelled_rows import RowsToLabel, rows_to_label

__all__ = ["RowsToLabel", "rows_to_label"]
