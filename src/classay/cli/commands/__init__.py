"""The commands, one module each, read from top to bottom: examples, command, output as text, as JSON, and as charts.

A module has two names that `cli.app` looks for: `EXAMPLES`, shown at the end of its help, and `command`, a function
whose parameters are the arguments and options (those in `cli.options` where another command has them too) and whose
docstring begins with the summary in `app.COMMANDS`. It is imported only when its command is called, so it imports what
it uses at the top; torch, Dask and other extras are imported where they are used.
"""
