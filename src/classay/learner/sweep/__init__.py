"""How does a learner change along a parameter, or with its training data?

Read `sweep` (the verb), `training_data` (what is changed in place of a parameter), `result` (`Sweep`), `best_value`
(which values are as good as the best), then `store` (the fits of a sweep, and what a store lists of it).
"""
