"""Drives of 3D XPoint from their sheets: closed forms by hand, then runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from raidlab.devices.catalogue import SPECS
from raidlab.devices.datasheet.sheet import read_sheet
from raidlab.devices.datasheet.xpoint import device, direction_of
from raidlab.devices.spec_writer import DEVICE_SCHEMA, with_schema
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate

_SHEET = SPECS.parent / "datasheets" / "p4800x-375.toml"


def test_closed_forms_by_hand() -> None:
    """500,000 writes of 4 KiB are 2048 MB/s, more than the stream. A core of 1.818 us for reads.
    10 us less host 5, core 1.818, medium 4096 / 2400 and a frame of 256 / 3544.6 (90 % of PCIe 3.0
    x4) leave 1.40 us."""
    read = read_sheet(_SHEET)
    assert direction_of(read.sheet, "write").medium == 2.048e9
    reads = direction_of(read.sheet, "read")
    assert (reads.medium, reads.core_us) == (2.4e9, pytest.approx(1.818, abs=1e-3))
    assert reads.wait_us == pytest.approx(10 - 5 - 1.818 - 1.7067 - 0.0722, abs=2e-3)
    assert device(read).values["power"] == {"idle": "5 W", "read": 3.3333, "write": 3.9062}


def _run(**load: Any) -> Any:
    tree = {
        "host": {"model": "nvme-gen5"},
        "array": [{"drives": [{"model": "p4800x-375"}]}],
        "workload": [{"block_size": "4 KiB", "outstanding": [1]} | load],
        "run": {"precondition": "steady-state", "warm_up": "2 ms", "duration": "40 ms", "seed": 1},
    }
    (row,) = simulate(build_scenario(tree), workers=1).results
    return row


@pytest.mark.parametrize("rw", ["randread", "randwrite"])
def test_latency_is_as_stated_in_both_directions(rw: str) -> None:
    assert _run(rw=rw)["latency_us"]["mean"] == pytest.approx(10, rel=0.03)


def test_a_mix_shares_cores_and_medium() -> None:
    """Of an I/O 0.7 * 1.818 + 0.3 * 2 us on the core and 0.7 * 1.707 + 0.3 * 2 us on the medium:
    the core bounds it, 535,000 a second. Nothing is collected."""
    row = _run(rw="randrw", read_share=0.7, outstanding=[64], threads=16)
    assert row["iops"] == pytest.approx(1e6 / (0.7 * 1.818 + 0.3 * 2.0), rel=0.01)
    assert row["write_amplification"] is None
    assert 5 < row["power"]["watts"] < 13.1


def test_its_file_is_that_of_its_sheet(tmp_path: Path) -> None:
    file = SPECS / "xpoint" / "p4800x-375.toml"
    text = with_schema(device(read_sheet(_SHEET)).to_toml(), file, DEVICE_SCHEMA)
    assert file.read_text() == text
