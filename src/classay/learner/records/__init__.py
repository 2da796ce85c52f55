"""What refits predicted: `Labelings` of a classifier, `Predictions` of a regressor.

Read `base` (what both have in common, and how they are written to a file), `codecs` (how predictions are stored),
`scores` (how scores are), then `labelings` and `predictions`. `load` reads either. A record can also be made from
predictions of any other system: `Labelings.from_arrays`, `from_frame` (`prediction_table`); `prediction_file` reads a
file for the rows of a table.
"""
