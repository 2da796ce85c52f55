import sys

import numpy as np
import pytest

from classay import InputError
from classay.data import text
from classay.data.text import embed


def lengths(texts):
    return [[len(each), each.count("a")] for each in texts]


def test_any_callable_embeds():
    np.testing.assert_array_equal(embed(["a", "bba"], lengths), [[1, 1], [3, 1]])


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one string", "one string"),
        ([], "no texts"),
        (["a", "", "  "], "2 of 3 texts are empty"),
        (["a", None, 3.5], "2 of 3 texts are not strings"),
    ],
)
def test_bad_texts(texts, message):
    with pytest.raises(InputError, match=message):
        embed(texts, lengths)


@pytest.mark.parametrize("answer", [[1, 2], [[1.0]], [["x"], ["y"]], [[np.nan], [1.0]], [[np.inf], [1.0]]])
def test_bad_embedders(answer):
    with pytest.raises(InputError, match="model"):
        embed(["a", "b"], lambda texts: answer)


def test_an_unknown_model_suggests_the_nearest():
    with pytest.raises(InputError, match="wordllama"):
        embed(["a"], "wordlama")


@pytest.mark.parametrize(
    ("module", "extra"), [("wordllama", r"classay\[text\]"), ("sentence_transformers", "text-minilm")]
)
def test_a_missing_extra_is_named(monkeypatch, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    text._load_model.cache_clear()
    with pytest.raises(InputError, match=extra):
        embed(["a"], "wordllama" if module == "wordllama" else "minilm")


def test_vectors_are_cached_by_content(monkeypatch, tmp_path):
    calls = []

    def load(name):
        return lambda texts: calls.append(len(texts)) or np.array(lengths(texts), dtype=np.float32)

    monkeypatch.setattr(text, "_load_model", load)
    first = embed(["a", "bba"], cache=tmp_path)
    np.testing.assert_array_equal(embed(["a", "bba"], cache=tmp_path), first)
    assert calls == [2]
    embed(["ab", "ba"], cache=tmp_path)  # the same letters, cut elsewhere
    embed(["a", "bba"], "minilm", cache=tmp_path)
    assert calls == [2, 2, 2]


def test_wordllama_works_without_a_network():
    pytest.importorskip("wordllama")
    text._load_model.cache_clear()
    vectors = embed(["play some jazz", "put on jazz music", "what is my balance"])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert vectors.shape == (3, 256)
    assert unit[0] @ unit[1] > unit[0] @ unit[2]
