"""Reading the head out of files of weights."""

from __future__ import annotations

import json
import os
import warnings

import numpy as np
import pytest

from classay.expect import InputError
from classay.network.files.head_search import read_head
from classay.network.files.weights import file_kind, labels_beside, read_state
from classay.network.quality.head import head_quality

W = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
B = np.arange(4, dtype=np.float32)
HIDDEN = np.random.default_rng(1).normal(size=(6, 5)).astype(np.float32)


def numpy_file(path, **arrays):
    np.savez(path / "weights.npz", **arrays)
    return path / "weights.npz"


class TestNames:
    """Which array is the head, tried on NumPy files, which need no extra."""

    @pytest.mark.parametrize(
        "names",
        [
            ("body.weight", "fc.weight", "fc.bias"),
            ("model.layers.0.weight", "model.head.weight", "model.head.bias"),
            ("dense.weight", "classifier.6.weight", "classifier.6.bias"),
            ("zzz.weight", "_fc.weight", "_fc.bias"),
            ("0.weight", "2.weight", "2.bias"),
            ("AuxLogits.fc.weight", "fc.weight", "fc.bias"),
            ("a/weight", "head/weight", "head/bias"),
            ("vit.embeddings.weight", "classifier.weight", "classifier.bias"),
        ],
    )
    def test_the_usual_names(self, tmp_path, names):
        head = read_head(numpy_file(tmp_path, **{names[0]: HIDDEN, names[1]: W, names[2]: B}))
        assert head.name == names[1]
        np.testing.assert_array_equal(head.weight, W)
        np.testing.assert_array_equal(head.bias, B)

    def test_the_last_of_several_layers_of_a_head(self, tmp_path):
        arrays = {"classifier.dense.weight": np.ones((6, 6)), "classifier.out_proj.weight": W, "body.weight": HIDDEN}
        assert read_head(numpy_file(tmp_path, **arrays)).name == "classifier.out_proj.weight"

    def test_weights_lying_on_their_side(self, tmp_path):
        # Flax and TensorFlow keep (features, classes) and say kernel.
        for name in ("params/head/kernel", "head/kernel:0"):
            head = read_head(numpy_file(tmp_path, **{name: W.T, name.replace("kernel", "bias"): B}))
            np.testing.assert_array_equal(head.weight, W)
            np.testing.assert_array_equal(head.bias, B)
        # Of a square one only the name tells; of others the bias does.
        square = np.arange(9.0).reshape(3, 3)
        head = read_head(numpy_file(tmp_path, **{"head.kernel": square, "head.bias": np.ones(3)}))
        np.testing.assert_array_equal(head.weight, square.T)
        head = read_head(numpy_file(tmp_path, **{"head.weight": W.T, "head.bias": B}))
        np.testing.assert_array_equal(head.weight, W)

    def test_convolutions_of_one_by_one(self, tmp_path):
        head = read_head(numpy_file(tmp_path, **{"classifier.1.weight": W[:, :, None, None], "classifier.1.bias": B}))
        np.testing.assert_array_equal(head.weight, W)
        head = read_head(numpy_file(tmp_path, **{"logits/kernel": W.T[None, None], "logits/bias": B}))
        np.testing.assert_array_equal(head.weight, W)

    def test_without_a_name_the_chain_of_sizes_tells(self, tmp_path):
        head = read_head(numpy_file(tmp_path, **{"b.weight": W, "a.weight": HIDDEN}))
        assert (head.name, head.bias, head.notes) == ("b.weight", None, ())
        head = read_head(numpy_file(tmp_path, **{"b.weight": W, "c.weight": W[:3], "a.weight": HIDDEN}))
        assert head.name == "c.weight"
        assert "by its position; it could also be b.weight (6 to 4)." in head.notes[0]

    def test_of_numbered_layers_the_one_whose_outputs_nobody_takes(self, tmp_path):
        layers = {"fc1.weight": np.ones((8, 5)), "fc2.weight": np.ones((6, 8)), "fc3.weight": W, "fc3.bias": B}
        assert read_head(numpy_file(tmp_path, **layers)).name == "fc3.weight"

    def test_what_is_not_clear_is_listed(self, tmp_path):
        path = numpy_file(tmp_path, **{"head.weight": W, "head.bias": B, "fc.weight": W})
        with pytest.raises(InputError, match=r"head.weight \(6 to 4, with bias\), fc.weight \(6 to 4\)") as told:
            read_head(path)
        assert "--head" in str(told.value)
        assert read_head(path, head="fc").name == read_head(path, head="fc.weight").name == "fc.weight"
        with pytest.raises(InputError, match=r"Did you mean head.weight"):
            read_head(path, head="heat.weight")

    def test_nothing_linear(self, tmp_path):
        with pytest.raises(InputError, match=r"no weight of a linear layer; its arrays are norm.weight"):
            read_head(numpy_file(tmp_path, **{"norm.weight": np.ones(3), "steps.weight": np.ones((2, 2), int)}))

    def test_bad_numbers(self, tmp_path):
        broken = W.copy()
        broken[1, 1] = np.nan
        with pytest.raises(InputError, match=r"'fc.weight' of .* contains NaN"):
            read_head(numpy_file(tmp_path, **{"fc.weight": broken}))
        with pytest.raises(InputError, match=r"'fc.weight' of .* contains NaN"):
            read_head(numpy_file(tmp_path, **{"fc.weight": W, "fc.bias": B + np.inf}))
        with pytest.raises(InputError, match="has one output"):
            read_head(numpy_file(tmp_path, **{"fc.weight": W[:1], "fc.bias": B[:1]}))

    def test_files(self, tmp_path):
        with pytest.raises(InputError, match="There is no file"):
            file_kind(tmp_path / "none.npz")
        with pytest.raises(InputError, match="is a folder"):
            file_kind(tmp_path)
        for name in ("model.pb", "model.TFLITE"):
            (tmp_path / name).write_bytes(b"")
            with pytest.raises(InputError, match="is of an unsupported kind"):
                file_kind(tmp_path / name)
        (tmp_path / "cut.npz").write_bytes(b"PK\x03\x04nothing")
        with pytest.raises(InputError, match="cannot be read as a NumPy file"):
            read_head(tmp_path / "cut.npz")
        np.savez(tmp_path / "objects.npz", a=np.array([{}], dtype=object))
        with pytest.raises(InputError, match="pickled Python objects"):
            read_head(tmp_path / "objects.npz")

    def test_what_is_missing_is_named(self, tmp_path, monkeypatch):
        import importlib.util

        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        for name, extra in (("m.pt", "network"), ("m.safetensors", "network"), ("m.onnx", "onnx")):
            (tmp_path / name).write_bytes(b"x")
            with pytest.raises(InputError, match=rf'pip install "classay\[{extra}\]"'):
                read_head(tmp_path / name)


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def network(torch):
    layers = torch.nn.Linear(5, 6), torch.nn.ReLU(), torch.nn.Linear(6, 4)
    made = torch.nn.Sequential(*layers)
    with torch.no_grad():
        made[2].weight.copy_(torch.from_numpy(W))
        made[2].bias.copy_(torch.from_numpy(B))
    return made


