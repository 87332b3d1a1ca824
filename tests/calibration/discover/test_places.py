"""The drives that an array lacks fail in their own places."""

from __future__ import annotations

import json
from typing import Any

import pytest

from raidlab.calibration.discover.facts import Array, Drive, Facts
from raidlab.calibration.discover.members import places_lacking
from raidlab.calibration.discover.reading import read_text
from raidlab.calibration.discover.scenario import draft

SLOTS = ("8:0", "8:1", "8:2", "8:3", "8:4", "8:5")
HEAD = """CLI Version = 007.1
Controller = 0
Status = Success

On Board Memory Size = 1024MB
"""


def rows(state: str) -> list[dict[str, Any]]:
    """Rows of the topology of RAID 50 of two spans; the second drive of the second one is away."""
    top = {"DG": 0, "Arr": "-", "Row": "-", "EID:Slt": "-", "DID": "-", "Type": "RAID50"}
    found: list[dict[str, Any]] = [{**top, "State": "Dgrd"}]
    for at, slot in enumerate(SLOTS):
        away = at == 4
        shown = "-" if away and state == "Msng" else slot
        found.append({"DG": 0, "Arr": at // 3, "Row": at % 3, "EID:Slt": shown, "DID": at,
                      "Type": "DRIVE", "State": state if away else "Onln"})  # fmt: skip
    return found


def table(title: str, lines: list[dict[str, Any]]) -> str:
    """Rows as storcli prints them."""
    widths = {key: max(len(str(each[key])) for each in [*lines, {k: k for k in lines[0]}])
              for key in lines[0]}  # fmt: skip
    rule = "-" * (sum(widths.values()) + len(widths) - 1)
    text = [" ".join(str(each[key]).ljust(widths[key]) for key in widths)
            for each in [{k: k for k in lines[0]}, *lines]]  # fmt: skip
    return "\n".join([f"{title} :", "=" * 9, "", rule, text[0], rule, *text[1:], rule, "", ""])


def capture(state: str, *, as_json: bool) -> str:
    drives = [
        {"EID:Slt": slot, "DID": at, "State": ("UBad" if state == "Msng" else state)
         if at == 4 else "Onln", "DG": "-" if at == 4 and state == "Msng" else 0,
         "Size": "3.637 TB", "Intf": "SATA", "Med": "HDD", "Model": "XYZ4", "Sp": "U"}
        for at, slot in enumerate(SLOTS)
    ]  # fmt: skip
    volume = [{"DG/VD": "0/0", "TYPE": "RAID50", "State": "Dgrd", "Access": "RW", "Cache": "RWBD",
               "Size": "14.550 TB", "Name": "data"}]  # fmt: skip
    if as_json:
        answer = {"On Board Memory Size": "1024MB", "TOPOLOGY": rows(state), "VD LIST": volume,
                  "PD LIST": drives}  # fmt: skip
        status = {"CLI Version": "007.1", "Controller": 0, "Status": "Success"}
        whole = {"Controllers": [{"Command Status": status, "Response Data": answer}]}
        return json.dumps(whole, indent=1)
    parts = [("TOPOLOGY", rows(state)), ("VD LIST", volume), ("PD LIST", drives)]
    return HEAD + "\n" + "".join(table(*each) for each in parts)


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
@pytest.mark.parametrize("state", ["Rbld", "Msng", "Offln", "Failed"])
def test_a_drive_of_the_second_span_fails_in_its_place(state: str, as_json: bool) -> None:
    facts = read_text("show", capture(state, as_json=as_json)).facts
    assert facts is not None
    (array,) = facts.arrays
    assert (array.members, array.spans, array.lacking) == (6, 2, [4])
    made = draft(facts, "S")
    assert made is not None and made.faults == []
    assert 'action = "fail-drive"\ndrive = 4\n' in made.text
    assert made.text.count("fail-drive") == 1
    assert "place 4, from 0 on, read from show" in made.text


