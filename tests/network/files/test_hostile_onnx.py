"""ONNX files that are hostile or malformed: the search ends soon, and says what is wrong with the file."""

from __future__ import annotations

import numpy as np
import pytest

from classay.engine.pool import time_limit
from classay.expect import InputError
from classay.network.files.head_search import read_head

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper

W = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
HEAD = helper.make_node("Gemm", ["x", "w"], ["z"], transB=1)


@pytest.fixture
def save(tmp_path):
    def made(nodes, arrays=(), outputs=("y",), raw=()):
        graph = helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 6])],
            [helper.make_tensor_value_info(out, TensorProto.FLOAT, None) for out in outputs],
            [*(numpy_helper.from_array(np.asarray(value), name) for name, value in dict(arrays).items()), *raw],
        )
        path = tmp_path / "m.onnx"
        path.write_bytes(helper.make_model(graph).SerializeToString())
        return path

    return made


def node(kind, inputs, outputs=("y",), **attributes):
    return helper.make_node(kind, list(inputs), list(outputs), **attributes)


def refused(path, message, head=None):
    with time_limit(20), pytest.raises(InputError, match=message) as caught:
        read_head(path, head)
    assert len(str(caught.value)) < 2000


@pytest.mark.parametrize(
    "nodes",
    [
        [node("Flatten", ["y"])],
        [node("Identity", ["y"])],
        [node("Flatten", ["a"]), node("Flatten", ["b"], ["a"]), node("Flatten", ["a"], ["b"])],
        [node("Add", ["a", "c"]), node("Add", ["y", "c"], ["a"])],
        [node("Softmax", ["a"]), node("Dropout", ["y"], ["a"])],
    ],
)
def test_a_cycle_is_said(save, nodes):
    refused(save(nodes, {"c": W[0]}), "cycle")


def test_a_cycle_among_constants(save):
    nodes = [node("Gemm", ["x", "a"]), node("Identity", ["b"], ["a"]), node("Cast", ["a"], ["b"], to=1)]
    refused(save(nodes), "cycle")


def test_long_chains_of_quantised_constants(save):
    chain = [node("DequantizeLinear", [f"q{i}", f"q{i}", f"q{i}"], [f"q{i + 1}"]) for i in range(60)]
    path = save([*chain, node("Gemm", ["x", "q60"])], {"q0": np.ones((3, 3), dtype=np.int8)})
    with time_limit(20), pytest.raises(InputError):
        read_head(path)


def test_long_chains_of_nodes(save):
    chain = [node("Identity", [f"z{i}" if i else "z"], [f"z{i + 1}"]) for i in range(20_000)]
    with time_limit(60):
        found = read_head(save([HEAD, *chain], {"w": W}, outputs=("z20000",)))
        np.testing.assert_array_equal(found.weight, W)
        names = [node("Identity", [f"w{i}" if i else "w"], [f"w{i + 1}"]) for i in range(20_000)]
        found = read_head(save([*names, node("Gemm", ["x", "w20000"], transB=1)], {"w": W}))
    np.testing.assert_array_equal(found.weight, W)


def test_many_inputs_several_steps_back(save):
    many = [f"m{i}" for i in range(60)]
    nodes = [HEAD, node("Sub", ["z", "n0"])]
    nodes += [node("Max", [f"n{level + 1}"] * 60, [f"n{level}"]) for level in range(8)]
    nodes.append(node("Max", many, ["n8"]))
    refused(save(nodes, {"w": W}), "but of Sub")


def test_too_many_nodes(save, monkeypatch):
    monkeypatch.setenv("CLASSAY_LIMITS", "graph_nodes=10")
    nodes = [node("Identity", [f"a{i}"], [f"a{i + 1}"]) for i in range(11)]
    refused(save(nodes), "is 11; the limit is 10. If you need more, set")


