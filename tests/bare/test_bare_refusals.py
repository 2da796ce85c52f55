"""What needs an extra is refused in one sentence that names it. With the extra installed, it is hidden."""

import re
import sys

import pytest

import classay
from classay import InputError
from classay.cli.app import run


@pytest.fixture
def without(monkeypatch):
    """Hide a library: importing it fails and looking for it finds nothing, as if it were not installed."""
    return lambda library: monkeypatch.setitem(sys.modules, library, None)


@pytest.mark.parametrize(
    ("library", "extra", "arguments"),
    [
        ("torch", "classay[network]", ["network", "net.pt", "--arch", "timm:resnet18"]),
        ("torch", "classay[network]", ["network", "net.pt", "--weights-only"]),
        ("safetensors", "classay[network]", ["network", "net.safetensors", "--weights-only"]),
        ("onnx", "classay[onnx]", ["network", "net.onnx", "--weights-only"]),
        ("distributed", "classay[dask]", ["learner", "iris", "-l", "GaussianNB", "--scheduler", "tcp://127.0.0.1:1"]),
        ("pyarrow", "classay[parquet]", ["data", "table.parquet"]),
        ("wordllama", "classay[text]", ["data", "texts.csv", "--text", "said"]),
        ("sentence_transformers", "classay[text-minilm]", ["data", "texts.csv", "--text", "said", "--model", "minilm"]),
        ("mlflow", "classay[mlflow]", ["report", "iris", "--budget", "1s", "--mlflow"]),
        ("xgboost", "pip install xgboost", ["learner", "iris", "-l", "XGBClassifier"]),
        ("lightgbm", "pip install lightgbm", ["learner", "iris", "-l", "LGBMClassifier"]),
        ("catboost", "pip install catboost", ["learner", "iris", "-l", "CatBoostClassifier"]),
    ],
)
def test_a_command_names_the_extra(without, library, extra, arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    without(library)
    for name in ("net.pt", "net.safetensors", "net.onnx", "table.parquet"):
        (tmp_path / name).write_bytes(b"PK")
    (tmp_path / "texts.csv").write_text("said,intent\n" + "play it,music\npay it,bank\n" * 20)
    code = run(arguments)
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert re.search(rf"^classay: .*{re.escape(extra)}", err, flags=re.MULTILINE | re.DOTALL)
    assert "Traceback" not in err


def test_a_function_names_the_extra(without):
    without("torch")
    with pytest.raises(InputError, match=r"classay\[network\]"):
        classay.network_quality(object(), (3, 8, 8))
