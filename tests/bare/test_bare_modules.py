"""Every module imports in an environment without extras."""

import os
import pkgutil
from importlib import import_module
from importlib.util import find_spec

import pytest

import classay

EXTRAS = ("torch", "safetensors", "onnx", "distributed", "pyarrow", "wordllama", "sentence_transformers", "mlflow")
MODULES = [module.name for module in pkgutil.walk_packages(classay.__path__, "classay.")]
MODULES.remove("classay.__main__")  # which runs the command


@pytest.mark.skipif("CLASSAY_BARE" not in os.environ, reason="`make bare` makes an environment without extras")
def test_no_extra_is_installed():
    assert [name for name in EXTRAS if find_spec(name) is not None] == []


def test_every_module_imports_and_every_public_name_is_there():
    for name in MODULES:
        import_module(name)
    for name in classay.__all__:
        assert getattr(classay, name) is not None
