"""Arrays as pictures that a chart can hold: PNG in a data address."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..expect import InputError

SIDE = 96
"""Pixels of the longer side, about."""


def pictures(images: ArrayLike, rows: NDArray[np.int64], n_rows: int) -> list[str]:
    """Chosen images, grey (n, h, w) or coloured (n, h, w, 3), as addresses. Lowest value of the chosen: black."""
    stack: NDArray[Any] = np.asarray(images)
    if stack.ndim not in (3, 4) or (stack.ndim == 4 and stack.shape[3] not in (1, 3)) or 0 in stack.shape:
        raise InputError(f"`images` has shape {stack.shape}; (n, h, w) or (n, h, w, 3) is expected.")
    if stack.dtype.kind not in "biuf":
        raise InputError(f"`images` holds {stack.dtype}; numbers are expected.")
    if stack.shape[0] != n_rows:
        raise InputError(f"`images` has {stack.shape[0]} images and the result {n_rows} rows; as many are expected.")
    chosen = stack[rows]
    if chosen.ndim == 4 and chosen.shape[3] == 1:
        chosen = chosen[..., 0]
    if chosen.dtype != np.uint8:
        values = np.nan_to_num(chosen.astype(float), nan=0.0, posinf=0.0, neginf=0.0)
        low, high = values.min(initial=0.0), values.max(initial=0.0)
        chosen = np.round(255 * (values - low) / ((high - low) or 1.0)).astype(np.uint8)
    return [png(_sized(each)) for each in chosen]


def png(pixels: NDArray[np.uint8]) -> str:
    """A picture of bytes, grey (h, w) or coloured (h, w, 3), as an address `data:image/png;base64,…`."""
    height, width = pixels.shape[:2]
    lines = pixels.reshape(height, -1)
    # Each line starts with the number of its filter: none.
    raw = np.hstack([np.zeros((height, 1), np.uint8), lines]).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if pixels.ndim == 3 else 0, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b""))
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + body).decode()


def _sized(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Near the size at which it is seen: small ones by whole squares, so that they are not blurred."""
    longest = max(pixels.shape[:2])
    if longest > SIDE:
        step = -(-longest // SIDE)
        return np.ascontiguousarray(pixels[::step, ::step])
    return pixels.repeat(SIDE // longest, axis=0).repeat(SIDE // longest, axis=1)
