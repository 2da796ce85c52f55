"""A file with given content."""

import pytest


@pytest.fixture
def written(tmp_path):
    """Write a text, bytes, or a header and rows to a file and return its path."""

    def write(content, *rows, name="t.csv"):
        path = tmp_path / name
        text = "\n".join([content, *rows]) + "\n" if rows else content
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write
