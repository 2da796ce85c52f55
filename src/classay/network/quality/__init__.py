"""Measures of a network: head, features of labelled rows, prototypes, and several networks in one ranking.

Read `quality` first (`network_quality`, the estimate of accuracy and when to doubt it). `head` and `features` measure
one matrix each; `figures` has every dataless figure with its meaning; `labelled_rows`
the accuracy by a few rows with labels, and which rows to label; `rank_networks` the table over many networks.
"""

from .features import feature_quality
from .head import head_quality
from .labelled_rows import RowsToLabel, rows_to_label
from .quality import network_quality
from .rank_networks import rank_networks

__all__ = ["RowsToLabel", "feature_quality", "head_quality", "network_quality", "rank_networks", "rows_to_label"]
