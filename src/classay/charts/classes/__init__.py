"""Charts of label sets. Read in this order:

`curve` (accuracy by the number of classes, and its logarithmic axis, which the others use; expected cost),
`extrapolation` (more classes than observed), `information` (bits, of one decoder or several), and `identification`
(one stimulus among k).
"""