MEGACLI = """Adapter #0
Virtual Drive: 0 (Target Id: 0)
Name                :data
RAID Level          : Primary-5, Secondary-3, RAID Level Qualifier-3
State               : Degraded
Number Of Drives per span:3
Span Depth          : 2
Current Cache Policy: WriteBack, ReadAhead, Direct, No Write Cache if Bad BBU
"""
DISK = """Enclosure Device ID: 32
Slot Number: {slot}
Drive's position: DiskGroup: 0, Span: {span}, Arm: {arm}
PD Type: SAS
Raw Size: 558.911 GB [0x45dd2fb0 Sectors]
Firmware state: {state}
Inquiry Data: SEAGATE ST3600057SS     LS096SL7ABC{slot}
Media Type: Hard Disk Device

"""


@pytest.mark.parametrize("state", ["Rebuild", "Failed", "gone"])
def test_megacli_numbers_places_by_span_and_arm(state: str) -> None:
    text = MEGACLI + "".join(
        DISK.format(slot=9 - at, span=at // 3, arm=at % 3, state=state if at == 4 else "Online")
        for at in range(6) if at != 4 or state != "gone"
    )  # fmt: skip
    facts = read_text("ldpd", text).facts
    assert facts is not None and facts.arrays[0].lacking == [4]
    made = draft(facts, "S")
    assert made is not None and made.faults == []
    assert 'action = "fail-drive"\ndrive = 4\n' in made.text


SSACLI = """Smart Array P440ar in Slot 0 (Embedded)
   Total Cache Size: 2.0

   Array: A
      Logical Drive: 1
         Size: 1.1 TB
         Fault Tolerance: 5
         Status: Recovering, 12% complete
         Caching: Enabled
"""


def test_a_rebuilding_drive_of_another_controller_is_where_it_is_listed() -> None:
    text = SSACLI + "".join(
        f"      physicaldrive 1I:1:{at} (port 1I:box 1:bay {at}, SAS HDD, 600 GB,"
        f" {'Rebuilding' if at == 3 else 'OK'})\n"
        for at in range(1, 4)
    )
    facts = read_text("config", text).facts
    assert facts is not None
    array = facts.arrays[0]
    array.state = "optimal"
    assert places_lacking(array, facts.drives, 0) == ([], [])
    array.state = "rebuilding"
    assert places_lacking(array, facts.drives, 1) == ([2], [2])


def test_a_place_that_no_capture_says_is_assumed() -> None:
    drives = [Drive(name=f"sd{at}", kind="hdd", interface="sata", bytes=10**12) for at in "abc"]
    array = Array(name="md0", level="raid5", members=4, present=3, state="degraded",
                  drives=["sda", "sdb", "sdc"], read_from="scan")  # fmt: skip
    made = draft(Facts(arrays=[array], drives=drives), "S")
    assert made is not None and made.faults == []
    assert "place 0, from 0 on, assumed: no capture says which, read from scan" in made.text


def test_md_numbers_places_in_sysfs_and_in_export() -> None:
    values = {"md/level": "raid5", "md/raid_disks": 4, "md/degraded": 1, "size": 9,
              "md/dev-sdd/slot": 0, "md/dev-sda/slot": 1, "md/dev-sdb/slot": 3}  # fmt: skip
    text = "".join(f"/sys/block/md0/{key}:{value}\n" for key, value in values.items())
    facts = read_text("sys", text).facts
    assert facts is not None
    assert (facts.arrays[0].drives, facts.arrays[0].lacking) == (["sdd", "sda", "sdb"], [2])
    export = "MD_LEVEL=raid5\nMD_DEVICES=3\n" + "".join(
        f"MD_DEVICE_sd{name}_ROLE={role}\nMD_DEVICE_sd{name}_DEV=/dev/sd{name}\n"
        for name, role in (("a", 0), ("b", 2))
    )
    facts = read_text("export", export).facts
    assert facts is not None and facts.arrays[0].lacking == [1]
