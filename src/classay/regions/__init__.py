"""Search for regions of a table in which an outcome is higher than elsewhere, tested on rows that were not searched.

Read `find` first: the search from options to ranked regions. It uses `columns` (values as ordered codes and bins),
`outcome` (what is searched for, and its tests), `boxes` (counts of all boxes at once, and the best of them) and
`region` (the result, the test on other rows, and overlap). `conditions` says what a region means in the user's units.
Slices of the data room and disagreement regions of the learner room are both found this way.
"""
