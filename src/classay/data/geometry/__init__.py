"""Where classes lie, and how far rows are from them.

`moments` is the record (`Geometry`): count, mean and scatter of every class. Then `covariance` (invertible, or shrunk),
`distances` (of rows to classes), `cross_fit` (rows measured by a geometry that has not seen them) and `choice` (the
best distance).
"""
