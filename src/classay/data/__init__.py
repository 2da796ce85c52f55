"""Labelled rows, before anything is trained: how hard each row is, what a baseline reaches, where errors concentrate.

`rows` has the verb `complexity` and `row_complexity` its result, whose methods are the questions to it. Below are
`geometry/` (where classes lie, and distances to them), `labels/` (wrong labels) and `model/` (baseline, new rows,
slices); `checks/` (leaks, dependent rows, shift) and `text` stand alone. Import verbs from their modules or from
`classay`: nothing here is loaded before it is used.
"""
