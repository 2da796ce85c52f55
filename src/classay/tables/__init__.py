"""Tables that users name or hand in.

Read `read` first: `read_table` makes columns and labels of a built-in name, a file or OpenML; `read_frame` returns all
columns unchanged. `sources` and `text_files` load, `kinds` decides what each column is (`cells`, `numbers`, `dates`),
`labels` names the classes, and `audit` says what was read and what was lost. `expressions` reads conditions on columns,
such as `0.2 < x0 and hue == 'red'`, without running them. Nothing here knows a learner.
"""
