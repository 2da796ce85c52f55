"""Charts, drawn from results and never shown by themselves.

Each result names its chart (`class Slices(Result, chart="regions:slices_chart")`), or several by kind, and
`result.plot()` loads only that file. Read `kinds` first (how a chart takes its kind and options), then `style/` (the
panel and the parts of which charts are made), then the file of your result. The charts for direct use are listed once,
in `__init__.pyi`, and loaded on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
