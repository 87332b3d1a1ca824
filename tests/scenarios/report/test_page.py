"""Pages: their size, their parts, and the same bytes for the same results."""

import re
from html.parser import HTMLParser

import plotly
import pytest
from plotly.offline import get_plotlyjs

from raidlab.scenarios.report import page as pages
from raidlab.scenarios.report.page import Box, HeatMap, Page, Picture
from raidlab.scenarios.report.runs.report import html_report
from raidlab.scenarios.report.tables import Column, Table
from raidlab.scenarios.running.simulate import simulate

MOST = 1_500_000
"""Bytes of a page."""

SCENARIO = """
title = "How many I/Os at a time do two disks take?"
[[array]]
level = "raid0"
software_raid = "os"
drives = [{ model = "generic-7200rpm", count = 2 }]
[[workload]]
rw = "randread"
block_size = "4 KiB"
outstanding = [1, 4, 16]
[run]
warm_up = "100 ms"
duration = "2 s"
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "s.toml"
    path.write_text(SCENARIO)
    return simulate(path)


@pytest.fixture(scope="module")
def page(result):
    return html_report(result, "raidlab run s.toml --html page.html")


def without_scripts(page):
    return re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)


def test_a_page_is_small_and_needs_nothing_from_outside(page):
    assert len(page.encode()) <= MOST
    own = without_scripts(page)
    assert not re.search(r'(src|href)="(?!data:|#)', own)
    assert "@import" not in own and "url(" not in own


def test_the_same_seed_gives_the_same_bytes(result, page):
    assert html_report(result, "raidlab run s.toml --html page.html") == page
    figures = [each.figure for each in pages_of(result)]
    assert any(figures)


def pages_of(result):
    from raidlab.scenarios.report.runs.report import pictures

    return pictures(result)


def test_question_and_answer_come_first(page):
    own = without_scripts(page)
    order = ["<h1>How many I/Os", 'class="answer"', 'class="boxes"', "<figure", 'id="evidence"',
             "<footer>", "raidlab run s.toml --html page.html"]  # fmt: skip
    places = [own.index(each) for each in order]
    assert places == sorted(places)
    assert own.count('class="box"') <= 3


class Balance(HTMLParser):
    """Counts what is opened and not closed."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.ids = []

    def handle_starttag(self, tag, attrs):
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_pictures_have_names_for_those_who_do_not_see_them(page):
    own = without_scripts(page)
    checked = Balance()
    checked.feed(own)
    assert checked.open == [] and len(set(checked.ids)) == len(checked.ids)
    figures = re.findall(r"<figure[^>]*>", own)
    assert figures and all("aria-labelledby" in each for each in figures)
    plots = re.findall(r'<div class="plot"[^>]*>', own)
    assert plots and all('role="img"' in each and "aria-label=" in each for each in plots)
    assert own.count("<summary>Data</summary>") == len(plots)
    assert "prefers-color-scheme: dark" in own and "@media print" in own


def test_a_page_without_lines_has_no_drawing_library():
    heat_map = HeatMap("depth", ["1", "8"], [("a", [10.0, 100.0]), ("b", [None, 0.0])], limit=100.0)
    page = Page("run", "Q?", "A.", pictures=[Picture("seen", "drawn", heat_map=heat_map)]).html()
    assert len(page) < 20_000 and "<script" not in page
    assert "--mix: 70%" in page and ">100<" in page


def test_a_signed_heat_has_a_colour_for_each_side_and_no_minus_nothing():
    heat_map = HeatMap("", ["1"], [("a", [-0.2]), ("b", [12.0]), ("c", [-30.0])], 30.0, signed=True)
    page = Page("compare", "Q?", "A.", pictures=[Picture("", "", heat_map=heat_map)]).html()
    assert 'class="blue">0<' in page
    assert 'class="orange">+12<' in page and 'class="blue">-30<' in page


def test_at_most_three_boxes_and_three_warnings_beside_the_answer():
    boxes, warnings = [Box(str(at), "x") for at in range(5)], [f"w{at}" for at in range(5)]
    page = Page("run", "<Q> & A", "A.", boxes=boxes, beside=warnings).html()
    assert page.count('class="box"') == 3
    assert "2 more warnings" in page and "w4" in page
    assert "<h1>&lt;Q&gt; &amp; A</h1>" in page


def test_a_table_of_a_page_marks_the_row_of_the_answer():
    table = Table("T", [Column("a", "ms"), Column("b", priority=5)], [[1.5, 2], [10.25, 3]], [1])
    page = Page("run", "Q", "A", evidence=[table]).html()
    assert page.count('class="marked"') == 1
    assert '<th scope="col" class="wide">b</th>' in page


def test_the_drawing_library_is_that_of_the_installed_plotly():
    """A figure made by one version need not be drawn by another."""
    version = re.compile(r"plotly\.js[^v]{0,20}v(\d+)\.")
    shipped = version.search(pages._plotly()[:200])
    installed = version.search(get_plotlyjs()[:200])
    assert shipped and installed and plotly.__version__
    if int(plotly.__version__.partition(".")[0]) == 7:
        assert shipped.group(1) == installed.group(1)
