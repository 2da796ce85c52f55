"""What all charts share. Read in this order:

`theme` (colours, titles, legends; names and numbers as text), `panel` (marks on two axes), `parts` (figures with
intervals, lines with bands, histograms, heat maps), `placement` (names beside points), `plane` (two columns as a grid,
with regions outlined on it), and `picture_files` (charts written to files, arrays as pictures).
"""
