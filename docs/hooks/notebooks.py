"""The notebooks of examples/ as pages of the site, with the outputs that are kept in them.

    python docs/hooks/notebooks.py examples/hard_rows.ipynb   # run again, and keep its outputs

Small enough to do here: a converter such as nbconvert would bring thirty packages and its own scripts.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
SHOWN = ("text/html", "text/plain")
"""Kinds of output, the best first."""


def pages() -> dict[str, str]:
    """Path within the site -> text, of every notebook."""
    return {f"notebooks/{path.stem}.md": page(path) for path in sorted(EXAMPLES.glob("*.ipynb"))}


def page(path: Path) -> str:
    """A notebook as Markdown: its text, its code, and what each cell shows."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        else:
            parts.append(f"```python\n{source}\n```")
            parts += [shown for output in cell["outputs"] if (shown := _output(output))]
    first, *rest = parts
    return "\n\n".join([first, f"*As a notebook: `examples/{path.name}`.*", *rest]) + "\n"


def _output(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return f"```text\n{''.join(output['text']).rstrip()}\n```"
    for kind in SHOWN:
        if kind in output.get("data", {}):
            text = "".join(output["data"][kind])
            # The site has its own style for tables, and Markdown ends a block of HTML at an empty line.
            text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL).replace('border="1" class="dataframe"', "")
            lines = "\n".join(line.strip() for line in text.splitlines() if line.strip())
            return f'<div class="output">{lines}</div>' if kind == "text/html" else f"```text\n{text}\n```"
    return ""


# Outputs that are kept: run the notebook, and leave out what changes from run to run.


def rerun(path: Path) -> None:
    """Run a notebook, and write it with what its cells show now."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": path.parent}}).execute()
    path.write_text(json.dumps(cleaned(notebook), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def cleaned(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook without times, counts and the names of this machine."""
    cells = []
    for number, cell in enumerate(notebook["cells"]):
        kept = {
            "cell_type": cell["cell_type"],
            "id": f"cell-{number}",
            "metadata": {},
            "source": _lines(cell["source"]),
        }
        if cell["cell_type"] == "code":
            outputs = [_cleaned(output) for output in cell["outputs"]]
            kept |= {"execution_count": None, "outputs": outputs}
        cells.append(kept)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _cleaned(output: dict[str, Any]) -> dict[str, Any]:
    kind = output["output_type"]
    if kind == "stream":
        return {"name": output["name"], "output_type": kind, "text": _lines(output["text"])}
    data = {name: _lines(text) for name, text in output["data"].items() if name in SHOWN}
    kept = {"data": data, "metadata": {}, "output_type": kind}
    return kept | {"execution_count": None} if kind == "execute_result" else kept


def _lines(text: str | list[str]) -> list[str]:
    return "".join(text).splitlines(keepends=True)


if __name__ == "__main__":
    for each in sys.argv[1:]:
        rerun(Path(each))
