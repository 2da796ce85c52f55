"""The distribution of U, the share of all classes that a row beats: one object for every question about more classes.

Read `u_distribution` first (the result, the verb, and accuracy, top-m, costs and the largest label set from it).
`label_sets` has the same figures for the observed classes, without any model. `overtake` compares two classifiers,
`nested` adds classes to those that there are.
"""

from .nested import nested_accuracy
from .overtake import crossing
from .u_distribution import u_distribution

__all__ = ["crossing", "nested_accuracy", "u_distribution"]
