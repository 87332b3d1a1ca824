"""Models as machines print them beside the catalogue."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from raidlab.calibration.discover.facts import Controller, Drive, Facts, Link
from raidlab.calibration.discover.matching import (
    match_controller,
    match_drive,
    match_facts,
    match_stated,
)
from raidlab.calibration.discover.part_numbers import (
    stated_capacity,
    stated_kind,
    stated_speed,
    without_vendor,
)
from raidlab.calibration.discover.reading import read_text
from raidlab.calibration.discover.scenario import draft

GIVEN = Path(os.environ.get("RAIDLAB_MACHINES", "")) / "A"


@pytest.mark.skipif(
    not (GIVEN / "match-models.csv").exists(), reason="RAIDLAB_MACHINES names no such folder"
)
def test_given_models_are_matched() -> None:
    facts = read_text("match-models.csv", (GIVEN / "match-models.csv").read_text()).facts
    expected = json.loads((GIVEN / "match-models.expect.json").read_text())["matches"]
    assert facts is not None
    got = [(each.text, each.device, each.quality) for each in match_stated(facts.stated)]
    assert got == [(each["string"], each["device"], each["quality"]) for each in expected]


@pytest.mark.parametrize(
    ("model", "interface", "size", "device", "quality"),
    [
        ("SAMSUNG MZQL2960HCJR-00A07", "nvme", 960_197_124_096, "pm9a3-960", "exact"),
        ("INTEL SSDSC2KG480G8", "sata-6g", 480_103_981_056, "s4610-480", "exact"),
        ("INTEL SSDSC2KB960G8", "sata-6g", 960_197_124_096, "s4500-1920", "near"),
        ("Samsung SSD 870 EVO 1TB", "sata-6g", 1_000_204_886_016, "870-evo-1000", "exact"),
        ("Samsung SSD 870 EVO 4TB", "sata-6g", 4_000_787_030_016, "870-evo-1000", "family"),
        ("KINGSTON SEDC600M960G", "sata-6g", 960_197_124_096, "dc600m-960", "exact"),
        ("ST24000NM002H-3KS133", "sata-6g", 24_000_277_250_048, "exos-x24-sata", "exact"),
        ("MK000960GWEZK", "sata-6g", 960_197_124_096, None, "class"),
    ],
)
def test_a_part_number_says_line_and_size(
    model: str, interface: str, size: int, device: str | None, quality: str
) -> None:
    match = match_drive(Drive(model=model, interface=interface, bytes=size, kind="ssd"))
    assert (match.device, match.quality) == (device, quality)


def test_a_drive_of_which_nothing_is_known_is_asked_for() -> None:
    assert match_drive(Drive(slot="1:0")).quality == "ask"


def test_an_unknown_drive_has_one_of_its_kind_as_stand_in() -> None:
    drive = Drive(model="XYZ1", interface="sas-12g", kind="hdd", rpm=10_500, bytes=1_800 * 10**9)
    assert match_drive(drive).stand_in == "generic-sas-10k"


@pytest.mark.parametrize(
    ("model", "interface", "size", "stand_in"),
    [
        ("ST600MM0006", "sas-6g", 600 * 10**9, "generic-sas-10k"),
        ("ST300MP0005", "sas-12g", 300 * 10**9, "generic-15000rpm"),
        ("ST2000NM0045", "sas-12g", 2000 * 10**9, "generic-7200rpm"),
        ("AL14SEB120N", "sas-12g", 1200 * 10**9, "generic-sas-10k"),
        ("HUC101212CSS600", "sas-6g", 1200 * 10**9, "generic-sas-10k"),
        # SATA disks of 7200 rpm: the stand-in of 8 TB is nearer to 1 and 4 TB than that of 20 TB.
        ("WDC WD1003FBYX-0", "sata-3g", 1000 * 10**9, "generic-7200rpm"),
        ("HGST HUS726040ALE610", "sata-6g", 4000 * 10**9, "generic-7200rpm"),
        ("XYZ16TB", "sata-6g", 16_000 * 10**9, "generic-sata-20tb"),
        # Of unknown speed: SATA disks do not turn at 10,000 rpm.
        ("XYZ1", "sata-6g", 1800 * 10**9, "generic-sata-nas-8tb"),
        ("WDC WD40EFRX-68N", "sata-6g", 4000 * 10**9, "generic-sata-nas-8tb"),
    ],
)
def test_a_part_number_says_the_speed_of_the_stand_in(
    model: str, interface: str, size: int, stand_in: str
) -> None:
    match = match_drive(Drive(model=model, interface=interface, bytes=size, kind="hdd"))
    assert match.stand_in == stand_in


@pytest.mark.parametrize(
    ("model", "device", "quality"),
    [
        ("PERC H730 Mini", "perc-h730", "exact"),
        ("PERC H730P Mini", "perc-h730", "family"),
        ("MegaRAID 9560-16i 8GB", "megaraid-9560-16i", "exact"),
        ("HPE Smart Array P408i-a SR Gen10", "smart-array-p408i-a", "exact"),
        ("RAID 930-16i-4GB", None, "class"),
    ],
)
def test_form_factor_words_of_a_controller_do_not_count(
    model: str, device: str | None, quality: str
) -> None:
    match = match_controller(Controller(model=model), "0")
    assert (match.device, match.quality) == (device, quality)


@pytest.mark.parametrize("role", ["ahci", "vmd"])
def test_ports_of_the_host_are_no_card(role: str) -> None:
    chip = "C620 Series Chipset Family SATA Controller"
    match = match_controller(Controller(chip=chip, role=role, driver=role), "0000:00:17.0")
    assert (match.device, match.stand_in, match.quality) == (None, None, "class")
    assert "ports of the host itself" in match.reason
    drive = Drive(name="sda", kind="ssd", interface="sata-6g", bytes=480 * 10**9)
    made = draft(Facts(controllers=[Controller(chip=chip, role=role)], drives=[drive]), "s")
    assert made is not None and "[controller]" not in made.lines


@pytest.mark.parametrize(
    ("model", "size"),
    [
        ("ST16000NM002G", 16 * 10**12),
        ("MG09SCA18TE", 18 * 10**12),
        ("MTFDDAK3T8TDS", 3_800_000_000_000),
        ("KIOXIA KCD61LUL7T68", 7_680_000_000_000),
        ("INTEL SSDPE2KE016T8", 1_600_000_000_000),
        ("Dell Ent NVMe CM7 U.2 RI 3.84TB", 3_840_000_000_000),
        ("HUC156060CSS204", None),
    ],
)
def test_a_model_states_its_size(model: str, size: int | None) -> None:
    assert stated_capacity(model) == size


def test_a_client_drives_name_stays_whole() -> None:
    assert without_vendor("ATA Samsung SSD 980 500GB") == "Samsung SSD 980 500GB"


def test_a_line_without_a_size_is_a_family_with_an_assumed_size() -> None:
    match = match_drive(Drive(address="0000:41:00.0", family="PM9A3", interface="nvme"))
    assert (match.device, match.quality) == ("pm9a3-960", "family")
    assert "size" in match.reason and "part number" not in match.reason


@pytest.mark.parametrize(
    ("kind", "interface", "size", "stand_in"),
    [
        (None, "sas", 146 * 10**9, "generic-15000rpm"),
        (None, "sata", 960 * 10**9, "generic-sata-tlc"),
        ("ssd", "sas-12g", 1920 * 10**9, "generic-sas-ssd"),
        (None, "sas", None, None),
    ],
)
def test_interface_and_size_say_the_stand_in_of_a_drive_without_a_model(
    kind: str | None, interface: str, size: int | None, stand_in: str | None
) -> None:
    match = match_drive(Drive(slot="1:1", kind=kind, interface=interface, bytes=size))
    assert match.stand_in == stand_in
    assert kind is not None or match.quality == "ask"


def test_a_stand_in_has_the_generation_of_the_drives_link() -> None:
    drive = Drive(name="nvme0", interface="nvme", link_possible=Link(5, 4), bytes=3840 * 10**9)
    assert match_drive(drive).stand_in == "generic-nvme-gen5-tlc"


def test_a_drive_that_does_not_answer_is_as_others_of_its_model() -> None:
    whole = Drive(slot="0,0", model="XYZ4", kind="hdd", interface="sata-6g", bytes=4 * 10**12)
    found = match_facts(Facts(drives=[whole, Drive(slot="0,1", model="XYZ4", state="failed")]))
    assert found[0].stand_in == found[1].stand_in == "generic-sata-nas-8tb"


def test_a_speed_in_the_part_number_makes_it_a_disk() -> None:
    match = match_drive(Drive(name="sdb", model="ST1200MM0088"))
    assert (match.quality, match.stand_in) == ("class", "generic-sas-10k")


@pytest.mark.parametrize(
    ("model", "kind", "rpm", "terabytes"),
    [
        ("ST3600057SS", "hdd", 15_000, 0.6),
        ("ST9600205SS", "hdd", 10_000, 0.6),
        ("ST33000650SS", "hdd", 7200, 3.0),
        ("ST800FM0173", "ssd", None, 0.8),
        ("HUH721212AL5200", "hdd", 7200, 12.0),
        ("HUH728080ALE600", "hdd", 7200, 8.0),
        ("HUS726060AL5210", "hdd", 7200, 6.0),
        ("HUSMM1640ASS204", "ssd", None, None),
        ("WDC WD102KRYZ-01A5AB0", "hdd", 7200, 10.0),
        ("WDC WD1003FBYX-01Y7B0", "hdd", 7200, 1.0),
        ("WDC WD5003ABYX-01WERA1", "hdd", 7200, 0.5),
        ("WDC WDS100T1R0A-68A4W0", "ssd", None, 1.0),
        ("TOSHIBA MG04ACA400E", "hdd", 7200, 4.0),
        ("MK1001TRKB", "hdd", 7200, 1.0),
        ("MBA3300RC", "hdd", 15_000, 0.3),
        ("SAMSUNG MZ7L31T9HBLT-00A07", "ssd", None, 1.9),
        ("MZWLJ15THALA-00007", "ssd", None, 15.0),
        ("Micron_5300_MTFDDAK960TDS", "ssd", None, 0.96),
        ("KINGSTON SA400S37240G", "ssd", None, 0.24),
        ("EG001200JWJNK", "hdd", 10_000, 1.2),
        ("MB012000JWDFD", "hdd", 7200, 12.0),
        ("MK000960GWEZK", "ssd", None, 0.96),
        ("X423_SLTNG900A10", "hdd", 10_000, 0.9),
        ("LENOVO-X ST1200MM0009", "hdd", 10_000, 1.2),
    ],
)
def test_a_makers_scheme_says_kind_speed_and_size(
    model: str, kind: str, rpm: int | None, terabytes: float | None
) -> None:
    assert (stated_kind(model), stated_speed(model)) == (kind, rpm)
    size = stated_capacity(model)
    assert size == (None if terabytes is None else pytest.approx(terabytes * 1e12, rel=0.03))


@pytest.mark.parametrize(
    ("model", "size", "device", "quality"),
    [
        # Another form, and another line whose name begins alike.
        ("SAMSUNG MZQL23T8HCLS-00A07", 3840, "pm9a3-u2-7680", "family"),
        ("SAMSUNG MZ1L23T8HBLA-00A07", 3840, "pm9a3-m2-3840", "exact"),
        ("Micron_7400_MTFDKCB3T8TDZ", 3840, "micron-7400-7680", "family"),
        ("Micron_7400_MTFDKCB3T2TFC", 3200, "micron-7400-7680", "near"),
        ("Samsung SSD 970 EVO 500GB", 500, "970-evo-plus-500", "near"),
        ("Samsung SSD 970 EVO Plus 500GB", 500, "970-evo-plus-500", "exact"),
    ],
)
def test_form_and_line_are_those_of_the_part_number(
    model: str, size: int, device: str, quality: str
) -> None:
    match = match_drive(Drive(model=model, interface="nvme", bytes=size * 10**9))
    assert (match.device, match.quality) == (device, quality)


def test_a_disk_of_which_no_tool_says_the_kind_is_known_by_its_maker() -> None:
    match = match_drive(Drive(model="ST3600057SS", interface="sas-6g", bytes=600 * 10**9))
    assert (match.quality, match.stand_in) == ("class", "generic-15000rpm")
