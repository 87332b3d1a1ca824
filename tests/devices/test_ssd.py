"""Data sheets of solid-state drives: what they must say, and what reaches the engine."""

from __future__ import annotations

import copy
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from raidlab.devices.catalogue import SPECS, find, load_device
from raidlab.devices.faults import SpecError
from raidlab.devices.plan_types import Plan, SsdDeviceParams
from raidlab.devices.schema import DriveOptions, PreconditioningLoad
from raidlab.devices.ssd import SsdSpec
from raidlab.scenarios import _engine
from raidlab.scenarios.spec.trees import WorkloadTree
from tests.figures import result_of

BY_32 = {"kind": "closed", "outstanding": 32, "think_ns": 0}

NAMES = sorted(path.stem for path in (SPECS / "ssd").glob("*.toml"))


def spec(name: str) -> SsdSpec:
    found = find(name).spec
    assert isinstance(found, SsdSpec)
    return found


def plan(device: SsdDeviceParams, **workload: Any) -> Plan:
    """One drive without a link, loaded at depth 16 with 4 KiB random writes."""
    load = {
        "name": "load",
        "array": 0,
        "threads": 1,
        "access": "random",
        "read_share": 0.0,
        "block_bytes": 4096,
        "align_bytes": 4096,
        "area_start_bytes": 0,
        "area_bytes": device["capacity_bytes"],
        "arrival": {"kind": "closed", "outstanding": 16, "think_ns": 0},
    }
    return {
        "seed": 1,
        "warm_up_ns": 100_000_000,
        "duration_ns": 10**12,
        "max_ios": 20_000,
        "host": {"submit_ns": 0, "complete_ns": 0, "raid_command_ns": 0},
        "links": [],
        "controllers": [],
        "devices": [device],
        "drives": [{"name": "drive", "device": 0, "queue_depth": 0, "path": []}],
        "arrays": [
            {
                "name": "array",
                "level": "jbod",
                "stripe_unit_bytes": 65536,
                "drives": [0],
                "controller": None,
                "software": False,
            }
        ],
        "workloads": [load | workload],
    }


def run(device: SsdDeviceParams, **workload: Any) -> tuple[float, dict[str, float]]:
    """IO/s and the drive's figures; the engine's self-checks must hold."""
    result = json.loads(_engine.run(json.dumps(plan(device, **workload))))
    assert result["breaches"] == []
    figures = next(c["figures"] for c in result["components"] if c["kind"] == "drive")
    return result["workloads"][0]["iops"], figures


def steady(device: SsdDeviceParams) -> SsdDeviceParams:
    """The drive in the steady state of random writes over all of it."""
    size = device["capacity_bytes"]
    fill = PreconditioningLoad("sequential", 0, size, 131072, size)
    settle = PreconditioningLoad("random", 0, size, 4096, 0)
    return device | {"history": [fill.to_plan(), settle.to_plan()]}


@pytest.mark.parametrize("name", NAMES)
def test_every_drive_of_the_catalogue_runs_in_all_its_formats(name: str) -> None:
    drive = spec(name)
    for form in [None, *drive.formats]:
        rate, _ = run(drive.to_plan(DriveOptions(format=form)), read_share=0.5)
        assert rate > 1000


@pytest.mark.parametrize("name", ["p3700-1600", "p3700-2000"])
def test_larger_models_differ_only_in_what_really_differs(name: str) -> None:
    small = spec("p3700-800").model_dump()
    large = spec(name).model_dump()
    for each in (small, large):
        for key in ("name", "title", "capacity"):
            del each[key]
        del each["nand"]["dies_per_channel"], each["nand"]["reserved_blocks"]
    assert small == large


def test_steady_state_costs_what_a_fresh_drive_does_not() -> None:
    device = spec("p3700-800").to_plan(DriveOptions())
    _, fresh = run(device)
    _, used = run(steady(device))
    assert fresh["write_amplification"] == 1.0
    assert used["write_amplification"] > 1.5


@pytest.mark.parametrize(
    ("name", "sheet", "load"),
    [
        ("p3700-800", 90_000, {}),
        ("s4610-480", 97_000, {"read_share": 1.0}),
    ],
)
def test_what_was_fitted_to_a_data_sheet_still_meets_it(
    name: str, sheet: float, load: WorkloadTree
) -> None:
    """Random blocks of 4 KiB in steady state; other figures have moved other parameters since."""
    device = steady(spec(name).to_plan(DriveOptions()))
    rate, _ = run(device, arrival=BY_32, **load)
    assert rate == pytest.approx(sheet, rel=0.05)


