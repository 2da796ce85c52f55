"""The report: all measurements of learners, data, classes and networks, on one page, text first."""