def tensor(name, dims, kind=TensorProto.FLOAT, **content):
    made = onnx.TensorProto(name=name, data_type=kind, dims=dims)
    for field, value in content.items():
        if isinstance(value, bytes):
            setattr(made, field, value)
        else:
            getattr(made, field).extend(value)
    return made


MALFORMED = {
    "no inputs": ([node("Flatten", [])], {}, ()),
    "an empty softmax": ([node("Softmax", [])], {}, ()),
    "a permutation that is none": (
        [node("Gemm", ["x", "t"]), node("Transpose", ["w"], ["t"], perm=[5, 5])],
        {"w": W},
        (),
    ),
    "a permutation of words": ([node("Gemm", ["x", "t"]), node("Transpose", ["w"], ["t"], perm="ab")], {"w": W}, ()),
    "a factor that is a word": ([node("Gemm", ["x", "w"], alpha="two")], {"w": W}, ()),
    "a bias factor that is a word": ([node("Gemm", ["x", "w", "b"], transB=1, beta="two")], {"w": W, "b": W[:, 0]}, ()),
    "weights of words": ([node("Gemm", ["x", "w"])], {"w": np.array([["a", "b"]], dtype=object)}, ()),
    "a constant without content": (
        [node("Gemm", ["x", "c"]), helper.make_node("Constant", [], ["c"], value=onnx.TensorProto())],
        {},
        (),
    ),
    "fewer numbers than declared": ([node("Gemm", ["x", "w"])], {}, [tensor("w", [4, 6], raw_data=b"1234")]),
    "a huge declared size": ([node("Gemm", ["x", "w"])], {}, [tensor("w", [2**40, 6], raw_data=b"1234")]),
    "a negative size": ([node("Gemm", ["x", "w"])], {}, [tensor("w", [-4, 6], raw_data=bytes(96))]),
    "an unknown type": ([node("Gemm", ["x", "w"])], {}, [tensor("w", [4, 6], 99, raw_data=bytes(96))]),
    "a scale that does not fit": (
        [node("Gemm", ["x", "t"]), node("DequantizeLinear", ["q", "s"], ["t"], axis=0)],
        {"q": np.ones((4, 6), dtype=np.int8), "s": np.ones(5, dtype=np.float32)},
        (),
    ),
    "a scale that makes it large": (
        [node("Gemm", ["x", "t"]), node("DequantizeLinear", ["q", "s"], ["t"])],
        {"q": np.ones((4000, 1), dtype=np.int8), "s": np.ones((1, 4000), dtype=np.float32)},
        (),
    ),
    "a quantised value alone": ([node("Gemm", ["x", "t"]), node("DequantizeLinear", ["q"], ["t"])], {"q": W}, ()),
    "an axis that is a word": (
        [node("Gemm", ["x", "t"]), node("DequantizeLinear", ["q", "s"], ["t"], axis="a")],
        {"q": np.ones((4, 6), dtype=np.int8), "s": np.ones(6, dtype=np.float32)},
        (),
    ),
    "no outputs of weights": ([node("Gemm", ["x", "w"])], {"w": np.zeros((0, 6), dtype=np.float32)}, ()),
    "complex weights": ([node("Gemm", ["x", "w"])], {"w": W.astype(np.complex64)}, ()),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_malformed_graphs_are_the_users_to_know(save, what):
    nodes, arrays, raw = MALFORMED[what]
    refused(save(nodes, arrays, raw=raw), "m.onnx")


def test_no_outputs_at_all(save):
    refused(save([HEAD], {"w": W}, outputs=()), r"m\.onnx")


@pytest.mark.parametrize("seed", range(60))
def test_damaged_files(save, seed):
    path = save([HEAD, node("Softmax", ["z"])], {"w": W})
    content, dice = bytearray(path.read_bytes()), np.random.default_rng(seed)
    for place in dice.integers(0, len(content), 1 + seed % 5):
        content[place] = dice.integers(256)
    path.write_bytes(content)
    with time_limit(20):
        try:
            message = str(read_head(path).path)
        except InputError as error:
            message = str(error)
    assert str(path) in message
