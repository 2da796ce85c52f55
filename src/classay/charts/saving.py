"""Writing charts to files. Nothing is loaded from the network, neither to write them nor to see them."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import vl_convert

from ..expect import one_of

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
    """Write a chart as the suffix of `path` says: .svg, .png, .html (one file, opens offline) or .json (Vega-Lite)."""
    target = Path(path)
    suffix = one_of(target.suffix.lower(), "suffix", SUFFIXES)
    spec = chart.to_json(indent=None)
    if suffix == ".png":
        target.write_bytes(vl_convert.vegalite_to_png(spec, vl_version=_version(), scale=2))
        return target
    if suffix == ".svg":
        text = vl_convert.vegalite_to_svg(spec, vl_version=_version())
    elif suffix == ".html":
        text = _page(spec)
    else:
        text = spec
    target.write_text(text, encoding="utf-8")
    return target


def _page(spec: str) -> str:
    # Altair and vl-convert write names as they are, so that one with `</script>` in it would end the script.
    safe = spec.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return PAGE.format(library=library(), spec=safe)


def library() -> str:
    """Vega, Vega-Lite and what embeds them, as one script."""
    # The bundle comes without a snippet of ours, which its type does not foresee.
    bundle: str = vl_convert.javascript_bundle(vl_version=_version())  # type: ignore[call-arg]
    return bundle


def _version() -> str:
    """The Vega-Lite that this Altair writes, as vl-convert names it."""
    return ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
