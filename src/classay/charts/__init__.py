"""Charts, drawn from results and never shown by themselves; one folder per room, as the measures have.

Each result names its chart (`class Slices(Result, chart="data.slices:slices_chart")`), and `result.plot()` loads only
that one. Read `kinds` first (how a chart takes its kind and options), then `style/` (what all charts share), then the
room of your result. The charts for direct use are listed once, in `__init__.pyi`, and loaded on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
