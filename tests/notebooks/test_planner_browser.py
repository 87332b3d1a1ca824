"""The planner in headless Chromium, by keyboard alone, on a phone and on a desk, light and dark.

Skipped where there is no Chromium or no playwright.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("marimo")
pytest.importorskip("anywidget")
pytest.importorskip("playwright")

from tests.notebooks.conftest import UNNAMED
from tests.notebooks.test_planner import IOSTAT, TODAY

PATIENCE_MS = 60_000
POLL_MS = 100
"""Between two looks: a look at every frame makes the browser draw each."""
_TABS = 80
_FILE = """(input, [name, text]) => {
  const given = new DataTransfer();
  given.items.add(new File([text], name));
  input.files = given.files;
  input.dispatchEvent(new Event("change"));
}"""
"""A file as the browser's dialog would choose it."""


@pytest.fixture(scope="module")
def planner(lab):
    with lab.served("serve") as (address, _):
        yield address


@pytest.fixture
def page(lab, browser, planner):
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    made = context.new_page()
    made.faults = lab.watch(made)
    lab.come_in(made, planner)
    yield made
    context.close()


def to(page, name):
    """Presses Tab until a control is focused."""
    for _ in range(_TABS):
        if page.evaluate("document.activeElement.id") == name:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {name}")


def answered(page):
    page.wait_for_function(
        "document.getElementById('status').textContent.startsWith('Answered')",
        timeout=PATIENCE_MS,
        polling=POLL_MS,
    )


def narrow_down(page):
    """One system and few I/Os, so that few and short runs answer."""
    page.evaluate("""() => {
      const least = {
        count_from: 2, count_to: 2, rate: 1000, block_kib: 64, area_gb: 20, years: 0,
      };
      for (const [id, value] of Object.entries(least)) {
        document.getElementById(id).value = value;
        document.getElementById(id).dispatchEvent(new Event("input"));
      }
      for (const each of document.querySelectorAll("[name=level]")) {
        each.checked = each.value === "raid1";
      }
      document.getElementById("usable_tb").value = 0.5;
    }""")


def test_a_question_is_asked_by_keyboard_alone(page):
    narrow_down(page)
    page.evaluate("document.activeElement.blur()")
    to(page, "read_pct")
    page.keyboard.press("ArrowRight")
    assert page.locator("#read_pct").get_attribute("aria-valuetext") == "75 %"
    to(page, "p99_ms")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#p99_ms").get_attribute("aria-valuetext") == "2 ms"
    to(page, "ask")
    page.keyboard.press("Enter")
    answered(page)
    assert page.evaluate("document.activeElement.id") == "result-area"
    assert "2 x dc600m-960, raid1 " in page.locator("#shown .answer").inner_text()
    assert page.locator("#shown .main-svg").count() >= 2
    # A slider that is moved asks again.
    page.locator("#p99_ms").focus()
    page.keyboard.press("Home")
    assert page.locator("#p99_ms").get_attribute("aria-valuetext") == "0.2 ms"
    page.wait_for_function(
        "document.querySelector('#shown .answer').textContent.includes('None of 1')",
        timeout=PATIENCE_MS,
        polling=POLL_MS,
    )
    with page.expect_download() as download:
        page.locator("#downloads a", has_text="question.toml").focus()
        page.keyboard.press("Enter")
    assert 'goals = ["p99 < 0.2 ms"' in Path(download.value.path()).read_text()
    assert page.faults == []


