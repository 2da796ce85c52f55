"""A network from a checkpoint: weights from a file, loaded into a named architecture."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...expect import InputError, nearest, need, shown
from .head_search import head_candidates, likely_classes, read_onnx_model
from .weights import NetworkState, StoredArray, file_kind, first_line, labels_beside, read_state

if TYPE_CHECKING:
    from torch import Tensor, nn

COUNTER = "num_batches_tracked"
"""The counter of batch normalisation, which old files lack and no output depends on."""
LIBRARIES = ("timm", "torchvision")
FORBIDDEN = re.compile("checkpoint|pretrained|weights|path|dir|file|url")
"""Arguments of a library with such a name may read or download something, and what they read may run code."""
EXAMPLE = "timm:resnet18, or mymodels:make_net"


@dataclass(frozen=True, eq=False)
class LoadedNetwork:
    """A network with the weights of a file, in evaluation mode; remarks; names of classes, if they are beside it."""

    path: Path
    network: nn.Module
    notes: tuple[str, ...]
    labels: tuple[str, ...] = ()


def load_network(
    path: str | Path,
    arch: str | None = None,
    *,
    input_shape: tuple[int, ...] | None = None,
    allow_import: bool = False,
    trust_pickle: bool = False,
) -> LoadedNetwork:
    """Load a network: an architecture by name, with the weights of a torch or safetensors file; or an ONNX file.

    No code of the file is run. Names and shapes of the weights must match the architecture; mismatches are listed. A
    common prefix of all names (`module.`, `model.`) is removed if that makes them match. An ONNX file contains its
    architecture, and is converted by onnx2torch.

    Parameters
    ----------
    path : the file
    arch : timm:NAME, torchvision:NAME, or with `allow_import` module:function, which returns the network; arguments in
        brackets are literals. Not needed for a whole network that is trusted
    input_shape : shape of one input; timm uses its first side as the number of channels
    allow_import : import a module that is not a known library, which runs its code
    trust_pickle : read a torch file that contains more than weights, which can run any code

    """
    if file_kind(path) == "ONNX" and arch is None:
        return LoadedNetwork(Path(path), load_onnx_network(Path(path)), (), labels_beside(path))
    state = read_state(path, trust_pickle)
    if arch is None:
        if state.network is None:
            raise InputError(
                f"{path} has weights, but not their network. Name its architecture: --arch timm:resnet18, "
                "or --builder mymodels:make_net --allow-import. For the head alone, --weights-only."
            )
        return LoadedNetwork(Path(path), state.network.eval(), state.notes, labels_beside(path))
    architecture = parse_architecture(arch, allow_import)
    network = architecture.build(**_build_options(architecture, state, input_shape))
    notes = load_weights(network, state.tensors, path, str(architecture))
    return LoadedNetwork(Path(path), network.eval(), (*state.notes, *notes), labels_beside(path))


def load_weights(network: nn.Module, tensors: Mapping[str, Tensor], path: str | Path, name: str) -> list[str]:
    """Load tensors into a network with the same names and shapes, or list the mismatches."""
    wanted = network.state_dict()
    matching, notes = _without_prefix(dict(tensors), set(wanted))
    missing = [each for each in wanted if each not in matching and not each.endswith(COUNTER)]
    surplus = [each for each in matching if each not in wanted]
    shapes = [
        f"{each} ({_sides(matching[each])} in the file, {_sides(wanted[each])} in the network)"
        for each in wanted
        if each in matching and matching[each].shape != wanted[each].shape
    ]
    if missing or surplus or shapes:
        problems = {"missing": missing, "not known to it": surplus, "of another shape": shapes}
        listed = "; ".join(f"{what}: {shown(which)}" for what, which in problems.items() if which)
        raise InputError(f"The weights of {path} do not fit {name}. {listed}. Is it the right architecture?")
    network.load_state_dict(matching, strict=False)
    return notes


def _build_options(
    architecture: Architecture, state: NetworkState, input_shape: tuple[int, ...] | None
) -> dict[str, int]:
    """Extra arguments for the library: classes as in the file, channels as in the input."""
    entries = [
        StoredArray(name, tuple(tensor.shape), lambda: None)
        for name, tensor in state.tensors.items()
        if tensor.is_floating_point()
    ]
    classes = likely_classes(head_candidates(entries))
    options = {} if classes is None else {"num_classes": classes}
    if architecture.module == "timm" and input_shape is not None and len(input_shape) == 3:
        options["in_chans"] = input_shape[0]
    return options


def _without_prefix(tensors: dict[str, Any], wanted: set[str]) -> tuple[dict[str, Any], list[str]]:
    """The tensors, without a prefix that keeps them from matching."""
    needed = {name for name in wanted if not name.endswith(COUNTER)}
    if needed <= set(tensors):
        return tensors, []
    for prefix in dict.fromkeys(name[: dot.end()] for name in tensors for dot in re.finditer(r"\.", name)):
        inner = {name.removeprefix(prefix): each for name, each in tensors.items() if name.startswith(prefix)}
        if needed <= set(inner):
            others = len(tensors) - len(inner)
            left = f"; {others} others were left out" if others else ""
            return inner, [f"Weights under {prefix!r} were used{left}."]
    return tensors, []


def _sides(tensor: Any) -> str:
    return "×".join(map(str, tensor.shape)) or "one number"


# Architectures by name, as on a command line: `timm:resnet18`, or a function of the user, `mymodels:make_net`.


@dataclass(frozen=True)
class Architecture:
    """A way to build a network: a module, a name in it, and literal arguments.

    The text is parsed and never run. Only timm and torchvision are imported without permission; any other module, whose
    code runs when it is imported, only with it.
    """

    module: str
    name: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]

    def __str__(self) -> str:
        arguments = [*map(repr, self.arguments), *(f"{name}={value!r}" for name, value in self.keywords.items())]
        return f"{self.module}:{self.name}" + (f"({', '.join(arguments)})" if arguments else "")

    def build(self, **options: int) -> nn.Module:
        """Build it, freshly initialised. `options` (num_classes, in_chans) are for libraries that take them."""
        need("torch", f"Building {self}")
        import torch
        from torch import nn

        with torch.random.fork_rng(devices=[]):  # the user's own random draws continue unchanged
            torch.manual_seed(0)
            network = self._from_library(options) if self.module in LIBRARIES else self._from_module()
        if not isinstance(network, nn.Module):
            raise InputError(f"{self} gives a {type(network).__name__}; expected a torch.nn.Module.")
        return network.float()

    def _from_library(self, options: dict[str, int]) -> Any:
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
                return library.create_model(self.name, pretrained=False, **{**options, **self.keywords})
            models = importlib.import_module("torchvision.models")
            classes = {name: value for name, value in options.items() if name == "num_classes"}
            return models.get_model(self.name, weights=None, **{**classes, **self.keywords})
        except Exception as error:  # each library and model has its own errors
            listed = getattr(library, "list_models", None)
            hint = nearest(self.name, map(str, listed())) if callable(listed) else ""
            raise InputError(f"{self.module} cannot build {self.name!r}: {first_line(error)}.{hint}") from None

    def _from_module(self) -> Any:
        with _working_folder():
            try:
                module = importlib.import_module(self.module)
            except Exception as error:  # an import runs the user's code, which can fail in any way
                raise InputError(f"{self.module!r} cannot be imported: {first_line(error)}") from error
            if not hasattr(module, self.name):
                raise InputError(f"{self.module!r} has no {self.name!r}.{nearest(self.name, vars(module))}")
            make = getattr(module, self.name)
            if not callable(make):
                raise InputError(f"{self} is a {type(make).__name__}; expected a function or a class.")
            try:
                inspect.signature(make).bind(*self.arguments, **self.keywords)
            except TypeError as error:
                raise InputError(f"{self} cannot be called: {error}. Pass arguments as {self}(…).") from None
            except ValueError:
                pass  # some classes have no signature
            try:
                return make(*self.arguments, **self.keywords)
            except Exception as error:
                raise InputError(f"{self} failed to build a network: {first_line(error)}") from error


def parse_architecture(text: str, allow_import: bool = False) -> Architecture:
    """The architecture that a text describes.

    >>> parse_architecture("timm:resnet18(drop_rate=0.1)").keywords
    {'drop_rate': 0.1}
    """
    matched = re.fullmatch(r"\s*([A-Za-z_][\w.]*):([A-Za-z_][\w.]*)\s*(\(.*\))?\s*", text, re.DOTALL)
    if matched is None:
        raise InputError(f"The architecture {text[:60]!r} cannot be read; expected module:name, such as {EXAMPLE}.")
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
            f"The arguments {str(called)[:60]!r} of {module}:{name} cannot be read; expected numbers, quoted text, "
            "True, False, None and lists of these. Expressions are not run."
        ) from None
    for each, value in keywords.items() if module in LIBRARIES else ():
        if FORBIDDEN.search(each.lower()) or not isinstance(value, (bool, int, float)):
            raise InputError(
                f"{module}:{name} has the argument {each}={str(value)[:40]!r}; expected numbers, True or False, and no "
                f"files or addresses. Write a function that builds the network, and name it with --builder."
            )
    return Architecture(module, name, arguments, keywords)


@contextmanager
def _working_folder() -> Iterator[None]:
    """The working folder as the last place to import from, so that it hides nothing installed."""
    here = str(Path.cwd())
    added = here not in sys.path
    if added:
        sys.path.append(here)
    try:
        yield
    finally:
        if added:
            sys.path.remove(here)


def load_onnx_network(path: Path) -> nn.Module:
    """The network of an ONNX file as a torch module, in evaluation mode."""
    need("torch", f"Reading {path}")
    model = read_onnx_model(path)
    if importlib.util.find_spec("onnx2torch") is None:
        raise InputError(
            f"{path} is an ONNX file. To measure the whole network, onnx2torch converts it: pip install onnx2torch. "
            "For the head alone, --weights-only."
        )
    try:
        network: nn.Module = importlib.import_module("onnx2torch").convert(model)
    except Exception as error:  # an operator that it does not know, or a library that does not fit torch
        raise InputError(
            f"onnx2torch cannot convert {path} ({first_line(error)}). For the head alone, --weights-only."
        ) from None
    return network.float().eval()
