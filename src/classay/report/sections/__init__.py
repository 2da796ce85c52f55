"""The body of a report: one function a section, which words what was found and picks pictures and tables."""
