"""File systems of arrays and calls of loads: what the plan says, and what is refused."""

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.durability import journal_bytes, journal_start
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.spec.durability import FileSystemTable

GIB = 1 << 30


def scenario(model="generic-7200rpm", count=1, system=None, **load):
    array = {"drives": [{"model": model, "count": count}]}
    if count > 1:
        array |= {"level": "raid1", "software_raid": "os", "bitmap": "none"}
    if system is not None:
        array["file_system"] = system
    loads = [{"rw": "write", "block_size": "4 KiB", "outstanding": 1, "area": "1 GiB", **load}]
    run = {"warm_up": "1 s", "duration": "10 s"}
    return {"array": [array], "workload": loads, "run": run}


def faults(tree):
    with pytest.raises(SpecError) as raised:
        build_scenario(tree)
    return {fault.key: fault.allowed for fault in raised.value.faults}


def plan(tree):
    return build_scenario(tree).plan(0, 0)


def test_journals_are_as_large_as_mkfs_makes_them_and_lie_in_the_middle():
    """mke2fs: 1 GiB from 128 GiB on, 64 MiB of 8 GiB; mkfs.xfs: a 2048th, 64 MiB to 2 GiB."""
    ext4, xfs = FileSystemTable(type="ext4"), FileSystemTable(type="xfs")
    assert [journal_bytes(ext4, n * GIB) for n in (8, 128, 9999)] == [64 << 20, GIB, GIB]
    assert journal_bytes(xfs, 2048 * GIB) == GIB
    assert [journal_bytes(xfs, n * GIB) for n in (8, 9999)] == [64 << 20, 2 * GIB]
    assert journal_start(1000 * GIB, GIB) == 500 * GIB
    assert journal_start(64 << 20, 4 << 20) == 32 << 20


@pytest.mark.parametrize(
    ("model", "write_cache", "flush"),
    [
        ("generic-7200rpm", None, None),
        ("sata-6g-hdd", None, "alone"),
        ("sata-6g-hdd", False, "dropped"),
        ("980-1000", None, None),
        ("860-evo-1000", None, "alone"),
        ("s4610-480", None, "alone"),
        ("p3700-800", None, "dropped"),
    ],
)
def test_drives_take_flushes_as_linux_sends_them(model, write_cache, flush):
    tree = scenario(model, fsync=1)
    if write_cache is not None:
        tree["array"][0]["drives"][0]["write_cache"] = write_cache
    assert plan(tree)["drives"][0].get("flush") == flush
    del tree["workload"][0]["fsync"]
    assert "flush" not in plan(tree)["drives"][0]


@pytest.mark.parametrize(
    ("model", "count", "system", "keys", "forced"),
    [
        ("980-1000", 1, None, {"o_dsync": True}, True),
        ("980-1000", 1, None, {"sync": True}, True),
        ("980-1000", 2, "ext4", {"o_dsync": True}, True),
        # What a commit makes durable does not go by FUA; its record does.
        ("980-1000", 1, "ext4", {"sync": True}, False),
        ("980-1000", 1, "xfs", {"o_dsync": True, "append": True}, False),
        ("980-1000", 1, None, {"fdatasync": 1}, False),
        # SATA has none under Linux, protected drives need none, disks are left out.
        ("860-evo-1000", 1, "ext4", {"o_dsync": True}, False),
        ("p3700-800", 1, "ext4", {"o_dsync": True}, False),
        ("generic-7200rpm", 1, None, {"o_dsync": True}, False),
    ],
)
def test_writes_carry_fua_where_linux_sends_it(model, count, system, keys, forced):
    found = plan(scenario(model, count, system, **keys))
    assert found["workloads"][0]["sync"].get("fua", False) is forced
    if system is not None:
        assert found["arrays"][0]["file_system"].get("fua", False) is (model == "980-1000")


@pytest.mark.parametrize(
    ("kernel", "tick_ns"),
    [
        ("5.14.0-427.13.1.el9_4.x86_64", 1_000_000),
        ("6.8.5-301.fc40.x86_64", 1_000_000),
        ("6.8.0-45-generic", 4_000_000),
        ("6.1", 4_000_000),
        (None, 4_000_000),
    ],
)
def test_times_of_files_tick_as_the_kernel_does(kernel, tick_ns):
    tree = scenario("980-1000", system="ext4", fsync=1)
    tree["host"] = {"model": "nvme"} | ({} if kernel is None else {"kernel": kernel})
    checked = build_scenario(tree)
    assert checked.base["arrays"][0]["file_system"]["tick_ns"] == tick_ns
    without_effect = any(str(each).startswith("host.kernel") for each in checked.warnings)
    assert without_effect is (kernel is not None and tick_ns == 4_000_000)


