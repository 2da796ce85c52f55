"""`classay schema`: the format of the JSON of a report."""

from __future__ import annotations

from ...report.export.json_format import schema
from .. import console, options

EXAMPLES = """
**Examples**

    classay schema > classay-report.schema.json

    check-jsonschema --schemafile classay-report.schema.json iris.json
"""


def command(debug: options.Debug = False) -> None:
    """Print the JSON Schema of a report."""
    console.write_json(schema())
