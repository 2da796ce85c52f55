"""Tables that users name or hand in.

Read `read` first: `read_table` makes columns and labels of a built-in name, a file or OpenML, with notes on what it
dropped; `read_frame` returns all columns unchanged. `expressions` reads conditions on columns, such as
`0.2 < x0 and hue == 'red'`, without running them. Nothing here knows a learner.
"""
