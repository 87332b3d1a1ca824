"""Closed forms of SSDs, against examples worked by hand."""

from pathlib import Path

import pytest

from raidlab.devices.catalogue import load_device
from raidlab.devices.datasheet.flash import Flash, first, raw_gib
from raidlab.devices.datasheet.flash_device import device
from raidlab.devices.datasheet.nand import amplification, spare_for
from raidlab.devices.datasheet.sheet import read_sheet
from raidlab.devices.schema import DriveOptions
from raidlab.devices.ssd import SsdSpec
from tests.devices.datasheet.test_sheet import SSD, written
from tests.devices.test_ssd import run
from tests.figures import result_of


@pytest.mark.parametrize(
    ("wa", "spare"),
    [
        # x = 1 - 1/WA, 1 + spare = -ln(x) / (1 - x): WA 4 gives 4 ln(4/3) - 1.
        (4.0, 0.1507),
        (2.0, 0.3863),
        (5.2, 0.1106),
    ],
)
def test_spare_space_and_write_amplification_are_inverse(wa: float, spare: float) -> None:
    assert spare_for(wa) == pytest.approx(spare, abs=2e-4)
    assert amplification(spare_for(wa)) == pytest.approx(wa, rel=1e-9)


def test_no_spare_space_amplifies_by_one() -> None:
    with pytest.raises(ValueError, match="above 1"):
        spare_for(1.0)


def test_nand_comes_in_powers_of_two() -> None:
    assert [raw_gib(size) for size in (960 * 10**9, 800 * 10**9, 6400 * 10**9)] == [
        1024,
        1024,
        8192,
    ]
    # 512 GiB are 550 GB: 7 % above 512 GB, and too few for 530 GB.
    assert [raw_gib(size) for size in (512 * 10**9, 530 * 10**9)] == [512, 1024]


def test_a_960_gb_drive_is_that_of_the_worked_example(tmp_path: Path) -> None:
    """1500 MB/s over 16 dies of 4 planes of 16 KiB: 699 us a page set, 6 us of them erases.
    1500 MB/s over 70,000 * 4 KiB: 5.23, so 11 % of spare space."""
    drive = first(read_sheet(written(tmp_path, SSD)).sheet)
    assert (drive.dies, drive.planes) == (16, 4)
    assert drive.program_us == pytest.approx(16 * 4 * 16384 / 1500 - 8000 / 1344)
    assert drive.write_amplification == pytest.approx(1.5e9 / (70_000 * 4096))
    assert drive.spare == pytest.approx(0.11, abs=0.002)
    # 580,000 reads of 48 us keep 28 dies at work, and there are 16: planes read by themselves.
    assert drive.independent
    assert drive.read_core_us == pytest.approx(4 / 0.58)
    # 80 us less host 5, core 6.9, wait 12, command 1, bus 3.4 and link 0.6.
    assert drive.read_us == pytest.approx(51.06, abs=0.02)


@pytest.mark.parametrize(
    ("random_write", "unit"),
    [
        # 3 % of spare space amplify by 17.3: 3300 MB/s are 46,500 units of 4 KiB, 11,600 of 16 KiB.
        ("47000 IO/s", 4096),
        ("38000 IO/s", 16384),
        ("11000 IO/s", 65536),
    ],
)
def test_slow_random_writes_of_qlc_tell_the_mapping_unit(
    tmp_path: Path, random_write: str, unit: int
) -> None:
    sheet = SSD | {
        "capacity": '"61.44 TB"',
        "cell": '"qlc"',
        "sequential_write": '"3300 MB/s"',
        "random_write": f'"{random_write}"',
        "read_latency": '"110 us"',
    }
    del sheet["rated_writes"]
    read = read_sheet(written(tmp_path, sheet))
    assert read.sheet.unit == unit
    word = device(first(read.sheet), read).origins["mapping_unit"].word
    assert word == ("assumed" if unit == 4096 else "derived")
    # TLC has units of 4 KiB, and a stated unit stands.
    assert read.sheet.model_copy(update={"cell": "tlc"}).unit == 4096
    assert read.sheet.model_copy(update={"map_unit": 8192}).unit == 8192


def test_a_write_takes_what_was_measured_or_stated_of_its_generation(tmp_path: Path) -> None:
    """A core of 3.48 us for 1,150,000 reads, host 5 and link 0.6. A protected drive of PCIe 4.0
    takes 9.5 us, as measured: 0.4 are left to wait. One without protection takes the 15 us that
    sheets state, one of PCIe 3.0 with 700,000 reads and a link of 1.3 us the 18.9 us."""
    sheet = {key: value for key, value in SSD.items() if key != "write_latency"}
    quick = sheet | {"random_read": '"1150000 IO/s"'}
    read = read_sheet(written(tmp_path, quick))
    drive = first(read.sheet)
    around = 5 + 4 / 1.15 + 4096 / 6500
    assert drive.write_wait_us == pytest.approx(9.5 - around, abs=0.01)
    assert device(drive, read).origins["firmware.write_latency"].word == "assumed"
    bare = quick | {"power_loss_protection": "false"}
    open_drive = first(read_sheet(written(tmp_path, bare)).sheet)
    assert open_drive.write_wait_us == pytest.approx(15 - around, abs=0.01)
    old = {"interface": '"pcie-3.0-x4"', "random_read": '"700000 IO/s"'}
    old["sequential_read"] = '"3200 MB/s"'
    slow = first(read_sheet(written(tmp_path, quick | old)).sheet)
    assert slow.write_wait_us == pytest.approx(18.9 - 5 - 4 / 0.7 - 4096 / 3200, abs=0.01)


