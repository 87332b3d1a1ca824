"""Scenarios of discovered machines load, and say what they assume."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from raidlab.calibration.discover.capture import SCRIPT, script
from raidlab.calibration.discover.facts import Array, Controller, Drive, Facts, Link
from raidlab.calibration.discover.machine import found_of
from raidlab.calibration.discover.members import bytes_of_member
from raidlab.calibration.discover.reading import Read, read_text
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


MDADM = """/dev/md1:
     Raid Level : raid10
     Array Size : 1953260544 (1862.77 GiB 2000.14 GB)
  Used Dev Size : 976630272 (931.39 GiB 1000.07 GB)
   Raid Devices : {members}
          State : clean
 Active Devices : {members}
         Layout : {layout}
     Chunk Size : 512K
"""
PROC = """Personalities : [raid10]
md1 : active raid10 {names}
      1953260544 blocks super 1.2 512K chunks {layout} [{members}/{members}] [{marks}]
"""


@pytest.mark.parametrize(
    ("members", "copies", "arrangement", "layout"),
    [(4, 2, "far", "far2"), (2, 2, "far", "far2"), (5, 3, "offset", "offset3"),
     (6, 3, "near", "near3"), (3, 2, "near", "near2"), (4, 2, "near", None)],
)  # fmt: skip
def test_mds_layout_of_raid_10_is_taken(
    members: int, copies: int, arrangement: str, layout: str | None
) -> None:
    names = " ".join(f"sd{'abcdef'[at]}1[{at}]" for at in range(members))
    word = {"far": 1, "offset": 2, "near": 0}[arrangement]
    number = copies if not word else 1 | copies << 8 | (word - 1) << 16
    texts = (
        MDADM.format(members=members, layout=f"{arrangement}={copies}"),
        PROC.format(names=names, members=members, marks="U" * members,
                    layout=f"{copies} {arrangement}-copies"),
        "".join(f"/sys/block/md1/{key}:{value}\n" for key, value in (
            ("md/level", "raid10"), ("md/raid_disks", members), ("md/layout", number),
            ("size", 4 * 10**9))),
    )  # fmt: skip
    for text in texts:
        made = draft(found_of([read_text("capture", text)]).facts, "S")
        assert made is not None and made.faults == []
        (array,) = tomllib.loads(made.text)["array"]
        assert (array["level"], array.get("layout")) == ("raid10", layout)
        # No line of a bitmap is none; /sys was captured without one.
        assert array.get("bitmap") == (None if text.startswith("/sys") else "none")
        assert not any("layout" in each for each in made.left_out)


def test_an_array_of_which_one_member_is_seen_loads() -> None:
    array = Array(name="md0", level="raid10", members=1, drives=["sda2"])
    made = draft(Facts(arrays=[array], drives=[Drive(name="sda", kind="hdd")]), "S")
    assert made is not None and made.faults == []


def test_spans_of_raid_50_are_taken() -> None:
    array = Array(name="a", level="raid50", members=9, spans=3, controller=0, bytes=6 * 10**12)
    drives = [Drive(slot=f"0:{n}", controller=0, kind="hdd", interface="sas") for n in range(9)]
    card = Controller(index=0, role="raid", cache="1 GiB")
    made = draft(Facts(controllers=[card], arrays=[array], drives=drives), "S")
    assert made is not None and made.faults == []
    assert tomllib.loads(made.text)["array"][0]["spans"] == 3


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


def test_a_volume_smaller_than_its_drives_uses_a_part_of_them() -> None:
    # RAID 6 of 6 drives of 4 TB: 8 TB of data on 4 drives are 2 TB of each.
    drives = [
        Drive(slot=f"0:{at}", controller=0, kind="hdd", interface="sas-12g", bytes=4 * 10**12)
        for at in range(6)
    ]
    array = Array(name="a", level="raid6", members=6, controller=0, bytes=8 * 10**12,
                  drives=[f"0:{at}" for at in range(6)], spares=["0:9"])  # fmt: skip
    facts = Facts(controllers=[Controller(index=0, role="raid", cache="1 GiB")], arrays=[array],
                  drives=drives)  # fmt: skip
    made = draft(facts, "S")
    assert made is not None and made.faults == []
    assert 'used = "2000000000000 B"' in made.text
    assert "\nhot_spares = 1 " in made.text
    array.bytes, array.lacking = 16 * 10**12, [5]
    made = draft(facts, "S")
    assert made is not None and made.faults == []
    assert "used =" not in made.text and "\nhot_spares" not in made.text


@pytest.mark.parametrize(
    ("array", "size"),
    [
        (Array(level="raid5", members=4, bytes=3 * 10**12), 10**12),
        (Array(level="raid50", members=10, spans=2, bytes=8 * 10**12), 10**12),
        (Array(level="raid10", members=6, bytes=3 * 10**12), 10**12),
        (Array(level="raid1", members=3, bytes=10**12), 10**12),
        (Array(level="raid0", members=2, bytes=2 * 10**12), 10**12),
        (Array(level="raid6", members=4, member_bytes=7, bytes=14), 7),
        (Array(level="raid6", members=4), None),
    ],
)
def test_an_arrays_size_says_what_a_member_has(array: Array, size: int | None) -> None:
    assert bytes_of_member(array) == size


def test_volumes_without_members_have_drives_of_their_controller() -> None:
    shown = [
        Drive(slot=f"32:{at}", controller=0, model="RED 1", kind="hdd", interface="sas-12g",
              bytes=12 * 10**11, rpm=10_500, read_from="pdlist.txt") for at in range(4)
    ]  # fmt: skip
    one = Array(name="one", level="raid5", members=3, controller=0, bytes=24 * 10**11)
    two = Array(name="two", level="raid0", members=1, controller=0, bytes=12 * 10**11)
    facts = Facts(controllers=[Controller(index=0, role="raid")], arrays=[one], drives=shown[:3])
    made = draft(facts, "S")
    assert made is not None and "read from pdlist.txt" in made.text
    made = draft(replace(facts, arrays=[one, two], drives=shown), "S")
    assert made is not None and made.faults == []
    assert made.text.count("own-red-1.toml") == 2
    assert "assumed: no capture names the drives" in made.text


def test_a_sata_drive_without_queuing_has_one_command() -> None:
    drive = Drive(name="sda", kind="hdd", interface="sata-6g", bytes=4 * 10**12, ncq=False)
    made = draft(Facts(drives=[drive]), "S")
    assert made is not None and made.faults == []
    assert "ncq = false" in made.text


def test_a_drive_without_queuing_behind_a_card_is_left_out_of_the_draft() -> None:
    drive = Drive(slot="0:1", controller=0, kind="hdd", interface="sata-6g", bytes=4 * 10**12,
                  ncq=False, state="jbod", read_from="show.txt")  # fmt: skip
    made = draft(Facts(controllers=[Controller(index=0, role="raid", model="LSI2008")],
                       drives=[drive]), "S")  # fmt: skip
    assert made is not None and made.faults == []
    assert "[controller]" in made.text and "ncq = " not in made.text
    assert any("0:1: NCQ is off" in each for each in made.left_out)


def test_a_link_below_what_is_possible_is_said() -> None:
    facts = Facts("lspci", drives=[Drive(name="nvme0", link=Link(3, 4), link_possible=Link(4, 4))])
    (warning,) = found_of([Read("lspci.txt", facts)]).facts.warnings
    assert "nvme0: its link runs at PCIe 3.0 x4, though 4.0 x4 is possible" in warning.text


def test_drives_of_one_model_with_other_links_have_files_of_their_own() -> None:
    drives = [
        Drive(name=f"nvme{at}", model="SAMSUNG MZQL2960HCJR-00A07", interface="nvme",
              bytes=960_197_124_096, link=link)
        for at, link in enumerate((Link(3, 4), Link(4, 2), Link(3, 4)))
    ]  # fmt: skip
    made = draft(Facts(drives=drives), "S")
    assert made is not None and made.faults == []
    links = [each.values["interface"] for each in made.sheets.values()]
    assert links == ["pcie-3.0-x4", "pcie-4.0-x2"]
    assert "count = 2 }" in made.text and "count = 1 }" in made.text


def test_what_stands_beside_the_controller_is_said_once() -> None:
    named = [Drive(name="sdx", kind="hdd", interface="sata"), Drive(name="sdy", kind="hdd")]
    flash = Drive(name="nvme0", kind="ssd", interface="nvme", bytes=960 * 10**9)
    facts = Facts(
        controllers=[Controller(index=0, role="raid", cache="1 GiB")],
        arrays=[Array(name="a", level="raid5", members=3, controller=0),
                Array(name="md7", level="raid1", members=2, drives=["sdx1", "sdy1"])],
        drives=[*named, flash],
    )  # fmt: skip
    made = draft(facts, "S")
    assert made is not None
    # Members of an array that is left out are not drives without an array.
    assert made.left_out == [
        "array md7: on another controller or in the host",
        "1 x SSD, 960 GB: in no array that a capture shows",
    ]


def test_a_controllers_volume_asks_for_the_controllers_tool() -> None:
    drives = [
        Drive(name="sda", model="PERC H740P Mini", volume_of_controller=True),
        Drive(name="sdb", kind="hdd", interface="sata-6g", bytes=4 * 10**12),
    ]
    made = draft(Facts(drives=drives), "S")
    assert made is not None
    assert any("sda: a volume of a RAID controller" in each for each in made.left_out)


def test_host_names_of_tools_are_the_machines() -> None:
    detail = "/dev/md3:\n Raid Level : raid1\n Name : blue:3  (local to host blue)\n"
    show = "CLI Version = 007.1\nStatus Code = 0\nHost Name = red.example.org\n"
    found = found_of([read_text("mdadm", detail), read_text("storcli", show)])
    (text,) = [each.text for each in found.facts.warnings if each.code == "mixed"]
    assert "blue (mdadm)" in text and "red.example.org (storcli)" in text
    same = found_of([read_text("mdadm", detail), read_text("hostname", "blue.example.org")])
    assert not any(each.code == "mixed" for each in same.facts.warnings)


def test_a_part_number_says_the_size_that_no_capture_has() -> None:
    made = draft(Facts(drives=[Drive(name="sdb", model="ST1200MM0088")]), "S")
    assert made is not None and made.faults == []
    (sheet,) = made.sheets.values()
    assert sheet.values["capacity"] == "1200000000000 B"
    assert sheet.sources["capacity"]["note"] == "by its part number"


def test_disks_and_ssds_of_which_a_capture_says_no_more_stand_apart() -> None:
    drives = [Drive(name="sda", kind="ssd"), Drive(name="sdb", kind="hdd")]
    made = draft(Facts("lsblk", drives=drives), "m")
    assert made is not None and made.faults == []
    assert made.text.count("[[array]]") == 2


UNAME = "Linux nas 6.1.0-18-amd64 #1 SMP Debian 6.1.76-1 (2024-02-01) x86_64 GNU/Linux\n"
LSCPU = "CPU(s): 16\nSocket(s): 2\nModel name: Blue 7\n"


def test_the_kernel_stands_where_md_is_and_sockets_where_they_count() -> None:
    reads = [read_text("mdstat", MDSTAT), read_text("lscpu.txt", LSCPU),
             read_text("uname.txt", UNAME)]  # fmt: skip
    made = draft(found_of(reads).facts, "S")
    assert made is not None and made.faults == []
    assert '\nkernel = "6.1.0-18-amd64"  # read from lscpu.txt, uname.txt\n' in made.text
    assert "\n# sockets = 2  # read from lscpu.txt, uname.txt, without effect" in made.text
    disks = Facts(drives=[Drive(name="sda", kind="hdd", interface="sata")])
    disks.host = found_of(reads).facts.host
    made = draft(disks, "S")
    assert made is not None and made.faults == []
    assert "kernel" not in tomllib.loads(made.text)["host"]
    assert "# kernel: 6.1.0-18-amd64, read from" in made.text


@pytest.mark.parametrize("data", ["PCIe 3.0 x4(3940 MB/s)", "PCIe 3.0 x4 (3940 MB/s)"])
def test_arcconfs_negotiated_rate_is_the_link(data: str) -> None:
    line = f"   Negotiated PCIe Data Rate : {data}\n   Rebuild Priority : High\n"
    text = arcconf().replace("   Installed memory", f"{line}   Installed memory")
    facts = found_of([read_text("arcconf.txt", text)]).facts
    assert facts.controllers[0].link == Link(3, 4, data)
    made = draft(facts, "S")
    assert made is not None and made.faults == []
    (own,) = [each for each in made.sheets.values() if each.values["kind"] == "controller"]
    assert own.values["link"] == "pcie-3.0-x4"
    assert "has the priority high, of which no maker says the share" in made.text


POLICIES = """CLI Version = 007.1
Controller = 0
Status = Success

