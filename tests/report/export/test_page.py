import dataclasses
import html
import itertools
import json
import math
import re

import pytest
from outline import Outline
from sample import LEARNERS, NASTY, nasty_data_report, nasty_report, sample_report

from classay.intervals import Estimate, exact
from classay.report.document import Finding, Picture, Report, Section, Sheet
from classay.report.document.glossary import TERMS
from classay.report.document.phrases import printed
from classay.report.export import page
from classay.report.export.json_format import document, report_from
from classay.report.export.page import Names, render

EMPTY = Report("None", {}, (), (), (), (), {}, {})


@pytest.fixture(scope="module")
def sample() -> Outline:
    return Outline(render(sample_report()))


@pytest.fixture(scope="module")
def nasty() -> Outline:
    return Outline(render(nasty_report()))


def squeezed(text: str) -> str:
    return " ".join(text.split())


def test_every_finding_is_there_with_all_it_says(sample):
    for finding in sample_report().findings:
        for part in (finding.code, finding.of, finding.title, finding.sentence, finding.reference, finding.action):
            assert squeezed(part) in sample.words
    assert sample.words.index("is far less stable") < sample.words.index("Two labels look wrong")
    assert sample.words.index("Two labels look wrong") < sample.words.index("Checks passed (1)")
    assert "1 warning 1 note 1 check passed" in sample.words
    assert "Not checked (1)" in sample.words
    assert "C301 More classes: there are 2 classes; at least 5 are needed ." in sample.words


def test_level_is_said_in_words_and_not_by_colour_alone(sample):
    assert "Warning L102" in sample.words
    assert "Note D201" in sample.words
    assert "Passed: Better than guessing" in sample.words


def test_every_section_comes_in_order_and_empty_ones_not_at_all(sample):
    report = sample_report()
    assert [found["id"] for found in sample.all("section")] == [
        "verdict", "findings", "learners", "data", "slices", "figures", "settings", "terms"
    ]  # fmt: skip
    places = [sample.words.index(each.lead) for each in report.sections if not each.is_empty]
    assert places == sorted(places)
    linked = {found["href"] for found in sample.all("a")}
    assert {"#verdict", "#findings", "#learners", "#settings"} <= linked
    assert "#classes" not in linked


def test_the_verdict_stands_before_the_findings_with_its_table(sample):
    verdict = sample_report().verdict
    for sentence in verdict.sentences:
        assert sample.words.index(sentence) < sample.words.index("1 warning 1 note")
    assert sample.words.index("rows fitted") < sample.words.index("1 warning 1 note")


def test_a_folded_section_shows_only_its_title():
    folded = Section("data", "How hard are the rows? (complexity)", "A lead.", folded=True)
    text = render(sample_report(sections=(folded,)))
    assert '<details class="fold"><summary><h2 id="data-title">' in text
    assert "How hard are the rows? (complexity)" in Outline(text).words


def test_a_section_may_say_why_something_is_missing_and_still_show_a_table():
    sheet = Sheet("classes", "Classes", ("class",), (("only one",),))
    words = Outline(render(sample_report(sections=(Section("data", "Data", "", (), (sheet,), "no geometry"),)))).words
    assert "No geometry" in words
    assert "only one" in words


def test_every_cell_of_every_sheet_is_there(sample):
    for sheet in sample_report().sheets():
        for one in (sheet, *(below for below in sheet.details if below)):
            for row in one.rows:
                for column, value in zip(one.columns, row):
                    term = TERMS.get(column) if one is sheet else None
                    shown = printed(value, term)
                    assert shown.text in sample.words
                    assert shown.interval in sample.words


def test_every_figure_stands_in_the_list_of_all(sample):
    listed = sample.words[sample.words.index("All figures Every figure") :]
    for figure in sample_report().figures:
        assert printed(figure.estimate, TERMS.get(figure.name)).text in listed
        assert figure.name in listed


def test_every_definition_is_there_and_every_button_finds_its_note(sample, nasty):
    for term in TERMS.values():
        assert sample.words.count(term.meaning) >= 2  # in its note and in the list of words
    for outline in (sample, nasty):
        notes = {found["id"] for found in outline.all("div") if "popover" in found}
        asked = {found["popovertarget"] for found in outline.all("button") if "popovertarget" in found}
        assert asked
        assert asked <= notes


def test_columns_of_users_are_not_taken_for_figures_of_ours(sample):
    # The rows of a slice have a column named "size", which is labelled "rows" among figures.
    assert "age job size" in sample.words
    assert "slice rows" in sample.words.replace("What “rows” means ", "")


def test_failed_learners_are_named_with_why(sample):
    assert "1 learner or network not fully measured." in sample.words
    assert "perceptron ValueError: it does not fit" in sample.words


