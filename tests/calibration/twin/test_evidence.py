"""The table of measured targets: its rows, its place in the page, and one set within its bounds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from raidlab.calibration.twin.evidence import BEGIN, END, SETS, Errors, result_of, with_rows

FOLDER = Path(os.environ.get("RAIDLAB_MEASUREMENTS", "none")) / "own-machine"


def test_errors_by_hand() -> None:
    found = Errors.of([1.0, -2.0, 3.0])
    assert found.median == 2.0 and found.p90 == pytest.approx(2.8)
    assert found.text() == "2.0, 2.8"
    assert found.text(Errors(1.5, 12.0)) == "**2.0**, 2.8"


def test_rows_are_between_their_marks_and_the_rest_stays() -> None:
    page = f"# Twins\n\n{BEGIN}\nold\n{END}\n\nText.\n"
    made = with_rows(page, ["| a |"])
    assert "old" not in made and made.startswith("# Twins\n\n") and made.endswith("\n\nText.\n")
    assert with_rows(made, ["| a |"]) == made
    with pytest.raises(ValueError, match="needs the lines"):
        with_rows("# Twins\n", [])


@pytest.mark.skipif(not FOLDER.is_dir(), reason="RAIDLAB_MEASUREMENTS has no own-machine")
def test_a_designed_set_stays_within_its_bounds() -> None:
    (of,) = (each for each in SETS if each.training == ("design",))
    found = result_of(of, FOLDER)
    assert found.holds, found.row()
    assert found.unseen.median < found.lines.median and found.unseen.p90 < found.lines.p90
