"""Rooms in headless Chromium: no errors, nothing from outside, controls that answer.

Skipped where there is no Chromium or no playwright. All rooms: `make lab-evidence`.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

pytest.importorskip("marimo")
pytest.importorskip("anywidget")
pytest.importorskip("playwright")

from raidlab.notebooks.course.lessons import LESSONS
from raidlab.notebooks.course.page import page_of
from raidlab.notebooks.frame import catalogue
from raidlab.notebooks.frame.pages import about, body, widget_script
from raidlab.notebooks.frame.room import Room
from raidlab.notebooks.frame.static import page as static_page
from tests.notebooks.conftest import UNNAMED

_UPLOAD = """(input, [path, text]) => {
  const file = new File([text], path.split("/").at(-1));
  Object.defineProperty(file, "webkitRelativePath", {value: path});
  Object.defineProperty(input, "files", {value: [file], configurable: true});
  input.dispatchEvent(new Event("change"));
}"""
"""A folder of one file, as the browser's dialog would choose it."""


def narrowed(room):
    """The room with two values of each control, so that its page is made within a second."""
    controls = []
    for each in room.controls:
        opening, start = room.opening[each.name], room.prediction.at.get(each.name, each.start)
        other = next(value for value in reversed(each.values) if value != opening)
        wanted = {opening, start if start != opening else other}
        values = tuple(value for value in each.values if value in wanted)
        controls.append(type(each)(**(vars(each) | {"values": values, "start": start})))
    notice = [type(each)(each.text, each.holds, each.ask) for each in room.notice]
    changed = {"controls": controls, "five": False, "notice": notice}
    return Room(**(vars(room) | changed))


def written(room, folder):
    path = folder / f"{room.name}.html"
    links = catalogue.links(room, "index.html", "{}.html")
    path.write_text(static_page(narrowed(room), links))
    return path.as_uri()


NUMBERS = [
    ("1,600 IO/s", "IO/s", 9999, [1.6, 1600]),
    ("1.600", "IO/s", 9999, [1.6, 1600]),
    ("1,600", "%", 100, 1.6),
    ("0.125", "h", 1000, 0.125),
    ("1 600", "IO/s", 9999, 1600),
    ("1'600.5", "IO/s", 9999, 1600.5),
    ("1.600,5 iops", "IO/s", 9999, 1600.5),
    ("1,600,000", "IO/s", 9e9, 1600000),
    ("4,5", "%", 100, 4.5),
    ("5%", "%", 100, 5),
    ("1.33 hours", "h", 1000, 1.33),
    ("1,6,0", "h", 1000, "1,6,0"),
]
"""What is typed, the room's unit and largest number, and what it means."""
WAITS = "getComputedStyle(document.querySelector('#root'), '::before').content"
"""What a live room says until it is there."""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    return written(catalogue.room("qlc"), tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """A room whose prediction is a number."""
    return written(catalogue.room("one-io"), tmp_path_factory.mktemp("site"))


def opened(page, address):
    """Goes to a room and looks without a prediction."""
    page.goto(address)
    page.click("#waive")
    page.wait_for_selector("main[data-answered='yes']")


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_without_python(lab, browser, address, width, scheme):
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
    )
    page = context.new_page()
    faults = lab.watch(page)
    opened(page, address)
    before = page.locator("#result").inner_text()
    lab.move(page, 0, 3)
    assert page.locator("#result").inner_text() != before
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    first = page.locator("#pictures figure:not([hidden])").first.bounding_box()
    assert width > 700 or first["y"] + first["height"] <= 844
    assert page.evaluate(UNNAMED) == []
    assert page.locator("#pictures figure:not([hidden])").count() == 2
    assert faults == []
    context.close()


def test_nothing_of_the_answer_is_seen_before_a_prediction(browser, counted):
    page = browser.new_page()
    page.goto(counted)
    page.wait_for_selector("#covered")
    for place in ("#result", "#pictures", ".controls", ".notice", "#pin"):
        assert page.locator(place).first.is_hidden()
    assert "0.4" not in page.locator("main").inner_text()
    page.close()


