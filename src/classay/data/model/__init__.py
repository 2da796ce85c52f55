"""A model and the rows: `baseline` (what it must beat), `paired` (two classifiers on the same rows), `new_rows` (unlike
the known ones) and `error_slices` (where it errs).
"""