def test_settings_are_all_there(sample):
    for word in ("budget 60", "classay report synthetic --seed 0", "scikit-learn 1.6", "refits 1.5"):
        assert word in sample.words


def test_settings_that_a_section_tells_are_folded():
    sheet = Sheet("settings", "Settings", ("setting", "value"), (("seed", 0),))
    for sections, folded in (((), False), ((Section("methods", "Methods", "", (), (sheet,)),), True)):
        text = render(sample_report(sections=sections))
        assert ('<details class="card" open><summary>All settings' in text) is not folded


def test_the_data_are_told_in_a_line():
    about = {"name": "iris", "rows": 1, "columns": 1234, "classes": [f"c{i}" for i in range(500)]}
    about |= {"notes": ["2 left out."], "empty": [], "none": None}
    words = Outline(render(sample_report(about=about))).words
    assert (
        "iris 1 row 1,234 columns 500 classes: c0 , c1 , c2 , c3 , c4 , c5 , c6 , c7 and 492 more 2 left out." in words
    )
    assert "empty" not in words.split("Findings")[0]


def test_an_empty_report_has_a_page():
    words = Outline(render(EMPTY)).words
    assert "0 warnings 0 notes 0 checks passed" in words


def test_all_is_well_says_so():
    fine = tuple(each for each in sample_report().findings if each.level == "fine")
    outline = Outline(render(sample_report(findings=fine)))
    assert "No check found a problem." in outline.words
    assert any("open" in found for found in outline.all("details", class_="passed"))
    unknown = tuple(dataclasses.replace(each, level="unknown") for each in fine)
    words = Outline(render(sample_report(findings=unknown))).words
    assert "0 checks passed 1 not decided" in words
    assert "Not decided (1)" in words


def assert_only_text(outline):
    """What users name is text and nothing else."""
    for text in NASTY:
        assert squeezed(text)[:150] in outline.words
    assert len(outline.all("script")) == 5
    assert not outline.all("img")
    assert not [name for _, found in outline.elements for name in found if name.startswith("on")]
    assert not [found for _, found in outline.elements if str(found.get("href", "")).startswith("javascript")]
    ids = [found["id"] for _, found in outline.elements if "id" in found]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch("[A-Za-z0-9_-]+", one) for one in ids)


def test_what_users_name_is_text(nasty):
    assert_only_text(nasty)
    assert squeezed(NASTY[5]) in nasty.words


@pytest.mark.slow
def test_what_users_name_is_text_on_the_data_page():
    report = nasty_data_report()
    outline = Outline(render(report))
    assert_only_text(outline)
    shown = {"data", "geometry", "complexity-errors", "unlike", "slices"}
    assert {each.get("id") for each in outline.all("section")} >= shown
    assert any(NASTY[0] in str(row) for section in report.sections for sheet in section.sheets for row in sheet.rows)


def test_names_reach_attributes_as_text_only(nasty):
    labels = [found[name] for _, found in nasty.elements for name in ("data-label", "aria-label") if name in found]
    assert any("<script>" in label for label in labels)
    for _, found in nasty.elements:
        assert set(found) <= {
            "aria-expanded", "aria-hidden", "aria-label", "aria-labelledby", "aria-pressed", "charset", "class",
            "colspan", "content", "cx", "cy", "d", "data-label", "data-order", "data-picture", "data-section",
            "data-who", "dir", "height", "href", "http-equiv", "id", "lang", "name", "open", "popover",
            "popovertarget", "r", "rel", "role", "scope", "style", "tabindex", "title", "type", "viewbox", "width",
        }  # fmt: skip


def test_styles_and_scripts_hold_no_name(nasty, sample):
    for mine, other in zip(nasty.scripts, sample.scripts):
        if not mine.startswith("{"):
            assert mine == other


@pytest.mark.parametrize("made", [sample_report, nasty_report, nasty_data_report, lambda: EMPTY])
def test_the_document_in_the_page_is_the_report(made):
    report = made()
    outline = Outline(render(report))
    text = next(script for script in outline.scripts if script.startswith('{"format":"classay-report"'))
    assert "<" not in text
    assert json.loads(text) == json.loads(json.dumps(document(report)))
    assert render(report_from(json.loads(text))) == render(report)


