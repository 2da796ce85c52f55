"""Findings: conclusions from the figures, by subject."""
