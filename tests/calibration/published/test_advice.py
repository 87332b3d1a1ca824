"""What the reports advise: every piece names runs that there are, the page says which hold."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from raidlab.calibration.published import advice as module
from raidlab.calibration.published.advice import Advice, Run, advice, page, read_runs
from raidlab.calibration.published.figures import shared
from raidlab.devices.faults import SpecError

PIECE = Advice(
    source="raid-controllers-2013", says="Buy disks.", shown_by=("2208-restore-1", "r5-12-FS")
)


def runs(*held: bool) -> dict[str, Run]:
    rate = Run(id="2208-restore-1", simulated=912.0, unit="MiB/s", held=held[0])
    ratio = Run(id="r5-12-FS", simulated=0.5, unit="1", held=held[1])
    return {run.id: run for run in (rate, ratio)}


def test_each_report_advises_something() -> None:
    assert {piece.source for piece in advice()} == set(shared()) - {"default"}


def test_a_piece_holds_if_all_its_runs_do() -> None:
    text = page([PIECE], runs(True, True))
    assert "1 of 1 pieces of advice hold" in text and "| Buy disks. |" in text
    assert "| `2208-restore-1`: ~ 890 MiB/s, 912; `r5-12-FS`: ~ 0.590, 0.500 | holds |" in text
    text = page([PIECE], runs(True, False))
    assert "0 of 1 pieces" in text and "0.500 (does not hold) | 1 of 2 hold |" in text


def test_every_run_that_a_page_shows_as_missed_says_why_not() -> None:
    text = (Path(__file__).parents[3] / "docs/evidence/advice.md").read_text()
    table, _, reasons = text.partition("Why not ")
    missed = re.findall(r"`([^`]+)`: [^;|]*\(does not hold\)", table)
    assert missed and all(f"`{id}`" in reasons for id in missed)
    assert "`raidlab validate p320h-003`" in table


def test_runs_are_read_from_the_documents_of_validate(tmp_path: Path) -> None:
    (tmp_path / "v.json").write_text(
        json.dumps({"rows": [runs(True, True)["r5-12-FS"].model_dump()]})
    )
    assert read_runs([tmp_path / "v.json"])["r5-12-FS"].simulated == 0.5
    (tmp_path / "v.json").write_text("{}")
    with pytest.raises(SpecError, match="a document of `raidlab validate --json`"):
        read_runs([tmp_path / "v.json"])


def test_what_is_no_report_or_no_figure_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "advice.toml").write_text(
        '[[advice]]\nsource = "p3701"\nsays = "x"\nshown_by = ["r5-12-FX", "r5-12-FS"]\n'
    )
    monkeypatch.setattr(module, "CLAIMS_FOLDER", tmp_path)
    with pytest.raises(SpecError) as caught:
        advice()
    assert [fault.value for fault in caught.value.faults] == ["p3701", "r5-12-FX"]