def test_the_page_loads_nothing(sample, nasty):
    for outline in (sample, nasty):
        for tag, found in outline.elements:
            for name in ("src", "href", "srcset", "action", "data", "poster", "xlink:href"):
                if name in found:
                    assert found[name] == "data:," or (tag == "a" and found[name].startswith("#"))
        style = outline.scripts[0]
        assert "@import" not in style
        assert "url(" not in style
    policy = sample.all("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert "unsafe-inline" not in policy.split("style-src")[0]


def test_size(sample):
    assert len(render(sample_report()).encode()) < 1.5e6
    assert len(render(nasty_report()).encode()) < 5e6


def test_what_html_cannot_hold_is_replaced_and_the_document_keeps_it():
    odd = "a\x00b\x1bc\ud800d\u2028e"
    text = render(sample_report(title=odd, settings={"command": odd}))
    text.encode("utf-8")
    assert "a\ufffdb\ufffdc\ufffdd" in text
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f]", text)
    found = next(script for script in Outline(text).scripts if script.startswith('{"format"'))
    assert json.loads(found)["title"] == odd


def test_long_cells_are_cut_with_a_way_to_all(nasty):
    assert nasty.words.count("Show all 10,001 characters") >= 3
    assert len(nasty.all("details", class_="long")) >= 3


def test_headings_come_in_order(sample, nasty):
    for outline in (sample, nasty):
        levels = [int(tag[1]) for tag, _ in outline.elements if re.fullmatch("h[1-6]", tag)]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_no_block_stands_within_a_paragraph(sample, nasty):
    for made in (sample_report, nasty_report):
        text = re.sub(r"<script.*?</script>|<style.*?</style>", "", render(made()), flags=re.S)
        for paragraph in re.findall(r"<p\b.*?</p>", text, flags=re.S):
            assert not re.search(r"<(div|details|ul|dl|table|p\b.+<p\b)", paragraph), paragraph[:200]


def test_rows_and_findings_carry_the_number_of_whom_they_are_about(sample):
    numbers = Names(sample_report())
    assert [numbers[name] for name in (*LEARNERS, "perceptron", "data")] == [0, 1, 2, 3, None]
    rows = [found.get("data-who") for found in sample.all("tr", class_="row")]
    assert rows[:3] == ["0", "1", "2"]
    cards = [found.get("data-who") for found in sample.all("li") if "finding" in str(found.get("class"))]
    assert cards == ["2", None, "1"]
    assert numbers.colour(3) == ""


def test_what_charts_call_a_learner_is_known():
    long = "very long name of a learner, longer than charts have room for"
    report = sample_report(failed={long: "", long + "!": "", "tab\there": ""})
    aliases = Names(report).aliases()
    assert aliases[0] == ["tree", "tree"]
    assert aliases[3][1].endswith("…")
    assert aliases[3][1] != aliases[4][1]
    assert aliases[5] == ["tab here", "tab here"]


def test_a_spec_of_another_shape_is_passed_on():
    for title in (None, "a title", ["two", "lines"], {"text": "a"}, {"subtitle": ["b", "c"]}):
        picture = Picture("p", "P", "Text.", {"title": title, "height": {"step": 20}})
        assert "Text." in render(sample_report(sections=(Section("s", "S", "", (picture,)),)))
    assert page.chart_title(Picture("p", "P", "", {"title": {"text": "So", "subtitle": ["b", "c"]}})) == "So. b c"
    assert page.chart_title(Picture("p", "So", "", {"title": {"text": "So", "subtitle": ["b", "c"]}})) == "b c"


def test_colours_of_charts_follow_the_page():
    config, sheet = page.chart_style()
    named = set(re.findall(r"var\((--chart-\d+)\)", json.dumps(config)))
    assert named
    for name in named:
        assert sheet.count(f"{name}:") == 3  # by day, by night, and chosen
    assert "#2b333d" in sheet
    assert "#e6e9ee" in sheet


def test_spans_share_one_scale_and_leave_out_what_is_unknown():
    unknown = Estimate(math.nan, 0.0, 4.0)
    assert page.spans([Estimate(1, 0, 2), Estimate(2, 1, math.inf), unknown, None]) == [
        (0.0, 25.0, 50.0), (25.0, 50.0, 100.0), None, None
    ]  # fmt: skip
    assert page.spans([exact(1), exact(1)]) == [None, None]
    assert page.spans(["a", "b"]) == [None, None]


def test_sections_of_one_key_get_addresses_of_their_own():
    twice = tuple(Section(key, "T", "a lead") for key in ("net", "net", "findings", "<&>", "Net 2"))
    found = [one["id"] for one in Outline(render(dataclasses.replace(EMPTY, sections=twice))).all("section")]
    assert len(set(found)) == len(found) == 9


def test_a_level_is_escaped_where_it_stands():
    names = ("code", "of", "title", "sentence", "reference", "action")
    parts = dict(zip(names, ("<b>", "<i>", "<u>", "<s>", "<q>", "<em>")))
    one = Finding(level="warning", value=exact(1), **parts)
    text = render(dataclasses.replace(EMPTY, findings=(one,)))
    body = text[: text.index('<script type="application/json"')]
    for part in parts.values():
        assert html.escape(part) in body
        assert part not in body