def test_sources_of_words_go_with_the_sheet_s(tmp_path: Path) -> None:
    sheet = SSD | {"source": '"a table"', "sources": '{interface = "assumed", dwpd = "a brief"}'}
    read = read_sheet(written(tmp_path, sheet))
    file = tmp_path / "device.toml"
    file.write_text(device(first(read.sheet), read).to_toml())
    sources = load_device(file).sources
    assert sources["capacity"].note == "a table; interface: assumed"
    assert sources["data_sheet.dwpd"].note == "a brief"


def test_five_bits_a_cell_program_for_longer_and_wear_out_sooner(tmp_path: Path) -> None:
    """61.44 TB: 64 TiB of NAND are 256 dies of 2 Tbit. 1000 MB/s over 256 dies of two planes of
    16 KiB would be programs of 8.4 ms, 8 us of them erases: within the bounds of PLC."""
    sheet = SSD | {
        "capacity": '"61.44 TB"',
        "cell": '"plc"',
        "map_unit": '"16 KiB"',
        "sequential_write": '"1000 MB/s"',
        "random_write": '"10000 IO/s"',
        "read_latency": '"300 us"',
    }
    read = read_sheet(written(tmp_path, sheet))
    drive = first(read.sheet)
    assert (drive.die_gbit, drive.dies, drive.planes) == (2048, 256, 2)
    assert drive.program_us == pytest.approx(256 * 2 * 16384 / 1000 - 20_000 / 2560)
    assert drive.write_amplification == pytest.approx(1e9 / (10_000 * 16384), rel=0.01)
    path = tmp_path / "plc.toml"
    path.write_text(device(drive, read).to_toml())
    spec = load_device(path).spec
    assert isinstance(spec, SsdSpec)
    plan = spec.to_plan(DriveOptions())
    assert len(plan["nand"]["read_ns"]) == len(plan["nand"]["program_ns"]) == 5
    assert run(plan, access="random", block_bytes=4096)[0] > 0


def test_a_stream_that_programs_do_not_bound_leaves_them_to_random_writes(tmp_path: Path) -> None:
    """1.7 GB/s over 128 dies of two planes would be programs of 2.5 ms: firmware bounds it."""
    sheet = SSD | {
        "interface": '"pcie-5.0-x4"',
        "capacity": '"15.36 TB"',
        "sequential_write": '"1700 MB/s"',
        "random_write": '"250000 IO/s"',
    }
    drive = first(read_sheet(written(tmp_path, sheet)).sheet)
    assert not drive.programs_bound
    assert drive.write_unit_us > 0
    assert drive.program_rate > 1.7e9


def test_planes_that_read_by_themselves_program_together(tmp_path: Path) -> None:
    """16 dies on 8 channels, of 4 planes each; a program of 3 * 693 us bears 4 suspensions."""
    read = read_sheet(written(tmp_path, SSD))
    nand = device(first(read.sheet), read).values["nand"]
    assert (nand["channels"], nand["dies_per_channel"], nand["planes"]) == (8, 2, 4)
    assert nand["independent_reads"] is True
    assert first(read.sheet).suspend_interval_us.best == pytest.approx(3 * 693.1 / 5, rel=0.001)


def test_a_stated_burst_gives_the_program_time_of_the_slc_cache(tmp_path: Path) -> None:
    """5000 MB/s over 16 dies of 4 planes of 16 KiB: 209.7 us; after the burst 1500 MB/s: 693 us."""
    client = SSD | {
        "burst": "true",
        "sequential_write": '"5000 MB/s"',
        "random_write": '"1000000 IO/s"',
        "sustained_write": '"1500 MB/s"',
        "slc_cache": '"114 GB"',
    }
    read = read_sheet(written(tmp_path, client))
    drive = first(read.sheet)
    assert drive.slc_program_us == pytest.approx(209.7, abs=0.1)
    assert drive.program_us == pytest.approx(693.1, abs=0.1)
    cache = device(drive, read).values["nand"]["slc_cache"]
    assert (cache["fixed"], cache["dynamic"]) == ("6000000000 B", "108000000000 B")
    # 1,300,000 * 4 KiB are more than the stream: no SLC cache gives them.
    faster = client | {"random_write": '"1300000 IO/s"'}
    assert not read_sheet(written(tmp_path, faster)).sheet.has_slc_cache


