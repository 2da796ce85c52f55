"""Learners of any package, on the ground: what classay needs of them before it measures anything.

Read `adapters` (names, seeds, labels that a learner accepts), `fit` (the one kernel that fits, and its lock), `scores`
(scores of every class), `trial` (whether a learner takes the user's table as it is, and the wrapping if not), `encoder`
(categories, missing values and texts as numbers inside each fit), `spec` (learners from text, as commands and files
give them, without running code; `plain_parameters` says which values they may set).
"""
