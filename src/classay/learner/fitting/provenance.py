"""Provenance of a record: learner, parameters, data, scheme and seed as JSON, and the address made from it."""

from __future__ import annotations

import hashlib
import inspect
import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from ...estimators.adapters import short_name
from ...estimators.fit import weight_requests
from ...estimators.scores import may_score
from ...expect import InputError
from ...inputs import is_sparse
from .checks import Setup
from .folds import Folds

OPAQUE = "opaque: "
INSTALLED = ("site-packages", "dist-packages")
"""Folders whose files change only with the version of their package."""
DRAWING = 1
"""Raise it when the same seed draws other subsets or refits than before: older records must not be reused then."""


def about(setup: Setup, learner: Any, name: str | None) -> dict[str, Any]:
    """The provenance of a record of the learner. What was not given is not in it."""
    return {**of_rows(setup), **of_learner(setup, learner, name)}


def of_rows(setup: Setup) -> dict[str, Any]:
    """The part of the provenance that is the same for all learners: data, test part, probes, seed."""
    X, probes = setup.X, setup.probes
    described: dict[str, Any] = {
        "repeats": setup.repeats,
        "test_size": setup.test_size,
        "seed": setup.seed,
        "data": {"rows": int(X.shape[0]), "columns": _columns(X), "fingerprint": fingerprint(X, setup.y)},
        "probes": None
        if probes is None
        else {"kind": setup.probe_kind, "rows": int(probes.shape[0]), "fingerprint": fingerprint(probes)},
        **{name: {"fingerprint": fingerprint(part)} for name, part in setup.per_row.given.items()},
    }
    if setup.altered is not None:
        described["altered"] = setup.altered
    if setup.given_test is not None:
        described["test"] = {"kind": "given", "rows": setup.given_test}
    return described


def of_learner(setup: Setup, learner: Any, name: str | None) -> dict[str, Any]:
    """The part of the provenance that depends on the learner and on the scheme, whose samples may grow."""
    described: dict[str, Any] = {
        "learner": {"name": name or short_name(learner), **_value(learner)},
        "scheme": _described_scheme(setup),
    }
    requests = weight_requests(learner) if setup.per_row.weights is not None else {}
    if requests:  # the learner's parameters do not show them
        weights = {"fingerprint": fingerprint(setup.per_row.weights), "requests": _value(requests)}
        described["sample_weight"] = weights
    if setup.scores is not None and may_score(learner):
        form = setup.scores
        described["scores"] = {"form": "both" if form.both else "compact" if form.compact else "full"}
    if setup.own_points:
        described["own_points"] = setup.own_points
    return described


def _described_scheme(setup: Setup) -> dict[str, Any]:
    scheme, samples = setup.scheme, setup.samples
    if isinstance(scheme, Folds):
        points = [setup.points(sample) for sample in samples]
        folds = np.array([sample.number if sample.fold is None else sample.fold for sample in samples])
        return {
            "kind": "Folds",
            "source": scheme.source,
            "n": len(samples),
            "available": min(sample.available for sample in samples),
            "fingerprint": fingerprint(*(sample.rows for sample in samples), *points, folds),
        }
    described: dict[str, Any] = _value({"kind": type(scheme).__name__, **asdict(scheme)})
    return described | ({"fresh": True} if setup.fresh else {})


def _columns(X: Any) -> int:
    return int(X.shape[1]) if X.ndim == 2 else 1  # rows of text are one column


def address(about: dict[str, Any], time_limit: float | None) -> dict[str, Any]:
    """The part of the provenance that determines the content of the record."""
    learner = {key: value for key, value in about["learner"].items() if key != "name"}
    opaque = _opaque(learner)
    if opaque:
        raise InputError(
            f"A store finds records by the learner's parameters, and this learner has no stable description: {opaque}. "
            "Use a named function or a plain value, or store=None."
        )
    return {**about, "learner": learner, "time_limit": time_limit, "drawing": DRAWING}


def parameters(learner: Any) -> dict[str, Any]:
    """Class, version and parameters of a learner, as JSON."""
    return dict(_value(learner))


def differences(saved: Any, now: Any, name: str = "") -> Iterator[str]:
    """What differs between two descriptions of learners, except versions: "max_depth 3 (now 5)"."""
    if not (isinstance(saved, dict) and isinstance(now, dict)):
        if saved != now:
            yield f"{name or 'learner'} {saved!r:.60} (now {now!r:.60})"
        return
    for key in [key for key in {**saved, **now} if key != "version"]:
        inner = name if key == "parameters" else key if name in ("", "parameters") else f"{name}.{key}"
        if key not in saved:
            yield f"{inner} (new)"
        elif key not in now:
            yield f"{inner} (no longer there)"
        else:
            yield from differences(saved[key], now[key], inner)


def _dtype(kind: Any) -> str:
    # Learners with native categories depend on their order, which the values alone do not show.
    return f"{kind} {list(kind.categories)}" if isinstance(kind, pd.CategoricalDtype) else str(kind)


