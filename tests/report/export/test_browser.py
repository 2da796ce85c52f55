"""The page in a real browser: Debian's Chromium, driven by Playwright, with nothing downloaded but axe-core from npm.

Where a browser is missing these tests are skipped, unless CLASSAY_REQUIRE_BROWSER is set, as in CI.
"""

import dataclasses
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import numpy as np
import pytest
from fuzzing import EFFORT
from sample import hostile_report, nasty_report, sample_report

from classay.charts.style.picture_files import png
from classay.report.document import Picture, Section
from classay.report.export.page import render

pytestmark = pytest.mark.slow
REQUIRED = bool(os.environ.get("CLASSAY_REQUIRE_BROWSER"))
AXE = "axe-core@4.11.1"
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PHONE = {"width": 390, "height": 844}


def missing(what):
    """Skip, or fail where a browser is required."""
    (pytest.fail if REQUIRED else pytest.skip)(what)


@pytest.fixture(scope="session")
def browser():
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        missing("there is no Chromium on this machine; install Debian's package `chromium`")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed; it is in the dependency group `test`")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("pages")
    failing = Picture("broken", "Broken", "A chart that cannot be drawn.", {"mark": {"type": "no such mark"}})
    sheet = sample_report().sections[0].sheets[0]
    broken = sample_report(sections=(Section("s", "S", "", (Picture("b", "B", "Bad.", {"layer": 7}, sheet), failing)),))
    for name, report in {"sample": sample_report(), "nasty": nasty_report(), "broken": broken}.items():
        (made / f"{name}.html").write_text(render(report), encoding="utf-8")
    return made


class Seen:
    """A page as a browser shows it, with what it said and asked for."""

    def __init__(self, page, path):
        self.page, self.said, self.asked, self.dialogs = page, [], [], []
        page.on("console", lambda message: self.said.append((message.type, message.text)))
        page.on("pageerror", lambda error: self.said.append(("error", str(error))))
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("dialog", self._dialog)
        page.goto(path.as_uri())
        page.wait_for_selector("h2")
        for _ in range(200):
            if not page.locator(".js .chart:not(.drawn, .failed)").count():
                break
            page.wait_for_timeout(50)

    def _dialog(self, dialog):
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    @property
    def errors(self):
        return [text for kind, text in self.said if kind == "error"]


@pytest.fixture
def see(browser, folder):
    contexts = []

    def opened(name="sample", **options):
        contexts.append(browser.new_context(viewport={"width": 1280, "height": 900}, **options))
        return Seen(contexts[-1].new_page(), folder / f"{name}.html")

    yield opened
    for each in contexts:
        each.close()


@pytest.fixture(scope="module")
def shared(browser, folder):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield Seen(context.new_page(), folder / "sample.html").page
    context.close()


@pytest.fixture
def page(shared):
    """A page for tests that leave it as they find it: opening one takes longer than they do."""
    yield shared
    shared.keyboard.press("Escape")
    shared.locator("h1").hover()