@pytest.mark.parametrize("name", ["p3700-800", "p320h-700", "sas12g-ssd-400gb", "s4610-480"])
def test_small_reads_in_sequence_are_no_slower_than_random_ones(name: str) -> None:
    fill = PreconditioningLoad("sequential", 0, 10**9, 131072, 10**9)
    device = spec(name).to_plan(DriveOptions()) | {"history": [fill.to_plan()]}
    load = {"read_share": 1.0, "area_bytes": 10**9}
    for block in (512, 4096):
        random, sequential = (
            run(device, **load, access=access, block_bytes=block, align_bytes=block)[0]
            for access in ("random", "sequential")
        )
        assert sequential > 0.99 * random, block


def test_a_map_on_the_host_is_as_fast_as_its_cpu() -> None:
    """Twice the clock, half the core times; what is no work of the core stays."""

    def firmware(name: str, clock: float | None) -> SsdDeviceParams:
        plan = spec(name).to_plan(DriveOptions(clock=clock))["firmware"]
        assert isinstance(plan, dict)
        return plan

    at_its_own, at_twice = firmware("iodrive-320", None), firmware("iodrive-320", 5.86e9)
    assert at_twice["write_unit_ns"] == pytest.approx(at_its_own["write_unit_ns"] / 2, abs=1)
    assert at_twice["move_unit_ns"] == pytest.approx(at_its_own["move_unit_ns"] / 2, abs=1)
    assert at_twice["write_latency_ns"] == at_its_own["write_latency_ns"]
    assert firmware("p3700-800", 5.86e9) == firmware("p3700-800", None)


def test_a_mirror_waits_for_the_card_that_moves_a_batch(tmp_path: Path) -> None:
    """RAID 1 of ioDrives copies files, one request at a time, at 0.87 of a card's rate
    (published), since a write waits for the slower card."""
    models = {}
    for batch in (1, 50):
        path = tmp_path / f"batch-{batch}.toml"
        path.write_text(
            f'kind = "ssd"\nlike = "iodrive-320"\nname = "batch-{batch}"\n'
            f"[firmware]\nmove_batch = {batch}\n[collection]\nblocks_at_once = 0\n"
        )
        models[batch] = str(path)

    def ratio(model: str) -> float:
        load = {"profile": "file-copy", "area": "32 GB", "outstanding": 1, "target": "data"}
        run = {"warm_up": "0.5 s", "duration": "4 s", "precondition": "steady-state"}
        rates = []
        for level, count in (("jbod", 1), ("raid1", 2)):
            array = {"name": "data", "level": level, "software_raid": "os"}
            array["drives"] = [{"model": model, "count": count}]
            tree = {"array": [array], "workload": [load], "run": run}
            rates.append(result_of(tree).results[0]["iops"])
        return rates[1] / rates[0]

    assert ratio("iodrive-320") == pytest.approx(0.87, abs=0.06)
    assert ratio(models[1]) > ratio(models[50]) + 0.05


@pytest.mark.parametrize("read_share", [0.0, 0.5])
def test_writes_go_at_the_pace_of_the_one_block_that_is_emptied(read_share: float) -> None:
    """A page of 4 KiB crosses the ioDrive's channel in 2 us + 4096 B / 23.09 MB/s = 179.4 us: all
    moves together are as many a second, whatever reads there are beside."""
    drive = spec("iodrive-320").to_plan(DriveOptions())
    # A quarter of the blocks, with the same share of spare space, has a past in a quarter of the
    # time.
    blocks, size = drive["nand"]["blocks_per_plane"] // 4, drive["capacity_bytes"] // 4
    quarter = {"capacity_bytes": size, "nand": drive["nand"] | {"blocks_per_plane": blocks}}
    device = steady(drive | quarter)
    rate, figures = run(device, read_share=read_share, arrival=BY_32)
    moves = (1 - read_share) * rate * (figures["write_amplification"] - 1)
    assert moves * 179.4e-6 == pytest.approx(1, rel=0.03)
    by_die = device | {"collection": device["collection"] | {"blocks_at_once": 0}}
    assert run(by_die, read_share=read_share, arrival=BY_32)[0] > 1.5 * rate


