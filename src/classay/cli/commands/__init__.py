"""The commands, one module each, read from top to bottom: command, and what is shown of its results.

A module has the function `command`, which `cli.app` looks for. Its parameters are groups of options and options of its
own, explained in `help.toml`. It calls one verb and returns an `Outcome`; `runner` does the rest. A module is imported
only when its command is called, so it imports what it uses at the top; torch, Dask and other extras are imported where
they are used.
"""
