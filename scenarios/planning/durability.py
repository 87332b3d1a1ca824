"""Where journals lie, how drives take flushes: what makes writes durable, for the plan."""

from __future__ import annotations

from typing import Literal

from raidlab.devices.host import HostSpec
from raidlab.devices.kernels import tick_hz
from raidlab.devices.plan_types import ArrayPlan, FileSystemPlan, Plan
from raidlab.devices.schema import DriveOptions, DriveSpec
from raidlab.devices.units import format_size
from raidlab.scenarios.planning.file_systems import disagreements, file_systems
from raidlab.scenarios.planning.parts import Parts
from raidlab.scenarios.spec.durability import FileSystemTable
from raidlab.scenarios.spec.findings import Code, Coded
from raidlab.scenarios.spec.schema import ScenarioTable

FlushCommand = Literal["queued", "alone", "dropped"]

_BLOCK = 4096
_GROUP = 128 << 20
"""Bytes of a block group of ext4; its journal begins with one, in the middle of the device."""
_EXT4_JOURNALS = (
    (32 << 20, 262_144), (16 << 20, 131_072), (8 << 20, 65_536), (4 << 20, 32_768),
    (512 << 10, 16_384), (256 << 10, 8_192), (32 << 10, 4_096), (0, 1_024),
)  # fmt: skip
"""From file systems of this many blocks on, mke2fs makes a journal of this many: mkjournal.c,
ext2fs_default_journal_size."""
_XFS_SHARE = 2048
_XFS_LEAST, _XFS_MOST = 64 << 20, 2 << 30
"""Of a log of XFS: a 2048th of the file system, within these: mkfs.xfs(8)."""
_LEAST_FILE_SYSTEM = 16 << 20


def flush_command(spec: DriveSpec, options: DriveOptions) -> FlushCommand:
    """How Linux sends a flush to a drive.

    A drive that says it has no volatile cache gets none: a disk with its cache off, a protected
    drive on NVMe. Protected SATA and SAS drives say that they have one. SATA has no queued flush.
    """
    link = spec.link()
    family = "" if link is None else link.family
    is_medium = spec.kind in ("hdd", "ssd", "xpoint")
    says_so = options.write_cache is False or spec.kind == "hdd" or family == "pcie"
    if is_medium and says_so and not spec.volatile(options):
        return "dropped"
    return "alone" if family == "sata" else "queued"


def _flushes_of_drives(parts: Parts) -> list[FlushCommand]:
    """How Linux sends a flush to each drive of a system."""
    drives = zip(parts.drives, parts.options_of_drive, strict=True)
    return [flush_command(drive.spec, options) for drive, options in drives]


def takes_fua(spec: DriveSpec, options: DriveOptions) -> bool:
    """Whether Linux sends a drive writes with FUA: SSDs with a volatile cache over NVMe or SAS.

    NVMe drives with such a cache have it (nvme_update_disk_info), and SAS drives say it in their
    mode page (sd.c, DPOFUA). libata leaves it off (`libata.fua`). Disks are left out.
    """
    link = spec.link()
    family = "" if link is None else link.family
    return spec.kind == "ssd" and family in ("pcie", "sas") and spec.volatile(options)


def durable_writes(plan: Plan, table: ScenarioTable, parts: Parts) -> None:
    """Says how drives take flushes and which writes carry FUA.

    Args:
        plan: The plan, with its drives, arrays, loads and jobs; `sync` of a load says whether its
            writes ask for FUA.
        table: The scenario; one without loads is driven from outside, by whatever asks.
        parts: Its arrays.
    """
    _drive_flushes(plan, table, parts)
    _forced_writes(plan, parts)


def _forced_writes(plan: Plan, parts: Parts) -> None:
    """Says which writes of the plan carry FUA."""
    drives = zip(parts.drives, parts.options_of_drive, strict=True)
    takers = [takes_fua(drive.spec, options) for drive, options in drives]
    flushes = _flushes_of_drives(parts)
    arrays = plan["arrays"]
    forces = [_passes_fua(array, flushes, takers) for array in arrays]
    if parts.outside:
        for array, possible in zip(arrays, forces, strict=True):
            if possible:
                array["takes_fua"] = True
    for array, possible in zip(arrays, forces, strict=True):
        system, bitmap = array.get("file_system"), array.get("bitmap")
        none_flushed = all(flushes[drive] == "dropped" for drive in array["drives"])
        if (possible or none_flushed) and system is not None and system["flushes"]:
            system["fua"] = True
        if possible and bitmap is not None and bitmap["flushes"]:
            bitmap["fua"] = True
    on_files = ["file_system" in array for array in arrays]
    for load in plan["workloads"]:
        sync, at = load.get("sync"), load["array"]
        if sync is None or not sync.get("fua"):
            continue
        alone = not sync["times"] and not sync["allocates"]
        if not forces[at] or (on_files[at] and not alone):
            del sync["fua"]
    jobs = plan.get("jobs")
    for thread in [] if jobs is None else jobs["threads"]:
        syncs, at = thread["syncs"], thread["array"]
        alone = bool(syncs.get("data_only")) and not syncs.get("allocates")
        if forces[at] and syncs["each_write"] and (alone or not on_files[at]):
            syncs["fua"] = True


