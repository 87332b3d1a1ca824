"""Which devices count: whole disks, each I/O once.

A partition, a device-mapper target, an md array, a sum and an adapter count the I/Os of a disk
again. Where the disk is in the file, only the disk is taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from raidlab.calibration.monitoring.samples import Capture, Layer, Quantity, Series

_PARTITION = re.compile(
    r"((?:nvme\d+n\d+|mmcblk\d+|nbd\d+|md\d+|pmem\d+|cciss[!/]c\d+d\d+|rd[!/]c\d+d\d+|disk\d+|loop\d+"
    r"|dasd[a-z]+|bcache\d+|rbd\d+)(?=p\d+|s\d+)|(?:s|v|xv|h|ub)d[a-z]+|dasd[a-z]+)(?:p|s)?\d+"
)
_PART_OF_LINK = re.compile(r"(.+)-part\d+|(0x[0-9a-fA-F]{16})-\d+")
"""A partition by its link below /dev/disk, or by the World Wide Name that sar -j SID prints."""
_DISK = re.compile(
    r"(?:ata|scsi|nvme|wwn|usb|virtio|mmc|google|pci|ip|fc|sas|platform)-[^/]+|0x[0-9a-fA-F]{16}"
    r"|(?:s|v|xv|h|ub)d[a-z]+|nvme\d+n\d+|mmcblk\d+|dasd[a-z]+|pmem\d+|nbd\d+|rbd\d+|rssd[a-z]+"
    r"|cciss[!/]c\d+d\d+|ida[!/]c\d+d\d+|rd[!/]c\d+d\d+|hdisk\d+|(?:a?da|nvd|nda|mfid|mfisyspd|vtbd"
    r"|ad|aacd|xbd)\d+|c\d+t[0-9A-Fa-f]+d\d+|disk\d+|\d+( [A-Za-z]:)*|(?:naa|eui|t10|mpx)\..+"
    r"|vmhba.*:.*"
    r"|vol-?[0-9a-f]+|PhysicalDisk\d+"
)
_MEMORY = re.compile(
    r"loop\d+|ram\d+|zram\d+|sr\d+|scd\d+|fd\d+|cd\d+|mtdblock\d+|pass\d+|md\d+s?$x"
)
_ABOVE = re.compile(
    r"(?:dm|md)-(?:uuid|name)-.+|lvm-pv-.+|dm-\d+|md\d+|md_\w+|md/.+|md[A-Za-z]\w*|bcache\d+|drbd\d+|zd\d+|mpath\w+|\d[0-9a-f]{16,32}"
    r"|emcpower\w+|hdiskpower\d+|vx\w+|\d+:md\w*"
)
_SUM = re.compile(r"_total|total|all|disk\.all|sum|\*", re.IGNORECASE)
_MAJORS = re.compile(r"dev(\d+)-(\d+)")
_SCSI = {8, *range(65, 72), *range(128, 136)}
_SAME = 0.005


def layer_of(name: str) -> Layer | None:
    """Where a device stands by its name; None if the name does not say it."""
    short = name.rpartition("/")[2] if name.count("/") == 1 and "!" not in name else name
    for text in (name, short, name.removeprefix("/dev/")):
        if _SUM.fullmatch(text):
            return Layer.SUM
        if _MEMORY.fullmatch(text):
            return Layer.MEMORY
        if _PARTITION.fullmatch(text) or _PART_OF_LINK.fullmatch(text):
            return Layer.PARTITION
        if _ABOVE.fullmatch(text):
            return Layer.ABOVE
        if _DISK.fullmatch(text):
            return Layer.DISK
        found = _MAJORS.fullmatch(text)
        if found:
            return _by_number(int(found[1]), int(found[2]))
    return None


def _by_number(major: int, minor: int) -> Layer | None:
    if major in _SCSI:
        return Layer.DISK if minor % 16 == 0 else Layer.PARTITION
    if major in (9,):
        return Layer.ABOVE
    if major in (1, 7, 11, 2):
        return Layer.MEMORY
    if major == 202 or 104 <= major <= 111 or 72 <= major <= 79:
        # Xen's disks, and logical drives of Smart Array controllers.
        return Layer.DISK if minor % 16 == 0 else Layer.PARTITION
    if major == 259:
        return Layer.DISK
    # 252 to 254 are given as drivers come: device mapper or virtio.
    return None


def _parent(name: str) -> str | None:
    link = _PART_OF_LINK.fullmatch(name)
    if link:
        return link[1] or link[2]
    found = _PARTITION.fullmatch(name) or _PARTITION.fullmatch(name.rpartition("/")[2])
    if found:
        prefix = name[: len(name) - len(found[0])]
        return prefix + found[1]
    found = _MAJORS.fullmatch(name)
    if found and int(found[1]) in _SCSI:
        return f"dev{found[1]}-{int(found[2]) // 16 * 16}"
    return None


def default_devices(capture: Capture) -> list[str]:
    """The devices to take unless asked otherwise, in the order of the file."""
    series = capture.series
    layers = {name: each.layer or layer_of(name) for name, each in series.items()}
    for name, layer in layers.items():
        if layer is Layer.PARTITION and series[name].layer is None:
            # A partition whose disk is not in the file stands for it.
            parent = _parent(name)
            if parent is not None and parent not in series:
                layers[name] = None
    disks = [name for name, layer in layers.items() if layer is Layer.DISK]
    disks = _without_paths(disks)
    unknown = [name for name, layer in layers.items() if layer is None]
    if disks:
        taken = [name for name in unknown if not _above(name, disks, series)]
        return [name for name in series if name in disks or name in taken]
    if unknown:
        maps = [name for name in layers if name.startswith("mpath")]
        lowest = maps or _distinct(unknown, series)
        return [name for name in series if name in lowest]
    for prefix in ("mpath", "", "md", "dm-"):
        above = [
            name
            for name, layer in layers.items()
            if layer is Layer.ABOVE
            and name.startswith(prefix)
            and (prefix or not name.startswith(("md", "dm-")))
        ]
        if above:
            return above
    for layer in (Layer.PARTITION, Layer.SUM, Layer.ADAPTER):
        rest = [name for name, each in layers.items() if each is layer]
        if rest:
            return rest
    return list(series) if not any(layers.values()) else []


def _without_paths(disks: Sequence[str]) -> list[str]:
    """Without the paths of NVMe multipath: `nvme0c1n1` is one of `nvme0n1`."""
    return [name for name in disks if not re.search(r"nvme\d+c\d+n\d+", name)]


def _above(name: str, disks: Sequence[str], series: Mapping[str, Series]) -> bool:
    """True if a device of unknown kind stands above disks of the file.

    Names that are no disk's are device-mapper names where iostat was run with -N, or `dev253-0`.
    """
    if _MAJORS.fullmatch(name):
        return True
    return not any(series[disk].layer is not None for disk in disks)


def _distinct(names: Sequence[str], series: Mapping[str, Series]) -> list[str]:
    """Devices of which none has the I/Os of another one."""
    found: list[str] = []
    for name in names:
        if not any(_alike(series[name], series[other]) for other in found):
            found.append(name)
    return found


def _alike(first: Series, second: Series) -> bool:
    for quantity in (Quantity.READ_BYTES, Quantity.WRITE_BYTES, Quantity.IOS, Quantity.BYTES):
        one, other = first.column(quantity), second.column(quantity)
        if one is None or other is None or len(one) != len(other):
            continue
        most = max(float(np.nanmax(one)), float(np.nanmax(other)))
        if most > 0 and float(np.nanmax(np.abs(one - other))) > _SAME * most:
            return False
        if most > 0:
            return True
    return False
