"""The body of a report: one function per section, which writes the text and chooses charts and tables.

In the order of the page: `learners` (the overview, and where refits disagree), `data` (the rows, and slices in which
errors concentrate), `classes_and_networks`. The last section, on methods, is in `assay`.
"""
