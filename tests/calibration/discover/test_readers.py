"""Readers of captured outputs beside what they should get of them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from raidlab.calibration.discover.facts import to_dict
from raidlab.calibration.discover.reading import Read, read_file, read_text
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


SUPPORTCONFIG = """
#==[ Verification ]=================================#
# rpm -V mdadm-4.1
# Verification Status: Passed

#==[ Command ]======================================#
# /bin/lsblk -i
NAME   MAJ:MIN RM  SIZE RO TYPE  MOUNTPOINT
sda      8:0    0 10.9T  0 disk
`-md0    9:0    0 21.8T  0 raid5 /data
sdb      8:16   0 10.9T  0 disk
`-md0    9:0    0 21.8T  0 raid5 /data
sdc      8:32   0 10.9T  0 disk
`-md0    9:0    0 21.8T  0 raid5 /data

#==[ Configuration File ]===========================#
# /proc/mdstat
Personalities : [raid6] [raid5] [raid4]
md0 : active raid5 sdc[3] sdb[1] sda[0]
      23437770752 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/3] [UUU]

unused devices: <none>
"""


def test_each_command_of_a_supportconfig_is_read_by_itself() -> None:
    found = read_file("storage.txt", SUPPORTCONFIG)
    assert [each.file for each in found] == [
        "storage.txt: /bin/lsblk -i", "storage.txt: /proc/mdstat",
    ]  # fmt: skip
    (array,) = found[1].facts.arrays
    assert (array.name, array.level, array.stripe_unit) == ("md0", "raid5", "512 KiB")
    # A file without such parts is one capture; parts that nobody knows are said once.
    assert len(read_file("x.txt", "hello\n")) == 1
    unknown = "#==[ Command ]====#\n# /bin/date\nFri\n\n#==[ Command ]====#\n# /bin/w\nroot\n"
    assert [each.facts for each in read_file("x.txt", unknown)] == [None]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("zpool-list", "NAME  SIZE  ALLOC  FREE  HEALTH\ntank  21G  9G  12G  ONLINE\n"),
        ("mountinfo", "3 1 8:1 / / rw - ext4 /dev/dm-0 rw,errors=x\n5 1 0:2 / /run rw,size=5k\n"),
        ("info", "SG driver version 3.5.36.\nCLI Version: 4.1.13.31   RaidAPI Version: 5.0\n"),
    ],
)  # fmt: skip
def test_another_tool_with_like_words_is_not_taken(name: str, text: str) -> None:
    assert read_text(name, text).facts is None


def test_a_scan_names_no_drives() -> None:
    text = '{"smartctl": {"version": [7, 4]}, "devices": [{"name": "/dev/sda", "type": "scsi"}]}'
    facts = read_text("scan.json", text).facts
    assert facts is not None and facts.drives == [] and "--scan" in facts.warnings[0].text


@pytest.mark.parametrize("product", ["P2000G3 FC/iSCSI", "HSV300", "MSA 2050 SAN", "DE_Series"])
def test_a_lun_of_a_disk_array_is_no_drive(product: str) -> None:
    row = f"[1:0:0:1]    disk    HP       {product:16} T250  /dev/sdc\n"
    facts = read_text("lsscsi", row).facts
    assert facts is not None and [each.virtual for each in facts.drives] == [True]


def test_a_model_cut_at_its_vendor_is_put_together() -> None:
    row = "[0:0:0:0]    disk    HUA72101 0KLA330          GKAO  /dev/sda\n"
    facts = read_text("lsscsi", row).facts
    assert facts is not None
    assert [(each.model, each.vendor) for each in facts.drives] == [("HUA721010KLA330", None)]
