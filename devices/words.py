"""What people call things, and what raidlab calls them: one table for every message.

Keys are in small letters without spaces, dashes or underscores, as `folded` gives them.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path

from raidlab.devices.words_of_keys import (
    MORE_ARRAY_KEYS,
    MORE_CONTROLLER_KEYS,
    MORE_DRIVE_KEYS,
    MORE_HOST_KEYS,
    MORE_LOAD_KEYS,
    MORE_SCENARIO_KEYS,
    VALUES,
)

ARRAY_KEYS: Mapping[str, str] = {
    **MORE_ARRAY_KEYS,
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
    "distributed_spares": "declustered = { stripe_width, spares }",
    "distributed_spare": "declustered = { stripe_width, spares }",
    "draid": "declustered = { stripe_width, spares }",
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
    "cache": "cache_tier or host_cache (SSDs) or controller.write (the controller's memory)",
    "bcache": 'host_cache = { kind = "bcache" }',
    "lvmcache": 'host_cache = { kind = "dm-cache" }',
    "fs": "file_system",
    "filesystem": "file_system",
    "fstype": "file_system",
    "fs_type": "file_system",
    "format": "file_system (of a drive: format beside its model)",
}
"""Keys of `[[array]]`."""
HOST_KEYS: Mapping[str, str] = {
    **MORE_HOST_KEYS,
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
    **MORE_CONTROLLER_KEYS,
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
}
"""Keys of `[controller]`."""
DRIVE_KEYS: Mapping[str, str] = {
    **MORE_DRIVE_KEYS,
    "name": "model",
    "device": "model",
    "drive": "model",
    "number": "count",
    "num": "count",
    "n": "count",
}
"""Keys of one entry of `drives`."""
LOAD_KEYS: Mapping[str, str] = {
    **MORE_LOAD_KEYS,
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
    **MORE_SCENARIO_KEYS,
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
    "draid": "raid6",
    "draid1": "raid5",
    "draid2": "raid6",
    "adapt": "raid6",
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
    "draid": "raid5 or raid6 with declustered = { stripe_width, spares } is it, with fixed stripes",
    "adapt": "ADAPT is raid6 with declustered = { stripe_width = 10, spares = 2 }",
    "ddp": "dynamic disk pools are raid6 with declustered = { stripe_width = 10, spares = 1 }",
    "declusteredraid": "raid5 or raid6 with declustered = { stripe_width, spares }",
    "ceph": "Ceph is not modelled: three copies over the network are not raid10 in one host",
    "storagespaces": "Storage Spaces is not modelled: mirror spaces are like raid10 with"
    ' software_raid = "os", parity spaces like raid5 without their journal',
    "btrfs": "btrfs is not modelled: its raid1 and raid10 are like ours without copy on write",
    "lvmthin": "thin pools are not modelled: an array is like a pool that is allocated already",
    "bcache": "bcache is a cache and no RAID: host_cache of an array",
    "snapshot": "snapshots are not modelled: an array is like a volume that has none; below one the"
    " first write to each block copies it",
    "dmcache": "dm-cache is a cache and no RAID: host_cache of an array",
    "lvmcache": "lvmcache is a cache and no RAID: host_cache of an array",
    "dmwritecache": "dm-writecache is a cache and no RAID: host_cache of an array",
    "dedup": "deduplication is not modelled: compressible has what compression saves",
    "deduplication": "deduplication is not modelled: compressible has what compression saves",
    "raid01": "mirrored stripes are not modelled: raid10 stripes over mirrors, with the same rates,"
    " but survives more second failures",
    "raid0+1": "mirrored stripes are not modelled: raid10 stripes over mirrors, with the same"
    " rates, but survives more second failures",
    "raid3": "not modelled: raid5 rotates the parity that raid3 and raid4 have on one drive",
    "raid4": "not modelled: raid5 rotates the parity that raid3 and raid4 have on one drive",
    "raid7": "not modelled: raid6 has two parities",
    "raid2": "not modelled: raid5 has parity in place of a Hamming code",
    "raid5e": "raid5 with declustered = { stripe_width, spares = 1 }, one drive narrower",
    "raid5ee": "raid5 with declustered = { stripe_width, spares = 1 }, one drive narrower",
    "draid1": "raid5 with declustered = { stripe_width, spares } is it, with fixed stripes",
    "draid2": "raid6 with declustered = { stripe_width, spares } is it, with fixed stripes",
    "draid3": "three parities are not modelled: raid6 with declustered has two",
    "shr": "Synology's SHR is md below LVM: raid5 of drives of one size is the same",
    "shr2": "Synology's SHR is md below LVM: raid6 of drives of one size is the same",
    "unraid": "not modelled: its data are not striped, raid5 stripes them",
    "snapraid": "not modelled: its parity is made now and then, independent drives come nearest",
    "erasure": "erasure coding over servers is not modelled: raid6 has two parities in one host",
    "erasurecoding": "erasure coding over servers is not modelled: raid6 has two parities in one"
    " host",
    "vsan": "vSAN is not modelled: its copies are in other servers",
    "far": 'md\'s far layout is raid10 with layout = "far2"',
    "offset": 'md\'s offset layout is raid10 with layout = "offset2"',
    "vroc": 'VROC is md below Intel\'s firmware: software_raid = "os" is the same',
    "dmcrypt": "encryption is not modelled: it costs CPU time of the host, and cuts buffered writes"
    " into pages, which raid5 and raid6 pay for",
    "luks": "encryption is not modelled: it costs CPU time of the host, and cuts buffered writes"
    " into pages, which raid5 and raid6 pay for",
    "journal": "a journal of stripes (mdadm --write-journal) is not modelled, nor its cache",
    "writejournal": "a journal of stripes (mdadm --write-journal) is not modelled, nor its cache",
    "ppl": "md's partial parity log is not modelled: without it small writes are faster",
    "zpool": "ZFS is not modelled: mirrors are raid10, raidz is like raid5 with fixed stripes",
    "vdev": "ZFS is not modelled: a raidz vdev makes random reads like one drive, raid5 like all",
    "recordsize": "ZFS is not modelled: block_size of the load is what an application asks for",
    "ashift": "ZFS is not modelled: align of the load is what its offsets are multiples of",
    "slog": "ZFS is not modelled: file_system has a journal, on the drives of the array itself",
    "zil": "ZFS is not modelled: file_system has a journal, on the drives of the array itself",
    "l2arc": 'ZFS is not modelled: host_cache with mode = "writearound" caches reads alone',
    "specialvdev": "ZFS is not modelled: the metadata of a file system cost no reads here",
    "storagespacesdirect": "Storage Spaces Direct is not modelled: its copies are in other servers",
    "s2d": "Storage Spaces Direct is not modelled: its copies are in other servers",
    "spaces": "Storage Spaces is not modelled: mirror spaces are like raid10 with"
    ' software_raid = "os", parity spaces like raid5 without their journal',
    "parity": "parity spaces are not modelled: raid5 has no journal of its own before the parity",
    "thin": "thin pools are not modelled: an array is like a pool that is allocated already",
    "thinpool": "thin pools are not modelled: an array is like a pool that is allocated already",
    "snapshots": "snapshots are not modelled: an array is like a volume that has none; below one"
    " the first write to each block copies it",
    "vdo": "deduplication is not modelled: compressible has what compression saves",
    "compression": "of arrays not modelled: compressible of a load is for drives that compress",
    "gluster": "Gluster is not modelled: its copies are in other servers",
    "glusterfs": "Gluster is not modelled: its copies are in other servers",
    "minio": "erasure coding over servers is not modelled: raid6 has two parities in one host",
    "rst": 'Intel\'s RST is not modelled: under Linux it is md, software_raid = "os"',
    "intelrst": 'Intel\'s RST is not modelled: under Linux it is md, software_raid = "os"',
    "ntfs": "NTFS is not modelled: xfs writes its log record alike, but waits for other steps",
    "refs": "ReFS is not modelled: xfs overwrites in place, ReFS writes metadata elsewhere",
    "ext3": "ext3 is not modelled: ext4 has its journal, with blocks that are allocated later",
    "f2fs": "F2FS is not modelled: it writes blocks and nodes to a log, ext4 has a journal",
    "jfs": "JFS is not modelled: xfs writes records of its log alike",
    "reiserfs": "ReiserFS is not modelled: ext4 has blocks and a commit block in a journal as well",
    "ext2": "ext2 has no journal: leave file_system out, fsync is a flush then",
    "vfat": "FAT has no journal: leave file_system out, fsync is a flush then",
    "exfat": "exFAT has no journal: leave file_system out, fsync is a flush then",
    "vmfs": "VMFS is not modelled: leave file_system out, a guest's writes pass it as they are",
}
"""What is not modelled there: what comes nearest, and how it differs."""

GENERIC: Mapping[str, str] = {
    "hdd": "generic-7200rpm",
    "disk": "generic-7200rpm",
    "harddisk": "generic-7200rpm",
    "7.2k": "generic-7200rpm",
    "7200": "generic-7200rpm",
    "nearline": "generic-nl-sas-16tb",
    "nlsas": "generic-nl-sas-16tb",
    "10k": "generic-sas-10k",
    "15k": "generic-15000rpm",
    "ssd": "generic-sata-tlc",
    "satassd": "generic-sata-tlc",
    "tlc": "generic-sata-tlc",
    "sasssd": "generic-sas-ssd",
    "nvmessd": "generic-nvme-gen4-tlc",
    "nvmedrive": "generic-nvme-gen4-tlc",
    "m.2": "generic-nvme-gen4-tlc-client",
    "u.2": "generic-nvme-gen4-tlc",
    "flash": "generic-nvme-gen4-tlc",
    "qlc": "generic-nvme-gen4-qlc",
}
"""What people call a drive of no maker, and the catalogue's."""