class TestTorch:
    def test_a_state_dict(self, torch, network, tmp_path):
        torch.save(network.state_dict(), tmp_path / "w.pt")
        head = read_head(tmp_path / "w.pt")
        np.testing.assert_array_equal(head.weight, W)
        np.testing.assert_array_equal(head.bias, B)
        assert head_quality(head.weight).to_dict() == head_quality(network[2].weight).to_dict()

    @pytest.mark.parametrize("place", [("state_dict",), ("model",), ("checkpoint", "model_state_dict"), ("ema",)])
    def test_where_training_scripts_put_it(self, torch, network, tmp_path, place):
        content = {f"module._orig_mod.{name}": value for name, value in network.state_dict().items()}
        for name in reversed(place):
            content = {name: content, "optimizer": {"state": {0: torch.ones(3)}}, "epoch": 3}
        torch.save(content, tmp_path / "w.ckpt")
        state = read_state(tmp_path / "w.ckpt")
        assert set(state.tensors) == set(network.state_dict())
        assert any(place[-1] in note for note in state.notes)
        np.testing.assert_array_equal(read_head(tmp_path / "w.ckpt").weight, W)
        torch.save({**content, "hyper_parameters": Pickled()}, tmp_path / "own.ckpt")  # as Lightning may
        with pytest.raises(InputError, match=r'weights_only=False\)\["state_dict"\]'):
            read_head(tmp_path / "own.ckpt")

    def test_of_two_the_likelier_is_taken_and_said(self, torch, network, tmp_path):
        other = {name: value + 1 for name, value in network.state_dict().items()}
        torch.save({"ema": other, "state_dict": network.state_dict()}, tmp_path / "w.pt")
        head = read_head(tmp_path / "w.pt")
        np.testing.assert_array_equal(head.weight, W)
        assert "'state_dict' was used; it also has ema" in head.notes[0]

    def test_half_precision_is_turned(self, torch, network, tmp_path):
        torch.save(network.bfloat16().state_dict(), tmp_path / "w.pt")
        head = read_head(tmp_path / "w.pt")
        np.testing.assert_allclose(head.weight, W, rtol=1e-2)
        assert "Half precision (torch.bfloat16) was converted to float32." in head.notes
        assert {each.dtype for each in read_state(tmp_path / "w.pt").tensors.values()} == {torch.float32}

    def test_a_pickled_network_is_refused_unless_trusted(self, torch, network, tmp_path):
        torch.save(network, tmp_path / "whole.pt")
        with pytest.raises(InputError, match=r"pickled torch.nn.modules.*Sequential") as told:
            read_head(tmp_path / "whole.pt")
        assert 'torch.save(torch.load("whole.pt", weights_only=False).state_dict(), "weights.pt")' in str(told.value)
        assert "--trust-pickle" in str(told.value)
        np.testing.assert_array_equal(read_head(tmp_path / "whole.pt", trust_pickle=True).weight, W)
        assert read_state(tmp_path / "whole.pt", trust_pickle=True).network is not None

    def test_no_code_of_a_file_is_run(self, torch, tmp_path):
        class Harm:
            def __reduce__(self):
                return os.system, (f"touch {tmp_path / 'harm'}",)

        torch.save({"state_dict": {"fc.weight": torch.from_numpy(W)}, "extra": Harm()}, tmp_path / "harm.pt")
        with pytest.raises(InputError, match="could run any code"):
            read_head(tmp_path / "harm.pt")
        assert not (tmp_path / "harm").exists()

    @pytest.mark.parametrize("version", ["2.4.1", "2.5.1+cu121", "2.9.1", "2.10.0a0+gitabc", "1.13.0", "built here"])
    def test_a_torch_with_known_holes_is_refused(self, torch, network, tmp_path, monkeypatch, version):
        torch.save(network.state_dict(), tmp_path / "weights.pt")
        monkeypatch.setattr(torch, "__version__", version)
        with pytest.raises(InputError, match=r"CVE-2026-24747.*expected torch 2.10 or later"):
            read_state(tmp_path / "weights.pt")
        assert read_state(tmp_path / "weights.pt", trust_pickle=True).tensors

    @pytest.mark.parametrize("version", ["2.10.0", "2.10.1+cpu", "2.13.0+cpu", "3.0.0a0"])
    def test_a_torch_without_known_holes_is_used(self, torch, network, tmp_path, monkeypatch, version):
        torch.save(network.state_dict(), tmp_path / "weights.pt")
        monkeypatch.setattr(torch, "__version__", version)
        assert read_state(tmp_path / "weights.pt").tensors

    def test_a_scripted_network(self, torch, network, tmp_path):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.jit.save(torch.jit.script(network), tmp_path / "s.pt")
        with pytest.raises(InputError, match="a scripted network"):
            read_head(tmp_path / "s.pt")

    def test_what_is_no_file_of_weights(self, torch, tmp_path):
        (tmp_path / "text.pt").write_text("hello")
        (tmp_path / "empty.pt").write_bytes(b"")
        for name in ("text.pt", "empty.pt"):
            with pytest.raises(InputError, match="not a file of weights that torch can read"):
                read_head(tmp_path / name)
        torch.save([torch.ones(2, 2)], tmp_path / "list.pt")
        with pytest.raises(InputError, match="contains a list"):
            read_head(tmp_path / "list.pt")
        torch.save({"epoch": 3, "best": {"loss": 1.0}}, tmp_path / "nothing.pt")
        with pytest.raises(InputError, match=r"contains no weights.*epoch, best"):
            read_head(tmp_path / "nothing.pt")


