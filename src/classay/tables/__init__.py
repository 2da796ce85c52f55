"""Tables that users name or hand in, as `Data` with an audit.

Read `read` first: `read_table` makes columns and labels of a built-in name, a file or OpenML; `read_frame` returns all
columns unchanged. `sources` and `text_files` load, `kinds` decides what each column is (from its `cells`) and names the
classes, `audit` says what was read and what was lost, and `data` checks the rows. `expressions` reads conditions on
columns, such as `0.2 < x0 and hue == 'red'`, without running them. Nothing here knows a learner.
"""
