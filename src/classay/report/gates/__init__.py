"""Thresholds on the figures of a report, for continuous integration.

Read `gates` first: how a gate is parsed, checked against a report, and written as JUnit XML. `check_file` reads the
file that says what to assay and which gates it must pass.
"""
