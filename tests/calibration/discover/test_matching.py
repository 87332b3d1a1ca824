"""Models as machines print them beside the catalogue."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from raidlab.calibration.discover.facts import Controller, Drive
from raidlab.calibration.discover.matching import match_controller, match_drive, match_stated
from raidlab.calibration.discover.part_numbers import stated_capacity, without_vendor
from raidlab.calibration.discover.reading import read_text

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
        ("WDC WD1003FBYX-0", "sata-3g", 1000 * 10**9, "generic-sata-20tb"),
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