def fingerprint(*parts: Any) -> str:
    """A hash of tables and arrays: values, types, shapes and column names."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        if isinstance(part, pd.DataFrame):
            digest.update(repr([(str(name), _dtype(kind)) for name, kind in part.dtypes.items()]).encode())
            digest.update(pd.util.hash_pandas_object(part, index=False).to_numpy().tobytes())
        elif is_sparse(part):
            digest.update(repr((part.shape, str(part.dtype))).encode())
            for array in (part.data, part.indices, part.indptr):
                digest.update(np.ascontiguousarray(array).tobytes())
        else:
            array = np.ascontiguousarray(part)
            digest.update(repr((array.shape, array.dtype.str)).encode())
            if array.dtype == object:
                array = pd.util.hash_array(array.ravel())
            digest.update(array.tobytes())
    return digest.hexdigest()


def _value(value: Any) -> Any:
    """A parameter as JSON. Values without a stable description are marked as opaque."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, np.generic):
        return _value(value.item())
    if isinstance(value, (pd.Series, pd.Index)):
        return {"series": fingerprint(value.to_frame())}
    if isinstance(value, (np.ndarray, pd.DataFrame)) or is_sparse(value):
        return {"array": fingerprint(value)}
    if isinstance(value, (list, tuple)):
        return [_value(part) for part in value]
    if isinstance(value, dict):
        # {0: 1} and {"0": 1} are not the same weights.
        return {key if isinstance(key, str) else f"<{key!r}>": _value(part) for key, part in value.items()}
    if hasattr(value, "get_params") and not isinstance(value, type):
        return {
            "class": _address(type(value)),
            "version": _version(type(value)),
            "parameters": {key: _value(part) for key, part in sorted(value.get_params(deep=False).items())},
            **({"output": dict(output)} if (output := getattr(value, "_sklearn_output_config", None)) else {}),
        }
    if callable(value) and hasattr(value, "__qualname__"):
        where = _address(value)
        # A method may depend on its object, and a nested function on the variables it was made with.
        if "<" in where or value.__module__ == "__main__" or inspect.ismethod(value):
            return OPAQUE + where
        return {"name": where, "version": _version(value)}
    text = repr(value)
    # A text that is abbreviated may be the same for different values.
    return OPAQUE + text if text.startswith("<") or " at 0x" in text or "..." in text else text


def _address(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def _version(kind: Any) -> str:
    """The version of the package a class or function comes from, or a hash of its source if a user may change it."""
    package = str(kind.__module__).split(".")[0]
    if package in sys.stdlib_module_names - {"__main__"}:
        return platform.python_version()
    version = getattr(sys.modules.get(package), "__version__", None)
    if version is not None and not _may_change(kind):
        return str(version)
    sources: dict[int, str] = {}
    try:
        _sources(kind, sources)
    except (OSError, TypeError):
        return f"{OPAQUE}source of {kind.__qualname__}"
    return hashlib.blake2b("\n".join(sources.values()).encode(), digest_size=8).hexdigest()


def _may_change(value: Any) -> bool:
    """Whether a module, class or function is from a file that belongs to no installed package."""
    name = value.__name__ if inspect.ismodule(value) else str(value.__module__)
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    package = name.split(".")[0]
    known = package == "classay" or package in sys.stdlib_module_names - {"__main__"}
    return not known and not any(folder in file for folder in INSTALLED)


def _sources(value: Any, sources: dict[Any, str], name: str = "") -> None:
    """Collect the source of a class or function, of what it inherits and of all that it names: what a fit may run."""
    if isinstance(value, (bool, int, float, str, bytes, tuple)):
        sources[name] = f"{name} = {value!r}"
    if id(value) in sources or not (inspect.ismodule(value) or inspect.isclass(value) or inspect.isfunction(value)):
        return
    if not _may_change(value):
        sources[id(value)] = f"{value.__name__} {getattr(value, '__version__', '')}"
        return
    sources[id(value)] = inspect.getsource(value)
    for part in () if inspect.isfunction(value) else [*getattr(value, "__bases__", ()), *vars(value).values()]:
        part = getattr(part, "fget", None) or inspect.unwrap(getattr(part, "__func__", part))
        if not isinstance(part, (bool, int, float, str, bytes, tuple)):
            _sources(part, sources)
    if inspect.isfunction(value):
        codes = [value.__code__]
        for code in codes:
            codes += [each for each in code.co_consts if inspect.iscode(each)]
            for used in [used for used in code.co_names if used in value.__globals__]:
                _sources(value.__globals__[used], sources, used)


def _opaque(value: Any) -> str | None:
    if isinstance(value, str):
        return value.removeprefix(OPAQUE) if value.startswith(OPAQUE) else None
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((name for part in parts if (name := _opaque(part)) is not None), None)
