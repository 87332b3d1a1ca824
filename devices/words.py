"""What people call things, and what raidlab calls them: one table for every message.

Keys are in small letters without spaces, dashes or underscores, as `folded` gives them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

ARRAY_KEYS: Mapping[str, str] = {
    "chunk": "stripe_unit",
    "chunk_size": "stripe_unit",
    "strip": "stripe_unit",
    "strip_size": "stripe_unit",
    "stripe_size": "stripe_unit (of one drive; a stripe has one on each)",
    "stripe_width": "stripe_unit (of one drive; a stripe has one on each)",
    "segment_size": "stripe_unit",
    "element_size": "stripe_unit",
    "raid": "level",
    "raid_level": "level",
    "type": "level",
    "disks": "drives",
    "devices": "drives",
    "members": "drives",
    "spares": "hot_spares",
    "hotspares": "hot_spares",
    "size": "used",
    "region_size": "bitmap_chunk",
    "regionsize": "bitmap_chunk",
    "speed_limit_min": "sync_speed_min",
    "speed_limit_max": "sync_speed_max",
    "sync_speed": "sync_speed_max, or sync_speed_min under load,",
    "group_threads": "group_thread_cnt",
    "worker_threads": "group_thread_cnt",
    "stripe_cache": "stripe_cache_size",
    "md": 'software_raid = "os"',
    "mdadm": 'software_raid = "os"',
    "lvm": 'software_raid = "lvm"',
    "dmraid": 'software_raid = "lvm"',
    "cache": "cache_tier (SSDs) or controller.write (the controller's memory)",
    "fs": "file_system",
    "filesystem": "file_system",
    "fstype": "file_system",
    "fs_type": "file_system",
    "format": "file_system (of a drive: format beside its model)",
}
"""Keys of `[[array]]`."""
HOST_KEYS: Mapping[str, str] = {
    "cores": "threads (of each load; the model has the cores)",
    "cpus": "threads (of each load; the model has the cores)",
    "linux": "kernel",
    "kernel_version": "kernel",
    "uname": "kernel",
    "numa_nodes": "sockets",
    "nodes": "sockets",
    "frequency": "clock",
    "name": "model",
}
"""Keys of `[host]`."""
CONTROLLER_KEYS: Mapping[str, str] = {
    "write_policy": "write",
    "write_cache": "write, or disk_cache for the drives' own caches,",
    "wb": 'write = "write-back"',
    "wt": 'write = "write-through"',
    "awb": 'write = "always-write-back"',
    "ra": "read_ahead",
    "readahead": "read_ahead",
    "read_policy": "read_ahead",
    "io_policy": "io_cache",
    "bbu": "backup",
    "battery": "backup",
    "cachevault": "backup",
    "name": "model",
}
"""Keys of `[controller]`."""
DRIVE_KEYS: Mapping[str, str] = {
    "name": "model",
    "device": "model",
    "drive": "model",
    "number": "count",
    "num": "count",
    "n": "count",
}
"""Keys of one entry of `drives`."""
LOAD_KEYS: Mapping[str, str] = {
    "qd": "outstanding",
    "depth": "outstanding",
    "io_depth": "outstanding",
    "jobs": "threads (outstanding is that of all together)",
    "iosize": "block_size",
    "io_size": "block_size",
    "read_percent": "read_share, from 0 to 1,",
    "iops": 'rate (an open load) or limit ("5000 IO/s")',
}
"""Keys of `[[workload]]` beside fio's own."""
SCENARIO_KEYS: Mapping[str, str] = {
    "hba": "controller",
    "raid_controller": "controller",
    "adapter": "controller",
    "hosts": "host",
    "server": "host",
    "vd": "array",
    "ld": "array",
    "lun": "array",
    "arrays": "array",
    "volume": "array",
    "pool": "array",
    "vdev": "array",
    "load": "workload",
    "job": "workload",
    "jobs": "workload",
    "workloads": "workload",
    "events": "event",
}
"""Tables of a scenario."""

