"""Checks of a data set before anything is trained. Each compares a learner with itself, fitted in folds.

`quick_models` (checked rows, fits by fold, skill), `near_rows` (which rows are near each other) and `verdicts` (the
form of a result) are what they share: `target_leaks` (a column predicts the label), `row_dependence` (rows belong
together) and `part_shift` (the test part is unlike the training part, or has its rows).
"""
