"""Figures in the text of tutorials and README are those that their scenarios give."""

from __future__ import annotations

import copy
import re
import tomllib
from functools import cache
from pathlib import Path

import raidlab
from raidlab.scenarios.spec.trees import ScenarioTree
from tests.project.sources import ROOT, load_script
from tests.project.test_docs import blocks

FIRST, READ = ROOT / "docs/tutorials/first-run.md", ROOT / "docs/how-to/read-a-result.md"


def scenario(page: str, name: str) -> ScenarioTree:
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


def test_accuracy_of_the_readme_is_that_of_the_evidence() -> None:
    text = (ROOT / "README.md").read_text()
    blind = _row(ROOT / "docs/evidence/public.md", "nothing fitted")
    assert f"nothing fitted | {blind[0]} | factor {blind[1]} |" in text
    page = ROOT / "docs/evidence/validation.md"
    for use, words_of_it in (
        ("predicted", "nothing chosen with them in view"),
        ("chosen in view", "that led the choice of a mechanism"),
        ("fitted", "to which parameters were fitted"),
    ):
        count, _, median, ninety = _row(page, use)[:4]
        shown = f"| {count} | {float(median):.1f} % | {float(ninety):.2g} % |"
        assert any(words_of_it in line and shown in line for line in text.splitlines()), shown


def _row(page: Path, name: str) -> list[str]:
    """The cells behind the first one of a row."""
    (line,) = (line for line in page.read_text().splitlines() if line.startswith(f"| {name} |"))
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_badges_say_what_the_project_s_files_say() -> None:
    for name, picture in load_script("pictures").badges().items():
        assert (ROOT / f"docs/pictures/badges/{name}.svg").read_text() == picture


def test_the_example_of_how_to_read_a_result_is_the_first_run_s() -> None:
    table = re.compile(r"^ +\d+ .*(?:drives|none).*$", re.MULTILINE)
    rows = table.findall(READ.read_text())
    assert len(rows) == 5
    assert rows == table.findall(FIRST.read_text())
