"""Thresholds on the figures of a report, for continuous integration.

Read `gate` first (how a gate is parsed), then `gates` (how it is checked against a report, as an assertion and as JUnit
XML). `check_file` reads, and first writes, the file that says what to measure and which gates it must pass.
`report_changes` compares two reports.
"""
