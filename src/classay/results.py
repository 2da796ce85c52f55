"""The classes of results and records that classay's verbs return, for type annotations and `isinstance`."""

import lazy_loader

# The names are listed once, in `results.pyi`. Each is loaded on first use.
__getattr__, _lazy_dir, _lazy_names = lazy_loader.attach_stub("classay", __file__)
__all__ = sorted(_lazy_names)


def __dir__():
    return list(__all__)
