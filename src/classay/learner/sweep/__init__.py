"""How does a learner change along a parameter, or with the number of training rows?

Read `sweep` (the verb), `result` (`Sweep`), `best_value` (which values are as good as the best), `store` (the fits of a
sweep, and what a store lists of it), then `values` (ranges of values as text).
"""
