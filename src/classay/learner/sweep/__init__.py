"""How does a learner change along a parameter, or with the number of training rows?

Read `sweep` (the verb), `result` (`Sweep`), `best_value` (which values are as good as the best), `store` (what of a
sweep is stored, and where), then `values` (ranges of values as text).
"""