def test_every_number_has_its_origin(tmp_path: Path) -> None:
    read = read_sheet(written(tmp_path, SSD))
    draft = device(first(read.sheet), read)
    file = tmp_path / "device.toml"
    file.write_text(draft.to_toml())
    made = load_device(file)
    assert {source.source for source in made.sources.values()} == {
        "data-sheet",
        "derived",
        "assumed",
    }
    assert made.sources["nand.erase"].range == ("3 ms", "15 ms")
    assert made.sources["data_sheet.random_write"].source == "data-sheet"
    assert made.sources["nand.blocks_per_plane"].source == "derived"


_CLIENT = {
    "interface": '"sata-6g"',
    "capacity": '"1 TB"',
    "sequential_read": '"560 MB/s"',
    "sequential_write": '"520 MB/s"',
    "random_read": '"98000 IO/s"',
    "random_write": '"88000 IO/s"',
    "burst": "true",
}


_PCIE = {
    "interface": '"pcie-4.0-x4"',
    "sequential_read": '"5000 MB/s"',
    "sequential_write": '"3000 MB/s"',
    "random_read": '"400000 IO/s"',
    "random_write": '"300000 IO/s"',
}


def _client(folder: Path, **changes: str) -> Flash:
    sheet = {key: value for key, value in SSD.items() if "latency" not in key and key != "dwpd"}
    return first(read_sheet(written(folder, sheet | _CLIENT | changes)).sheet)


@pytest.mark.parametrize(
    ("changes", "rate"),
    [
        # 1200 MB/s for each TB, at most 500.
        ({}, (150, 500, 520)),
        ({"capacity": '"250 GB"'}, (90, 300, 318)),
        # 1500 MB/s at 1 TB and beyond, half of it at 500 GB.
        (_PCIE | {"capacity": '"4 TB"'}, (495, 1500, 3000)),
        (_PCIE | {"capacity": '"500 GB"'}, (248, 750, 1748)),
        (_PCIE | {"host_memory": '"64 MiB"'}, (192, 480, 864)),
        (_PCIE | {"cell": '"qlc"', "capacity": '"2 TB"'}, (104, 160, 320)),
        # Cells of MLC take what is stated of a stream.
        ({"cell": '"mlc"'}, (520, 520, 520)),
    ],
)
def test_a_client_drive_without_a_rate_after_its_cache_has_that_of_its_class(
    tmp_path: Path, changes: dict[str, str], rate: tuple[float, float, float]
) -> None:
    prior = _client(tmp_path, **changes).program_mb_s
    assert prior is not None
    assert (prior.low, prior.best, prior.high) == rate


def test_a_stated_rate_after_the_cache_decides_by_itself(tmp_path: Path) -> None:
    assert _client(tmp_path, **_PCIE, sustained_write='"1700 MB/s"').program_mb_s is None


def test_reads_of_a_client_drive_are_stated_of_one_bit_a_cell(tmp_path: Path) -> None:
    """By hand: 58.8 us less 5 us of the host, 8 us of the core, 7.1 us on the bus, 1.2 us on the
    link and the usual wait of 12 us leave 25.5 us; TLC takes 48 / 25 of that, 49 us."""
    stated = {
        "interface": '"pcie-3.0-x4"',
        "capacity": '"250 GB"',
        "sequential_read": '"3500 MB/s"',
        "random_read": '"250000 IO/s"',
        "read_latency": '"58.8 us"',
        "sustained_write": '"400 MB/s"',
    }
    drive = _client(tmp_path, **(_PCIE | stated))
    assert drive.slc_read_us == pytest.approx(25.5, abs=0.3)
    assert drive.read_us == pytest.approx(48 / 25 * drive.slc_read_us)
    assert drive.latency_us() == pytest.approx(58.8)
    assert not drive.independent


def test_blocks_in_slc_mode_are_spare_space_less(tmp_path: Path) -> None:
    """1 TiB less 3.5 % are 6.1 % beyond 1 TB; 6 GB of one bit are 18 GB of three, 1.8 %."""
    drive = _client(tmp_path)
    assert drive.spare == pytest.approx(1.0995116 * 0.965 - 1 - 0.018, abs=1e-6)
    assert drive.program_rate == 500e6


def test_steady_random_writes_of_a_sata_client_drive_are_those_of_the_equations() -> None:
    """500 MB/s over write amplification 11.1 of greedy collection, and 4 KiB: 11,000 a second."""
    tree = {
        "host": {"model": "ahci"},
        "array": [{"drives": [{"model": "860-evo-1000"}]}],
        "workload": [{"rw": "randwrite", "block_size": "4 KiB", "outstanding": [32]}],
        "run": {"precondition": "steady-state", "warm_up": "500 ms", "duration": "1 s", "seed": 1},
    }
    row = result_of(tree).results[0]
    assert row["iops"] == pytest.approx(500e6 / 11.1 / 4096, rel=0.06)