def test_a_prediction_is_kept_and_compared(lab, browser, counted):
    context = browser.new_context()
    page = context.new_page()
    page.goto(counted)
    for nonsense in ("-5", "1e9", "much", "", "NaN", "0x10", "101", "9" * 400):
        page.fill("#guess", nonsense)
        page.press("#guess", "Enter")
        assert "a number from 0 to 100 %" in page.locator("#nonsense").inner_text()
        assert page.locator("#result").is_hidden()
    assert len(page.locator("#nonsense").inner_text()) < 100
    page.fill("#guess", "5 minutes")
    assert page.locator("#nonsense").is_hidden()
    page.press("#guess", "Enter")
    assert page.locator("#nonsense").inner_text() == (
        '"5 minutes" is no prediction in "minutes": type a number from 0 to 100 %.'
    )
    page.fill("#guess", "5 percent")
    page.press("#guess", "Enter")
    assert page.evaluate("document.activeElement.id") == "compared"
    said = page.locator("#compared")
    page.wait_for_selector("main[data-answered='yes']")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.locator("#asked").is_visible()
    assert "Predicted: 5 %. Simulated: 0.439 %; the prediction is 11.4 times as high." in (
        said.inner_text()
    )
    page.reload()
    page.wait_for_selector("main[data-answered='yes']")
    assert "Predicted: 5 %." in said.inner_text()
    apart = page.locator("#apart")
    assert apart.inner_text() == ""
    lab.move(page, 0, 1)
    assert apart.inner_text() == (
        "The prediction was for System: a 15,000 rpm disk; below is System: an NVMe SSD."
    )
    with page.expect_download() as download:
        page.click("#export")
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[0] == '"student","room","prediction","outcome","unit","kept","seen_before"'
    assert lines[1].startswith('"student","one-io","5","0.4394","%","20') and len(lines) == 2
    assert lines[1].endswith('"no"')
    page.click("#again")
    assert page.locator("#guess").is_enabled() and said.inner_text() == ""
    assert page.locator("#result").is_hidden()
    page.reload()
    assert page.locator("#covered").is_visible() and page.locator("#again").is_hidden()
    context.close()


def test_a_number_is_read_as_it_is_written_or_asked_back(browser, counted):
    page = browser.new_page()
    page.goto(counted)
    for text, unit, most, number in NUMBERS:
        form = {"kind": "number", "least": 0, "most": most}
        about = {"unit": unit, "form": form}
        found = page.evaluate("([text, about]) => typed(text, about)", [text, about])
        assert (found["either"] if isinstance(found, dict) else found) == number, text
    asked = page.evaluate(
        """wrongGuess({unit: "IO/s", form: {kind: "number", least: 1, most: 1e4}},
        {said: "1.600", either: [1.6, 1600]})"""
    )
    assert asked == '"1.600" can be 1.6 or 1,600: type 1.6 or 1600.'
    page.close()


def test_what_is_predicted_after_the_result_stays_apart(browser, counted):
    context = browser.new_context()
    page = context.new_page()
    said = page.locator("#compared")

    def predict(text: str) -> None:
        page.fill("#guess", text)
        page.press("#guess", "Enter")
        page.wait_for_selector("main[data-answered='yes']")

    page.goto(counted)
    predict("5")
    page.click("#again")
    # What is predicted after the result stands beside the first prediction, and replaces nothing.
    predict("0.44")
    assert "Simulated: 0.439 %, as predicted." in said.inner_text()
    assert said.inner_text().endswith("the first prediction, 5 %, counts.")
    page.click("#again")
    page.click("#waive")
    rows = page.evaluate("predictionsCsv('Ada')").splitlines()[1:]
    assert [row.split(",")[2::4] for row in rows] == [['"5"', '"no"'], ['""', '"yes"']]
    page.evaluate("forgetPredictions()")
    page.reload()
    page.click("#waive")
    page.click("#again")
    predict("0.44")
    assert said.inner_text().endswith("Made after the result was seen: it counts apart.")
    (row,) = page.evaluate("predictionsCsv('Ada')").splitlines()[1:]
    assert row.startswith('"Ada","one-io","0.44"') and row.endswith('"yes"')
    context.close()


