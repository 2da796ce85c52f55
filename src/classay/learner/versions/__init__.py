"""Versions and raters compared on the same items: what changed, what a mere refit would change, and who agrees.

Read `differences` (of two records on the same items, with their error over items and fits) and `compare`; `judges`
compares raters, `repeats` says how often to ask.
"""
