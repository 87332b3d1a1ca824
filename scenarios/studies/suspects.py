"""What usually slows a storage system, and each system without it.

A suspect is a counterfactual: the scenario with one cause removed and nothing else. Whether the
cause matters is decided by simulation (`why`), never by the look of the scenario.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal

from raidlab.devices.levels import facts_of
from raidlab.devices.plan_types import ArrayPlan, DeviceParams, DrivePlan, LimitParams, Plan
from raidlab.scenarios.planning.controllers import controller_tables
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.results.row import Row
from raidlab.scenarios.spec.component_name import drive_name
from raidlab.scenarios.spec.trees import ScenarioTree

BUSY: Final = 0.9
"""Utilization from which on a component may be the limit."""
LEAST_PCT: Final = 10.0
"""Gain from which on what is no choice of design is a cause."""
_WIDER: Final = 8
"""Times as wide, fast or deep: enough that the cause is gone."""
_Sync = Literal["fsync", "fdatasync", "sync", "o_dsync"]
_SYNCS: Final[tuple[_Sync, ...]] = ("fsync", "fdatasync", "sync", "o_dsync")
_UNITS: Final = (16, 32, 64, 128, 256, 512, 1024)
"""Stripe units that controllers and mdadm offer, in KiB."""
_MIB: Final = 1 << 20
_PAGE: Final = 4096
_LONG_NS: Final = 1_000_000_000
"""A bucket that is longer holds credit; shorter ones only smooth."""

PlanChange = Callable[[Plan], None]
TreeChange = Callable[[ScenarioTree], None]
DeviceChange = Callable[[DeviceParams], None]


@dataclass(frozen=True)
class Suspect:
    """One cause: what it is, the system without it, and what to do about it."""

    code: str
    subject: str
    """The component or key that it is about."""
    remedy: str
    check: str
    """The command that would show it on the real machine."""
    without: Callable[[], Scenario]
    """The scenario without the cause; raises `SpecError` where that cannot be."""
    at_least_pct: float = LEAST_PCT
    """Gain from which on it is a cause: choices of design need a larger one."""
    is_defect: bool = False
    """True of what is broken: it is a cause whatever its gain."""


def suspects(scenario: Scenario, rows: list[Row]) -> Iterator[Suspect]:
    """Every suspect that has something to remove from this system.

    Args:
        scenario: The system.
        rows: `results` of its run: what was busy says which suspects are worth a run.
    """
    busy = {
        component["name"]: component["kind"]
        for row in rows
        for component in row["components"]
        if component["utilization"] >= BUSY
    }
    yield from _of_arrays(scenario)
    yield from _of_caches(scenario)
    yield from _of_drives(scenario)
    yield from _of_loads(scenario)
    yield from _of_threads(scenario, busy)
    yield from _of_queues(scenario)
    yield from _of_links(scenario, busy)


def _of_arrays(scenario: Scenario) -> Iterator[Suspect]:
    for at, array in enumerate(scenario.base["arrays"]):
        name, level = array["name"], facts_of(array)
        index = _written_array(scenario, at)
        loads = [load for load in scenario.base["workloads"] if load["array"] == at]
        writes = any(load["read_share"] < 1 for load in loads)
        if index is not None and array.get("bitmap") and writes:
            yield Suspect(
                "bitmap",
                f"{name}: write-intent bitmap",
                "keep the bitmap on another device, use a larger bitmap chunk, or none",
                "mdadm --detail /dev/mdX | grep -i bitmap",
                edited_tree(scenario, partial(_without_bitmap, index)),
            )
        data = level.data_columns(len(array["drives"]))
        stripe = data * array["stripe_unit_bytes"]
        if index is not None and level.parities and data > 1:
            yield from _partial_stripes(scenario, at, stripe)
        if index is not None and len(array["drives"]) > 1:
            yield from _stripe_units(scenario, index, array)
    yield from _failed_drives(scenario)


def _failed_drives(scenario: Scenario) -> Iterator[Suspect]:
    """Drives that fail before the run ends: all of them together."""
    base = scenario.base
    end = max(base["warm_up_ns"], base["warm_up_most_ns"]) + base["duration_ns"]
    failed = {
        base["drives"][event["drive"]]["name"]: None
        for event in base["events"]
        if event["action"] == "fail_drive" and event["at_ns"] < end
    }
    if not failed:
        return
    stays = any(scenario.unrebuilt.values())
    yield Suspect(
        "degraded",
        f"{', '.join(failed)} failed" + (", and no drive takes its place" if stays else ""),
        "replace the drive, and keep a hot spare"
        if stays
        else "replace the drive; lower the rebuild's share while users work",
        "cat /proc/mdstat; storcli /c0/vall show",
        edited_tree(scenario, _without_failures),
        is_defect=True,
    )


def _without_bitmap(at: int, tree: ScenarioTree) -> None:
    tree["array"][at]["bitmap"] = "none"


def _with_unit(at: int, kib: int, tree: ScenarioTree) -> None:
    tree["array"][at]["stripe_unit"] = f"{kib} KiB"


def _partial_stripes(scenario: Scenario, at: int, stripe: int) -> Iterator[Suspect]:
    """Writes that a whole number of stripes would spare the reads before."""
    for number, load in enumerate(scenario.base["workloads"]):
        block = load["block_bytes"]
        large = load["access"] == "sequential" or 2 * block >= stripe
        if load["array"] != at or load["read_share"] == 1 or not large or block % stripe == 0:
            continue
        whole = -(-block // stripe) * stripe

        def in_stripes(plan: Plan, number: int = number, whole: int = whole) -> None:
            load = plan["workloads"][number]
            load["block_bytes"] = load["align_bytes"] = whole
            load["area_start_bytes"] = load["area_start_bytes"] // whole * whole
            load["area_bytes"] = load["area_bytes"] // whole * whole

        yield Suspect(
            "partial-stripe",
            f"{load['name']}: blocks of {block // 1024} KiB on stripes of {stripe // 1024} KiB",
            f"write whole stripes: blocks and alignment of {whole // 1024} KiB, or a smaller"
            " stripe unit",
            "iostat -x 1: reads of the members while the array is only written",
            edited_plan(scenario, in_stripes),
        )


def _stripe_units(scenario: Scenario, index: int, array: ArrayPlan) -> Iterator[Suspect]:
    for kib in _UNITS:
        if kib * 1024 != array["stripe_unit_bytes"]:
            yield Suspect(
                "stripe-unit",
                f"{array['name']}: stripe unit of {array['stripe_unit_bytes'] // 1024} KiB",
                f"a stripe unit of {kib} KiB; it is chosen when an array is made",
                "mdadm --detail /dev/mdX | grep Chunk; storcli /c0/vall show all | grep Strip",
                edited_tree(scenario, partial(_with_unit, index, kib)),
                at_least_pct=25.0,
            )


def _of_caches(scenario: Scenario) -> Iterator[Suspect]:
    if not scenario.base["controllers"]:
        return
    controller = scenario.base["controllers"][0]
    caches = [cache for array in scenario.base["arrays"] if (cache := array.get("cache"))]
    if controller.get("cache") is None or not caches:
        return
    loads = scenario.base["workloads"]
    if any(cache["write"] == "write_through" for cache in caches) and any(
        load["read_share"] < 1 for load in loads
    ):

        def write_back(tree: ScenarioTree) -> None:
            for each in controller_tables(tree):
                each.update({"write": "write-back", "backup": "fbu"})

        yield Suspect(
            "write-through",
            f"{controller['name']}: writes pass the cache through",
            "replace or charge the battery or capacitor and set write-back",
            "storcli /c0/vall show; storcli /c0/bbu show (or /c0/cv show)",
            edited_tree(scenario, write_back),
        )
    sequential = any(load["access"] == "sequential" and load["read_share"] > 0 for load in loads)
    if any(cache["read_ahead"] == "none" for cache in caches) and sequential:

        def read_ahead(tree: ScenarioTree) -> None:
            for each in controller_tables(tree):
                each["read_ahead"] = "always"

        yield Suspect(
            "read-ahead",
            f"{controller['name']}: no read-ahead",
            "set read-ahead for arrays that are read in sequence",
            "storcli /c0/vall show: R or NR in the column Cache",
            edited_tree(scenario, read_ahead),
        )


def _of_drives(scenario: Scenario) -> Iterator[Suspect]:
    devices = scenario.base["devices"]
    cases: list[tuple[str, Callable[[DeviceParams], bool], DeviceChange, str, str, str]] = [
        (
            "burst-credits",
            lambda device: any(limit["burst_ns"] > _LONG_NS for limit in _limits(device)),
            _without_credits,
            "the volume's burst credit",
            "provision the rate that is needed all day",
            "aws cloudwatch get-metric-statistics --metric-name BurstBalance ...",
        ),
        (
            "slc-cache-full",
            lambda device: device["kind"] == "ssd" and bool(device["nand"].get("slc_cache")),
            _all_slc,
            "the pSLC cache of the drive",
            "write less at a time, leave time to fold, or take a drive that sustains the rate",
            "fio --rw=write --bs=1M --time_based --runtime=600 --write_bw_log=bw",
        ),
        (
            "smr-band",
            lambda device: device["kind"] == "hdd" and bool(device.get("shingled")),
            _without_shingles,
            "shingled bands of the drive",
            "drives without shingled recording (CMR) for random writes and rebuilds",
            "smartctl -i /dev/sdX: look the model up in the maker's list of SMR drives",
        ),
        (
            "power-state",
            _sleeps,
            _awake,
            "the drive's power states",
            "forbid deep power states: nvme set-feature -f 0x0c, or nvme_core."
            "default_ps_max_latency_us=0",
            "nvme get-feature -f 0x0c -H /dev/nvme0",
        ),
    ]
    for code, has, change, subject, remedy, check in cases:
        found = [at for at, device in enumerate(devices) if has(device)]
        if found:

            def on_all(plan: Plan, found: list[int] = found, change: DeviceChange = change) -> None:
                for at in found:
                    change(plan["devices"][at])

            yield Suspect(code, subject, remedy, check, edited_plan(scenario, on_all))
    host = scenario.base["host"]
    if host.get("wake_ns") or host.get("c_states"):
        yield Suspect(
            "power-state",
            "the host's idle states",
            "forbid deep C-states: cpupower idle-set -D 10, or the BIOS' performance profile",
            "cpupower idle-info; turbostat",
            edited_plan(scenario, _host_awake),
        )


def _limits(device: DeviceParams) -> list[LimitParams]:
    return device.get("limits", []) if device["kind"] == "volume" else []


def _without_credits(device: DeviceParams) -> None:
    if device["kind"] == "volume":
        device["limits"] = [each for each in _limits(device) if each["burst_ns"] <= _LONG_NS]


def _all_slc(device: DeviceParams) -> None:
    """All cells hold one bit: the cache never fills, and folding never begins."""
    cache = device["nand"].get("slc_cache") if device["kind"] == "ssd" else None
    if device["kind"] == "ssd" and cache is not None:
        nand = device["nand"]
        nand["program_ns"] = [cache["program_ns"]] * len(nand["program_ns"])
        nand["slc_cache"] = None
        nand.pop("program_bytes_per_s", None)


def _without_shingles(device: DeviceParams) -> None:
    if device["kind"] == "hdd":
        device["shingled"] = None


def _sleeps(device: DeviceParams) -> bool:
    back_end = device.get("back_end") if device["kind"] == "ssd" else None
    return back_end is not None and bool(back_end["wake_ns"])


def _awake(device: DeviceParams) -> None:
    back_end = device.get("back_end") if device["kind"] == "ssd" else None
    if back_end is not None:
        back_end["wake_ns"] = 0


def _host_awake(plan: Plan) -> None:
    plan["host"]["wake_ns"] = 0
    plan["host"]["c_states"] = []


def _of_loads(scenario: Scenario) -> Iterator[Suspect]:
    loads = scenario.base["workloads"]
    written = scenario.written.get("workload", [])
    for number, table in enumerate(written):
        keys = [key for key in _SYNCS if table.get(key)]
        if keys:

            def unsynced(
                tree: ScenarioTree, number: int = number, keys: list[_Sync] = keys
            ) -> None:
                for key in keys:
                    tree["workload"][number].pop(key)

            yield Suspect(
                "sync-flush",
                f"workload.{number}.{keys[0]}",
                "drives with power-loss protection, a protected write cache, or fewer and larger"
                " transactions",
                "fio --rw=randwrite --bs=4k --fdatasync=1; the same without it",
                edited_tree(scenario, unsynced),
            )
    for number, load in enumerate(loads):
        block = load["block_bytes"]
        # Without `align` the scenario leaves open where blocks begin: that is no fault of its.
        stated = number < len(written) and written[number].get("align") is not None
        if stated and load["access"] == "random" and load["align_bytes"] % min(block, _PAGE):

            def aligned(plan: Plan, number: int = number, block: int = block) -> None:
                own = plan["workloads"][number]
                own["align_bytes"] = block
                own["area_start_bytes"] = own["area_start_bytes"] // block * block

            yield Suspect(
                "misaligned",
                f"{load['name']}: blocks begin anywhere in units of {load['align_bytes']} bytes",
                "align partitions and I/Os with the block size",
                "parted /dev/sdX align-check optimal 1; lsblk -t",
                edited_plan(scenario, aligned),
            )
        elif load["area_start_bytes"] % min(block, _MIB):

            def started(plan: Plan, number: int = number) -> None:
                own = plan["workloads"][number]
                own["area_start_bytes"] = own["area_start_bytes"] // _MIB * _MIB

            yield Suspect(
                "misaligned",
                f"{load['name']}: the area begins at byte {load['area_start_bytes']}",
                "begin partitions at a multiple of 1 MiB",
                "parted /dev/sdX align-check optimal 1; lsblk -t",
                edited_plan(scenario, started),
            )
    if len(written) > 1:
        for number, load in enumerate(loads[: len(written)]):

            def alone(tree: ScenarioTree, number: int = number) -> None:
                # Those that stay keep the names that their places gave them.
                for place, other in enumerate(tree["workload"]):
                    other.setdefault("name", f"workload-{place}")
                del tree["workload"][number]

            yield Suspect(
                "neighbour",
                f"{load['name']} beside the others",
                "limit its rate, move it to other drives, or run it at another time",
                "pidstat -d 1; iostat -x 1 with it and without it",
                edited_tree(scenario, alone),
                at_least_pct=15.0,
            )


def _of_threads(scenario: Scenario, busy: dict[str, str]) -> Iterator[Suspect]:
    threads = [name for name, kind in busy.items() if kind == "host"]
    if any("parity thread" in name for name in threads):

        def parity(plan: Plan) -> None:
            host = plan["host"]
            host["stripe_page_ns"] //= _WIDER
            host["stripe_reread_ns"] = (host["stripe_reread_ns"] or 0) // _WIDER
            host["raid_command_ns"] //= _WIDER

        yield Suspect(
            "md-thread",
            "the one thread of md that computes parity",
            "echo 4 > /sys/block/mdX/md/group_thread_cnt",
            "top -H: mdX_raid5 at 100 % of a core",
            edited_plan(scenario, parity),
        )
    if any("parity thread" not in name for name in threads):

        def more(plan: Plan) -> None:
            host = plan["host"]
            host["cores"] *= _WIDER
            host["submit_ns"] //= _WIDER
            host["complete_ns"] //= _WIDER

        yield Suspect(
            "host-thread",
            "the host's threads",
            "more threads or processes, more cores, fewer and larger I/Os",
            "fio's usr_cpu and sys_cpu; top -H: a core at 100 %",
            edited_plan(scenario, more),
        )


def _of_queues(scenario: Scenario) -> Iterator[Suspect]:
    drives = scenario.base["drives"]
    in_flight = _in_flight(scenario)
    shallow = [drive["queue_depth"] for drive in drives if 0 < drive["queue_depth"] < 4]
    closed = [load for load in scenario.base["workloads"] if load["arrival"]["kind"] == "closed"]
    # One stream is what read-ahead and write caches are for.
    is_random = any(load["access"] == "random" for load in closed)
    data = sum(len(array["drives"]) for array in scenario.base["arrays"])
    if shallow and in_flight > len(drives):

        def deeper(plan: Plan) -> None:
            for drive in plan["drives"]:
                drive["queue_depth"] = 32

        yield Suspect(
            "queue-depth",
            f"drives that take {min(shallow)} commands at a time",
            "enable command queueing: AHCI instead of IDE mode, queue_depth of the drive at 32",
            "cat /sys/block/sdX/device/queue_depth",
            edited_plan(scenario, deeper),
        )
    elif closed and data > 1 and in_flight < data and is_random:

        def longer() -> Scenario:
            deep = [
                replace(load, outstanding=tuple(max(own, 4 * data) for own in load.outstanding))
                for load in scenario.workloads
            ]
            return replace(scenario, workloads=tuple(deep))

        yield Suspect(
            "queue-depth",
            f"{in_flight} I/Os in flight for {data} drives",
            "a deeper queue or more threads: an array needs an I/O in flight for each drive",
            "iostat -x 1: aqu-sz far below the number of drives",
            longer,
        )
    for at, controller in enumerate(scenario.base["controllers"]):
        depth = controller["queue_depth"]
        if 0 < depth < in_flight:

            def wider(plan: Plan, at: int = at) -> None:
                plan["controllers"][at]["queue_depth"] = 0

            yield Suspect(
                "controller-queue",
                f"{controller['name']}: {depth} commands at a time",
                "a controller with a deeper queue, or several",
                "cat /sys/class/scsi_host/host0/can_queue",
                edited_plan(scenario, wider),
            )


def _in_flight(scenario: Scenario) -> int:
    """I/Os that all closed loads keep in flight together, at the deepest point."""
    return max(
        sum(load.outstanding[point] * len(load.parts) for load in scenario.workloads)
        for point in range(scenario.points)
    )


def _of_links(scenario: Scenario, busy: dict[str, str]) -> Iterator[Suspect]:
    for at, link in enumerate(scenario.base["links"]):
        if busy.get(link["name"]) != "link" or _is_own(scenario, at):
            continue

        def wider(plan: Plan, at: int = at) -> None:
            link = plan["links"][at]
            link["latency_ns"] = link.get("latency_ns", 0) // _WIDER
            link["read_command_ns"] = link.get("read_command_ns", 0) // _WIDER
            link["write_command_ns"] = link.get("write_command_ns", 0) // _WIDER
            link["bytes_per_s"] *= _WIDER

        # SAS connections of several drives: a lane carries one in both directions.
        expander = not link["full_duplex"] and len(_users(scenario, at)) > 1
        yield Suspect(
            "expander" if expander else "link",
            link["name"],
            "more lanes or ports to the enclosure"
            if expander
            else "a newer or wider slot, port or adapter; a link that trains at its full width",
            "sas2ircu 0 display; smp_discover"
            if expander
            else "lspci -vv | grep LnkSta; smartctl -i /dev/sdX | grep -i 'current:'",
            edited_plan(scenario, wider),
        )


def _is_own(scenario: Scenario, link: int) -> bool:
    """True of a drive's own link at the drive's own rate: it limits by design."""
    users = _users(scenario, link)
    if len(users) != 1:
        return False
    drive = drive_name(users[0]["name"])
    model = scenario.models.get(drive.model) if drive else None
    if drive is None or model is None:
        return False
    alone = build_scenario({"array": [{"drives": [{"model": model.path or drive.model}]}]}, None)
    own: int = alone.base["links"][alone.base["drives"][0]["path"][0]]["bytes_per_s"]
    rate: int = scenario.base["links"][link]["bytes_per_s"]
    return rate >= own


def _users(scenario: Scenario, link: int) -> list[DrivePlan]:
    """Drives whose data cross a link."""
    return [drive for drive in scenario.base["drives"] if link in drive["path"]]


def _without_failures(tree: ScenarioTree) -> None:
    tree["event"] = [event for event in tree["event"] if event["action"] != "fail-drive"]


def _written_array(scenario: Scenario, at: int) -> int | None:
    """The place of an array of the plan in the file; None where one table makes several."""
    return at if len(scenario.written["array"]) == len(scenario.base["arrays"]) else None


def edited_plan(scenario: Scenario, change: PlanChange) -> Callable[[], Scenario]:
    """A scenario whose plan is changed when it is asked for."""

    def edited() -> Scenario:
        base = copy.deepcopy(scenario.base)
        change(base)
        return replace(scenario, base=base)

    return edited


def edited_tree(scenario: Scenario, change: TreeChange) -> Callable[[], Scenario]:
    """A scenario whose file is changed when it is asked for; raises `SpecError` if it cannot be."""

    def edited() -> Scenario:
        tree: ScenarioTree = json.loads(json.dumps(scenario.written, default=str))
        change(tree)
        built = build_scenario(tree, Path(scenario.path) if scenario.path else None)
        return replace(built, seed=scenario.seed)

    return edited