@pytest.mark.parametrize(
    ("sync", "system", "forced"),
    [("dsync", None, True), ("sync", None, True), ("dsync", "ext4", True), ("sync", "xfs", False)],
)
def test_jobs_of_fio_write_with_fua_too(tmp_path, sync, system, forced):
    job = tmp_path / "sync.fio"
    job.write_text(f"[a]\nrw=write\nbs=4k\nsize=16m\noverwrite=1\nsync={sync}\nioengine=psync\n")
    tree = scenario("980-1000", system=system)
    tree["workload"] = [{"fio": str(job)}]
    assert plan(tree)["jobs"]["threads"][0]["syncs"].get("fua", False) is forced


@pytest.mark.parametrize(
    ("model", "level", "count", "forced"),
    [
        ("980-1000", "raid1", 2, True),
        ("980-1000", "raid5", 3, True),
        ("980-1000", "raid6", 4, True),
        ("860-evo-1000", "raid1", 2, False),
    ],
)
def test_updates_of_a_bitmap_carry_fua_where_the_members_take_it(model, level, count, forced):
    tree = scenario(model, count)
    tree["array"][0] |= {"level": level, "software_raid": "md", "bitmap": "internal"}
    bitmap = plan(tree)["arrays"][0]["bitmap"]
    assert bitmap["flushes"]
    assert bitmap.get("fua", False) is forced


def test_a_forced_write_to_raid5_takes_one_run_of_fua_on_data_and_parity_alike():
    """Of 980s: 1.6 * 1.72 ms for FUA, old data and parity (some 0.1 ms) read before, and no flush.

    A flush instead would take 1.72 ms.
    """
    tree = scenario("980-1000", 3, system="ext4", o_dsync=True)
    tree["array"][0] |= {"level": "raid5", "software_raid": "md", "bitmap": "none"}
    tree["run"] = {"warm_up": "0.1 s", "duration": "1 s"}
    mean = simulate(build_scenario(tree)).rows[0].latency_us.mean
    assert 1.6 * 1720 < mean < 1.6 * 1720 + 200


def test_a_job_with_o_dsync_on_a_file_takes_one_write_with_fua_and_no_flush(tmp_path):
    """Of a 990 PRO: 249 a second, 4.0 ms each; with a flush behind it would be 5.7 ms."""
    job = tmp_path / "sync.fio"
    job.write_text(
        "[a]\nrw=write\nbs=8k\nsize=16m\noverwrite=1\nsync=dsync\nioengine=psync\ndirect=1\n"
        "runtime=1\ntime_based\n"
    )
    tree = scenario("990-pro-2000", system="xfs")
    tree["workload"] = [{"fio": str(job)}]
    tree["run"] = {"warm_up": "0 s", "duration": "1 s"}
    assert simulate(build_scenario(tree)).rows[0].iops == pytest.approx(249, rel=0.02)


@pytest.mark.parametrize(
    ("keys", "measured"),
    [
        ({"fdatasync": 1}, 608),
        ({"o_dsync": True}, 250),
        # Of these two nothing is stated: a flush, then a record with FUA.
        ({"fsync": 1}, 177),
        ({"sync": True}, 185),
    ],
)
def test_a_drive_with_both_times_stated_meets_all_calls_on_xfs(keys, measured):
    """pg_test_fsync of 8 KiB on a 990 PRO under XFS (T. Poder, May 2025)."""
    tree = scenario("990-pro-2000", system="xfs", block_size="8 KiB", **keys)
    tree["run"] = {"warm_up": "100 ms", "duration": "1 s"}
    assert simulate(build_scenario(tree)).rows[0].iops == pytest.approx(measured, rel=0.06)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"fsync": 8}, {"every": 8, "times": True, "allocates": False}),
        ({"fdatasync": 2}, {"every": 2, "times": False, "allocates": False}),
        ({"sync": True, "append": True}, {"every": 1, "times": True, "allocates": True}),
        ({"o_dsync": True}, {"every": 1, "times": False, "allocates": False}),
    ],
)
def test_calls_say_how_often_and_what(keys, expected):
    assert plan(scenario(system="ext4", **keys))["workloads"][0]["sync"] == expected