def test_an_offer_is_added_by_keyboard_and_nothing_else_is_compared(page):
    page.evaluate("document.activeElement.blur()")
    to(page, "compared")
    page.keyboard.press("ArrowDown")
    assert not page.locator("#count_from").is_visible()
    page.fill("#offer_count", "2")
    page.fill("#rate", "1000")
    page.fill("#area_gb", "20")
    to(page, "add-offer")
    page.keyboard.press("Enter")
    assert "2 x" in page.locator("#offers li").inner_text()
    page.fill("#usable_tb", "0.5")
    # The lower end of the form is on the screen.
    box = page.locator("#ask").bounding_box()
    assert box["y"] + box["height"] <= page.viewport_size["height"]
    to(page, "ask")
    page.keyboard.press("Enter")
    answered(page)
    assert "2 x dc600m-960, raid10" in page.locator("#shown .answer").inner_text()
    # An entry that is not possible leaves the answer of another question pale.
    page.fill("#usable_tb", "-1")
    page.click("#ask")
    page.wait_for_selector("#usable_tb[aria-invalid=true]")
    assert "stale" in page.locator("#result-area").get_attribute("class")
    # What is chosen outlives a reload, and a file.
    page.locator("#files").evaluate(_FILE, ["iostat.txt", IOSTAT])
    page.wait_for_function("document.getElementById('load').value.startsWith('uploaded')")
    page.reload()
    page.wait_for_function("document.getElementById('load').value.startsWith('uploaded')")
    assert page.locator("#usable_tb").input_value() == "-1"
    assert "2 x" in page.locator("#offers li").inner_text()
    assert page.faults == []


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_and_a_desk(lab, browser, planner, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    faults = lab.watch(page)
    lab.come_in(page, planner)
    narrow_down(page)
    page.click("#ask")
    answered(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(UNNAMED) == []
    assert faults == []
    context.close()


def test_what_is_wrong_stands_at_its_field_and_the_page_goes_on(page):
    narrow_down(page)
    page.fill("#rate", "")
    page.fill("#usable_tb", "-1")
    page.click("#ask")
    page.wait_for_selector("#rate[aria-invalid=true]")
    assert page.locator("#usable_tb").get_attribute("aria-invalid") == "true"
    described = page.locator("#usable_tb").get_attribute("aria-describedby")
    assert "greater than 0" in page.locator(f"#{described}").inner_text()
    assert page.evaluate("document.activeElement.id") == "rate"
    page.locator("#files").evaluate(_FILE, ["beach.txt", "sand and sea"])
    page.wait_for_selector("#uploaded .fault")
    assert "what monitoring printed" in page.locator("#uploaded .fault").inner_text()
    page.locator("#files").evaluate(_FILE, ["iostat.txt", IOSTAT])
    page.wait_for_function("document.getElementById('load').value.startsWith('uploaded:')")
    assert page.locator("#rate").is_hidden()
    page.fill("#usable_tb", "0.5")
    page.click("#ask")
    answered(page)
    assert "Unsettled" not in page.locator("#shown").inner_text()


def test_a_price_list_fills_the_prices_and_a_drive_can_be_removed(page):
    prices = "device,cost\ndc600m-960,190\n"
    page.locator("#files").evaluate(_FILE, ["prices.csv", prices])
    page.wait_for_function("document.getElementById('price-dc600m-960').value === '190'")
    page.focus("#drives button")
    page.keyboard.press("Enter")
    assert page.locator("#drives li").count() == 0
    assert page.evaluate("document.activeElement.id") == "add-drive"
    page.click("#ask")
    page.wait_for_selector(".fault")
    assert "at least 1" in page.locator("#drives-field").inner_text()


def test_the_system_today_is_asked_for_its_data_once_it_is_uploaded(page):
    assert page.locator("#moves_tb").is_hidden()
    page.locator("#files").evaluate(_FILE, ["today.toml", TODAY])
    page.wait_for_function("document.getElementById('present').value === 'today.toml'")
    assert page.locator("#moves_tb").is_visible()
    assert "old box, 2 drives, 960 GB usable" in page.locator("#present").inner_text()
    page.select_option("#present", "")
    assert page.locator("#moves_tb").is_hidden()


def test_without_the_token_nothing_is_given(browser, planner):
    page = browser.new_page()
    assert page.goto(planner.partition("?")[0]).status == 403
    page.close()


def test_a_lost_server_is_said(lab, browser):
    context = browser.new_context()
    page = context.new_page()
    with lab.served("serve") as (address, _):
        lab.come_in(page, address)
    page.click("#ask")
    page.wait_for_selector("#faults .fault")
    assert "start raidlab serve again" in page.locator("#faults").inner_text()
    assert page.locator("#ask").is_visible()
    context.close()
