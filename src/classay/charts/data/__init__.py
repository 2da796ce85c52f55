"""Charts of rows and labels. Read in this order:

`baseline` (what the next three share), `complexity` (its distribution by class, confused classes, and the kinds of
`Complexity.plot`), `hardest` (the hardest rows as a table), `region` (where hard rows lie in the plane of two columns),
and `slices` (where errors concentrate, as ranked bars).
"""
