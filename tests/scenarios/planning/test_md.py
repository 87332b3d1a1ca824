"""Linux md and device mapper: kernels, counters, workers, the stripe cache, speeds under load."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

from raidlab import simulate
from raidlab.devices.faults import SpecError
from raidlab.devices.kernels import ERAS, era_of, parse_version, shared_ns, unknown_version
from raidlab.devices.plan_types import Plan
from raidlab.scenarios.planning.bitmap import least_region
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.spec.trees import HostTree, ScenarioTree, WorkloadTree

TIB = 1 << 40
SLOW = """kind = "station"
name = "slow"
title = "1 ms, many at once"
capacity = "1 TB"
service = "1 ms"
servers = 1024
[sources]
all = { source = "assumed", note = "a test" }
"""


def scenario(
    level: str,
    drives: int,
    *,
    load: WorkloadTree | None = None,
    host: HostTree | None = None,
    seconds: float = 0.02,
    **array: Any,
) -> ScenarioTree:
    """An array in the host of drives that take no time."""
    return {
        "host": {"model": "nvme", "threads": 8} | (host or {}),
        "array": [
            {
                "level": level,
                "software_raid": "md",
                "bitmap": "none",
                "drives": [{"model": "null", "count": drives}],
            }
            | array
        ],
        "workload": [
            {"rw": "randread", "block_size": "4 KiB", "outstanding": 256, "area": "1 GiB"}
            | (load or {})
        ],
        "run": {"warm_up": "5 ms", "duration": f"{seconds} s", "seed": 3},
    }


def rate(tree: ScenarioTree) -> float:
    return float(simulate(tree).rows[0].iops)


def plan(tree: ScenarioTree) -> Plan:
    return dict(build_scenario(tree).base["arrays"][0].get("md", {}))


class TestKernels:
    def test_versions_are_read_as_uname_prints_them(self) -> None:
        assert parse_version("6.8.0-45-generic") == (6, 8)
        assert parse_version("4.4") == (4, 4)
        assert parse_version("3.10.0-1160.el7.x86_64") == (3, 10)
        assert parse_version("bookworm") is None

    def test_eras_stand_in_order_and_cover_every_kernel(self) -> None:
        assert [era.first for era in ERAS] == sorted(era.first for era in ERAS)
        assert era_of((2, 4)) is ERAS[0]
        assert era_of((4, 0)).stripe_cache == 256
        assert era_of((4, 1)).stripe_cache == 0
        assert era_of((99, 0)) is ERAS[-1]

    def test_an_unknown_kernel_counts_as_the_nearest(self) -> None:
        assert unknown_version((4, 4)) == ""
        assert unknown_version((2, 4)) == "2.6"
        assert unknown_version((9, 9)) == "6.12"
        tree = scenario("raid0", 2, host={"kernel": "9.9"})
        (warning,) = [w for w in build_scenario(tree).warnings if "counts as" in w]
        assert warning == "host.kernel: 9.9 is not known; it counts as 6.12"

    def test_a_word_is_no_kernel(self) -> None:
        with pytest.raises(SpecError, match=r"host.kernel = .*4\.4"):
            build_scenario(scenario("raid0", 2, host={"kernel": "jammy"}))

    def test_later_kernels_move_shared_lines_less(self) -> None:
        for level in ("raid0", "raid1", "raid10", "raid5", "raid6"):
            costs = [sum(shared_ns(era, level, 2, dm=False)) for era in ERAS]
            assert costs == sorted(costs, reverse=True), level


class TestFlushes:
    """How md passes flushes on, by kernel; a worker wakes up in 2 us at 3 GHz."""

    LOAD: ClassVar[WorkloadTree] = {"rw": "randwrite", "fdatasync": 1}

    @pytest.mark.parametrize(
        ("kernel", "order", "hands"),
        [
            ("2.6.32", "one_by_one", True),
            ("4.17", "one_by_one", True),
            ("4.18", "together", True),
            ("5.1", "together", True),
            ("5.2", "batches", True),
            ("6.11", "batches", True),
            ("6.12", "together", False),
        ],
    )
    def test_by_kernel(self, kernel: str, order: str, *, hands: bool) -> None:
        found = plan(scenario("raid1", 2, load=self.LOAD, host={"kernel": kernel}))
        assert found.get("flush_order", "together") == order
        assert found.get("flush_hand_ns", 0) == (2000 if hands else 0)

    def test_a_faster_clock_wakes_workers_sooner(self) -> None:
        host: HostTree = {"kernel": "5.14", "clock": "4 GHz"}
        assert plan(scenario("raid1", 2, load=self.LOAD, host=host))["flush_hand_ns"] == 1500

    def test_a_mirror_of_drives_without_a_volatile_cache_hands_flushes_on_too(self) -> None:
        """md says that it has such a cache: two workers of 2 us take up a flush of the array.

        The caller submits it (1.6 us, and 0.5 for each member) and wakes up again (1.4 and 2 us).
        """

        def mean(kernel: str) -> float:
            load: WorkloadTree = self.LOAD | {"threads": 1, "outstanding": 1}
            tree = scenario("raid1", 2, load=load, host={"kernel": kernel})
            tree["array"][0]["drives"] = [{"model": "p3700-800", "count": 2}]
            return simulate(tree).rows[0].latency_us.mean

        assert mean("6.11") - mean("6.12") == pytest.approx(10.0, abs=0.3)

    @pytest.mark.parametrize(
        ("host", "load"),
        [({}, LOAD), ({"kernel": "5.14"}, {"rw": "randwrite"})],
    )
    def test_without_a_kernel_or_a_flush_nothing_is_planned(
        self, host: HostTree, load: WorkloadTree
    ) -> None:
        found = plan(scenario("raid1", 2, load=load, host=host))
        assert not {"flush_order", "flush_hand_ns"} & found.keys()


class TestSharedLines:
    """Each I/O moves a line twice, 125 ns each between two sockets: 4 million a second at most."""

    @pytest.mark.parametrize(
        ("kernel", "level", "sockets", "expected"),
        [
            ("4.4", "raid0", 2, 4.0e6),
            ("5.13", "raid6", 2, 2.0e6),
            ("5.14", "raid6", 2, 4.0e6),
            ("4.10", "raid1", 2, 1 / 750e-9),
        ],
    )
    def test_the_rate_ends_at_the_moves_of_one_line(
        self, kernel: str, level: str, sockets: int, expected: float
    ) -> None:
        host = {"model": "nvme-gen5", "kernel": kernel, "sockets": sockets, "threads": 40}
        found = rate(scenario(level, 8, host=host, load={"outstanding": 512}, seconds=0.005))
        assert found == pytest.approx(expected, rel=0.01)

    def test_one_thread_keeps_the_line(self) -> None:
        assert plan(scenario("raid0", 2, host={"kernel": "4.4", "threads": 1})) == {}
        assert plan(scenario("raid0", 2, host={"kernel": "4.4"})) == {
            "shared_read_ns": 120,
            "shared_write_ns": 120,
        }

    def test_without_a_kernel_nothing_is_charged(self) -> None:
        assert plan(scenario("raid0", 2)) == {}

    def test_device_mapper_has_a_counter_of_its_own_before_5_0(self) -> None:
        # Two moves of each of two lines: they move side by side, and RAID 1's is the busier one.
        for kernel, expected in (("4.20", 120), ("6.3", 0)):
            tree = scenario("raid1", 2, host={"kernel": kernel}, software_raid="lvm")
            assert plan(tree).get("shared_read_ns", 0) == expected


class TestStripes:
    """Small writes on three drives: one unit read, two written, 5.1 us each at one thread."""

    small: ClassVar = {"rw": "randwrite", "outstanding": 256, "area": "whole", "align": "4 KiB"}

    def test_a_thread_ends_the_rate_and_workers_raise_it(self) -> None:
        # 3 pages of 5.1 us, and 12 KiB read and made for parity at 36.4 GB/s.
        alone = 1 / (3 * 5.1e-6 + 3 * 4096 / 36.4e9)
        for workers, threads in ((None, 1), (0, 1), (1, 2), (3, 4)):
            asked = {} if workers is None else {"group_thread_cnt": workers}
            found = rate(scenario("raid5", 3, load=self.small, seconds=0.1, **asked))
            assert found == pytest.approx(threads * alone, rel=0.02), workers

    def test_each_socket_has_workers(self) -> None:
        tree = scenario("raid5", 3, host={"sockets": 2}, group_thread_cnt=4)
        assert plan(tree) == {"threads": 9}

    def test_the_stripe_cache_bounds_the_stripes_in_flight(self, tmp_path: Path) -> None:
        """Drives take 1 ms for any number of commands, so a small write has its stripe for 2 ms.

        40 stripes bound the rate to 40 / 2 ms. Sleepers wake when 30 are in use: 30 / 2 ms at
        least. Without the bound the thread ends it, at 64,000 at most.
        """
        (tmp_path / "slow.toml").write_text(SLOW)
        tree = scenario("raid5", 3, load=self.small, seconds=0.2, stripe_cache_size=40)
        tree["array"][0]["drives"] = [{"model": "slow.toml", "count": 3}]
        scene = build_scenario(tree, tmp_path / "scenario.toml")
        assert 15_000 < simulate(scene).rows[0].iops < 20_000
        tree["array"][0].pop("stripe_cache_size")
        scene = build_scenario(tree, tmp_path / "scenario.toml")
        assert simulate(scene).rows[0].iops > 50_000

    def test_old_kernels_have_256_and_later_ones_as_many_as_they_need(self) -> None:
        assert plan(scenario("raid5", 3, host={"kernel": "3.10"}))["stripe_cache"] == 256
        tree = scenario("raid5", 3, host={"kernel": "6.8"}, stripe_cache_size=4096)
        assert "stripe_cache" not in plan(tree)
        assert any("stripe_cache_size: has no effect" in w for w in build_scenario(tree).warnings)

    def test_mirrors_have_neither(self) -> None:
        with pytest.raises(SpecError, match="group_thread_cnt"):
            build_scenario(scenario("raid1", 2, group_thread_cnt=2))
        with pytest.raises(SpecError, match="stripe_cache_size"):
            build_scenario(scenario("raid1", 2, stripe_cache_size=512))


class TestWords:
    @pytest.mark.parametrize("word", ["md", "mdadm", "mdraid", "os"])
    def test_md_has_several_names(self, word: str) -> None:
        assert build_scenario(scenario("raid1", 2, software_raid=word)).base["arrays"][0][
            "software"
        ]

    @pytest.mark.parametrize("word", ["lvm", "dmraid", "dm-raid"])
    def test_device_mapper_has_regions_of_its_own(self, word: str) -> None:
        tree = scenario("raid1", 2, software_raid=word)
        del tree["array"][0]["bitmap"]
        bitmap = build_scenario(tree).base["arrays"][0]["bitmap"]
        assert bitmap["chunk_bytes"] >= 2 << 20

    def test_regions_are_powers_of_two_and_at_most_two_million(self) -> None:
        assert least_region(TIB) == 2 << 20
        assert least_region(4 * TIB) == 2 << 20
        assert least_region(4 * TIB + 1) == 4 << 20
        assert least_region(16 * TIB) == 8 << 20

    def test_drives_of_two_interfaces_make_an_array_in_the_host(self) -> None:
        tree = scenario("raid1", 2)
        tree["array"][0]["drives"] = [{"model": "pm983-3840"}, {"model": "s4610-480"}]
        assert len(build_scenario(tree).base["drives"]) == 2


class TestWhatIsNotModelled:
    @pytest.mark.parametrize("word", ["zfs", "ZFS", "btrfs", "raidz"])
    def test_a_file_system_names_what_comes_nearest(self, word: str) -> None:
        with pytest.raises(SpecError, match=r"file_system = .*ext4, xfs; .*not modelled"):
            build_scenario(scenario("raid1", 2, file_system=word))

    @pytest.mark.parametrize("word", ["lvm-thin", "storage spaces", "ceph"])
    def test_software_names_what_comes_nearest(self, word: str) -> None:
        with pytest.raises(SpecError, match=r"software_raid = .*none, os, lvm; .*not modelled"):
            build_scenario(scenario("raid1", 2, software_raid=word))

    @pytest.mark.parametrize("word", ["bcache", "dm-cache", "lvmcache", "dm-writecache"])
    def test_a_cache_of_the_host_is_named(self, word: str) -> None:
        with pytest.raises(SpecError, match=r"none, os, lvm; .*host_cache of an array"):
            build_scenario(scenario("raid1", 2, software_raid=word))


class TestSpeeds:
    def test_a_minimum_above_the_maximum_is_refused(self) -> None:
        tree = scenario("raid1", 2, sync_speed_min="300 MB/s", sync_speed_max="100 MB/s")
        with pytest.raises(SpecError, match=r"sync_speed_min = .*at most sync_speed_max"):
            build_scenario(tree)

    def test_nothing_to_rebuild_has_no_speed(self) -> None:
        with pytest.raises(SpecError, match="sync_speed_min"):
            build_scenario(scenario("raid0", 2, sync_speed_min="50 MB/s"))
