"""USB drives, cards and removable media are no part of a storage system."""

from __future__ import annotations

import pytest

from raidlab.calibration.discover.facts import Array, Drive, Facts
from raidlab.calibration.discover.matching import match_facts
from raidlab.calibration.discover.reading import read_text
from raidlab.calibration.discover.scenario import draft

ROW = ('NAME="{name}" SIZE="{size}" TYPE="disk" ROTA="1" RM="{rm}" MODEL="{model}" TRAN="{tran}"'
       ' VENDOR="{vendor}"\n')  # fmt: skip
DISK = ROW.format(name="sda", size=8 * 10**12, rm=0, model="XYZ8", tran="sata", vendor="ATA")


def drawn(text: str, disk: str = DISK) -> tuple[Facts, list[str], int]:
    """Facts of some drives, what the scenario leaves out, and how many arrays it has."""
    facts = read_text("lsblk.txt", disk + text).facts
    assert facts is not None
    made = draft(facts, "S")
    assert made is not None and made.faults == []
    return facts, made.left_out, made.text.count("[[array]]")


@pytest.mark.parametrize(
    ("name", "rm", "tran", "said"),
    [
        ("sdb", 1, "usb", "on USB, a removable medium: no part of the storage system"),
        ("sdb", 0, "usb", "on USB: no part of the storage system, and not simulated"),
        ("sdb", 1, "", "a removable medium: no part of the storage system; if it is a disk in a"),
        ("mmcblk0", 0, "mmc", "on an SD card's or eMMC's bus"),
        ("mmcblk0", 0, "", "on an SD card's or eMMC's bus"),
    ],
)
def test_a_stick_a_card_or_a_disk_on_usb_is_left_out(
    name: str, rm: int, tran: str, said: str
) -> None:
    row = ROW.format(name=name, size=16 * 10**9, rm=rm, model="Blade", tran=tran, vendor="X")
    facts, left_out, arrays = drawn(row)
    assert arrays == 1
    (text,) = left_out
    assert text.startswith(f"{name}, Blade, 16 GB: {said}")
    assert [each.part for each in match_facts(facts)] == ["sda"]
    if rm:
        assert facts.drives[1].kind is None


def test_a_disk_in_a_bay_for_hot_plugging_stays() -> None:
    """Linux marks disks on external ports of AHCI as removable."""
    row = ROW.format(name="sdb", size=8 * 10**12, rm=1, model="XYZ8", tran="sata", vendor="ATA")
    facts, left_out, _ = drawn(row)
    assert left_out == [] and facts.drives[1].kind == "hdd"


def test_other_tools_say_usb_too() -> None:
    texts = {
        "smart.json": '{"smartctl": {}, "device": {"name": "/dev/sdb", "info_name":'
                      ' "/dev/sdb [USB JMicron]", "type": "usbjmicron", "protocol": "ATA"},'
                      ' "model_name": "X"}',
        "lsscsi.txt": "[6:0:0:0]    disk    usb:1-2:1.0                     /dev/sdb\n"
                      "[6:0:0:0]    disk    SanDisk  Blade            1.27  /dev/sdb"
                      "   usb:1-2:1.0\n",
        "lshw.json": '[{"id": "disk", "class": "disk", "logicalname": "/dev/sdb", "size": 16,'
                     ' "businfo": "usb@1:2", "product": "X"}]',
        "hwinfo.txt": "1: USB 00.0: 10600 Disk\n  Unique ID: a\n  Hardware Class: disk\n"
                      '  Model: "X"\n  Driver: "usb-storage", "sd"\n  Device File: /dev/sdb\n'
                      "  Capacity: 14 GB (16000000000 bytes)\n",
    }  # fmt: skip
    for name, text in texts.items():
        facts = read_text(name, text).facts
        assert facts is not None and [each.transport for each in facts.drives] == ["usb"], name
    facts = read_text("sys", "/sys/block/sdb/size:9\n/sys/block/sdb/removable:1\n").facts
    assert facts is not None and facts.drives[0].removable and facts.drives[0].outside


def test_a_member_of_an_array_on_usb_is_simulated_and_said() -> None:
    drives = [
        Drive(name=name, kind="hdd", bytes=10**12, transport="usb") for name in ("sda", "sdb")
    ]
    array = Array(name="md0", level="raid1", members=2, drives=["sda", "sdb"], bytes=10**12)
    made = draft(Facts(arrays=[array], drives=drives), "S")
    assert made is not None and made.faults == []
    assert len(made.left_out) == 2
    assert all("as a member of an array it is simulated like others" in e for e in made.left_out)
