"""The report: all measurements of learners, data, classes and networks, on one page, text first.

Read `assay` first: `characterize`, from the arguments to the document. Then `budget` and `measure` (which fits are
made, and everything measured from them), `results` (what that gives), and the `document`, which consists of `figures`,
`findings/` (one rule per file) and `sections/`. `phrases` and `glossary` have the words for figures. `export/` writes
and opens documents, `gates/` checks them against thresholds.
"""
