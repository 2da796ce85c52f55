"""The commands, one module each, read from top to bottom: examples, command, and what is shown of its results.

A module has two names that `cli.app` looks for: `EXAMPLES`, shown at the end of its help, and `command`, whose
parameters are groups of options and options of its own, and whose docstring begins with the summary in `app.COMMANDS`.
It calls one verb and returns an `Outcome`; `runner` does the rest. `FIRST` names the options that come first on a long
help page. A module is imported only when its command is called, so it imports what it uses at the top; torch, Dask and
other extras are imported where they are used.
"""
