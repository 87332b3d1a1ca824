"""Every mechanism has an oracle: `docs/evidence/oracles.csv`, beside the pages and the tests."""

from __future__ import annotations

import csv
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "explanation"


def rows() -> list[dict[str, str]]:
    """Which test holds each mechanism against something that is not the model itself."""
    with (ROOT / "docs" / "evidence" / "oracles.csv").open() as file:
        return list(csv.DictReader(file))


def computed(page: str) -> set[str]:
    """Sections of a page with an equation or an example computed by hand, its limits left out."""
    parts = re.split(r"^##+ (.*)$", (PAGES / f"{page}.md").read_text(), flags=re.MULTILINE)
    found = zip(parts[1::2], parts[2::2], strict=True)
    has = re.compile(r"^    \S|^```text$|\*\*Example|^By hand", re.MULTILINE)
    return {name for name, text in found if name != "Limits" and has.search(text)}


def test_what_is_computed_on_a_page_of_a_model_has_an_oracle() -> None:
    listed: dict[str, set[str]] = {}
    for row in rows():
        listed.setdefault(row["page"], set()).add(row["section"])
    assert len(listed) > 20
    for page, sections in listed.items():
        headings = re.findall(r"^##+ (.*)$", (PAGES / f"{page}.md").read_text(), re.MULTILINE)
        assert sections <= set(headings), page
        assert computed(page) <= sections, page


def test_oracles_are_tests_that_are_there() -> None:
    for row in rows():
        text = (ROOT / row["where"]).read_text()
        assert re.search(rf"\b(fn|def) {row['test']}\(", text), row
