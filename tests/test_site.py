"""The site: every page, link and picture is there, every public name is in the reference, and nothing is fetched."""

import re
import sys
from pathlib import Path

import pytest

import classay
from classay.report.document.glossary import TERMS
from classay.report.findings import RULES

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "hooks"))

import docstrings
import pages

GENERATED = pages.generated()
WRITTEN = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")}
TEXTS = {DOCS / name: text for name, text in {**WRITTEN, **GENERATED}.items()}
TEXTS |= {
    path: path.read_text(encoding="utf-8")
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "benchmarks" / "README.md"]
}


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def links(text):
    """Targets of links and pictures that are not addresses elsewhere."""
    found = re.findall(r"\]\(([^)\s]+)\)", without_code(text))
    return [target for target in found if not re.match(r"[a-z]+:", target)]


def anchors(text):
    """What can be linked to within a page: the headings, as MkDocs and GitHub name them."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), flags=re.MULTILINE):
        named = re.search(r"\{ #(\S+) \}", heading)
        found.add(named[1] if named else re.sub(r"[^\w\s-]", "", heading.lower()).strip().replace(" ", "-"))
    return found


def nav():
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    return re.findall(r"^\s+- .*: (\S+\.md)$", config.split("\nnav:")[1], flags=re.MULTILINE)


def test_every_page_is_in_the_navigation_once():
    assert sorted(nav()) == sorted({**WRITTEN, **GENERATED})
    assert not set(WRITTEN) & set(GENERATED)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_and_pictures_resolve(path):
    for target in links(TEXTS[path]):
        file, _, place = target.partition("#")
        there = (path.parent / file).resolve() if file else path
        assert there in TEXTS or there.exists(), f"{path.name} links to {target}"
        if place and there in TEXTS:
            assert place in anchors(TEXTS[there]), f"{path.name} links to {target}"


def test_the_check_of_links_sees_what_is_broken():
    assert links("[a](b.md#c) ![p](q.svg) [d](https://e) `[f](g.md)`") == ["b.md#c", "q.svg"]
    assert anchors("# One, two\n```\n# no\n```\n## `x` { #y }\n") == {"one-two", "y"}


def test_every_picture_is_shown():
    shown = {(path.parent / target).resolve() for path, text in TEXTS.items() for target in links(text)}
    assert set((DOCS / "pictures").rglob("*.*")) <= shown


def test_every_public_name_is_in_the_reference():
    headings = re.findall(r"^## (\w+) \{", "".join(GENERATED.values()), flags=re.MULTILINE)
    assert sorted(headings) == sorted({*classay.__all__, *classay.results.__all__} - {"__version__", "results"})
    for name in headings:
        assert f"#{name})" in GENERATED["reference/index.md"]


def test_every_figure_and_finding_is_told():
    for name, term in TERMS.items():
        assert f"- **{docstrings.safe(term.label)}** `{name}`: " in GENERATED["glossary.md"]
    for code, each in RULES.items():
        assert f"### {code} {docstrings.safe(each.title)} " in GENERATED["findings.md"]


def test_rooms_say_when_not_to_trust_them():
    for name in ("orientation", "stability", "scores", "change", "data", "classes", "network", "report", "check"):
        assert "When not to trust it" in WRITTEN[f"{name}.md"], name
        assert "](pictures/" in WRITTEN[f"{name}.md"], f"{name} has no picture"


def test_broken_links_stop_the_build():
    assert "\nstrict: true\n" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    # Quiet, MkDocs counts no warnings, and builds a site with broken links.
    assert re.search(r"mkdocs build$", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_nothing_is_fetched():
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "http" not in config
    assert "font: false" in config
    assert "url(" not in (DOCS / "site.css").read_text(encoding="utf-8")


def test_the_version_to_cite_is_this_one():
    assert f"\nversion: {classay.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"{{{classay.__version__}}}" in WRITTEN["cite.md"]


def test_docstrings_become_markdown():
    text = (
        "Tell a < b.\n\nParameters\n----------\nx, y : rows\n    and labels\nz : c_d\n\nExamples\n--------\n>>> 1\n1\n"
    )
    assert docstrings.markdown(text) == (
        "Tell a &lt; b.\n\n**Parameters**\n\n- `x`, `y`: rows and labels\n- `z`: c\\_d\n\n"
        "**Examples**\n\n```pycon\n>>> 1\n1\n```"
    )
    assert docstrings.safe("`a_b < c` d_e") == "`a_b < c` d\\_e"


def test_signatures_are_cut_at_their_own_commas():
    def f(a, b=(1, 2), *, c="x, y", d="long enough that it does not fit", e="into one line of the page at all") -> int:
        """Nothing."""

    shown = docstrings.signature("f", f).splitlines()
    assert shown[:5] == ["f(", "    a,", "    b=(1, 2),", "    *,", "    c='x, y',"]
