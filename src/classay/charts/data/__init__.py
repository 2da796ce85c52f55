"""Charts of rows and labels that look different from figures with intervals.

`complexity` (its distribution by class, confused classes, and the kinds of `Complexity.plot`), `hardest` (the hardest
rows as a table) and `slices` (where errors concentrate, as ranked bars).
"""
