"""Text to vectors, offline, so that utterances can be measured like rows of numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache as remember
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engine.store import Store
from ..expect import InputError, one_of, shown
from ..frames import pandas_of
from ..inputs import text_rows

Embedder = Callable[[list[str]], Any]
MODELS = ("wordllama", "minilm")


def embed(
    texts: Sequence[str], model: str | Embedder = "wordllama", cache: str | Path | None = None
) -> NDArray[np.floating]:
    """One vector per text, from a model on this machine. Nothing is downloaded, except by MiniLM on its first use.

    texts : strings, none of them empty
    model : "wordllama" (256 numbers per text, light, extra `text`), "minilm" (384, extra `text-minilm`), or any
        callable that turns a list of strings into an array with one row each
    cache : a folder; the same texts under the same model are then embedded once. A callable is not cached, because
        its name does not define what it does

    >>> embed(["book a flight", "play jazz"], model=lambda texts: [[len(text), 1.0] for text in texts]).shape
    (2, 2)
    """
    strings = _checked_texts(texts)
    if not isinstance(model, str):
        return _checked_vectors(model(strings), len(strings))
    name = one_of(model, "model", MODELS)
    store = None if cache is None else Store(cache)
    key = ""
    if store is not None:
        digest = hashlib.blake2b(digest_size=16)
        for text in strings:
            digest.update(len(encoded := text.encode("utf-8", "surrogatepass")).to_bytes(8, "little") + encoded)
        key = store.key({"vectors of": digest.hexdigest(), "texts": len(strings), "model": name})
        stored = store.restore(key, "vectors", lambda _, arrays: _checked_vectors(arrays["vectors"], len(strings)))
        if stored is not None:
            return stored
    vectors = _checked_vectors(_load_model(name)(strings), len(strings))
    if store is not None:
        store.put(key, "vectors", {"model": name, "texts": len(strings)}, {"vectors": vectors})
    return vectors


def as_vectors(X: Any, name: str = "X") -> tuple[Any, list[str]]:
    """Rows of text as vectors, with a note that says so; rows of anything else unchanged."""
    rows = pandas_of(X, name)
    texts = text_rows(rows, name)
    if texts is None:
        return rows, []
    vectors = embed(texts.tolist())
    return vectors, [f"The rows are texts, measured as vectors of {vectors.shape[1]} numbers from wordllama."]


def _checked_texts(texts: Any) -> list[str]:
    """The texts as a list, if every one is a non-empty string."""
    if isinstance(texts, (str, bytes)):
        raise InputError("`texts` is one string; expected a list of strings.")
    strings = list(texts)
    not_text = [place for place, text in enumerate(strings) if not isinstance(text, str)]
    if not_text:
        first = strings[not_text[0]]
        raise InputError(
            f"{len(not_text)} of {len(strings)} texts are not strings (rows {shown(not_text, 5)}; first: {first!r}). "
            "Drop these rows. Is the text column right?"
        )
    empty = [place for place, text in enumerate(strings) if not text.strip()]
    if not strings:
        raise InputError("There are no texts; expected at least one.")
    if empty:
        raise InputError(f"{len(empty)} of {len(strings)} texts are empty (rows {shown(empty, 5)}). Drop these rows.")
    return strings


def _checked_vectors(vectors: Any, rows: int) -> NDArray[np.floating]:
    array = np.asarray(vectors)
    if array.ndim != 2 or len(array) != rows or array.dtype.kind not in "fiu":
        raise InputError(
            f"The model returned an array of {array.dtype} with shape {array.shape} for {rows} texts; expected numbers "
            "with one row per text."
        )
    if not np.isfinite(array).all():
        raise InputError("The model returned vectors with NaN or infinite numbers.")
    return array if array.dtype.kind == "f" else array.astype(float)


@remember
def _load_model(name: str) -> Embedder:
    if name == "wordllama":
        try:
            import wordllama
        except ImportError:
            raise InputError('Embedding texts needs wordllama: pip install "classay[text]".') from None
        # Its weights and tokenizer are in the package; by default it would download the latter from a hub.
        folder = Path(wordllama.__file__).parent
        model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
        return lambda texts: model.embed(texts, norm=False)
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise InputError('MiniLM needs sentence-transformers: pip install "classay[text-minilm]".') from None
    encoder = SentenceTransformer("all-MiniLM-L6-v2")
    return lambda texts: encoder.encode(texts, show_progress_bar=False)
