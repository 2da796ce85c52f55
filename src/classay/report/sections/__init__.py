"""The body of a report: one function per section, which writes the text and chooses charts and tables.

In the order of the page: `learners` (the overview, and where refits disagree), `data` (the rows, and slices in which
errors concentrate), `classes_and_networks`, `audit` (how the data were read), `methods`.
"""