def test_batches_of_moves_that_cost_nothing_are_refused(tmp_path: Path) -> None:
    path = SPECS / "ssd" / "p3700-800.toml"
    error = changed(path, tmp_path, ("[firmware]", "[firmware]\nmove_batch = 8"))
    assert "1 without `move_unit`" in str(error)


def test_compressible_data_cost_fewer_bytes_of_nand_and_fewer_moves() -> None:
    drive = spec("sandforce-1222-64gb")
    rates, per_byte = [], []
    for share in (0.02, 0.5, 0.98):
        device = steady(drive.to_plan(DriveOptions(compressible=share)))
        rate, figures = run(device)
        rates.append(rate)
        per_byte.append(figures["nand_bytes_written"] / figures["host_bytes_written"])
    assert rates == sorted(rates)
    assert per_byte == sorted(per_byte, reverse=True)
    assert per_byte[-1] < 1 < per_byte[0]


@pytest.mark.parametrize("name", ["p3700-800", "p3700-1600", "p3700-2000"])
def test_restricted_cooling_throttles_and_keeps_the_drive_below_its_limit(name: str) -> None:
    drive = spec(name)
    size = drive.capacity
    history = (PreconditioningLoad("sequential", 0, size, 131072, size),)
    figures = {}
    for cooling in ("normal", "restricted"):
        device = drive.to_plan(DriveOptions(cooling=cooling, history=history))
        figures[cooling] = run(device, access="sequential", block_bytes=65536, align_bytes=65536)
    assert figures["restricted"][0] < figures["normal"][0]
    assert figures["restricted"][1]["temperature_c_max"] <= 71


def changed(path: Path, folder: Path, *changes: tuple[str, str]) -> SpecError:
    """What is wrong with a data sheet after textual changes."""
    text = path.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    mine = folder / "mine.toml"
    mine.write_text(text)
    with pytest.raises(SpecError) as caught:
        load_device(mine)
    return caught.value


def test_keys_of_old_are_refused_with_their_new_names(tmp_path: Path) -> None:
    sheet = SPECS / "ssd" / "p3700-800.toml"
    renamed = ("[firmware]", '[firmware]\nturn = "50 us"')
    error = changed(sheet, tmp_path, ("[thermal]", "[heat]"), renamed)
    reported = {fault.key: fault.allowed for fault in error.faults}
    assert reported["heat"] == "is named thermal now"
    assert reported["firmware.turn"] == "is named turnaround now"


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('capacity = "800 GB"', 'capacity = "2 TB"', "capacity"),
        ("reserved_blocks = 262", "reserved_blocks = 1023", "nand.reserved_blocks"),
        ('cell = "mlc"', 'cell = "slc"', "nand.program"),
        ('above = "68 degC"', 'above = "20 degC"', "thermal.step.0.above"),
        ('ambient = "30 degC"', 'ambient = "-400 degC"', "thermal.cooling.normal.ambient"),
        ('hysteresis = "2 K"', 'hysteresis = "-2 K"', "thermal.hysteresis"),
        ("speed = 0.4", "speed = 0.9", "thermal.step.1.speed"),
        ('size = "64 MiB"', 'size = "4 KiB"', "buffer.size"),
        ("drive_writes_per_day = 10", "drive_writes_per_day = 1e5", "drive_writes_per_day"),
        ("drive_writes_per_day = 10", "drive_writes_per_day = 1e300", "drive_writes_per_day"),
    ],
)
def test_a_wrong_data_sheet_is_reported_by_key(
    tmp_path: Path, old: str, new: str, key: str
) -> None:
    error = changed(SPECS / "ssd" / "p3700-800.toml", tmp_path, (old, new))
    assert key in [fault.key for fault in error.faults]


def test_one_time_for_all_pages_of_an_ssd_is_reported_what_is_allowed(tmp_path: Path) -> None:
    scalar = ('read = ["26 us", "44 us"]', 'read = "50 us"')
    reported = str(changed(SPECS / "ssd" / "p3700-800.toml", tmp_path, scalar))
    assert 'nand.read = "50 us": a list of times by page type: one for slc, two for mlc' in reported


