"""SSDs as a cache that the host keeps: what each mode costs, what comes there, what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.results.result import Result
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.spec.trees import ArrayTree, HostCacheTree, ScenarioTree, WorkloadTree

SSD = "s4610-480"
SMALL = [{"model": "teaching-ssd"}]
"""Half a gigabyte: the cache of a large drive has a record in memory for each of its blocks."""


def tree(cache: HostCacheTree | None, load: WorkloadTree, **array: Any) -> ScenarioTree:
    """A disk under a cache, or an array of disks."""
    own: ArrayTree = {"name": "data", "drives": [{"model": "generic-7200rpm"}]} | array
    if cache is not None:
        own["host_cache"] = {"drives": [{"model": SSD}]} | cache
    return {
        "array": [own],
        "workload": [{"block_size": "4 KiB", "area": "256 MB", "outstanding": 1} | load],
        "run": {"warm_up": "0 s", "duration": "10 s", "precondition": "filled", "seed": 1},
    }


def run(cache: HostCacheTree | None, load: WorkloadTree, **array: Any) -> Result:
    result = simulate(build_scenario(tree(cache, load, **array)))
    assert result.breaches == ()
    return result


def rate(cache: HostCacheTree | None, load: WorkloadTree, **array: Any) -> float:
    return float(run(cache, load, **array).rows[0].iops)


def hits(result: Result) -> float:
    """Share of the reads that the SSDs serve."""
    tier = result.results[0]["cache"]["tier"]
    return float(tier["read_hit_ratio"])


WARM = {"kind": "dm-cache", "state": "warm"}
READS = {"rw": "randread"}
WRITES = {"rw": "randwrite"}


def test_a_warm_cache_reads_and_writes_back_as_its_ssd_does() -> None:
    alone = {"drives": [{"model": SSD}]}
    for load in (READS, WRITES):
        ssd = rate(None, load, **alone)
        assert rate(WARM | {"mode": "writeback"}, load) == pytest.approx(ssd, rel=0.02)


def test_writes_through_cost_what_the_disk_costs() -> None:
    disk = rate(None, WRITES)
    assert rate(WARM | {"mode": "writethrough"}, WRITES) == pytest.approx(disk, rel=0.05)


def test_a_line_that_is_written_through_stays_and_one_written_around_goes() -> None:
    """Half reads, half writes, each block alike. Around: a read hits if the block's access before
    was a read, which brought it: half of them. Through: all do."""
    both = {"rw": "randrw", "read_share": 0.5, "area": "128 KiB"}
    cache = {"kind": "bcache", "state": "empty", "sequential_cutoff": "0 B", "drives": SMALL}
    assert hits(run(cache | {"mode": "writearound"}, both)) == pytest.approx(0.5, abs=0.12)
    assert hits(run(cache | {"mode": "writethrough"}, both)) > 0.75


def test_bcache_takes_writes_of_new_blocks_and_dm_cache_does_not() -> None:
    """From empty: bcache writes at the SSD's rate at once, dm-cache first has to promote."""
    for kind, least, most in (
        ("bcache", 5_000.0, 1e6),
        ("dm-writecache", 5_000.0, 1e6),
        ("dm-cache", 50.0, 1_000.0),
    ):
        cache = {"kind": kind, "mode": "writeback", "drives": SMALL}
        short = tree(cache, WRITES | {"area": "8 GB"})
        short["run"]["duration"] = "0.5 s"
        found = simulate(build_scenario(short)).rows[0].iops
        assert found is not None and least < found < most, kind


def test_a_stream_beyond_the_cutoff_is_not_cached() -> None:
    """The area is read through again and again in one stream: nothing beyond 4 MiB comes."""
    load = {"rw": "read", "block_size": "64 KiB", "area": "64 MiB"}
    cache = {"kind": "bcache", "drives": SMALL}
    assert hits(run(cache, load)) < 0.15
    assert hits(run(cache | {"sequential_cutoff": "0 B"}, load)) > 0.5


def test_a_cache_of_half_the_area_serves_half_of_the_reads() -> None:
    """LRU under uniform accesses holds any blocks: those that fit, 0.5 GB of 1 GB."""
    cache = WARM | {"drives": SMALL, "promote_after": 1}
    found = hits(run(cache, READS | {"area": "1 GB"}))
    assert found == pytest.approx(0.5, abs=0.04)


def test_reads_bring_nothing_into_dm_writecache() -> None:
    """Each of 256 blocks is read fifty times within a second."""
    short = tree({"kind": "dm-writecache", "drives": SMALL}, READS | {"area": "1 MiB"})
    short["run"]["duration"] = "1 s"
    result = simulate(build_scenario(short))
    assert result.results[0]["ios"] > 50 * 256
    assert result.breaches == () and hits(result) == 0


@pytest.mark.parametrize(
    ("cache", "array", "said"),
    [
        ({"kind": "dm-cache", "mode": "writearound"}, {}, "writethrough, writeback of dm-cache"),
        ({"kind": "dm-writecache", "promote_after": 2}, {}, "reads bring nothing"),
        ({"kind": "bcache", "block": "5 KiB"}, {}, "a multiple of 4 KiB"),
        ({"kind": "bcache"}, {"file_system": "ext4"}, "left out beside host_cache"),
        ({"kind": "flashcache"}, {}, "bcache.*dm-cache.*dm-writecache"),
        ({"kind": "dm-writecache", "high_watermark": 50}, {}, "is named dirty"),
        ({"kind": "bcache", "drives": [{"model": "generic-7200rpm"}]}, {}, "hard disks are no"),
        (
            {"kind": "lvmcache", "block": "64 KiB"},
            {
                "level": "raid5",
                "software_raid": "md",
                "drives": [{"model": "generic-7200rpm", "count": 3}],
            },
            "the data of a stripe",
        ),
    ],
)
def test_what_cannot_be_is_refused(
    cache: HostCacheTree, array: dict[str, object], said: str
) -> None:
    with pytest.raises(SpecError, match=said):
        build_scenario(tree(cache, READS, **array))


def test_failures_beside_it_are_refused() -> None:
    asked = tree({"kind": "bcache"}, READS)
    asked["event"] = [{"at": "1 s", "action": "power-fail"}]
    with pytest.raises(SpecError, match="left out beside host_cache"):
        build_scenario(asked)


def test_a_large_cache_takes_the_memory_of_what_its_loads_touch():
    """3.84 TB in lines of 4 KiB are 937 million slots, 15 GB; 256 MB of load use 62,500 of them."""
    large: HostCacheTree = {"kind": "bcache", "drives": [{"model": "pm983-3840"}]}
    plan = build_scenario(tree(large, {"rw": "randread"})).plan(0, 0)
    assert _engine.run(json.dumps(plan | {"memory_bytes": 2 << 30, "max_ios": 100}))
