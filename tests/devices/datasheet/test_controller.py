"""Controllers from sheets: links and ports bound large reads, scaled cores bound small ones."""

from pathlib import Path

import pytest

from raidlab.calibration.datasheets.build import import_datasheet
from raidlab.calibration.datasheets.catalogue import CONTROLLERS
from raidlab.devices.catalogue import SPECS, find
from raidlab.devices.controller import ControllerSpec
from raidlab.devices.datasheet.controller import controller_draft, read_controller, scale
from raidlab.devices.draws import open_numbers
from raidlab.devices.faults import SpecError
from raidlab.devices.links import Interface
from raidlab.devices.spec_writer import DEVICE_SCHEMA, with_schema
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate

DRIVE = """
kind = "ssd"
name = "small"
like = "pm1653-7680"
capacity = { value = "80 GB", source = "assumed" }
link_payload = { value = 0.85, source = "assumed" }

[nand]
pages_per_block = { value = 16, source = "assumed" }
"""
SHEET = """
name = "example-8i"
kind = "controller"
title = "Example"
year = 2020
source = "for tests"
interface = "pcie-4.0-x8"
port = "sas-12g"
ports = 8
max_drives = 240
levels = ["jbod", "raid5"]
chip = "X1"
cores = 2
clock = "1.6 GHz"
cache = "4 GiB"
memory_rate = "21.2 GB/s"
protection = "fbu"
"""


def spec_of(name: str) -> ControllerSpec:
    spec = find(name).spec
    assert isinstance(spec, ControllerSpec)
    return spec


def test_every_sheet_gives_the_bytes_of_the_catalogue() -> None:
    paths = sorted(CONTROLLERS.glob("*.toml"))
    assert len(paths) >= 15
    for path in paths:
        sheet, written = read_controller(path)
        target = SPECS / "controller" / path.name
        made = with_schema(controller_draft(sheet, written).to_toml(), target, DEVICE_SCHEMA)
        assert made == target.read_text(), "make datasheets"
        device = find(sheet.name)
        assert device.sources["firmware.request"].source in ("assumed", "derived")
        assert "firmware.request" in open_numbers(device)


def test_times_are_scaled_by_the_clock(tmp_path: Path) -> None:
    """7.685 us at 800 MHz are 3.842 us at 1.6 GHz; 2307 MB/s of parity follow twice the memory."""
    path = tmp_path / "sheet.toml"
    path.write_text(SHEET)
    sheet, written = read_controller(path)
    assert scale(sheet) == 0.5
    text = controller_draft(sheet, written).to_toml()
    assert 'request = "3.842 us"' in text
    assert 'range = ["1.537 us", "4.803 us"]' in text
    assert 'parity = "4614 MB/s"' in text


def test_a_stated_rate_decides_instead(tmp_path: Path) -> None:
    """Two cores at 500,000 a second: 4 us for FastPath (2.162) and a command (2.745 of 4.907)."""
    path = tmp_path / "sheet.toml"
    path.write_text(SHEET + 'max_iops = "500000 IO/s"\n')
    sheet, written = read_controller(path)
    assert scale(sheet) == pytest.approx(4 / 4.907)
    assert 'command = "2.238 us"' in controller_draft(sheet, written).to_toml()


def test_without_a_short_path_the_stated_rate_is_that_of_every_request(tmp_path: Path) -> None:
    """Two cores at 200,000 a second: 10 us for a request (7.685) and a command (2.745 of 10.43)."""
    path = tmp_path / "sheet.toml"
    path.write_text(SHEET + 'max_iops = "200000 IO/s"\nshort_path = false\n')
    sheet, written = read_controller(path)
    assert scale(sheet) == pytest.approx(10 / 10.43)
    text = controller_draft(sheet, written).to_toml()
    assert 'request = "7.368 us"' in text
    assert "fast_path" not in text


@pytest.mark.parametrize(
    "name",
    [
        "hba-9300-8i",
        "hba-9500-8i",
        "megaraid-9460-16i",
        "megaraid-9560-8i",
        "megaraid-9670w-16i",
        "smart-array-p408i-a",
        "smart-array-p420i",
    ],
)
def test_links_ports_and_cores_bound_what_drives_behind_it_give(tmp_path: Path, name: str) -> None:
    drive = tmp_path / "small.toml"
    drive.write_text(DRIVE)
    spec = spec_of(name)
    found = {}
    for block in ("256 KiB", "4 KiB"):
        load = {"rw": "randread", "block_size": block, "outstanding": 512, "threads": 32}
        tree = {
            "host": {"model": "nvme-gen5"},
            "controller": {"model": name},
            "array": [
                {"level": "jbod", "drives": [{"model": str(drive), "count": spec.ports}]},
            ],
            "workload": [load],
            "run": {"precondition": "filled", "warm_up": "20 ms", "duration": "40 ms"},
        }
        (found[block],) = simulate(build_scenario(tree), workers=1).results
    link, port = (float(Interface.parse(each).practical) for each in (spec.link, spec.port))
    bytes_a_second = min(link, spec.ports * port)
    core = (spec.firmware.request + spec.firmware.command) * 1e-9
    small = min(spec.cores / core, bytes_a_second / 4096)
    assert found["256 KiB"]["mb_per_s"] * 1e6 == pytest.approx(bytes_a_second, rel=0.02)
    assert found["4 KiB"]["iops"] == pytest.approx(small, rel=0.05)


def test_a_sheet_at_fault_says_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "sheet.toml"
    path.write_text(SHEET.replace("1.6 GHz", "1.6") + 'rpm = "7200 rpm"\n')
    with pytest.raises(SpecError) as raised:
        read_controller(path)
    assert {fault.key for fault in raised.value.faults} == {"clock", "rpm"}
    path.write_text(SHEET.replace('memory_rate = "21.2 GB/s"\n', ""))
    with pytest.raises(SpecError, match="both of cache and memory_rate"):
        read_controller(path)


def test_a_controller_s_sheet_can_be_imported(tmp_path: Path) -> None:
    path = tmp_path / "sheet.toml"
    path.write_text(SHEET)
    imported = import_datasheet(path)
    assert (imported.name, imported.kind, imported.points) == ("example-8i", "controller", ())
    assert "firmware times are assumed" in imported.warnings[0]
    document = imported.to_dict()
    assert "cache.size" in document["stated"]
    assert "firmware.request" in {each["key"] for each in document["assumed"]}