def test_formats_and_cooling_that_a_drive_lacks_are_faults() -> None:
    faults = list(spec("iodrive-320").option_faults(DriveOptions(format="huge", cooling="fan")))
    assert [fault.key for fault in faults] == ["format", "cooling"]
    assert "maximum-write" in faults[0].allowed


def test_the_plan_is_what_the_engine_reads() -> None:
    written = tomllib.loads((SPECS / "ssd" / "p3700-800.toml").read_text())
    device = spec("p3700-800").to_plan(DriveOptions())
    assert device["nand"]["channels"] == written["nand"]["channels"]
    broken = copy.deepcopy(device)
    broken["nand"]["planes"] = 0
    with pytest.raises(_engine.PlanError):
        _engine.run(json.dumps(plan(broken)))


def test_turnarounds_between_reads_and_writes_cost_a_mixed_load_and_no_other() -> None:
    """20.5 commands a cycle at depth 16: a change of 2 ms makes about 98 us of each."""
    device = spec("iodrive-320").to_plan(DriveOptions(format="maximum-write"))
    mixed = {"read_share": 0.67, "block_bytes": 8192, "align_bytes": 512}
    rates = {}
    for turnaround in (0, 2_000_000):
        device["firmware"]["turnaround_ns"] = turnaround
        rates[turnaround] = [
            run(device, read_share=1.0)[0],
            run(device)[0],
            run(device, **mixed)[0],
        ]
    assert rates[0][:2] == rates[2_000_000][:2]
    lost = 1e6 / rates[2_000_000][2] - 1e6 / rates[0][2]
    assert lost == pytest.approx(2000 / 20.5, rel=0.1)


def test_what_collection_has_moved_costs_look_ups() -> None:
    """A full card whose tenth was rewritten at random, against one that was only filled."""
    device = spec("iodrive-320").to_plan(DriveOptions())
    size = device["capacity_bytes"]
    filled = {"access": "sequential", "start_bytes": 0, "area_bytes": size,
              "block_bytes": 131072, "written_bytes": size}  # fmt: skip
    again = {"access": "random", "area_bytes": size // 10, "block_bytes": 65536, "written_bytes": 0}
    rates = []
    for history in ([filled], [filled, filled | again]):
        used = copy.deepcopy(device) | {"history": history}
        rates.append(run(used, read_share=1.0, area_bytes=size // 10, block_bytes=65536)[0])
    assert rates[0] > 1.05 * rates[1]


def test_work_behind_the_nand_needs_one_core(tmp_path: Path) -> None:
    path = SPECS / "ssd" / "iodrive-320.toml"
    error = changed(path, tmp_path, ("cores = 1", "cores = 2"))
    assert "1 beside `finish` and `finish_unit`" in str(error)


def test_a_map_in_part_in_memory_slows_a_whole_drive_and_not_a_small_area(tmp_path: Path) -> None:
    """64 GB of 4 KiB units have a map of 62.5 MB, of which 8 MB cover 8.2 GB."""
    text = (SPECS / "ssd" / "sata-ssd-64gb.toml").read_text()
    cached = '[map_cache]\nsize = "8 MB"\n\n[prefetch]'
    mine = tmp_path / "mine.toml"
    mine.write_text(text.replace("[prefetch]", cached, 1))
    spec = load_device(mine).spec
    assert isinstance(spec, SsdSpec)
    device = steady(spec.to_plan(DriveOptions()))
    whole = {key: value for key, value in device.items() if key != "map_cache"}
    size = device["capacity_bytes"]
    load = {"read_share": 1.0, "arrival": {"kind": "closed", "outstanding": 1, "think_ns": 0}}
    all_over, small = {"area_bytes": size} | load, {"area_bytes": 10**9} | load
    assert run(device, **all_over)[0] < 0.75 * run(whole, **all_over)[0]
    rate, figures = run(device, **small)
    assert rate > 0.97 * run(whole, **small)[0]
    assert figures["map_hit_ratio"] > 0.97


@pytest.mark.parametrize(
    ("size", "words"), [("8 kB", "at least 16384 B"), ("1 GB", "less than the 62500000 B")]
)
def test_a_map_cache_without_a_meaning_is_a_fault(tmp_path: Path, size: str, words: str) -> None:
    path = SPECS / "ssd" / "sata-ssd-64gb.toml"
    cache = ("[prefetch]", f'[map_cache]\nsize = "{size}"\n\n[prefetch]')
    assert words in str(changed(path, tmp_path, cache))
