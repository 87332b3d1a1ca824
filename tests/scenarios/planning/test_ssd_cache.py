"""A tier of SSDs over hard disks: what it gains, how fast it fills, what is refused."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.results.result import Row
from raidlab.scenarios.spec.run_result import DataReport
from raidlab.scenarios.spec.trees import ArrayTree, ScenarioTree
from tests.figures import result_of

SSDS = [{"model": "sas-6g-ssd", "count": 2}]


def tree(**changes: Any) -> ScenarioTree:
    """Four disks and two SSDs under the file-copy load; `changes` go where they belong."""
    array: ArrayTree = {
        "name": "data",
        "level": "raid0",
        "drives": [
            {"model": changes.pop("drive", "sata-6g-hdd"), "count": changes.pop("count", 4)}
        ],
    }
    tier = changes.pop("tier", {})
    if tier is not None:
        array["cache_tier"] = {"drives": SSDS, "level": "raid1"} | tier
    run = {"warm_up": "5 s", "duration": "10 s", "precondition": "steady-state"}
    for key in ("warm_up", "duration", "max_ios", "time_lapse", "timeline_step"):
        if key in changes:
            run[key] = changes.pop(key)
    controller = {"model": "lsi2208-1g", "write": "always-write-back"}
    for key in ("fast_path", "model", "write", "read_ahead"):
        if key in changes:
            controller[key] = changes.pop(key)
    for key in ("level", "stripe_unit"):
        if key in changes:
            array[key] = changes.pop(key)
    events = changes.pop("event", [])
    load = {"profile": "file-copy", "outstanding": 64, "area": "32 GB"} | changes
    return {
        "controller": controller,
        "array": [array],
        "workload": [load],
        "run": run,
        "event": events,
    }


def simulated(**changes: Any) -> Row:
    """The one row of a run without breaches; equal runs are simulated once."""
    return _simulated(json.dumps(tree(**changes), sort_keys=True))


@cache
def _simulated(scenario: str) -> Row:
    return result_of(json.loads(scenario)).results[0]


def rate(**changes: Any) -> float:
    """IO/s."""
    return float(simulated(**changes)["iops"])


def test_a_warm_tier_gives_nearly_what_its_ssds_give() -> None:
    disks = rate(tier=None)
    ssds = rate(tier=None, drive="sas-6g-ssd", count=2, level="raid1")
    warm = rate(tier={"state": "warm"})
    assert warm > 2 * disks
    assert 0.9 * ssds < warm < 1.01 * ssds


@pytest.mark.parametrize("level", ["raid5", "raid10"])
def test_a_tier_serves_other_levels(level: str) -> None:
    short = {"level": level, "warm_up": "4 s", "duration": "4 s"}
    assert rate(tier={"state": "warm"}, **short) > 2 * rate(tier=None, **short)


FAILS = {"at": "8 s", "action": "fail-drive", "array": "data-tier", "drive": 1}

SETTLED = {"warm_up": "30 s", "duration": "12 s"}
"""Long enough for the controller's memory to be full: until then an array without a tier seems to
give 1100 IO/s, of which 600 are left."""


def test_beyond_half_of_the_cache_less_than_half_of_the_gain_is_left() -> None:
    """200 GB of cache; 85 % of the accesses go to the hot spot, the rest anywhere.

    Below half of the cache nothing need go back to the disks. Above it lines do, and less than
    half of the gain is left.
    """

    def gain(hot_spot: str) -> tuple[float, int]:
        load = {"area": "2 TB", "hot_spot": hot_spot, "outstanding": 256} | SETTLED
        warm = simulated(tier={"state": "warm"}, timeline_step="1 s", **load)
        back = next(cache["destages"] for cache in warm["caches"] if cache["kind"] == "tier")
        return warm["iops"] / rate(tier=None, **load) - 1, back

    (small, none_back), (large, back) = gain("30 GB"), gain("140 GB")
    assert small > 2
    assert large < small / 2
    assert none_back == 0
    assert back > 1000


def test_what_waits_for_the_disks_does_not_keep_the_ssds_waiting() -> None:
    """Cold writes fill the memory until it takes them at the disks' pace, hot ones pass them by.

    In one queue the SSDs would stand still for as long as its elevator is among cold lines: 1000
    IO/s for seven seconds in every sixteen, instead of 3900 all the time.
    """
    load = {"area": "2 TB", "hot_spot": "30 GB", "outstanding": 256} | SETTLED
    row = simulated(tier={"state": "warm"}, timeline_step="1 s", **load)
    rates = row["timeline"]["iops"][31:41]
    assert min(rates) > 0.9 * row["iops"]


def test_many_fast_disks_lose_by_a_tier_of_two_ssds() -> None:
    """What is behind a warm tier makes no difference: 24 fast disks then give what its SSDs give.

    Alone they give 1.9 times that. 64 unaligned I/Os are some 120 commands, five a disk. Within 1 %
    of its stroke the nearest one takes a seek of 0.7 ms, 4 ms / 6 of a turn and 0.2 ms of transfer:
    24 / 1.6 ms / 1.9 commands an I/O = 7,900 IO/s.
    """
    fast = {"drive": "sas-6g-hdd", "count": 24}
    disks, warm = rate(tier=None, **fast), rate(tier={"state": "warm"}, **fast)
    assert warm == pytest.approx(rate(tier={"state": "warm"}), rel=0.02)
    assert 0.8 * 7900 < disks < 7900
    assert warm < 0.6 * disks


def test_an_empty_tier_fills_as_fast_as_lines_get_hot() -> None:
    """A hot spot of 1 GB has 15,259 lines; 64 outstanding unaligned I/Os touch two each."""
    row = simulated(area="1 GB", duration="60 s", timeline_step="4 s", time_lapse=1)
    rates = row["timeline"]["iops"]
    assert sum(rates[2:5]) < sum(rates[-3:]) / 2
    tier = next(cache for cache in row["caches"] if cache["kind"] == "tier")
    lines = 10**9 / 65536
    assert tier["filled_bytes"] / 65536 == pytest.approx(lines, rel=0.02)
    assert row["cache"]["tier"]["used_share"] == pytest.approx(lines * 65536 / 200e9, rel=0.02)


def test_a_time_lapse_reports_the_same_story() -> None:
    """Seconds until half of the final rate, drawn out and lapsed eight times."""

    def half_way(lapse: int, lasts: int) -> float:
        """Of a run that lasts until the rate has been the final one for a while."""
        row = simulated(area="1 GB", duration=f"{lasts} s", timeline_step="4 s", time_lapse=lapse)
        line = row["timeline"]
        assert line["t_s"][-1] == pytest.approx(lasts + 5, abs=1)
        level = sorted(line["iops"])[-5] / 2
        after = [
            t for t, iops in zip(line["t_s"], line["iops"], strict=True) if t > 15 and iops > level
        ]
        return float(after[0])

    assert half_way(8, 120) == pytest.approx(half_way(1, 60), rel=0.2)


def test_a_time_lapse_does_not_change_rates() -> None:
    """A tier that is warm stays as it is, however fast its life: the intervals of both meet."""
    load = {"tier": {"state": "warm"}, "area": "4 GB", "warm_up": "10 s"}
    plain = simulated(duration="30 s", **load)
    lapsed = simulated(duration="1800 s", time_lapse=60, **load)
    assert lapsed["duration_s"] == pytest.approx(plain["duration_s"])
    (low, high), (lapsed_low, lapsed_high) = plain["iops_ci95"], lapsed["iops_ci95"]
    assert low < lapsed_high
    assert lapsed_low < high
    assert lapsed["iops"] == pytest.approx(plain["iops"], rel=0.03)


def test_points_of_a_curve_share_a_preconditioned_cache_and_do_not_change_each_other() -> None:
    """A run alone, and after another that used the same preconditioning."""
    load = {"tier": {"state": "warm"}, "area": "2 GB", "duration": "3 s"}
    first = simulated(outstanding=16, **load)
    simulated(outstanding=64, **load)
    assert simulated(outstanding=16, **load)["iops"] == first["iops"]


def test_a_hot_spot_that_moves_must_be_learned_again() -> None:
    moves = [{"at": "17.5 s", "action": "move-hot-spot", "start": "100 GB"}]
    load = {"area": "500 GB", "hot_spot": "1 GB", "hot_share": "100 %"}
    row = simulated(
        tier={"state": "warm"}, duration="30 s", timeline_step="5 s", event=moves, **load
    )
    rates = row["timeline"]["iops"]
    assert rates[4] < rates[2] / 2


def test_a_slow_disk_slows_what_the_tier_does_not_hold() -> None:
    """One of four disks takes 100 ms more for each command: 25 ms more for the mean read.

    Nothing can be lost, and that is what is said.
    """
    slow = [{"at": "5 s", "action": "slow-drive", "drive": 1, "extra": "100 ms"}]

    def mean_read(**changes: Any) -> float:
        result = result_of(tree(outstanding=2, **changes))
        lost = ("lost_writes", "stale_reads", "refused_reads", "corrupt_stripes")
        assert result.data is None or not any(result.data[key] for key in lost)
        return float(result.results[0]["read"]["latency_us"]["mean"]) / 1e3

    assert mean_read(event=slow) - mean_read() > 20
    warm = {"tier": {"state": "warm"}, "area": "2 GB"}
    assert mean_read(event=slow, **warm) == pytest.approx(mean_read(**warm), rel=0.05)


def test_while_the_battery_learns_writes_go_through_to_the_tier() -> None:
    learns = [{"at": "5 s", "action": "battery-learn", "lasts": "20 s"}]
    load = {"tier": {"state": "warm"}, "area": "2 GB", "write": "write-back", "outstanding": 1}
    back, through = (simulated(**load, event=event) for event in ([], learns))
    assert through["write"]["latency_us"]["mean"] > 2 * back["write"]["latency_us"]["mean"]


def data_of(**changes: Any) -> DataReport:
    """What became of the data of a small hot spot, with the one event that `changes` have."""
    load = {"area": "1 GB", "outstanding": 16, "duration": "10 s", "warm_up": "0 s"}
    result = result_of(tree(**(load | changes)))
    assert result.data is not None
    return dict(result.data)


def test_a_failed_ssd_costs_what_only_it_had() -> None:
    """A mirrored tier and one for reads have everything twice; of a striped one the controller's
    memory has what was written last, and nothing if writes bypass it."""
    whole = {"lost_writes": 0, "refused_reads": 0, "stale_reads": 0, "corrupt_stripes": 0}
    mirrored = data_of(event=[FAILS], tier={"level": "raid1"})
    read = data_of(event=[FAILS], tier={"level": "raid0", "write": "read"})
    striped = data_of(event=[FAILS], tier={"level": "raid0"}, write="write-through")
    saved = data_of(event=[FAILS], tier={"level": "raid0"}, write="write-back")
    assert mirrored.items() >= whole.items()
    assert read.items() >= whole.items()
    assert saved["lost_writes"] == saved["stale_reads"] == saved["corrupt_stripes"] == 0
    assert striped["lost_writes"] > 0
    assert striped["refused_reads"] > 0
    assert striped["stale_reads"] == striped["corrupt_stripes"] == 0


@pytest.mark.parametrize("write", ["write-back", "read"])
def test_disks_and_power_fail_beside_a_tier(write: str) -> None:
    """One disk of a RAID 5 for good, the power for a second; flash keeps the memory."""
    events = [
        {"at": "3 s", "action": "fail-drive", "array": "data", "drive": 1},
        {"at": "6 s", "action": "power-fail", "lasts": "1 s"},
        {"at": "8 s", "action": "replace-drive", "array": "data", "drive": 1},
    ]
    disks = [{"model": "sata-6g-hdd", "count": 4, "write_cache": False}]
    scenario = tree(level="raid5", tier={"write": write}, write="write-back", event=events)
    scenario["array"][0]["drives"] = disks
    scenario["run"]["warm_up"] = "0 s"
    scenario["workload"][0] |= {"area": "1 GB", "outstanding": 16}
    result = result_of(scenario)
    assert result.data is not None
    lost = ("lost_writes", "stale_reads", "refused_reads", "corrupt_stripes")
    assert [result.data[key] for key in lost] == [0, 0, 0, 0]


def test_the_power_does_not_fail_beside_a_tier_that_forgets(tiny_drives: Any) -> None:
    ssds = {"drives": [{"model": str(tiny_drives / "forgetful.toml"), "count": 2}]}
    power = [{"at": "1 s", "action": "power-fail"}]
    with pytest.raises(SpecError, match="SSDs that forget nothing"):
        build_scenario(tree(tier=ssds, event=power, area="64 KiB"))


def test_a_striped_tier_whose_drive_fails_is_warned_of() -> None:
    scenario = build_scenario(tree(event=[FAILS], tier={"level": "raid0"}))
    assert any("takes the tier with it" in warning for warning in scenario.warnings)


def test_a_read_tier_leaves_writes_to_the_disks() -> None:
    back = simulated(tier={"state": "warm"})
    read = simulated(tier={"state": "warm", "write": "read"})
    assert read["cache"]["tier"]["write_hit_ratio"] == 0
    assert read["iops"] < back["iops"]


def test_a_refused_tier_is_the_only_fault_beside_its_events() -> None:
    """That the tier has no array is no fault of an event that names it."""
    with pytest.raises(SpecError) as lapse:
        build_scenario(tree(event=[FAILS], time_lapse=10))
    assert [fault.key for fault in lapse.value.faults] == ["run.time_lapse"]
    with pytest.raises(SpecError) as large:
        bad = FAILS | {"action": "unreadable-sectors", "offset": "1 PB"}
        build_scenario(tree(event=[FAILS, bad], tier={"drives": SSDS * 2, "level": "raid0"}))
    assert [fault.key for fault in large.value.faults] == ["array.0.cache_tier.drives"]


@pytest.mark.parametrize(
    ("changes", "reported"),
    [
        (
            {"fast_path": True, "write": "write-through", "read_ahead": "none"},
            "a controller does either",
        ),
        (
            {"tier": {"drives": [{"model": "sas-6g-ssd", "count": 3}], "level": "raid0"}},
            "at most 512 GB",
        ),
        ({"model": "lsi2108"}, "lsi2108 has no cache tier"),
        ({"drive": "sas-6g-ssd"}, "it serves hard disks"),
        ({"tier": {"drives": [{"model": "sas-6g-hdd", "count": 2}]}}, "hard disks are no cache"),
        ({"tier": {"level": "raid1e"}}, "3 drives or more"),
        (
            {"event": [{"at": "1 s", "action": "fail-drive", "drive": 1}], "time_lapse": 10},
            "no data to follow",
        ),
        ({"event": [FAILS | {"drive": 2}]}, "a drive of data-tier: 0 to 1"),
        ({"tier": {"write": "write-through"}}, "one of write-back, read"),
        ({"event": [FAILS | {"array": "tier"}]}, "the name of an array: data, data-tier"),
        ({"event": [{"at": "1 s", "action": "move-hot-spot"}]}, "a workload with a hot_spot"),
        ({"tier": None, "time_lapse": 10}, "without a cache_tier"),
        ({"hot_spot": "40 GB"}, "at most what the area"),
        ({"hot_share": "50 %"}, "no effect without `hot_spot`"),
        ({"profile": "streaming", "hot_spot": "1 GB"}, "no effect on a sequential load"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, object], reported: str) -> None:
    with pytest.raises(SpecError) as error:
        build_scenario(tree(**changes))
    assert any(reported in str(fault) for fault in error.value.faults), error.value.faults


def test_fast_path_on_hard_disks_is_warned_of() -> None:
    changes = {"tier": None, "fast_path": True, "write": "write-through", "read_ahead": "none"}
    scenario = build_scenario(tree(**changes))
    assert any("array of hard disks" in warning for warning in scenario.warnings)
    assert not scenario.base["arrays"][0]["fast_path"]