LEVELS: Mapping[str, str] = {
    "0": "raid0",
    "stripe": "raid0",
    "striped": "raid0",
    "1": "raid1",
    "mirror": "raid1",
    "5": "raid5",
    "6": "raid6",
    "10": "raid10",
    "raid1+0": "raid10",
    "raid0+1": "raid10",
    "raid01": "raid10",
    "1+0": "raid10",
    "raid5+0": "raid50",
    "raid6+0": "raid60",
    "raiddp": "raid6",
    "raidz": "raid5",
    "raidz1": "raid5",
    "raidz2": "raid6",
    "lun": "jbod",
    "single": "jbod",
    "none": "jbod",
    "passthrough": "jbod",
    "raw": "jbod",
    "linear": "jbod",
}
"""Values of `level`, and the level that is meant or comes nearest."""
NEAREST: Mapping[str, str] = {
    "raidz": "ZFS is not modelled: raid5 has its parity but fixed stripes, so it reads and writes"
    " back where ZFS writes whole records elsewhere",
    "raidz1": "ZFS is not modelled: raid5 has its parity but fixed stripes, so it reads and writes"
    " back where ZFS writes whole records elsewhere",
    "raidz2": "ZFS is not modelled: raid6 has its two parities but fixed stripes",
    "raidz3": "ZFS is not modelled, nor are three parities: raid6 has two and fixed stripes",
    "zfs": "ZFS is not modelled: mirrors are raid10, raidz is like raid5 with fixed stripes",
    "draid": "distributed spares are not modelled: raid50 or raid60 with hot_spares come nearest",
    "ceph": "Ceph is not modelled: three copies over the network are not raid10 in one host",
    "storagespaces": "Storage Spaces is not modelled: mirror spaces are like raid10 with"
    ' software_raid = "os", parity spaces like raid5 without their journal',
    "btrfs": "btrfs is not modelled: its raid1 and raid10 are like ours without copy on write",
    "lvmthin": "thin pools are not modelled: an array is like a pool that is allocated already",
    "bcache": "bcache is not modelled: cache_tier is a cache of SSDs behind a controller",
    "snapshot": "snapshots are not modelled: an array is like a volume that has none; below one the"
    " first write to each block copies it",
    "dmcache": "dm-cache is not modelled: cache_tier is a cache of SSDs behind a controller",
    "lvmcache": "lvmcache is not modelled: cache_tier is a cache of SSDs behind a controller",
    "dmwritecache": "dm-writecache is not modelled: cache_tier is a cache of SSDs behind a"
    " controller, which keeps what is read often too",
    "dedup": "deduplication is not modelled: compressible has what compression saves",
    "deduplication": "deduplication is not modelled: compressible has what compression saves",
    "raid01": "mirrored stripes are not modelled: raid10 stripes over mirrors, with the same rates,"
    " but survives more second failures",
    "raid0+1": "mirrored stripes are not modelled: raid10 stripes over mirrors, with the same"
    " rates, but survives more second failures",
    "raid3": "not modelled: raid5 rotates the parity that raid3 and raid4 have on one drive",
    "raid4": "not modelled: raid5 rotates the parity that raid3 and raid4 have on one drive",
    "raid7": "not modelled: raid6 has two parities",
}
"""What is not modelled: what comes nearest, and how it differs."""

_MAKERS = frozenset({
    "samsung", "intel", "solidigm", "micron", "crucial", "kingston", "seagate", "toshiba", "kioxia",
    "hgst", "hitachi", "sandisk", "wd", "western", "digital", "skhynix", "sk", "hynix", "ssd",
    "hdd", "disk", "drive", "nvme", "sata", "sas", "series",
})  # fmt: skip
"""Words of a drive's name that tell few drives apart."""
_CAPACITY = re.compile(r"(?<![\w.])(\d+(?:[.,]\d+)?)\s*(tb|t|gb|g)(?![a-z])")
_ENOUGH_WORDS = 0.6
"""Share of the words that a device must have in common."""


def folded(text: str) -> str:
    """A word as the tables have it."""
    return re.sub(r"[\s_-]+", "", text.strip().lower())


def nearest_to(text: str) -> str:
    """The end of a message about what is not modelled: what comes nearest, if anything."""
    word = folded(text)
    return f"; {NEAREST[word]}" if word in NEAREST else ""


def level_meant(text: str) -> str:
    """The end of a message about a level: which is meant; empty if nobody knows."""
    word = folded(text)
    if word in NEAREST:
        return nearest_to(text)
    return f'; "{text}" is "{LEVELS[word]}" here' if word in LEVELS else ""


def _words(text: str) -> frozenset[str]:
    """Words of a drive's name, its capacity in GB among them; makers' names aside."""
    text = text.lower().replace("_", " ")
    found = set()
    for number, unit in _CAPACITY.findall(text):
        factor = 1000 if unit.startswith("t") else 1
        found.add(f"{float(number.replace(',', '.')) * factor:g} GB")
    rest = _CAPACITY.sub(" ", text)
    found |= {word for word in re.split(r"[^a-z0-9.]+", rest) if word}
    return frozenset(found - _MAKERS)


@cache
def _known(path: Path) -> tuple[frozenset[str], str]:
    """Words of a device's file: its name, other names and title; and its text for part numbers."""
    text = path.read_text("utf-8")
    tree = tomllib.loads(text)
    name = str(tree.get("name", ""))
    model, _, size = name.rpartition("-")
    if re.fullmatch(r"[\d.]+t?", size):
        name = f"{model} {size.removesuffix('t')} {'t' if size.endswith('t') else 'g'}"
    said = " ".join([name.replace("-", " "), *tree.get("aliases", ()), str(tree.get("title", ""))])
    return _words(said), text.lower()


def device_meant(written: str, known: Iterable[tuple[str, Path]]) -> str | None:
    """The device of the catalogue that a maker's name, in any spelling, or a part number means.

    Args:
        written: What a person wrote: `Samsung SSD 870 EVO 1TB`.
        known: Names of devices and their files.
    """
    wanted = _words(written)
    part = written.strip().lower()
    is_part = len(part) >= 6 and any(c.isdigit() for c in part) and " " not in part
    best: tuple[float, float, str] | None = None
    for _, path in known:
        words, text = _known(path)
        if is_part and re.search(rf"(?<![\w-]){re.escape(part)}(?![\w-])", text):
            return path.stem
        shared = wanted & words
        share = len(shared) / max(1, len(wanted))
        # A capacity alone makes no model, and a model's number is not another's.
        numbers = {word for word in wanted if any(map(str.isdigit, word)) and " " not in word}
        if share < _ENOUGH_WORDS or not {each for each in shared if " " not in each}:
            continue
        if numbers and not numbers & words:
            continue
        score = (-share, float(len(words - wanted)), path.stem)
        best = score if best is None or score < best else best
    return None if best is None else best[2]