class TestSafetensors:
    @pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
    def test_every_precision(self, torch, network, tmp_path, dtype):
        from safetensors.torch import save_file

        save_file(network.to(getattr(torch, dtype)).state_dict(), tmp_path / "w.safetensors")
        head = read_head(tmp_path / "w.safetensors")
        assert head.name == "2.weight"
        np.testing.assert_allclose(head.weight, W, rtol=1e-2)
        assert head.weight.dtype == np.float32
        assert ("Half precision" in " ".join(head.notes)) == ("16" in dtype)

    def test_layers_are_numbered_not_ordered(self, torch, tmp_path):
        from safetensors.torch import save_file

        wide = {f"{place}.weight": torch.randn(6, 6) for place in (0, 2, 4, 8, 10)}
        save_file(wide, tmp_path / "w.safetensors")
        assert read_head(tmp_path / "w.safetensors").name == "10.weight"
        save_file({"b.weight": torch.randn(6, 6), "a.weight": torch.randn(6, 6)}, tmp_path / "w.safetensors")
        with pytest.raises(InputError, match="not clear"):
            read_head(tmp_path / "w.safetensors")

    def test_a_cut_off_file(self, torch, network, tmp_path):
        from safetensors.torch import save_file

        save_file(network.state_dict(), tmp_path / "w.safetensors")
        whole = (tmp_path / "w.safetensors").read_bytes()
        for content in (whole[:-20], whole[:4], b""):
            (tmp_path / "w.safetensors").write_bytes(content)
            for reading in (read_head, read_state):
                with pytest.raises(InputError, match="not a complete safetensors file"):
                    reading(tmp_path / "w.safetensors")


def test_labels_of_hugging_face(tmp_path):
    """`config.json` beside the weights names the classes, if it has as many."""
    numpy_file = pytest.importorskip("safetensors.numpy")
    arrays = {"classifier.weight": W[:3], "classifier.bias": B[:3]}
    numpy_file.save_file(arrays, tmp_path / "model.safetensors")
    assert read_head(tmp_path / "model.safetensors").labels == ()
    names = {"0": "cat", "2": "<b>", "1": "dog"}
    (tmp_path / "config.json").write_text(json.dumps({"id2label": names}))
    assert read_head(tmp_path / "model.safetensors").labels == ("cat", "dog", "<b>")
    gap, text = '{"id2label": {"0": "a", "5": "b"}}', '{"id2label": {"x": 1}}'
    for other in (gap, text, '{"id2label": ["a"]}', "[1]", "nothing"):
        (tmp_path / "config.json").write_text(other)
        assert labels_beside(tmp_path / "model.safetensors") == ()
    (tmp_path / "config.json").write_text(json.dumps({"id2label": {"0": "a", "1": "b"}}))
    assert read_head(tmp_path / "model.safetensors").labels == ()


class Pickled:
    """Settings of a class of one's own."""
