"""Accuracy, or cost, with 2, 3, …, K classes, averaged over all label sets of each size.

Read `curve` first: `accuracy_curve`, its result, and the questions that a curve answers. `jackknife` recomputes figures
without some classes: intervals and standard errors of this and the other folders. `risk` is the curve of expected cost.
"""
