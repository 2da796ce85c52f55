"""Texts to vectors, offline, so that utterances can be assayed like rows of numbers."""

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

Floats = NDArray[np.float32]
Embedder = Callable[[list[str]], Any]
MODELS = ("wordllama", "minilm")


def embed(
    texts: Sequence[str], model: str | Embedder = "wordllama", cache: str | Path | None = None
) -> NDArray[np.floating]:
    """One vector a text, from a model on this machine. Nothing is downloaded, except by MiniLM on its first use.

    texts : strings, none of them empty
    model : "wordllama" (256 numbers a text, light, extra `text`), "minilm" (384, extra `text-minilm`), or any callable
        that turns a list of strings into an array with a row each
    cache : a folder; the same texts under the same model are then embedded once. A callable is not cached, because
        what it does cannot be told from its name

    >>> embed(["book a flight", "play jazz"], model=lambda texts: [[len(text), 1.0] for text in texts]).shape
    (2, 2)
    """
    listed = _checked(texts)
    if not isinstance(model, str):
        return _array(model(listed), len(listed))
    name = one_of(model, "model", MODELS)
    store = None if cache is None else Store(cache)
    key = ""
    if store is not None:
        digest = hashlib.blake2b(digest_size=16)
        for text in listed:
            digest.update(len(encoded := text.encode("utf-8", "surrogatepass")).to_bytes(8, "little") + encoded)
        key = store.key({"vectors of": digest.hexdigest(), "texts": len(listed), "model": name})
        found = store.get(key, "vectors")
        if found is not None:
            return found[1]["vectors"]
    vectors = _array(_loaded(name)(listed), len(listed))
    if store is not None:
        store.put(key, "vectors", {"model": name, "texts": len(listed)}, {"vectors": vectors})
    return vectors


def _checked(texts: Any) -> list[str]:
    """The texts as a list, if every one is a string with something in it."""
    if isinstance(texts, (str, bytes)):
        raise InputError("`texts` is one string; a list of strings is expected.")
    listed = list(texts)
    strange = [place for place, text in enumerate(listed) if not isinstance(text, str)]
    if strange:
        first = listed[strange[0]]
        raise InputError(
            f"{len(strange)} of {len(listed)} texts are not strings (rows {shown(strange, 5)}; first: {first!r}). "
            "Drop these rows, or is the text column right?"
        )
    empty = [place for place, text in enumerate(listed) if not text.strip()]
    if not listed:
        raise InputError("There are no texts; at least one is expected.")
    if empty:
        raise InputError(f"{len(empty)} of {len(listed)} texts are empty (rows {shown(empty, 5)}). Drop these rows.")
    return listed


def _array(vectors: Any, rows: int) -> NDArray[np.floating]:
    array = np.asarray(vectors)
    if array.ndim != 2 or len(array) != rows or array.dtype.kind not in "fiu":
        raise InputError(
            f"The model gave an array of {array.dtype} with shape {array.shape} for {rows} texts; numbers with "
            "one row a text are expected."
        )
    if not np.isfinite(array).all():
        raise InputError("The model gave vectors with NaN or infinite numbers.")
    return array if array.dtype.kind == "f" else array.astype(float)


@remember
def _loaded(name: str) -> Embedder:
    if name == "wordllama":
        try:
            import wordllama
        except ImportError:
            raise InputError('Embedding texts needs wordllama: pip install "classay[text]".') from None
        # Its weights and tokenizer lie in the package; where it looks by default, it would ask a hub for the latter.
        folder = Path(wordllama.__file__).parent
        loaded = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
        return lambda texts: loaded.embed(texts, norm=False)
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise InputError('MiniLM needs sentence-transformers: pip install "classay[text-minilm]".') from None
    encoder = SentenceTransformer("all-MiniLM-L6-v2")
    return lambda texts: encoder.encode(texts, show_progress_bar=False)
