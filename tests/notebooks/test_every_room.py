"""Every room on a phone and for a screen reader, in live pages and in those without Python.

One page of the browser shows one room after the other: scripts are read once.
"""

from __future__ import annotations

import re

import pytest

pytest.importorskip("marimo")
pytest.importorskip("anywidget")
pytest.importorskip("playwright")

from raidlab.notebooks.course import pack
from raidlab.notebooks.course.lessons import LESSONS
from raidlab.notebooks.frame import catalogue, pages
from tests.notebooks.conftest import UNNAMED

WIDTH, HEIGHT = 390, 844
"""Of a phone, in CSS pixels."""
SEEN = """
() => {
  const of = (each) => each.getBoundingClientRect();
  const figures = [...document.querySelectorAll("#pictures figure:not([hidden])")];
  figures.sort((a, b) => of(a).top - of(b).top);
  const controls = document.querySelector(".controls");
  const found = {
    wide: document.documentElement.scrollWidth,
    controls: of(controls).top,
    first: [of(figures[0]).top, of(figures[0]).bottom],
    answer: of(document.querySelector("#result")).top,
    boxes: [...document.querySelectorAll("#result .box")].map((each) => of(each).top),
  };
  figures.at(-1).scrollIntoView();
  return {...found, stuck: of(controls).top, covers: of(controls).height};
}"""
"""Pixels of what a visitor sees first, then of the controls while the last picture is looked at."""
HEARD = """
() => {
  const all = (place) => [...document.querySelectorAll(place)];
  const ids = all("[id]").map((each) => each.id);
  const refers = ["for", "aria-labelledby", "aria-describedby"].flatMap((name) =>
    all(`main [${name}]`).flatMap((each) => each.getAttribute(name).split(" ")));
  const tables = all("figure:not([hidden]) .plot").map((plot) => {
    const details = plot.parentElement.querySelector("details");
    details.open = true;
    details.fill();
    const cells = details.querySelectorAll("tbody tr > *").length;
    const bare = details.querySelectorAll("th:not([scope]), th:empty").length;
    return cells > 1 && !bare;
  });
  const said = all("figure:not([hidden])").map((figure) =>
    figure.querySelector(".plot") ? figure.querySelector(".hear").textContent
    : figure.querySelector("svg").getAttribute("aria-label"));
  return {
    twice: ids.filter((each, at) => ids.indexOf(each) !== at),
    nowhere: refers.filter((each) => !ids.includes(each)),
    tables, said,
  };
}"""
"""What a screen reader needs: names that lead somewhere, a table and a sentence a picture."""


@pytest.fixture(scope="module")
def stage(lab, browser):
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    lab.build_stage(page)
    yield page
    page.close()


@pytest.mark.parametrize("room", catalogue.rooms(), ids=lambda room: room.name)
def test_a_room_fits_a_phone_and_can_be_heard(lab, stage, room):
    answer = pages.answered(room, room.start | dict(room.prediction.at), 1)
    for live in (True, False):
        lab.show(stage, room, answer, live=live)
        heard = stage.evaluate(HEARD)
        assert heard["twice"] == [] and heard["nowhere"] == []
        assert all(heard["tables"]) and all(len(each) > 20 for each in heard["said"])
        assert stage.evaluate(UNNAMED) == []
        stage.evaluate("document.querySelectorAll('details').forEach((each) => each.open = false)")
        seen = stage.evaluate(SEEN)
        assert seen["wide"] <= WIDTH
        # The first control and the first picture are on one screen, the answer comes next.
        assert 0 <= seen["controls"] < seen["first"][0] < seen["first"][1] <= HEIGHT
        assert seen["answer"] >= seen["first"][1]
        assert len(set(seen["boxes"])) <= 1
        assert seen["stuck"] == 0 and seen["covers"] <= HEIGHT / 3


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_worksheet_is_one_sheet_and_its_first_page_a_short_lesson(browser, lesson):
    page = browser.new_page()
    page.set_content(pack._render("worksheet.html.j2", lesson))
    printed = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 2
    first = "document.querySelectorAll('section.room > h2 > code')"
    places = f"[...{first}].map((each) => [each.textContent, !!each.closest('.more')])"
    rooms = dict(page.evaluate(places))
    assert rooms == {stop.room: stop.room not in lesson.briefly for stop in lesson.stops}
    # What the rubric gives a point for is on the page of a short lesson, too.
    (mind,) = (at for at in page.query_selector_all("h2") if "my mind" in at.inner_text())
    assert mind.evaluate("each => !each.closest('.more')")
    page.close()