@pytest.fixture(scope="module")
def axe():
    """The source of axe-core, kept outside of the project once it was fetched."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "classay-tests" / AXE
    script = cache / "axe.min.js"
    if not script.exists() and shutil.which("npm") is None:
        pytest.skip("there is no npm on this machine to fetch axe-core with")
    if not script.exists():
        cache.mkdir(parents=True, exist_ok=True)
        try:
            call = ["npm", "pack", AXE, "--silent", "--pack-destination", str(cache)]
            subprocess.run(call, check=True, capture_output=True, timeout=120, cwd=cache)
        except (OSError, subprocess.SubprocessError) as problem:
            missing(f"axe-core could not be fetched with npm: {problem}")
        with tarfile.open(next(cache.glob("*.tgz"))) as archive:
            source = archive.extractfile("package/axe.min.js").read()
        passing = cache / f"{os.getpid()}.part"
        passing.write_bytes(source)
        passing.replace(script)
    return script.read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["sample", "nasty"])
def test_it_loads_without_an_error_and_asks_for_nothing_beyond_the_file(see, folder, name, scheme):
    seen = see(name, color_scheme=scheme)
    assert seen.errors == []
    assert seen.asked == [(folder / f"{name}.html").as_uri()]
    assert seen.page.locator(".chart.drawn svg").count() == 3


def test_nothing_that_users_named_runs(see):
    seen = see("nasty")
    page = seen.page
    for button in page.locator("button:visible").all()[:60]:
        button.click(timeout=2000, force=True)
        page.keyboard.press("Escape")
    page.locator(".chart.drawn svg path").first.hover(force=True)
    page.wait_for_timeout(200)
    assert (seen.dialogs, seen.errors) == ([], [])
    assert page.locator("img, iframe, object, embed").count() == 0
    assert page.locator("h1").inner_text().startswith('</script><img src=x onerror="alert(2)">')


@pytest.mark.parametrize("seed", range(2 if EFFORT == 1 else 20))
def test_pages_of_hostile_names(browser, tmp_path, seed):
    path = tmp_path / "hostile.html"
    path.write_text(render(hostile_report(seed)), encoding="utf-8", errors="backslashreplace")
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        seen = Seen(context.new_page(), path)
        for button in seen.page.locator("button:visible").all()[:20]:
            button.click(timeout=2000, force=True)
            seen.page.keyboard.press("Escape")
        assert (seen.dialogs, seen.errors) == ([], [])
        assert seen.asked == [path.as_uri()]
        assert seen.page.locator("img, iframe, object, embed, base").count() == 0
        assert seen.page.locator("h2", has_text="reproduce").count() == 1


def test_an_inline_script_that_is_not_ours_would_not_run(see):
    seen = see()
    seen.page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.intruder = 1';"
        " document.body.append(s); }"
    )
    assert seen.page.evaluate("() => window.intruder === undefined")
    assert any("Content Security Policy" in text for text in seen.errors)


def test_the_overview_is_sorted_by_press_and_by_key(see):
    page = see().page
    table = page.locator("table.overview")
    header = table.locator("th", has_text="accuracy")
    button = header.locator("button.sort")
    names = table.locator("tbody tr.row th")
    assert header.get_attribute("aria-sort") is None
    assert names.all_inner_texts() == ["tree", "forest", "nearest"]
    button.click()
    assert header.get_attribute("aria-sort") == "descending"
    assert names.all_inner_texts() == ["tree", "forest", "nearest"]
    button.focus()
    page.keyboard.press("Enter")
    assert header.get_attribute("aria-sort") == "ascending"
    assert names.all_inner_texts() == ["nearest", "forest", "tree"]
    table.locator("th", has_text="learner").locator("button.sort").click()
    assert header.get_attribute("aria-sort") is None
    assert names.all_inner_texts() == ["forest", "nearest", "tree"]


def lit(page):
    return sorted(set(page.locator(".lit").evaluate_all("all => all.map((one) => one.dataset.who)")))


def dim(page):
    return page.locator(".chart .dim").count()


@pytest.mark.parametrize(
    "where", [".finding.warning h3", "table.overview tr[data-who='2'] td", ".sheet[data-who='2'] h3"]
)
def test_hovering_a_learner_lights_it_everywhere(page, where):
    assert (lit(page), dim(page)) == ([], 0)
    page.locator(where).first.hover()
    assert lit(page) == ["2"]
    assert dim(page) > 3
    assert page.locator(".finding.warning.lit").count() == 1
    assert page.locator("table.overview tr.lit").count() == 1
    page.locator("h1").hover()
    assert (lit(page), dim(page)) == ([], 0)


def test_hovering_a_mark_of_a_chart_lights_its_learner(page):
    marks = page.locator("[data-picture='1'] svg .mark-rect.role-mark path")
    numbers = set()
    for mark in marks.all():
        if mark.bounding_box()["width"] > 4:
            mark.hover(force=True)
            numbers |= set(lit(page))
    assert numbers == {"0", "1", "2"}


def test_focus_lights_too_and_a_press_keeps_it(see):
    page = see().page  # on which no mouse lies, which scrolling would move over something
    button = page.locator("table.overview button.who").nth(1)
    button.focus()
    assert lit(page) == ["1"]
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    page.locator("h1").hover()
    assert lit(page) == ["1"]
    page.keyboard.press("Escape")
    page.locator("#theme").focus()
    assert lit(page) == []


def test_pressing_a_slice_shows_its_rows(page):
    row = page.locator("tr.openable").first
    button = row.locator("button.open")
    below = page.locator("tr.opens").first
    assert not below.is_visible()
    button.focus()
    page.keyboard.press("Enter")
    assert below.is_visible()
    assert button.get_attribute("aria-expanded") == "true"
    assert "cook" in below.inner_text()
    row.locator("td").last.click()
    assert not below.is_visible()


def test_a_definition_opens_by_press_key_and_hover_and_closes_by_escape(page):
    note, button = page.locator("#term-stability"), page.locator("table.overview [popovertarget=term-stability]")
    for opened in (button.click, lambda: (button.focus(), page.keyboard.press("Enter"))):
        opened()
        assert note.is_visible()
        assert "two refits on disjoint halves" in note.inner_text()
        page.keyboard.press("Escape")
        assert not note.is_visible()
    page.locator("h1").hover()
    button.hover()
    note.wait_for(state="visible")
    button.click()
    page.mouse.move(5, 5)
    page.wait_for_timeout(400)
    assert note.is_visible()  # a press keeps what hovering opened
    near, own = note.bounding_box(), button.bounding_box()
    below, above = near["y"] - own["y"] - own["height"], own["y"] - near["y"] - near["height"]
    assert 0 <= max(below, above) < 20


def test_long_tables_and_texts_open(see):
    page = see("nasty").page
    rows = page.locator("#data tr.row:visible")
    assert rows.count() == 25
    page.get_by_role("button", name="Show all 60 rows").click()
    assert rows.count() == 60
    text = page.locator("details.long:visible").first
    text.locator("summary").click()
    assert len(text.locator(".all").inner_text()) >= 10_000


def test_the_chosen_colours_hold_and_charts_follow(see):
    page = see(color_scheme="light").page
    ink = "() => getComputedStyle(document.querySelector('.chart svg .role-axis-label text')).fill"
    paper = "() => getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(ink), page.evaluate(paper)
    page.locator("#theme").click()
    after = page.evaluate(ink), page.evaluate(paper)
    assert before[0] != after[0]
    assert before[1] != after[1]
    assert page.locator("#theme").get_attribute("aria-pressed") == "true"
    page.emulate_media(media="print")
    assert (page.evaluate(ink), page.evaluate(paper)[:8]) == (before[0], "rgb(255,")


def test_a_chart_that_fails_shows_its_table(see):
    page = see("broken").page
    first, second = page.locator("figure").all()
    assert "could not be drawn; its data are in the table" in first.inner_text()
    assert first.locator("table").is_visible()
    assert "could not be drawn" in second.inner_text()


def test_charts_show_pictures_of_the_file_and_ask_for_no_others(see, folder):
    dot = png(np.zeros((4, 4), dtype=np.uint8))
    rows = [
        {"url": dot, "x": 0},
        {"url": "https://example.invalid/x.png", "x": 1},
        {"url": "file:///etc/hosts", "x": 2},
    ]
    mark = {"type": "image", "width": 20, "height": 20}
    encoding = {"url": {"field": "url", "type": "nominal"}, "x": {"field": "x", "type": "quantitative"}}
    drawn = {"data": {"values": rows}, "mark": mark, "encoding": encoding}
    fetched = {"data": {"url": "https://example.invalid/x.json"}, "mark": "point"}
    pictures = (Picture("a", "A", "Text.", drawn), Picture("b", "B", "Text.", fetched))
    path = folder / "images.html"
    path.write_text(render(sample_report(sections=(Section("s", "S", "", pictures),))), encoding="utf-8")
    seen = see("images")
    seen.page.wait_for_timeout(200)
    shown = seen.page.locator(".chart image").evaluate_all("all => all.map((one) => one.href.baseVal)")
    assert [one for one in shown if one] == [dot]
    assert {address for address in seen.asked if not address.startswith("data:")} == {path.as_uri()}


@pytest.mark.parametrize("name", ["sample", "nasty"])
def test_a_phone_scrolls_down_only(see, name):
    page = see(name).page
    page.set_viewport_size(PHONE)
    page.wait_for_timeout(100)
    page.evaluate("() => document.querySelectorAll('details').forEach((one) => (one.open = true))")
    page.evaluate("() => document.querySelectorAll('button.open').forEach((one) => one.click())")
    assert page.evaluate("() => document.documentElement.scrollWidth") == 390
    for box in page.locator(".scroll[tabindex]").all():
        assert box.get_attribute("aria-label")


def test_words_and_tables_need_no_scripts(see):
    page = see(java_script_enabled=False).page
    assert page.locator(".opens").first.is_visible()
    assert page.locator("#data tr.row:visible").count() == 60
    assert page.locator("#theme").is_visible() is False
    assert page.get_by_text("Charts need JavaScript").first.is_visible()


def test_on_paper_everything_is_open(see):
    page = see().page
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("details:not([open])").count() == 0
    assert page.locator("tr.opens").first.is_visible()
    assert page.locator("#data tr.row:visible").count() == 60
    assert not page.locator("nav").is_visible()
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() > 0


@pytest.mark.parametrize(
    ("name", "scheme", "width"),
    [("sample", "light", 1280), ("sample", "dark", 390), ("nasty", "dark", 1280), ("nasty", "light", 390)],
)
def test_axe_finds_nothing_serious(see, axe, name, scheme, width):
    page = see(name, color_scheme=scheme).page
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("() => document.querySelectorAll('details').forEach((one) => (one.open = true))")
    page.evaluate("() => document.querySelectorAll('button.open').forEach((one) => one.click())")
    page.wait_for_timeout(300)
    page.evaluate(axe)
    found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    told = [
        (one["impact"], one["id"], [node["html"][:160] for node in one["nodes"][:3]]) for one in found["violations"]
    ]
    assert not [each for each in told if each[0] in ("serious", "critical")], json.dumps(told, indent=1)


def test_the_first_tab_skips_to_the_verdict(see):
    page = see().page
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.textContent") == "Skip to the verdict"
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "verdict"


@pytest.fixture(scope="module")
def folded(folder):
    """A page of which all sections are folded."""
    sections = tuple(dataclasses.replace(each, folded=True) for each in sample_report().sections)
    report = sample_report(sections=sections)
    (folder / "folded.html").write_text(render(report), encoding="utf-8")


def test_all_charts_are_drawn_without_scrolling_also_within_what_is_folded(see, folded):
    page = see("folded").page
    assert page.locator(".chart.drawn svg").count() == page.locator(".chart").count() == 3
    assert page.locator(".fold .chart").count() > 0
    assert page.evaluate("() => scrollY") == 0


def test_a_link_opens_what_is_folded(see, folded):
    page = see("folded").page
    assert not page.locator("#data table").first.is_visible()
    page.locator("nav a[href='#data']").click()
    page.locator("#data table").first.wait_for(state="visible")
