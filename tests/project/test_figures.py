"""Figures in the text of tutorials and README are those that their scenarios give."""

from __future__ import annotations

import copy
import re
import tomllib
from functools import cache
from typing import Any

import raidlab
from tests.project.sources import ROOT
from tests.project.test_docs import blocks

FIRST, READ = ROOT / "docs/tutorials/first-run.md", ROOT / "docs/how-to/read-a-result.md"


def scenario(page: str, name: str) -> dict[str, Any]:
    """A scenario that a page has."""
    (found,) = (block for block in blocks(ROOT / page) if block.title == name)
    return tomllib.loads(found.text)


@cache
def rates(page: str, name: str, depths: tuple[int, ...], count: int, whole: bool) -> list[str]:
    """IO/s at each depth, as text."""
    tree = copy.deepcopy(scenario(page, name))
    tree["workload"][0]["outstanding"] = list(depths)
    tree["array"][0]["drives"][0]["count"] = count
    if whole:
        del tree["workload"][0]["area"]
    return [f"{row['iops']:,.0f}" for row in raidlab.simulate(tree).results]


def words(page: str) -> str:
    return " ".join((ROOT / page).read_text().split())


def test_figures_of_the_first_run() -> None:
    page, text = "docs/tutorials/first-run.md", words("docs/tutorials/first-run.md")
    low, high = rates(page, "first.toml", (1, 512), 4, False)
    whole_low, whole_high = rates(page, "first.toml", (1, 512), 4, True)
    twice_low, twice_high = rates(page, "first.toml", (1, 512), 8, False)
    of_whole = f"makes {whole_low} IO/s at depth 1 and {whole_high} at depth 512"
    assert f"{of_whole}, where these are {low} and {high}." in text
    assert f"the disks are saturated at {high} IO/s" in text
    assert f"At depth 1 hardly anything: {twice_low} IO/s." in text
    ratio = float(twice_high.replace(",", "")) / float(high.replace(",", ""))
    assert f"At depth 512 {twice_high} IO/s, {ratio:.1f} times" in text


def test_figures_of_the_readme() -> None:
    text = words("README.md")
    low, high = rates("README.md", "raid0.toml", (1, 32), 8, False)
    whole_low, whole_high = rates("README.md", "raid0.toml", (1, 32), 8, True)
    assert f"{low} IO/s at depth 1, {high} at depth 32" in text
    assert f"(without `area`) reach {whole_low} and {whole_high}." in text


def test_the_example_of_how_to_read_a_result_is_the_first_run_s() -> None:
    table = re.compile(r"^ +\d+ .*(?:drives|none).*$", re.MULTILINE)
    rows = table.findall(READ.read_text())
    assert len(rows) == 5
    assert rows == table.findall(FIRST.read_text())
