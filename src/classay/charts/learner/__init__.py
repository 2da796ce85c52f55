"""Charts of learners. Read in this order:

`orientation` (bias, expressivity, and the plane of both), `kinship` (distances between learners), `stability` (one
learner, several, by training rows), `disagreement` (where refits disagree), `sweep` (along a parameter), `preference`
(between two concepts), and `drift` (over batches).
"""
