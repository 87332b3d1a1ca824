"""Rooms in headless Chromium: no errors, nothing from outside, controls that answer.

Skipped where there is no Chromium or no playwright. All rooms: `make lab-evidence`.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.resources import files
from pathlib import Path

import pytest

pytest.importorskip("marimo")
pytest.importorskip("anywidget")
pytest.importorskip("playwright")

from playwright import sync_api

from raidlab.notebooks.frame import catalogue
from raidlab.notebooks.frame.room import Room
from raidlab.notebooks.frame.static import page as static_page

_UPLOAD = """(input, [path, text]) => {
  const file = new File([text], path.split("/").at(-1));
  Object.defineProperty(file, "webkitRelativePath", {value: path});
  Object.defineProperty(input, "files", {value: [file], configurable: true});
  input.dispatchEvent(new Event("change"));
}"""
"""A folder of one file, as the browser's dialog would choose it."""
_SCRIPT = Path(__file__).parents[2] / "benchmarks" / "lab.py"


@pytest.fixture(scope="module")
def lab():
    """What measures the rooms, used here for one of them."""
    spec = importlib.util.spec_from_file_location("lab_in_a_browser", _SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def browser(lab):
    path = lab.browser_path()
    if path is None:
        pytest.skip("no Chromium on this machine")
    with sync_api.sync_playwright() as play:
        started = play.chromium.launch(executable_path=path, args=lab.ARGUMENTS)
        yield started
        started.close()


def narrowed(room):
    """The room with two values of each control, so that its page is made within a second."""
    controls = [
        type(each)(**(vars(each) | {"values": (each.start, each.values[-1])}))
        if each.start != each.values[-1]
        else type(each)(**(vars(each) | {"values": (each.values[0], each.start)}))
        for each in room.controls
    ]
    return Room(**(vars(room) | {"controls": controls}))


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("site") / "qlc.html"
    path.write_text(static_page(narrowed(catalogue.room("qlc"))))
    return path.as_uri()


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_without_python(lab, browser, address, width, scheme):
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
    )
    page = context.new_page()
    faults = lab.watch(page)
    page.goto(address)
    page.wait_for_selector("main .main-svg", state="attached")
    before = page.locator("#result").inner_text()
    lab.move(page, 0, 1)
    assert page.locator("#result").inner_text() != before
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#pictures figure:not([hidden])").count() == 2
    assert faults == []
    context.close()


def test_a_prediction_is_kept_and_compared(browser, address):
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    page.fill("#guess", "4")
    page.press("#guess", "Enter")
    said = page.locator("#compared")
    assert "Predicted: 4 s. Simulated: 7.64 s, 1.91 times" in said.inner_text()
    page.reload()
    page.wait_for_selector("#compared:not(:empty)")
    assert "Predicted: 4 s." in said.inner_text()
    assert page.locator("#guess").is_disabled()
    page.click("#again")
    assert page.locator("#guess").is_enabled() and said.inner_text() == ""
    page.reload()
    page.wait_for_selector("main[data-answered='yes']")
    assert said.inner_text() == "" and page.locator("#again").is_hidden()
    context.close()


