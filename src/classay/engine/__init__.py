"""Work on any executor, and records on disk. Nothing here knows a learner.

Tasks: read `work` first (`run`: every task once, crashes contained). `transport` sends a function and its data to
workers, once per worker; `pool` has the local workers and the limits of one task, `dask` the connection to a cluster,
`progress` the bar. Records: `archive` is one file (header and arrays, no pickle), `store` a folder of them by content
with the chunks of unfinished work, the list of what is in such a folder, and what can be removed; `machine` is where
they were made.
"""
