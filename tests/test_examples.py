"""Examples and the code in the docs run."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FEWER = {"HalfSplits(10)": "HalfSplits(2)", "Subsets(20)": "Subsets(8)"}


def code_blocks(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(), flags=re.DOTALL)


def printed_blocks(path):
    """Number of a block of code -> the block of text after it, which says what it prints."""
    parts = re.split(r"```python\n.*?```", path.read_text(), flags=re.DOTALL)[1:]
    found = {number: re.match(r"\n\n```text\n(.*?)```", part, flags=re.DOTALL) for number, part in enumerate(parts)}
    return {number: text[1] for number, text in found.items() if text}


def numbers_apart(text):
    """A text without its numbers, and the numbers."""
    number = r"\d+(?:\.\d+)?"
    return re.sub(number, "#", text).split(), [float(each) for each in re.findall(number, text)]


DOCS = [
    (path, number)
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for number in range(len(code_blocks(path)))
]


def skip_without_torch(text):
    """Skip what needs the extra `network` where it is not installed."""
    if "torch" in text:
        pytest.importorskip("torch")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run code as a program, in a folder of its own: what it prints. In this process, which has imported all it needs.

    Where the figures do not matter, it runs with fewer fits.
    """

    def printed(code, figures_matter=False):
        for many, few in FEWER.items():
            code = code if figures_matter else code.replace(many, few)
        file = tmp_path / "program.py"
        file.write_text(code, encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("sys.argv", [str(file)])
        # Not by runpy, which makes it the main module: a worker that starts now would run the program again.
        exec(compile(code, str(file), "exec"), {"__name__": "__main__"})
        return capsys.readouterr().out

    return printed


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(run, path):
    skip_without_torch(path.read_text())
    assert len(run(path.read_text(encoding="utf-8"))) > 200


@pytest.mark.slow
@pytest.mark.parametrize(("path", "number"), DOCS, ids=lambda value: getattr(value, "name", value))
def test_code_in_the_docs_runs(run, path, number):
    skip_without_torch(code_blocks(path)[number])
    printed = run(code_blocks(path)[number], figures_matter=number in printed_blocks(path))
    if number in printed_blocks(path):
        words, numbers = numbers_apart(printed_blocks(path)[number])
        assert numbers_apart(printed)[0] == words
        # The same bits come with the same versions of everything only.
        assert numbers_apart(printed)[1] == pytest.approx(numbers, rel=0.15, abs=0.05)