def test_a_curve_is_drawn_with_the_mouse_and_stays_beside_the_simulated_one(browser, address):
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    page.click("#keep")
    assert "draw a curve from the left edge" in page.locator("#nonsense").inner_text()
    box = page.locator(".drawn").bounding_box()
    page.mouse.move(box["x"] + 0.1 * box["width"], box["y"] + 0.3 * box["height"])
    page.mouse.down()
    for share in (0.3, 0.6, 1.0):
        page.mouse.move(box["x"] + share * box["width"], box["y"] + 0.5 * box["height"])
    page.mouse.up()
    page.click("#keep")
    page.wait_for_selector("main[data-answered='yes']")
    assert "Farthest apart at " in page.locator("#compared").inner_text()
    names = "document.querySelector('#picture-0 .plot').data.map(each => each.name)"
    assert "predicted" in page.evaluate(names)
    # By keyboard: the points are fields, too.
    page.click("#again")
    page.click("#draw summary")
    for field in page.locator(".points input").all():
        field.fill("1000")
    page.click("#keep")
    page.wait_for_selector("#compared:not(:empty)")
    assert "drawn 1,000" in page.locator("#compared").inner_text()
    context.close()


def test_the_last_curve_stays_grey_and_a_pinned_one_purple(lab, browser, address):
    page = browser.new_page()
    opened(page, address)
    page.click("#pin")
    lab.move(page, 0, 1)
    traces = "document.querySelector('#picture-0 .plot').data.map(each => each.name)"
    assert page.evaluate(traces).count("pinned") == 1
    assert "Purple: pinned (" in page.locator("#ghosts").inner_text()
    page.click("#pin")
    assert page.evaluate(traces).count("before") == 1
    page.click("#picture-0 summary")
    page.wait_for_selector("#picture-0 table tbody tr:nth-child(20)")
    page.close()


def test_a_link_says_the_setting_and_a_stale_one_is_named(browser, address):
    page = browser.new_page()
    page.goto(f"{address}#filled=0&length=5")
    page.click("#waive")
    page.wait_for_selector("main[data-answered='yes']")
    assert page.locator("#control-0").get_attribute("aria-valuetext") == "0 GB"
    assert page.url.endswith("#filled=0&length=5")
    other = browser.new_page()
    other.goto(f"{address}#filled=7&colour=red&length=5")
    said = other.locator("#wrong").inner_text()
    assert "filled=7: one of" in said and "colour: this room has filled, length" in said
    other.click("#waive")
    other.wait_for_selector("main[data-answered='yes']")
    for each in (page, other):
        each.close()


def test_a_link_that_names_one_control_leaves_the_others_where_they_start(browser, address):
    page = browser.new_page()
    for link, shown in (("#length=2", "#filled=0&length=2"), ("#filled=48", "#filled=48&length=5")):
        page.goto("about:blank")
        page.goto(f"{address}{link}")
        if page.locator("#waive").is_visible():
            page.click("#waive")
        page.wait_for_selector("main[data-answered='yes']")
        assert page.url.endswith(shown)
    # In an open page, too; what is wrong is named until another setting is chosen.
    page.evaluate("location.hash = 'filled=7&length=2'")
    page.wait_for_url(f"{address}#filled=0&length=2")
    page.wait_for_function("document.querySelector('#control-0').value === '0'")
    page.wait_for_timeout(300)
    assert "filled=7: one of 0, 48; shown is 0" in page.locator("#wrong").inner_text()
    page.locator("#control-0").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#wrong", state="hidden")
    page.close()


def test_lessons_do_not_scroll_sideways_on_a_phone(browser):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    for lesson in LESSONS:
        page.set_content(page_of(lesson, LESSONS, catalogue.names()))
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, lesson.name
    page.close()


def test_a_curve_out_of_its_axes_is_refused_by_its_point(browser, address):
    page = browser.new_page()
    page.goto(address)
    page.click("#keep")
    assert "Nothing is drawn" in page.locator("#nonsense").inner_text()
    page.click("#draw summary")
    fields = page.locator(".points input")
    for at in range(fields.count() - 1):
        fields.nth(at).fill("1")
    page.click("#keep")
    assert "No value at" in page.locator("#nonsense").inner_text()
    for value in ("-5", "1e9"):
        fields.last.fill(value)
        page.click("#keep")
        said = page.locator("#nonsense").inner_text()
        assert "is no prediction: a number from 0 to" in said and fields.last.input_value() == value
    # Who shows it without a prediction sees what was asked, not where the page opened.
    page.click("#waive")
    page.wait_for_selector("main[data-answered='yes']")
    assert page.locator("#control-0").get_attribute("aria-valuetext") == "0 GB"
    page.close()


