"""`classay schema`."""

from __future__ import annotations

import json

from classay.report.export.json_format import schema


def test_the_schema_is_alone_on_stdout(classay):
    code, out, err = classay("schema")
    assert (code, err) == (0, "")
    assert json.loads(out) == schema()
    assert json.loads(out)["$schema"] == "https://json-schema.org/draft/2020-12/schema"
