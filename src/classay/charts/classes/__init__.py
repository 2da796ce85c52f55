"""Charts of label sets. Read in this order:

`curve` (accuracy by the number of classes, and its logarithmic axis, which the others use; expected cost),
`extrapolation` (more classes than observed), `distribution` (the share of classes that a row beats, two curves that
cross, classes that are added), `information` (bits, of one decoder or several), and `identification`
(one stimulus among k).
"""
