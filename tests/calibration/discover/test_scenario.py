"""Scenarios of discovered machines load, and say what they assume."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidlab.calibration.discover.capture import SCRIPT, script
from raidlab.calibration.discover.facts import Array, Controller, Drive, Facts, Link
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
    assert 'action = "fail-drive"\ndrive = 2\n' in made.text
    assert 'state = "sustained"' in made.text
    assert not any("None" in each.text for each in made.sheets.values())
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


ARCCONF = """Controllers found: 1
Controller information
   Controller Status : Optimal
   Controller Model : Adaptec ASR7777
   Installed memory : 1024 MB
Logical device information
Logical Device number 0
   Logical Device name : blue
   RAID level : 5
   Status of Logical Device : Degraded
   Stripe-unit size : 256 KB
   Size : 3815440 MB
   Segment 0 : Present (1907729MB, SATA, HDD, Connector:0, Device:0) SN1
   Segment 1 : Missing
   Segment 2 : Present (1907729MB, SATA, HDD, Connector:1, Device:0)
Physical Device information
"""
DEVICE = """   Device #{at}
      Device is a Hard drive
      State : {state}
      Transfer Speed : SATA 6.0 Gb/s
      Reported Channel,Device(T:L) : 0,{at}({at}:0)
      Reported Location : Connector {connector}, Device {device}
      Model : BLUE 2000
      Serial number : SN{number}
      Total Size : 1907729 MB
      Write Cache : Disabled (write-through)
      SSD : No
"""


def arcconf() -> str:
    places = ((0, "Online", 0, 0), (1, "Failed", 0, 1), (4, "Online", 1, 0), (5, "Ready", 1, 1))
    return ARCCONF + "".join(
        DEVICE.format(at=at, state=state, connector=c, device=d, number=at + 1)
        for at, state, c, d in places
    )


def test_segments_are_drives_by_serial_number_or_place() -> None:
    facts = found_of([read_text("arcconf.txt", arcconf())]).facts
    (array,) = facts.arrays
    assert (array.drives, array.lacking) == (["0,0", "0,4"], [1])
    made = draft(facts, "S")
    assert made is not None and made.faults == []
    assert "disk_cache = false" in made.text and "write_cache = false" in made.text
    assert 'action = "fail-drive"\ndrive = 1\n' in made.text
    assert "no capture shows" not in made.text
    # The drive that failed is in the scenario's event; the one that is ready is in no array.
    assert made.left_out == ["1 x BLUE 2000, 2.0004 TB: ready"]


def test_a_negotiated_link_counts_though_the_product_is_known() -> None:
    drive = Drive(
        name="nvme0n1", model="SAMSUNG MZQL2960HCJR-00A07", kind="ssd", interface="nvme",
        bytes=960_197_124_096, link=Link(3, 2), read_from="lspci.txt",
    )  # fmt: skip
    made = draft(Facts(drives=[drive]), "S")
    assert made is not None and made.faults == []
    (sheet,) = made.sheets.values()
    assert sheet.values["interface"] == "pcie-3.0-x2"
    drive.link = Link(4, 4)
    made = draft(Facts(drives=[drive]), "S")
    assert made is not None and not made.sheets


def test_a_new_ssd_is_not_worn() -> None:
    drive = Drive(
        name="nvme0n1", kind="ssd", interface="nvme", bytes=960 * 10**9,
        written_bytes_total=10**9, read_from="smart.json",
    )  # fmt: skip
    made = draft(Facts(drives=[drive]), "S")
    assert made is not None and made.faults == []
    assert 'precondition = "fresh"  # read from smart.json' in made.text
    drive.written_bytes_total = 10**13
    made = draft(Facts(drives=[drive]), "S")
    assert made is not None and 'state = "sustained"' in made.text


def test_a_controller_without_drives_is_said() -> None:
    card = Controller(model="MegaRAID 9460-16i", role="raid", link=Link(3, 4))
    made = draft(Facts(controllers=[card], drives=[Drive(kind="ssd", interface="nvme")]), "S")
    assert made is not None
    assert any("MegaRAID 9460-16i (PCIe 3.0 x4)" in each for each in made.left_out)
