"""The page of folk questions says what its scenarios give (benchmarks/folk.py)."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.project.sources import ROOT, load_script

FOLK: Final = load_script("folk")
PAGE: Final = ROOT / "docs" / "evidence" / "folk-questions.md"
SAMPLE: Final = ("commits-7200", "raid0-depth-1", "gp3-baseline", "penalty-raid10", "nas-raid5")
"""A figure of each kind, by seconds of simulation at most."""


def rows() -> dict[str, list[str]]:
    """Cells of each row of the page, by the scenario's name."""
    lines = [line for line in PAGE.read_text().splitlines() if line.endswith("` |")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[-1].strip("`"): row for row in cells}


def test_the_page_has_thirty_questions_each_with_a_source() -> None:
    questions = FOLK.load_questions()
    assert len(questions) == 30
    assert [asked.id for asked in questions] == list(rows())
    assert all(asked.source and asked.scenario and asked.public > 0 for asked in questions)


@pytest.mark.parametrize("name", SAMPLE)
def test_a_question_gives_what_the_page_says(name: str) -> None:
    (asked,) = [each for each in FOLK.load_questions() if each.id == name]
    shown = next(
        line for line in FOLK.markdown([FOLK.answer(asked)]).splitlines() if f"`{name}`" in line
    )
    assert [cell.strip() for cell in shown.strip("|").split("|")] == rows()[name]


def test_an_unknown_question_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert FOLK.main(["disk-7300"]) == 2
    assert "disk-7300" in capsys.readouterr().err


def test_a_range_and_a_quarter_decide_what_is_near() -> None:
    def near(simulated: float, **known: Any) -> bool:
        asked = FOLK.Question(id="a", ask="?", **known)
        return bool(FOLK.Answer(asked, simulated).is_near)

    assert near(125.0, public=75, to=100)
    assert not near(126.0, public=75, to=100)
    assert near(80.0, public=100)
    assert not near(79.0, public=100)
