"""What is wrong with a sheet is said with key, value and what is possible, all at once."""

from pathlib import Path

import pytest

from raidlab.devices.datasheet.sheet import read_sheet
from raidlab.devices.faults import SpecError

SSD = {
    "name": '"example-960"',
    "kind": '"ssd"',
    "interface": '"pcie-4.0-x4"',
    "capacity": '"960 GB"',
    "sequential_read": '"6500 MB/s"',
    "sequential_write": '"1500 MB/s"',
    "random_read": '"580000 IO/s"',
    "random_write": '"70000 IO/s"',
    "read_latency": '"80 us"',
    "write_latency": '"15 us"',
    "cell": '"tlc"',
    "dwpd": "1",
    "rated_writes": '"1752 TB"',
}
DISK = {
    "name": '"example-20t"',
    "kind": '"hdd"',
    "interface": '"sata-6g"',
    "capacity": '"20 TB"',
    "rpm": "7200",
    "sustained_rate": '"285 MB/s"',
    "average_seek_read": '"8.5 ms"',
    "cache": '"256 MB"',
    "platters": "10",
}


def written(folder: Path, keys: dict[str, str]) -> Path:
    file = folder / "sheet.toml"
    file.write_text("".join(f"{key} = {value}\n" for key, value in keys.items()))
    return file


def faults(folder: Path, keys: dict[str, str]) -> list[str]:
    with pytest.raises(SpecError) as raised:
        read_sheet(written(folder, keys))
    return [str(fault) for fault in raised.value.faults]


def test_a_sheet_is_read_in_base_units(tmp_path: Path) -> None:
    sheet = read_sheet(written(tmp_path, SSD)).sheet
    assert (sheet.capacity, sheet.sequential_read, sheet.read_latency) == (960e9, 6.5e9, 80_000)
    disk = read_sheet(written(tmp_path, DISK)).sheet
    assert (disk.rpm, disk.media_rate, disk.cache) == (7200, 285e6, 256e6)


@pytest.mark.parametrize(
    ("base", "key", "value", "said"),
    [
        (SSD, "sequential_write", '"1500 MiB/s"', 'the units of capacity ("960 GB")'),
        (SSD, "sequential_write", '"1500 Mb/s"', "b is a bit"),
        (SSD, "sequential_write", '"1500 MB"', 'such as "6500 MB/s"'),
        (SSD, "sequential_write", "1500", 'such as "6500 MB/s"'),
        (SSD, "capacity", '"960 Gb"', "b is a bit"),
        (SSD, "capacity", '"960 kB"', "1 GB to 1 PB"),
        (SSD, "capacity", '"2 PB"', "1 GB to 1 PB"),
        (SSD, "actuators", "2", "a key of disks"),
        (SSD | {"idle_power": '"2 W"'}, "active_power", '"1 W"', "at least the 2 W of idle_power"),
        (DISK, "actuators", "3", "1"),
        (DISK, "dwpd", "1", "a key of SSDs"),
        (SSD, "sequential_read", '"8000 MB/s"', "at most 7,877 MB/s: PCIe 4.0 x4"),
        (SSD, "random_read", '"2000000 IO/s"', "at most 1,923,077 IO/s"),
        (DISK, "sustained_rate", '"700 MB/s"', "at most 600 MB/s: SATA 6G"),
        (
            SSD | {"interface": '"sas-24g"', "random_read": '"400000 IO/s"'},
            "sequential_read",
            '"4300 MB/s"',
            'of a drive stated with both ports write "sas-24g-x2"',
        ),
        (SSD, "read_latency", '"20 us"', "at least 35 us: what a page of TLC takes"),
        (SSD, "write_latency", '"1 us"', "at least 2 us"),
        (SSD, "rpm", '"7200 rpm"', "a key of disks"),
        (DISK, "read_latency", '"4 ms"', "a key of SSDs"),
        (SSD, "random_write", '"0 IO/s"', "more than 0"),
        (SSD, "random_write", '"up to 70000 IO/s"', "alone: a bound or a range is of a series"),
        (SSD, "random_write", '"70000-90000 IO/s"', "alone: a bound or a range is of a series"),
        (SSD, "random_write", '"<90000 IO/s"', "alone: a bound or a range is of a series"),
        (SSD, "cell", '"tcl"', 'did you mean "tlc"'),
        (SSD, "dwdp", "1", 'did you mean "dwpd"'),
        (SSD, "map_unit", '"6 KiB"', "8, 16, 32, 64 KiB"),
        (SSD, "sustained_write", '"900 MB/s"', "nothing without burst = true"),
        (SSD, "interface", '"pcie-9.0-x4"', "pcie-6.0"),
        (DISK, "rpm", "72", "3600 to 20000 rpm"),
        (DISK, "heads", "21", "at most 20: two for each of 10 platters"),
        (DISK, "average_seek_read", '"8.5 us"', "1 ms to 50 ms"),
        (SSD, "sequential_read", '"6500 kB/s"', "at least 182 MB/s: what one die of TLC reads"),
        (SSD, "random_write", '"70 IO/s"', "at least 328 IO/s: what one die of TLC programs"),
        (SSD, "random_read", '"5800 IO/s"', "at least 12,500 IO/s: what a single read in flight"),
        (SSD, "sequential_write", '"60 MB/s"', "at least 72 MB/s: random_write of 70,000 IO/s"),
        (DISK, "sustained_rate", '"285 kB/s"', "more than 2,000,000 tracks"),
        (DISK, "random_read", '"16800 IO/s"', "at most 2,040 IO/s: of 16 in flight"),
        (DISK, "random_write", '"9 IO/s"', "at least 17 IO/s: a seek of 50 ms"),
    ],
)
def test_a_fault_names_key_value_and_what_is_possible(
    tmp_path: Path, base: dict[str, str], key: str, value: str, said: str
) -> None:
    (found,) = faults(tmp_path, base | {key: value})
    assert f"sheet.toml: {key}" in found
    assert said in found
    if key != "dwdp":
        assert value.strip('"') in found


def test_a_rate_below_one_die_s_is_a_slip_of_units(tmp_path: Path) -> None:
    """2 planes of 16 KiB in 1400 us and a share of 6 us of an erase: 23.3 MB/s."""
    (found,) = faults(tmp_path, SSD | {"sequential_write": '"1500 kB/s"'})
    assert "at least 23 MB/s: what one die of TLC programs, at 1400 us a page" in found


def test_capacity_alone_is_no_drive(tmp_path: Path) -> None:
    found = faults(tmp_path, {"capacity": '"960 GB"'})
    assert [fault.split(": ", 1)[1] for fault in found[:3]] == [
        f"{key}: is required and missing" for key in ("kind", "name", "interface")
    ]
    assert "one rate at least: sequential_read" in found[3]
    named = {key: SSD[key] for key in ("name", "kind", "interface", "capacity")}
    (found_rate,) = faults(tmp_path, named)
    assert "one rate at least: sequential_read" in found_rate


def test_all_faults_are_said_at_once(tmp_path: Path) -> None:
    changes = {
        "sequential_read": '"up to 6500 MB/s"',
        "random_read": '"5800000 IO/s"',
        "read_latency": '"8 us"',
        "rpm": '"7200 rpm"',
        "dwdp": "1",
    }
    found = faults(tmp_path, SSD | changes)
    assert len(found) == len(changes)
    assert all(any(f": {key}" in fault for fault in found) for key in changes)
