"""The report: all measurements of learners, records, predictions, data and networks, on one page, text first.

Read `characterization` first: `characterize`, from the arguments to the document. `run/` makes `results`: of learners
that are fitted in rounds, or of records and rows that are given. `document/` has the sections, figures and verdict of
results, `findings/` the conclusions; each says what it lacks. `export/` writes and opens documents, `gates/` checks
them against thresholds.
"""
