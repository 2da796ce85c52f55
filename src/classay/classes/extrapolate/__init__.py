"""Accuracy with more classes than were observed, with an interval, or the statement that it is not identified.

Read `methods` first: the ways to estimate the distribution of U, the share of all classes that a row beats, each a
function of evidence. `u_distribution` has that estimate with its uncertainty, and every question that it answers:
accuracy, top-m, costs of ranks, the largest number of classes, classes that are added.
`extrapolate` is the verb, with the back-test and the notes.
"""