@pytest.mark.parametrize(
    ("tree", "key", "allowed"),
    [
        (scenario(fsync=1, sync=True), "workload.0.sync", "beside `fsync`"),
        (scenario(fsync=1, rw="randread"), "workload.0.fsync", "writes nothing"),
        (scenario(fsync=1, append=True), "workload.0.append", "no file_system"),
        (scenario(system="ext4", append=True), "workload.0.append", "without one of"),
        (scenario(system="zfs"), "array.0.file_system", "ext4"),
        (scenario(file_system="btrfs"), "workload.0.file_system", "ext4"),
        (
            scenario(system="ext4", file_system="xfs"),
            "workload.0.file_system",
            "left out, or what array.0.file_system says",
        ),
        (
            scenario(system={"type": "xfs", "data": "writeback"}),
            "array.0.file_system.data",
            "ext4",
        ),
        (
            scenario(system={"type": "ext4", "journal_async_commit": True}),
            "array.0.file_system.journal_async_commit",
            "ordered",
        ),
        (
            scenario(system={"type": "ext4", "journal": "900 TiB"}),
            "array.0.file_system.journal",
            "half of the array",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(tree, key, allowed):
    found = faults(tree)
    assert key in found
    assert allowed in found[key]


def test_a_load_on_a_bare_drive_says_its_file_system():
    """The plan is that of the array's key, for one drive and for each of several alone."""
    load = scenario(fsync=1, append=True, file_system={"type": "xfs", "journal": "64 MiB"})
    of_array = scenario(system={"type": "xfs", "journal": "64 MiB"}, fsync=1, append=True)
    assert plan(load) == plan(of_array)
    for tree in (load, of_array):
        tree["array"][0] |= {"level": "independent", "drives": [{"model": "980-1000", "count": 2}]}
    assert plan(load) == plan(of_array)
    assert all("file_system" in array for array in plan(load)["arrays"])


def test_a_job_file_writes_files_of_the_file_system_beside_it(tmp_path):
    job = tmp_path / "sync.fio"
    job.write_text("[a]\nrw=write\nbs=4k\nsize=16m\nfsync=1\nioengine=psync\n")
    load, of_array = scenario(), scenario(system="ext4")
    load["workload"] = [{"fio": str(job), "file_system": "ext4"}]
    of_array["workload"] = [{"fio": str(job)}]
    assert plan(load) == plan(of_array)
    assert plan(load)["arrays"][0]["file_system"]["journal"] == "ext4"


def test_two_loads_of_one_array_are_files_of_one_file_system():
    tree = scenario(fsync=1, file_system="ext4")
    tree["workload"].append({**tree["workload"][0], "name": "other", "area_start": "2 GiB"})
    assert plan(tree)["arrays"][0]["file_system"]["journal"] == "ext4"
    tree["workload"][1]["file_system"] = "xfs"
    assert "what workload.0.file_system says" in faults(tree)["workload.1.file_system"]


def test_no_loss_of_power_beside_calls():
    tree = scenario(fsync=1)
    tree["event"] = [{"at": "1 s", "action": "power-fail"}]
    assert "not modelled" in faults(tree)["event.0.action"]


def latency_ms(tree):
    result = simulate(tree)
    assert not result.breaches
    return result.to_dict()["results"][0]["latency_us"]["p50"] / 1e3


def test_a_commit_on_mirrored_disks_takes_whole_revolutions():
    """Data, blocks and commit block lie apart: five of 8.33 ms; an overwrite's data alone: one."""
    append = scenario(count=2, system="ext4", fdatasync=1, append=True)
    assert latency_ms(append) == pytest.approx(5 * 60e3 / 7200, rel=0.01)
    overwrite = scenario(count=2, system="ext4", fdatasync=1)
    assert latency_ms(overwrite) == pytest.approx(60e3 / 7200, rel=0.02)


def test_an_unprotected_ssd_pays_its_flush_and_a_protected_one_none():
    assert latency_ms(scenario("980-1000", fsync=1, rw="randwrite")) == pytest.approx(
        1.74, rel=0.02
    )
    protected = latency_ms(scenario("p3700-800", fsync=1, rw="randwrite"))
    assert protected == latency_ms(scenario("p3700-800", rw="randwrite"))
