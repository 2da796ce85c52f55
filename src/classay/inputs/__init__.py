"""What users hand in, checked once for all rooms: rows, labels and classes, splits by class.

Read `rows` (tables of any kind), `labels` (one per row, and the columns of scores), then `splits`. Checks raise
`InputError` before anything is fitted. Nothing here knows a learner.
"""