_MAKERS = frozenset({
    "samsung", "intel", "solidigm", "micron", "crucial", "kingston", "seagate", "toshiba", "kioxia",
    "hgst", "hitachi", "sandisk", "wd", "western", "digital", "skhynix", "sk", "hynix", "ssd",
    "hdd", "disk", "drive", "nvme", "sata", "sas", "series",
})  # fmt: skip
"""Words of a drive's name that tell few drives apart."""
_CAPACITY = re.compile(r"(?<![\w.])(\d+(?:[.,]\d+)?)\s*(tb|t|gb|g)(?![a-z])")
_ENOUGH_WORDS = 0.6
"""Share of the words that a device must have in common."""
_SLIP = 0.8
"""Similarity from which on a number differs from another by a slip of the pen."""


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


def value_meant(key: str, text: str) -> str:
    """The end of a message about a value of a key: which is meant; empty if nobody knows."""
    meant = VALUES.get(key, {}).get(folded(text))
    return "" if meant is None else f'; "{text}" is "{meant}" here'


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


def device_meant(written: str, known: Collection[tuple[str, Path]]) -> str | None:
    """The device of the catalogue that a maker's name, in any spelling, or a part number means.

    Args:
        written: What a person wrote: `Samsung SSD 870 EVO 1TB`.
        known: Names of devices and their files.
    """
    generic = GENERIC.get(folded(written))
    if generic is not None and any(name == generic for name, _ in known):
        return generic
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


def of_one_model(written: str, known: Iterable[str]) -> list[str]:
    """Names that may be a slip of what was written: a model's number is not another model's.

    Args:
        written: What a person wrote, without a name that begins so.
        known: Names of devices.
    """
    numbers = {part for part in _parts(written) if any(map(str.isdigit, part))}
    return [
        name
        for name in known
        if not numbers or numbers & _parts(name) or _is_like(written.lower(), name.lower())
    ]


def _parts(name: str) -> set[str]:
    return set(re.split(r"[^a-z0-9.]+", name.lower()))


def _is_like(written: str, name: str) -> bool:
    alike = difflib.SequenceMatcher(None, written, name).ratio() >= _SLIP
    return alike or name.startswith(written)