def _passes_fua(array: ArrayPlan, flushes: list[FlushCommand], takers: list[bool]) -> bool:
    """Whether writes with FUA to an array reach its drives so.

    They do on one drive and on arrays in the host, if all drives that are flushed take FUA. With
    parity all that a stripe writes has it (drivers/md/raid5.c, `R5_WantFUA`).
    """
    flushed = [drive for drive in array["drives"] if flushes[drive] != "dropped"]
    if not flushed or not all(takers[drive] for drive in flushed):
        return False
    if len(array["drives"]) == 1:
        return "cache" not in array
    return array["software"]


def _drive_flushes(plan: Plan, table: ScenarioTable, parts: Parts) -> None:
    """Says of each drive of the plan how it takes flushes, if anything sends it some."""
    jobs = plan.get("jobs")
    syncs = [] if jobs is None else [thread["syncs"] for thread in jobs["threads"]]
    asked = (
        parts.outside
        or any(load.makes_durable for load in table.workload)
        or any(s["fsync"] or s["fdatasync"] or s["at_end"] or s["each_write"] for s in syncs)
        or any(_flushes(array) for array in parts.arrays)
    )
    for drive, flush in zip(plan["drives"], _flushes_of_drives(parts), strict=True):
        if asked and flush != "queued":
            drive["flush"] = flush


def _flushes(array: ArrayPlan) -> bool:
    bitmap = array.get("bitmap")
    return "file_system" in array or (bitmap is not None and bitmap["flushes"])


def journal_bytes(table: FileSystemTable, usable: int) -> int:
    """Bytes of the journal that mkfs makes on this many usable bytes, unless it is stated."""
    if table.journal is not None:
        return table.journal // _BLOCK * _BLOCK
    if table.type == "xfs":
        return min(max(usable // _XFS_SHARE, _XFS_LEAST), _XFS_MOST, usable // 4) // _BLOCK * _BLOCK
    blocks = usable // _BLOCK
    return next(journal for least, journal in _EXT4_JOURNALS if blocks >= least) * _BLOCK


def journal_start(usable: int, journal: int) -> int:
    """Where the journal begins: in the middle of the device, as mke2fs and mkfs.xfs place it."""
    middle = usable // 2
    unit = _GROUP if middle >= 2 * _GROUP else _BLOCK
    return min(middle // unit * unit, (usable - journal) // _BLOCK * _BLOCK)


def file_system_plan(
    table: FileSystemTable, usable: int, *, flushed: bool, wake_ns: int, kernel: str = ""
) -> FileSystemPlan:
    """`FileSystemPlan` of the native engine.

    Args:
        table: The file system.
        usable: Bytes of its array.
        flushed: Whether anything of the array is sent flushes.
        wake_ns: CPU time of a thread that wakes up.
        kernel: Its release name, if it is known: files have the granularity of its ticks.
    """
    journal = journal_bytes(table, usable)
    return {
        "journal": table.type,
        "start_bytes": journal_start(usable, journal),
        "bytes": journal,
        "tick_ns": 10**9 // tick_hz(kernel),
        "flushes": table.barrier and flushed,
        "async_commit": table.journal_async_commit,
        "wake_ns": wake_ns,
    }


def add_file_systems(table: ScenarioTable, parts: Parts, host: HostSpec | None) -> None:
    """Gives arrays of the plan their file systems; faults and warnings go to `parts`."""
    clock = parts.clock
    wake = 0 if host is None else round(host.wake * (host.clock / clock if clock else 1.0))
    flushes = _flushes_of_drives(parts)
    systems = file_systems(table)
    durable = bool(systems)
    for key, value, allowed in disagreements(table, systems):
        parts.faults.add(key, value, allowed)
    for name, said in systems.items():
        key, system = said.key, said.table
        indices, usable = parts.offered.get(name, ([], None))
        if usable is None:
            continue
        most = usable // 2
        if usable < _LEAST_FILE_SYSTEM:
            least = format_size(_LEAST_FILE_SYSTEM)
            allowed = f"an array of at least {least}; this one has {format_size(usable)}"
            parts.faults.add(key, system.type, allowed)
            continue
        if system.journal is not None and not 1 << 20 <= system.journal <= most:
            allowed = f"1 MiB to {format_size(most)}, half of the array"
            parts.faults.add(f"{key}.journal", format_size(system.journal), allowed)
            continue
        if not system.barrier:
            text = (
                f"{key}.barrier: without flushes an outage loses what fsync has promised,"
                " unless every cache on the path is protected"
            )
            parts.warnings.append(Coded(text, Code.DATA_AT_RISK, f"{key}.barrier"))
        for index in indices:
            drives = parts.arrays[index]["drives"]
            flushed = any(flushes[drive] != "dropped" for drive in drives)
            # md says it has a volatile cache, whatever its members say.
            flushed |= "flush_hand_ns" in parts.arrays[index].get("md", {})
            kernel = table.host.kernel or ""
            plan = file_system_plan(system, usable, flushed=flushed, wake_ns=wake, kernel=kernel)
            parts.arrays[index]["file_system"] = plan
    for at, load in enumerate(table.workload):
        durable |= load.makes_durable
        target = table.target_name(at)
        if load.append and target not in systems and target in parts.offered:
            allowed = f"left out: array {target} has no file_system, so nothing can be appended"
            parts.faults.add(f"workload.{at}.append", True, allowed)
    for at, event in enumerate(table.event):
        if durable and event.action == "power-fail":
            allowed = (
                "left out beside file_system, fsync, fdatasync, sync and o_dsync: what they lose"
                " is not modelled"
            )
            parts.faults.add(f"event.{at}.action", event.action, allowed)
