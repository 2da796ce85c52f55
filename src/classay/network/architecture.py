"""Architectures by name, as on a command line: `timm:resnet18`, or a function of one's own, `mymodels:make_net`.

The text is parsed and never run; arguments are literals. Only timm and torchvision are imported unasked. Any other
module is imported, which runs its code, only where that is allowed.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..expect import InputError, nearest
from .needs import need

if TYPE_CHECKING:
    from torch import nn

LIBRARIES = ("timm", "torchvision")
EXAMPLE = "timm:resnet18, or mymodels:make_net"


@dataclass(frozen=True)
class Architecture:
    """A way to build a network: a module, a name in it, and literal arguments."""

    module: str
    name: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]

    def __str__(self) -> str:
        given = [*map(repr, self.arguments), *(f"{name}={value!r}" for name, value in self.keywords.items())]
        return f"{self.module}:{self.name}" + (f"({', '.join(given)})" if given else "")

    def build(self, **wishes: int) -> nn.Module:
        """Build it, freshly initialised. `wishes` (num_classes, in_chans) are for libraries that take them."""
        need("torch", f"Building {self}")
        import torch
        from torch import nn

        with torch.random.fork_rng(devices=[]):  # a user's own draws go on as if nothing had been built
            torch.manual_seed(0)
            network = self._from_library(wishes) if self.module in LIBRARIES else self._from_module()
        if not isinstance(network, nn.Module):
            raise InputError(f"{self} gives a {type(network).__name__}; a torch.nn.Module is expected.")
        return network.float()

    def _from_library(self, wishes: dict[str, int]) -> Any:
        try:
            library = importlib.import_module(self.module)
        except ImportError:
            raise InputError(
                f"{self} needs {self.module}, which is not installed: pip install {self.module}."
            ) from None
        if self.arguments:
            raise InputError(f"{self} has arguments without a name; write argument=value.")
        try:
            if self.module == "timm":
                # Not pretrained: the weights come from the user's file, nothing is downloaded.
                return library.create_model(self.name, pretrained=False, **{**wishes, **self.keywords})
            models = importlib.import_module("torchvision.models")
            classes = {name: value for name, value in wishes.items() if name == "num_classes"}
            return models.get_model(self.name, weights=None, **{**classes, **self.keywords})
        except Exception as error:  # each library and model has errors of its own
            listed = getattr(library, "list_models", None)
            hint = nearest(self.name, map(str, listed())) if callable(listed) else ""
            raise InputError(f"{self.module} cannot build {self.name!r}: {_first_line(error)}.{hint}") from None

    def _from_module(self) -> Any:
        with _working_folder():
            try:
                module = importlib.import_module(self.module)
            except Exception as error:  # an import runs code of the user's, which can fail in any way
                raise InputError(f"{self.module!r} cannot be imported: {_first_line(error)}") from error
            if not hasattr(module, self.name):
                raise InputError(f"{self.module!r} has no {self.name!r}.{nearest(self.name, vars(module))}")
            make = getattr(module, self.name)
            if not callable(make):
                raise InputError(f"{self} is a {type(make).__name__}; a function or a class is expected.")
            try:
                inspect.signature(make).bind(*self.arguments, **self.keywords)
            except TypeError as error:
                raise InputError(f"{self} cannot be called so: {error}. Arguments are given as {self}(…).") from None
            except ValueError:
                pass  # some classes have no signature
            try:
                return make(*self.arguments, **self.keywords)
            except Exception as error:
                raise InputError(f"{self} failed to build a network: {_first_line(error)}") from error


def architecture(text: str, allow_import: bool = False) -> Architecture:
    """The architecture that a text stands for.

    >>> architecture("timm:resnet18(drop_rate=0.1)").keywords
    {'drop_rate': 0.1}
    """
    matched = re.fullmatch(r"\s*([A-Za-z_][\w.]*):([A-Za-z_][\w.]*)\s*(\(.*\))?\s*", text, re.DOTALL)
    if matched is None:
        raise InputError(f"The architecture {text[:60]!r} cannot be read; module:name is expected, such as {EXAMPLE}.")
    module, name, called = matched.groups()
    if module not in LIBRARIES and not allow_import:
        raise InputError(f"{text[:60]!r} would import code from {module!r}. Add --allow-import if you trust it.")
    try:
        call = ast.parse(f"f{called or '()'}", mode="eval").body
        if (
            not isinstance(call, ast.Call)
            or not isinstance(call.func, ast.Name)
            or any(keyword.arg is None for keyword in call.keywords)
        ):
            raise ValueError
        arguments = tuple(ast.literal_eval(each) for each in call.args)
        keywords = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise InputError(
            f"The arguments {str(called)[:60]!r} of {module}:{name} cannot be read; numbers, texts in quotes, True, "
            "False, None and lists of these are expected. Expressions are not run."
        ) from None
    return Architecture(module, name, arguments, keywords)


@contextmanager
def _working_folder() -> Iterator[None]:
    """The working folder among the places to import from, last, so that it hides nothing installed."""
    here = str(Path.cwd())
    added = here not in sys.path
    if added:
        sys.path.append(here)
    try:
        yield
    finally:
        if added:
            sys.path.remove(here)


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).strip() or 'no reason given').splitlines()[0][:300]}"
