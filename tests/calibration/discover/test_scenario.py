"""Scenarios of discovered machines load, and say what they assume."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidlab.calibration.discover.capture import SCRIPT, script
from raidlab.calibration.discover.facts import Array, Controller, Drive, Facts
from raidlab.calibration.discover.machine import found_of
from raidlab.calibration.discover.reading import read_text
from raidlab.calibration.discover.scenario import draft, files
from raidlab.scenarios.planning.scenario import load_scenario
from tests.calibration.discover.test_readers import OWN, pairs, read

MDSTAT = """Personalities : [raid6] [raid5] [raid4]
md0 : active raid5 sdd[3] sdc[1] sdb[0]
      7813770240 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/2] [UU_]
      bitmap: 1/30 pages [4KB], 65536KB chunk

unused devices: <none>
"""


def test_a_degraded_array_of_md_loses_a_drive_at_the_begin(tmp_path: Path) -> None:
    facts = found_of([read_text("mdstat", MDSTAT)]).facts
    made = draft(facts, "S")
    assert made is not None and made.faults == []
    assert 'bitmap = "internal"  # read from mdstat' in made.text
    assert 'action = "fail-drive"' in made.text
    assert any("is taken as" in each for each in made.assumed)
    for path, text in files(made, tmp_path / "S.toml").items():
        path.write_text(text)
    assert load_scenario(tmp_path / "S.toml").usable_bytes > 7 * 10**12


def test_a_volume_on_another_controller_is_left_out() -> None:
    facts = Facts(
        controllers=[Controller(index=0, model="PERC H740P", role="raid", cache="8 GiB")],
        arrays=[
            Array(name="a", level="raid5", members=4, controller=0, bytes=10**12),
            Array(name="md0", level="raid1", members=2, bytes=10**11),
        ],
        drives=[Drive(slot=f"0:{n}", controller=0, kind="hdd", interface="sas") for n in range(4)],
    )
    made = draft(facts, "S")
    assert made is not None and made.faults == []
    assert any("md0" in each for each in made.left_out)


def test_no_scenario_of_virtual_disks() -> None:
    assert draft(Facts(drives=[Drive(name="sda", virtual=True)]), "S") is None


@pytest.mark.parametrize("expectation", pairs(OWN), ids=lambda path: path.name)
def test_a_captures_scenario_loads(expectation: Path) -> None:
    facts = read(expectation).facts
    assert facts is not None
    made = draft(facts, "S")
    assert made is None or made.faults == []


def test_the_script_only_reads() -> None:
    words = script()
    assert SCRIPT.name == "capture.sh" and words.startswith("#!/bin/sh")
    for writes in ("mkfs", "dd ", "rm -rf", " > /dev/sd", "tee ", "blkdiscard", "echo >"):
        assert writes not in words
