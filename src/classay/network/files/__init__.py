"""Networks and weights from files, read without running anything in them unless the user allows it.

Read `checkpoint` first: an architecture by name, filled with the weights of a file. `weights` reads the arrays of
torch, safetensors and NumPy files, and `head_search` finds the head among them, or in the graph of an ONNX file, by
names and sizes.
"""

from .checkpoint import load_network
from .head_search import read_head

__all__ = ["load_network", "read_head"]
