"""The body of a report: one function per section, which writes the text and chooses charts and tables."""
