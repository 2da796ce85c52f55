"""Run the examples of a page again, and write what they print and draw into it.

    python docs/hooks/rerun.py docs/gallery.md

What a block prints goes into the block of text that follows it, a chart that it saves to docs/pictures/gallery.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PICTURES = Path(__file__).parent.parent / "pictures" / "gallery"
SHOWN = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", flags=re.DOTALL)
"""A block of code and the block with what it prints."""


def rerun(found: re.Match[str]) -> str:
    """Both blocks, with what the code prints now."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-c", found[1]], cwd=folder, capture_output=True, text=True, check=True)
        for picture in Path(folder).glob("*.svg"):
            PICTURES.mkdir(parents=True, exist_ok=True)
            shutil.copy(picture, PICTURES / picture.name)
    return f"```python\n{found[1]}```\n\n```text\n{done.stdout}```"


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:]):
        page.write_text(SHOWN.sub(rerun, page.read_text(encoding="utf-8")), encoding="utf-8")
