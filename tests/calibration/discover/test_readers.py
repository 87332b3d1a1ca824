"""Readers of captured outputs beside what they should get of them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from raidlab.calibration.discover.facts import to_dict
from raidlab.calibration.discover.reading import Read, read_text
from tests.calibration.discover.scoring import compare

OWN = Path(__file__).parents[2] / "data" / "discover"
MACHINES = os.environ.get("RAIDLAB_MACHINES", "")
GIVEN = Path(MACHINES) / "A"


def pairs(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.expect.json")) if folder.is_dir() else []


def read(expectation: Path) -> Read:
    stem = expectation.name.removesuffix(".expect.json")
    (capture,) = (
        path for path in expectation.parent.glob(f"{stem}.*") if ".expect." not in path.name
    )
    return read_text(capture.name, capture.read_text())


def check(expectation: Path) -> None:
    expected = json.loads(expectation.read_text())
    facts = read(expectation).facts
    assert facts is not None
    if expected.get("refused"):
        assert facts.refused
        return
    wrong = [each for each in compare(expected, to_dict(facts)) if not each.right]
    assert [(each.key, each.expected, each.got) for each in wrong] == []
    assert len(facts.warnings) >= len(expected.get("warnings", []))
    assert facts.repaired or not expected.get("repaired")


@pytest.mark.parametrize("expectation", pairs(OWN), ids=lambda path: path.name)
def test_a_capture_is_read(expectation: Path) -> None:
    check(expectation)


@pytest.mark.skipif(not pairs(GIVEN), reason="RAIDLAB_MACHINES names no folder with captures")
@pytest.mark.parametrize("expectation", pairs(GIVEN), ids=lambda path: path.name)
def test_a_given_capture_is_read(expectation: Path) -> None:
    if json.loads(expectation.read_text())["source"] != "match":
        check(expectation)


def test_another_md_driver_is_refused() -> None:
    facts = read_text("mdstat", "sbName=/boot/super.dat\nmdState=STARTED\nmdNumDisks=3\n").facts
    assert facts is not None and "another md driver" in str(facts.refused)


def test_what_no_reader_knows_is_said() -> None:
    assert read_text("notes.txt", "call Bob about the server\n").facts is None


@pytest.mark.parametrize("share", [0.1, 0.35, 0.6, 0.85])
@pytest.mark.parametrize("expectation", pairs(OWN), ids=lambda path: path.name)
def test_a_cut_capture_makes_no_traceback(expectation: Path, share: float) -> None:
    stem = expectation.name.removesuffix(".expect.json")
    for capture in expectation.parent.glob(f"{stem}.*"):
        text = capture.read_text()
        read_text(capture.name, text[: int(len(text) * share)])
