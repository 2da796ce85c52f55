"""Labelled rows, before anything is trained: how hard each row is, what a baseline reaches, where errors concentrate.

`geometry` is the record: count, mean and scatter of every class. Then, towards the verb: `covariance` (invertible, or
shrunk), `distances` (of rows to classes), `cross_fit` (rows measured by a geometry that has not seen them),
`distance_choice` (the best distance), `complexity` (the verb and its result) and `complexity_tables` (what its methods
return). `nearest_rows` (distances to the nearest rows of each class) and `label_model` (wrong labels and overlap) are
below `wrong_labels`. `baseline` is the nearest class as a classifier; `slices` and `text` stand alone. Import verbs
from their modules or from `classay`: two of them have the name of their module, and nothing here is loaded before it
is used.
"""
