"""Claims of the reports: read whole, judged with both sides shown, causes for those not held."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from raidlab.calibration.published import claims
from raidlab.calibration.published.claims import DEPTHS, causes
from raidlab.calibration.published.figures import CLAIMS_FOLDER, read_claims, read_published
from raidlab.calibration.published.validate import Compared, Validation, validate
from raidlab.calibration.report import claims as report
from raidlab.calibration.report.claims import markdown_claims, table
from raidlab.devices.faults import SpecError


def test_every_claim_is_read_and_none_is_a_figure_twice() -> None:
    rows = list(csv.DictReader((CLAIMS_FOLDER / "claims.csv").read_text().splitlines()))
    ids = [claim.id for claim in read_claims()]
    assert ids == [row["id"] for row in rows]
    assert len(set(ids)) == len(ids) == 136


def test_causes_are_of_claims_and_figures(tmp_path, monkeypatch) -> None:
    assert set(causes()) <= {each.id for each in (*read_claims(), *read_published())}
    (tmp_path / "causes.toml").write_text(
        '[[cause]]\nids = ["2208-restore-2"]\nwhy = "x"\n'
        '[[cause]]\nids = ["r5-12-FS", "r5-12-FS"]\nwhy = "y"\n'
    )
    monkeypatch.setattr(claims, "CLAIMS_FOLDER", tmp_path)
    with pytest.raises(SpecError) as caught:
        causes()
    assert [fault.value for fault in caught.value.faults] == ["2208-restore-2", "r5-12-FS"]


def test_a_ratio_shows_both_sides_and_the_best_of_three_depths() -> None:
    """A null device takes no time: both sides are the host's, and depth changes nothing else."""
    claim = next(claim for claim in read_claims() if claim.id == "r0-24hdd-2108/2208-database")
    assert claim.baseline is not None
    null = replace(claim.configuration, drive="null", count=2)
    other = replace(claim.baseline, drive="null", count=2)
    (row,) = validate([replace(claim, configuration=null, baseline=other)], depths=DEPTHS).rows
    assert row.sides is not None and row.simulated == row.sides[0] / row.sides[1]
    single = [
        validate([replace(claim, configuration=replace(null, outstanding=str(depth)),
                          baseline=other)], depths=DEPTHS).rows[0].sides
        for depth in DEPTHS
    ]  # fmt: skip
    assert row.sides[0] == max(sides[0] for sides in single if sides)
    assert row.to_dict()["sides_iops"] == list(row.sides)


def test_the_table_names_what_is_not_held_first_and_why(monkeypatch) -> None:
    ratio, rate = (c for c in read_claims() if c.id in ("r5-12-FS", "2208-restore-1"))
    rows = (
        Compared(ratio, 890.0, "MiB/s", 0.0, True, None),
        Compared(rate, 0.4, "1", -30.0, False, None, (40.0, 100.0)),
    )
    monkeypatch.setattr(report, "causes", lambda: {rate.id: "the cache is too good"})
    lines = table(rows).rows
    assert [line[:2] for line in lines] == [[rate.id, "not held"], [ratio.id, "held"]]
    assert lines[0][5:7] == [40.0, 100.0] and lines[0][-1] == "the cache is too good"
    page = markdown_claims(Validation(rows, 1.0))
    assert "1 of 2 claims of the reports are held." in page
    assert f"- `{rate.id}`: the cache is too good" in page and f"| {ratio.id} |" in page
    short = markdown_claims(Validation(rows, 1.0), "claims.csv")
    assert "All 2 claims, one a row: [claims.csv](claims.csv)" in short
    assert f"| {rate.id} |" in short and f"| {ratio.id} |" not in short
