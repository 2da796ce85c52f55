"""The report: all measurements of learners, data, classes and networks, on one page, text first.

Read `assay` (`characterize`, and what is checked before any fit), then `budget` and `measure` (which fits are made,
and everything measured from them), `results` (what that gives) and `build`, which makes the `document`. Its parts are
`figures`, `findings/` (one rule per file) and `sections/`; `phrases` and `glossary` have the words for figures.
`export/` writes and opens documents, `gates/` checks them against thresholds.
"""