def test_a_late_answer_is_shown_all_the_same(lab, browser):
    """An engine that was slow is not gone: the message goes once its answer is there."""
    page = browser.new_page()
    page.set_content("<div id=root></div>")
    script = widget_script().replace("export default {render};", "window.render = render;")
    page.add_script_tag(content=script.replace("LOST_S = 15", "LOST_S = 0.2"))
    room = catalogue.room("qlc")
    links = catalogue.links(room, "/", "/{}/")
    page.evaluate(
        """([body, about]) => {
          const heard = {};
          window.model = {values: {body, about}, get: (name) => window.model.values[name],
            on: (name, what) => { heard[name] = what; }, save_changes: () => {},
            set: (name, value) => { window.model.values[name] = value; },
            give: (answer) => { window.model.values.answer = answer; heard["change:answer"](); }};
          window.render({model: window.model, el: document.querySelector("#root")});
        }""",
        [body(room, live=True, links=links), about(room, live=True)],
    )
    page.click("#waive")
    page.wait_for_selector("#wrong:not([hidden])")
    assert "the engine may be gone" in page.locator("#wrong").inner_text()
    late = {"result": "late", "scenario": "", "files": {}, "scenes": [], "pictures": []}
    page.evaluate("late => model.give({...late, number: model.values.question.number})", late)
    assert page.locator("#result").inner_text() == "late"
    assert page.locator("#wrong").is_hidden()
    page.close()


def test_a_room_is_operated_by_keyboard(browser, address):
    page = browser.new_page()
    opened(page, address)
    before = page.locator("#result").inner_text()
    page.focus("#control-0")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "text => document.querySelector('#result').innerText !== text", arg=before
    )
    assert page.locator("#control-0").get_attribute("aria-valuetext").endswith("GB")
    page.close()


def test_without_scripts_the_first_answer_is_there(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert "Without scripts" in page.locator("main").inner_text()
    page.click("noscript summary")
    assert "A benchmark of" in page.locator("noscript .answer").inner_text()
    context.close()


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A room whose mechanism moves."""
    return written(catalogue.room("arm"), tmp_path_factory.mktemp("site"))


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_a_mechanism_plays_to_its_end_and_stops_at_each_step_by_keyboard(browser, played, motion):
    context = browser.new_context(reduced_motion=motion)
    page = context.new_page()
    opened(page, played)
    page.focus("#scene-0 input")
    page.keyboard.press("ArrowRight")
    assert page.locator("#scene-0 .caption").inner_text().startswith("Choice 2")
    places = "[...document.querySelectorAll('#scene-0 .dot')].map(dot => dot.getAttribute('cx'))"
    page.clock.install()
    before = page.evaluate(places)
    page.click("#scene-0 button")
    page.clock.run_for(30_000)
    assert page.locator("#scene-0 button").inner_text() == "Play"
    assert "12 reads are served" in page.locator("#scene-0 .caption").inner_text()
    assert page.evaluate(places) != before
    context.close()


def test_a_picture_has_no_name_of_a_colour_over_its_plot(browser, tmp_path):
    """Also once the page became narrower, and the names need more rows."""
    from raidlab.notebooks.frame.pictures import parts

    figure = parts({"read": dict.fromkeys(("host", "link", "seek", "rotation"), 100.0)})
    script = files("raidlab.scenarios.report").joinpath("static", "plotly-basic.min.js")
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
    with lab.served() as (address, _):
        page = context.new_page()
        lab.come_in(page, address)
        assert page.locator(".rooms a").count() == len(catalogue.names())
        other = context.new_page()
        base = address.partition("?")[0]
        for tab in (page, other):
            faults = lab.watch(tab)
            tab.goto(f"{base}qlc/", wait_until="domcontentloaded")
            assert "The room opens" in tab.evaluate(WAITS)
            if tab is page:  # The other tab of the browser knows what was waived.
                tab.click("#waive")
            tab.wait_for_selector("main[data-answered='yes']", timeout=60_000)
            assert tab.evaluate(WAITS) == "none"
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
        page.click("#waive")
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
