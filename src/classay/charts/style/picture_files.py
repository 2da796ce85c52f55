"""Charts written to files, and arrays as pictures inside charts.

Nothing is loaded from the network, neither to write a file nor to view it.
"""

from __future__ import annotations

import base64
import json
import re
import struct
import subprocess
import sys
import zlib
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import vl_convert
from numpy.typing import ArrayLike, NDArray

from ...engine.archive import atomic_file
from ...expect import InputError, one_of

SUFFIXES = (".svg", ".png", ".html", ".json")

PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>classay</title><script>{library}</script></head>
<body><div id="chart"></div>
<script>vegaEmbed("#chart", {spec}, {{renderer: "svg", actions: false}}).catch(console.error);</script>
</body>
</html>
"""


def save(chart: alt.TopLevelMixin, path: str | Path) -> Path:
    """Write a chart in the format of the suffix: .svg, .png, .html (one file, opens offline) or .json (Vega-Lite)."""
    target = Path(path)
    suffix = one_of(target.suffix.lower(), "suffix", SUFFIXES)
    spec = chart.to_json(indent=None)
    if suffix == ".png":
        content = _converted("vegalite_to_png", vl_spec=spec, vl_version=_version(), scale=2, allowed_base_urls=[])
    elif suffix == ".svg":
        content = svg(chart).encode()
    else:
        content = (_page(spec) if suffix == ".html" else spec).encode("utf-8", "backslashreplace")
    with atomic_file(target) as file:  # only now, so that a chart that cannot be drawn leaves no file
        file.write(content)
    return target


def svg(chart: alt.TopLevelMixin) -> str:
    """A chart as SVG, the same text each time: Vega numbers clips and gradients on and on within a process."""
    spec = chart.to_json(indent=None)
    text = _converted("vegalite_to_svg", vl_spec=spec, vl_version=_version(), allowed_base_urls=[]).decode()
    new: dict[str, str] = {}

    def renumbered(found: re.Match[str]) -> str:
        return found[1] + new.setdefault(found[2], re.sub(r"\d+", str(len(new)), found[2]))

    return re.sub(r'(id="|url\(#)((?:clip|gradient)_?\d+)', renumbered, text)


CONVERT = """
import json, sys, vl_convert
asked = json.load(sys.stdin)
made = getattr(vl_convert, asked["function"])(**asked["arguments"])
sys.stdout.buffer.write(made.encode() if isinstance(made, str) else made)
"""


def _converted(function: str, **arguments: Any) -> bytes:
    """What a function of vl-convert gives, as bytes.

    Where memory is limited, in a process of its own: its JavaScript engine ends the process if it gets too little.
    """
    if not _memory_is_limited():
        made = getattr(vl_convert, function)(**arguments)
        return made.encode() if isinstance(made, str) else bytes(made)
    asked = json.dumps({"function": function, "arguments": arguments})
    done = subprocess.run([sys.executable, "-c", CONVERT], input=asked.encode(), capture_output=True, check=False)
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().split("\n")[-1][:200]
        raise MemoryError(
            f"a chart could not be drawn, because the limit of memory of this process (ulimit -v) is too low ({reason})"
        )
    return done.stdout


def _memory_is_limited() -> bool:
    try:
        import resource
    except ImportError:  # on Windows
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def _page(spec: str) -> str:
    # Altair and vl-convert write names unescaped: one that contains `</script>` would end the script.
    safe = spec.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return PAGE.format(library=library(), spec=safe)


def library() -> str:
    """Vega, Vega-Lite and Vega-Embed, as one script."""
    return prepared_library().result()


@cache
def prepared_library() -> Future[str]:
    """The same in the background, for those who know early that they need it: it takes seconds, without Python."""
    thread = ThreadPoolExecutor(1, thread_name_prefix="classay-library")
    bundle = thread.submit(lambda: _converted("javascript_bundle", vl_version=_version()).decode())
    thread.shutdown(wait=False)
    return bundle


def _version() -> str:
    """The Vega-Lite version that this Altair writes, as vl-convert names it."""
    return ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


# Arrays as pictures inside a chart: PNG in a data address.


SIDE = 96
"""Approximate pixels of the longer side."""


def pictures(images: ArrayLike, rows: NDArray[np.int64], n_rows: int) -> list[str]:
    """The images of these rows, grey (n, h, w) or coloured (n, h, w, 3), as addresses. Their lowest value is black."""
    stack: NDArray[Any] = np.asarray(images)
    if stack.ndim not in (3, 4) or (stack.ndim == 4 and stack.shape[3] not in (1, 3)) or 0 in stack.shape:
        raise InputError(f"`images` has shape {stack.shape}; expected (n, h, w) or (n, h, w, 3).")
    if stack.dtype.kind not in "biuf":
        raise InputError(f"`images` contains {stack.dtype}; expected numbers.")
    if stack.shape[0] != n_rows:
        raise InputError(f"`images` has {stack.shape[0]} images but the result has {n_rows} rows; they must match.")
    chosen = stack[rows]
    if chosen.ndim == 4 and chosen.shape[3] == 1:
        chosen = chosen[..., 0]
    if chosen.dtype != np.uint8:
        values = np.nan_to_num(chosen.astype(float), nan=0.0, posinf=0.0, neginf=0.0)
        low, high = values.min(initial=0.0), values.max(initial=0.0)
        chosen = np.round(255 * (values - low) / ((high - low) or 1.0)).astype(np.uint8)
    return [png(_sized(each)) for each in chosen]


def png(pixels: NDArray[np.uint8]) -> str:
    """A picture of bytes, grey (h, w) or coloured (h, w, 3), as a URL `data:image/png;base64,…`."""
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
    """The picture near the size at which it is drawn. Small ones grow by whole squares, which keeps them sharp."""
    longest = max(pixels.shape[:2])
    if longest > SIDE:
        step = -(-longest // SIDE)
        return np.ascontiguousarray(pixels[::step, ::step])
    return pixels.repeat(SIDE // longest, axis=0).repeat(SIDE // longest, axis=1)
