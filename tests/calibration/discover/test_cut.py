"""Captures that end early say so, and nothing is guessed of what they lack."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidlab.calibration.discover.reading import read_text
from tests.calibration.discover.test_places import HEAD, table
from tests.calibration.discover.test_policies import ARCCONF
from tests.calibration.discover.test_readers import OWN

DRIVES = [
    {"EID:Slt": f"8:{at}", "DID": at, "State": "Onln", "DG": 0, "Size": "3.637 TB", "Intf": "SATA",
     "Med": "HDD", "Model": "XYZ4"} for at in range(3)
]  # fmt: skip
VOLUME = [{"DG/VD": "0/0", "TYPE": "RAID5", "State": "Optl", "Cache": "RWBD", "Size": "7.276 TB",
           "Name": "data"}]  # fmt: skip
TOP = [{"DG": 0, "Arr": 0, "Row": at, "EID:Slt": f"8:{at}", "Type": "DRIVE", "State": "Onln"}
       for at in range(3)]  # fmt: skip
SHOW = "\n".join(
    [
        HEAD,
        "HwCfg :\n=====\nBBU = Present\nOn Board Memory Size = 1024MB\n",
        "Drive Groups = 1\n",
        table("TOPOLOGY", TOP),
        "Virtual Drives = 1\n",
        table("VD LIST", VOLUME),
        "Physical Drives = 3\n",
        table("PD LIST", DRIVES),
        table("Cachevault_Info", [{"Model": "CVPM02", "State": "Optimal", "Temp": "28C"}]),
    ]
)


def cut(text: str, mark: str) -> str:
    """Until before a mark."""
    return text[: text.index(mark)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (cut(SHOW, "0  0   1 "), "the table TOPOLOGY has no closing line"),
        (cut(SHOW, "Virtual Drives"), "Drive Groups = 1, no list of volumes follows"),
        (cut(SHOW, "VD LIST"), "Virtual Drives = 1, 0 of them are listed"),
        (cut(SHOW, "Drive Groups"), "no list of drives follows HwCfg"),
        (cut(SHOW, "8:2     2   Onln"), "the table PD LIST has no closing line"),
        (cut(SHOW, "8:2     2   Onln"), "Physical Drives = 3, 2 of them are listed"),
    ],
)
def test_storcli_that_ends_early_says_so_and_guesses_no_backup(text: str, said: str) -> None:
    facts = read_text("show.txt", text).facts
    assert facts is not None
    (warning,) = [each.text for each in facts.warnings if each.code == "cut"]
    assert warning.startswith("show.txt ends early: ") and said in warning
    assert facts.controllers[0].backup is None
    assert any("BBU = Present does not say" in each.text for each in facts.warnings)


def test_a_whole_answer_of_storcli_has_no_warning_and_its_backup() -> None:
    facts = read_text("show.txt", SHOW).facts
    assert facts is not None and facts.warnings == []
    assert facts.controllers[0].backup == "cachevault"


def test_cut_json_guesses_no_backup() -> None:
    text = (
        '{"Controllers": [{"Command Status": {"CLI Version": "007.1", "Controller": 0,'
        ' "Status": "Success"}, "Response Data": {"Model": "PERC H740P", "HwCfg":'
        ' {"BBU": "Present"}, "Physical Drives": 2, "PD LIST": [{"EID:Slt": "8:0", "Intf"'
    )
    facts = read_text("show.json", text).facts
    assert facts is not None and facts.repaired
    assert facts.controllers[0].backup is None
    assert any("BBU = Present does not say" in each.text for each in facts.warnings)


WHOLE = sorted(path for path in OWN.glob("*cli*.txt") if "old-inquiry" not in path.name)


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.name)
def test_whole_captures_do_not_end_early(path: Path) -> None:
    facts = read_text(path.name, path.read_text()).facts
    assert facts is not None and "cut" not in {each.code for each in facts.warnings}


def test_cut_json_of_every_tool_is_named() -> None:
    for text in (
        '{"mdts": 5, "vwc": 1, "mn": "X", "psds": [{"max_power": 8',
        '{"critical_warning": 0, "data_units_written": 5, "temperature": 3',
        '[{"id": "disk", "class": "disk", "logicalname": "/dev/sda", "size": 5}, {"id"',
    ):
        facts = read_text("a.json", text).facts
        assert facts is not None and facts.repaired
        assert facts.warnings[0].text.startswith("a.json: the document is cut")


MEGACLI = """Adapter 0 -- Virtual Drive Information:
Virtual Drive: 0 (Target Id: 0)
RAID Level          : Primary-5, Secondary-0, RAID Level Qualifier-3
State               : Optimal
Number Of Drives    : 3
Enclosure Device ID: 32
Slot Number: 0
Drive's position: DiskGroup: 0, Span: 0, Arm: 0
Firmware state: Online, Spun Up
Inquiry Data: SEAGATE ST3600057SS     LS096SL7ABCD
"""
DETAIL = """/dev/md1:
     Raid Level : raid5
   Raid Devices : 3
          State : clean
 Active Devices : 3
    Number   Major   Minor   RaidDevice State
       0       8        1        0      active sync   /dev/sda1
"""
PAIRS = 'NAME="sda" SIZE="9" TYPE="disk" MODEL="X"\nNAME="sdb" SIZE="9" TYPE="disk" MODEL="Y'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ARCCONF, "Command completed successfully."),
        (MEGACLI, "Exit Code: 0x00"),
        ("Personalities : [raid1]\nmd0 : active raid1 sda[0] sdb[1]\n      9 blocks [2/2] [UU]\n",
         "unused devices: <none>"),
        (DETAIL, "3 devices are active, 1 of them are listed"),
        (PAIRS, "is no whole line"),
    ],
)  # fmt: skip
def test_other_tools_outputs_that_end_early(text: str, said: str) -> None:
    facts = read_text("capture", text).facts
    assert facts is not None
    (warning,) = [each.text for each in facts.warnings if each.code == "cut"]
    assert "ends early" in warning and said in warning
    # A drive that was cut off is not missing.
    assert all(each.missing is None and each.lacking is None for each in facts.arrays)