def test_a_room_is_operated_by_keyboard(browser, address):
    page = browser.new_page()
    page.goto(address)
    page.wait_for_selector("main[data-answered='yes']")
    before = page.locator("#result").inner_text()
    page.focus("#control-0")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "text => document.querySelector('#result').innerText !== text", arg=before
    )
    assert page.locator("#control-0").get_attribute("aria-valuetext") == "60 GB"
    page.close()


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A room whose picture moves; of its other controls one value each."""
    room = catalogue.room("arm")
    ends = {"served": (0, 1, 12), "depth": (8,), "disk": ("generic-7200rpm",)}
    controls = [type(each)(**(vars(each) | {"values": ends[each.name]})) for each in room.controls]
    path = tmp_path_factory.mktemp("site") / "arm.html"
    path.write_text(static_page(Room(**(vars(room) | {"controls": controls}))))
    return path.as_uri()


@pytest.mark.parametrize(("motion", "glides"), [("reduce", False), ("no-preference", True)])
def test_play_goes_to_the_end_and_glides_only_where_motion_is_welcome(
    browser, played, motion, glides
):
    context = browser.new_context(reduced_motion=motion)
    page = context.new_page()
    page.goto(played)
    page.wait_for_selector("main[data-answered='yes']")
    page.click("[data-plays]")
    page.wait_for_selector("[data-plays]:disabled")
    page.wait_for_selector("[data-plays]:enabled")
    assert page.locator("#value-1").inner_text() == "12"
    assert "12 reads" in page.locator("#picture-0 figcaption").inner_text()
    assert page.evaluate("!!document.querySelector('.plot').layout.transition") == glides
    context.close()


def test_a_picture_has_no_name_of_a_colour_over_its_plot(browser, tmp_path):
    """Also once the page became narrower, and the names need more rows."""
    from raidlab.notebooks.frame.pictures import parts

    figure = parts({"read": dict.fromkeys(("host", "link", "seek", "rotation"), 100.0)})
    script = files("raidlab.scenarios.results").joinpath("static", "plotly-basic.min.js")
    path = tmp_path / "picture.html"
    path.write_text(
        f"<!doctype html><meta charset=utf-8><script>{script.read_text('utf-8')}</script>"
        "<div id=plot></div><script>"
        f"const made = {figure.to_json()};"
        "Plotly.newPlot('plot', made.data, made.layout, {responsive: true});</script>"
    )
    page = browser.new_page(viewport={"width": 1440, "height": 600})
    page.goto(path.as_uri())
    for width in (1440, 220):
        page.set_viewport_size({"width": width, "height": 600})
        page.wait_for_timeout(400)
        legend = page.locator(".legend").bounding_box()
        plot = page.locator(".nsewdrag").bounding_box()
        assert legend["y"] + legend["height"] <= plot["y"], width
    page.close()


def test_a_live_room_answers_and_says_what_is_wrong(lab, browser):
    """One server for two tabs: an answer, a wrong seed, the next answer; then the engine ends."""
    context = browser.new_context()
    with lab.served() as address:
        page = context.new_page()
        lab.come_in(page, address)
        assert page.locator(".rooms a").count() == len(catalogue.names())
        other = context.new_page()
        base = address.partition("?")[0]
        for tab in (page, other):
            faults = lab.watch(tab)
            tab.goto(f"{base}qlc/")
            tab.wait_for_selector("main[data-answered='yes']", timeout=60_000)
            before = tab.locator("#result").inner_text()
            lab.move(tab, 1, 4)
            assert tab.locator("#result").inner_text() != before
            assert faults == []
        page.fill("#seed", "-1")
        page.wait_for_selector("#wrong:not([hidden])")
        assert "a whole number" in page.locator("#wrong").inner_text()
        page.fill("#seed", "2")
        page.wait_for_selector("#wrong", state="hidden")
        page.reload()
        page.wait_for_selector("main[data-answered='yes']", timeout=60_000)
        page.goto(f"{base}own-disk/")
        page.wait_for_selector("main[data-answered='yes']", timeout=60_000)
        page.fill("#folder", "/nowhere")
        page.press("#folder", "Tab")
        page.wait_for_selector("#wrong:not([hidden])")
        assert "/nowhere" in page.locator("#wrong").inner_text()
        page.locator("#upload").evaluate(_UPLOAD, ["photos/beach.txt", "sand"])
        page.locator("#wrong", has_text="photos").wait_for()
        page.fill("#folder", "")
        page.press("#folder", "Tab")
        page.wait_for_selector("#wrong", state="hidden")
    # The server is gone: the last answer stands, and a question without an answer says so.
    page.clock.install()
    before = page.locator("#result").inner_text()
    page.select_option("#control-0", index=0)
    page.clock.run_for(16_000)
    page.wait_for_selector("#wrong:not([hidden])")
    assert "the engine may be gone" in page.locator("#wrong").inner_text()
    assert page.locator("#result").inner_text() == before
    context.close()
