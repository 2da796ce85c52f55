"""What MkDocs calls: pages made from the code at build time, so that they cannot be out of date."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

import findings
import glossary
import notebooks
import reference


def generated() -> dict[str, str]:
    """Path within the site -> text, of every page that has no file in docs/."""
    rooms = [room for room, names in reference.names().items() if names]
    return {
        "findings.md": findings.page(),
        "glossary.md": glossary.page(),
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        **notebooks.pages(),
        "reference/index.md": reference.index(),
        **{f"reference/{reference.file(room)}": reference.page(room) for room in rooms},
    }


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages."""
    from mkdocs.structure.files import File

    for path, text in generated().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_post_build(config: Any) -> None:
    """Draw the pages of the reports that are kept as JSON, where the site links to them."""
    import classay

    for source in sorted((ROOT / "docs" / "reports").glob("*.json")):
        classay.load(source).save(Path(config["site_dir"]) / "reports" / f"{source.stem}.html", force=True)
