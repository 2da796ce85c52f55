"""classay assays classifiers: it measures what accuracy hides.

Record once, measure many::

    labelings = classay.record(learner, X, y)
    print(classay.orientation(labelings))
"""

import lazy_loader

__version__ = "0.1.0"

# The public names are listed once, in `__init__.pyi`. Each is loaded on first use, which keeps `import classay` fast.
__getattr__, _lazy_dir, _lazy_names = lazy_loader.attach_stub(__name__, __file__)
__all__ = sorted(["__version__", *_lazy_names])


def __dir__():
    return list(__all__)
