"""Draw the pictures of docs/pictures again, those of the gallery excepted (see rerun.py).

    python docs/hooks/pictures.py                 # all of them
    python docs/hooks/pictures.py sweep network   # some

`network` needs the extra of that name, `report` Debian's chromium. The report it shows was made by the command in its
settings, and saved by classay.load("breast_cancer.html").save("docs/reports/breast_cancer.json", force=True).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import classay

DOCS = Path(__file__).parent.parent
PICTURES = DOCS / "pictures"


def from_command(picture: str, chart: str, *arguments: str) -> None:
    """Keep one of the charts that a command saves."""
    with tempfile.TemporaryDirectory() as folder:
        _classay(*arguments, "--charts", folder, "--quiet")
        (PICTURES / f"{picture}.svg").write_bytes((Path(folder) / f"{chart}.svg").read_bytes())


def check() -> None:
    """The check file of docs/check.md, as a terminal shows its table."""
    from rich._export_format import CONSOLE_SVG_FORMAT
    from rich.console import Console
    from rich.terminal_theme import TerminalTheme
    from rich.text import Text

    toml = re.search(r"```toml\n(.*?)```", (DOCS / "check.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    assert toml is not None
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "classay.toml").write_text(toml[1], encoding="utf-8")
        shown = _classay("check", "classay.toml", "--quiet", folder=folder, exit_code=1)
    ink, red, green = (31, 41, 55), (180, 35, 24), (22, 101, 52)
    with open(os.devnull, "w") as nowhere:
        terminal = Console(record=True, width=84, file=nowhere, force_terminal=True, highlight=False)
        terminal.print("$ classay check classay.toml")
        terminal.print(Text.from_ansi(shown))
    # Fonts of the reader's machine: the template's own would be fetched from the network.
    template = re.sub(r"@font-face \{\{.*?\}\}|<!--.*?-->", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    template = template.replace("Fira Code,", "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas,")
    theme = TerminalTheme((255, 255, 255), ink, [ink, red, green, ink, ink, ink, ink, ink])
    svg = terminal.export_svg(title="classay check", theme=theme, code_format=template, unique_id="check")
    (PICTURES / "check.svg").write_text(svg, encoding="utf-8")


def classes() -> None:
    """The example of docs/classes.md."""
    rng = np.random.default_rng(0)
    y = np.arange(500) % 100
    scores = rng.normal(size=(500, 100)) + 3 * np.eye(100)[y]
    ranks = classay.Ranks.from_scores(scores, y, marginal=True, name="a pilot of 100 classes")
    classay.extrapolate(classay.accuracy_curve(ranks), [1000, 10_000]).plot().save(PICTURES / "classes.svg")


def data() -> None:
    """What the page says beside it."""
    from_command("data", "complexity", "data", "digits")


def expressivity() -> None:
    """What the page says beside it."""
    from_command("expressivity", "expressivity", "learner", "breast_cancer")


def network() -> None:
    """The network of examples/which_checkpoint.py, after 600 steps of training."""
    import torch

    sys.path.insert(0, str(DOCS.parent / "examples"))
    from which_checkpoint import trained

    torch.set_num_threads(1)
    digits, labels = load_digits(return_X_y=True)
    x = torch.from_numpy(((digits - 5) / 6).astype(np.float32)).reshape(-1, 1, 8, 8)
    y = torch.from_numpy(labels.astype(np.int64))
    quality = classay.network_quality(trained(x[:1000], y[:1000], 600), (1, 8, 8), starts=2, compare_fresh=False)
    classay.charts.class_cosines(quality).save(PICTURES / "network.svg")


def report() -> None:
    """The top of the page of docs/reports/breast_cancer.json."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = classay.load(DOCS / "reports" / "breast_cancer.json").save(Path(folder) / "report.html")
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=flags)
        view = browser.new_page(viewport={"width": 1200, "height": 800}, color_scheme="light")
        view.goto(page.as_uri())
        view.wait_for_selector("h2")
        view.screenshot(path=PICTURES / "report.png")
        browser.close()


def stability() -> None:
    """Five learners on uniform probes."""
    classay.stability({name: _refits(name) for name in LEARNERS}).plot().save(PICTURES / "stability.svg")


def disagreement() -> None:
    """Where the forest of the picture of stability disagrees."""
    found = classay.stability(_refits("forest of 50"))
    found.plot(kind="plane", regions=found.regions()).save(PICTURES / "disagreement.svg")


def sweep() -> None:
    """What the page says beside it."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    sizes = range(1, 60, 5)
    swept = classay.sweep(RandomForestClassifier(), X, y, "n_estimators", sizes, classay.Subsets(50), repeats=5)
    swept.plot().save(PICTURES / "sweep.svg")


LEARNERS = {
    "tree": DecisionTreeClassifier(),
    "tree of depth 2": DecisionTreeClassifier(max_depth=2),
    "forest of 50": RandomForestClassifier(n_estimators=50),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
    "5 nearest neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier()),
}
DRAWN: list[Callable[[], None]] = [
    check, classes, data, disagreement, expressivity, network, report, stability, sweep,
]  # fmt: skip


def _refits(name: str) -> Any:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    halves = classay.HalfSplits(25)
    return classay.record(LEARNERS[name], X, y, halves, repeats=1, probes="uniform", n_probes=10_000, name=name)


def _classay(*arguments: str, folder: str | None = None, exit_code: int = 0) -> str:
    """What a command prints on a terminal of 84 columns."""
    terminal = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": "84", "TERM": "xterm-256color"}
    call = [sys.executable, "-m", "classay", *arguments]
    done = subprocess.run(call, cwd=folder, env=terminal, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    if done.returncode != exit_code:
        raise SystemExit(f"{' '.join(call)} ended with exit code {done.returncode}; expected {exit_code}.")
    return done.stdout


if __name__ == "__main__":
    for draw in DRAWN:
        if draw.__name__ in sys.argv[1:] or not sys.argv[1:]:
            print(draw.__name__, flush=True)
            draw()