Supported Adapter Operations :
============================
Rebuild Rate = Yes

Policies :
========
Policies Table :
==============
------------------------------------------------
Policy                          Current Default
------------------------------------------------
Predictive Fail Poll Interval   300 sec
Rebuild Rate                    60 %     30%
------------------------------------------------
"""


def test_the_rate_of_rebuilds_is_no_word_of_what_a_card_supports() -> None:
    json = (
        '{"Controllers": [{"Command Status": {"CLI Version": "007.1", "Controller": 0, "Status":'
        ' "Success"}, "Response Data": {"Supported Adapter Operations": {"Rebuild Rate": "Yes"},'
        ' "Policies": {"Policies Table": [{"Policy": "Rebuild Rate", "Current": "60 %"}]}}}]}'
    )
    for text in (POLICIES, json):
        facts = read_text("show", text).facts
        assert facts is not None and facts.controllers[0].rebuild_rate_percent == 60


def test_equal_drives_of_several_captures_have_one_file() -> None:
    drives = [
        Drive(name=f"sd{at}", model="WDC WD40EFRX-68N32N0", kind="hdd", interface="sata-6g",
              link_now="sata-3g", rpm=5400, bytes=4_000_787_030_016, read_from=f"smart_{at}.json")
        for at in "abcde"
    ]  # fmt: skip
    made = draft(Facts(drives=drives), "S")
    assert made is not None and made.faults == []
    (sheet,) = made.sheets.values()
    where = "read from smart_a.json, smart_b.json, smart_c.json and 2 more"
    assert f'capacity = {{ source = "measured", note = "{where}" }}' in sheet.text
    assert f"# interface: {where}." in sheet.text
    assert f"count = 5 }},  # {where}: class" in made.text
    drives[4].link_now = "sata-1.5g"
    made = draft(Facts(drives=drives), "S")
    assert made is not None and len(made.sheets) == 2 and "count = 4 }" in made.text


def test_what_is_left_out_is_said_once_though_a_draft_is_written_twice() -> None:
    drives = [Drive(name=n, kind="hdd", interface="sata", bytes=10**12) for n in ("sda", "sdb")]
    array = Array(name="md0", level="raid1", members=2, drives=["sda", "sdb"], bitmap=True,
                  bitmap_chunk="3 KiB", journal="sdx")  # fmt: skip
    made = draft(Facts(arrays=[array], drives=drives), "S")
    assert made is not None and made.faults == []
    assert made.left_out == ["journal sdx of md0: no model of it"]
