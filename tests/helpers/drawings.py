"""What tests ask of a chart: the rows of its data, and its texts as drawn."""

import xml.etree.ElementTree as ElementTree

from classay.charts.style.picture_files import svg

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    """it's "quoted" \\ and `ticked`""",
    "a.b[0]['c']",
    "datum.value + ' ' + ${x}",
    "🌲 forest 👨‍👩‍👧 森林",
    "x" * 10_000,
    "x" * 9_999 + "y",
    "line\nbreak \x00 \x1b[31m \u202e end",
    "",
]
"""Names that are code somewhere, long, of several lines, in other scripts, or empty."""


def rows_with(chart, *fields):
    """The rows of all the chart's data sets that have these fields."""
    spec = chart.to_dict(validate=False)
    return [row for rows in spec["datasets"].values() for row in rows if set(fields) <= set(row)]


def drawn(chart):
    """The chart as SVG, after a check that it is valid, has finite numbers only, and names as text, not as code."""
    text = chart.to_json(validate=True)
    assert "NaN" not in text
    assert "Infinity" not in text
    picture = svg(chart)
    tags = {element.tag.split("}")[1] for element in ElementTree.fromstring(picture).iter()}
    assert not tags & {"script", "img", "a"}
    return picture


def texts_of(chart):
    """The texts of the chart as drawn."""
    picture = ElementTree.fromstring(drawn(chart))
    return [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]


def titles(chart):
    """The title and what is below it, each as one line."""
    title = chart.to_dict(validate=False)["title"]
    return " ".join(title["text"]), " ".join(title["subtitle"])
