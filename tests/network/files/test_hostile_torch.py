"""Torch files that are malformed or hostile: each is refused with a reason, at once."""

from __future__ import annotations

import warnings

import pytest

torch = pytest.importorskip("torch")

from classay.expect import InputError
from classay.network.files.head_search import read_head

W = torch.arange(40.0).reshape(5, 8)


def cyclic():
    content = {}
    content["model"] = content
    return content


def branching(depth=60):
    """Each mapping has the next one twice: visiting every path would take 2^60 steps."""
    content = {}
    for _ in range(depth):
        content = {"state_dict": content, "model": content}
    return content


def nested_deeply():
    content = {"fc.weight": W}
    for _ in range(200):
        content = {"model": content}
    return content


def weight(make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls such tensors a beta
        return {"fc.weight": make(), "fc.bias": torch.zeros(5)}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (cyclic, "no weights of two or more dimensions"),
        (branching, "no weights of two or more dimensions"),
        (nested_deeply, "no weights of two or more dimensions"),
        (lambda: weight(W.to_sparse), "sparse_coo tensor 'fc.weight'; expected dense tensors. Convert it"),
        (lambda: weight(W.to_sparse_csr), "sparse_csr tensor 'fc.weight'"),
        (lambda: weight(lambda: W.to("meta")), "meta tensor 'fc.weight'; .* It has no values"),
        (lambda: weight(lambda: torch.nested.nested_tensor([W, W[:2]])), "nested tensor 'fc.weight'"),
        (lambda: weight(lambda: torch.zeros(1).expand(10**6, 10**6)), "size of the tensors of .*; the limit is"),
    ],
    ids=["cyclic", "branching", "deep", "sparse", "csr", "meta", "nested", "expanded"],
)
def test_refused_with_a_reason(tmp_path, content, message):
    path = tmp_path / "net.pt"
    torch.save(content(), path)
    with pytest.raises(InputError, match=message):
        read_head(path)


def test_mappings_around_weights_are_no_hindrance(tmp_path):
    path = tmp_path / "net.pt"
    around = cyclic() | {"epoch": 3, "state_dict": weight(lambda: W)}
    torch.save(around, path)
    assert read_head(path).weight.shape == (5, 8)
