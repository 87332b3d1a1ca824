"""Files of /sys: `grep -r . ...`, `tail -n +1 ...`, or the files themselves in a captured folder.

A block device's size counts 512 bytes whatever its logical block is. NVMe says `write through`
when it has no volatile cache to flush.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from raidlab.calibration.discover.captures import Capture
from raidlab.calibration.discover.facts import Array, Drive, Facts, Link
from raidlab.calibration.discover.quantities import (
    binary,
    interface,
    known_text,
    pcie_generation,
    raid_level,
    size,
    whole,
    zones,
)
from raidlab.calibration.discover.readers.md import ALGORITHMS
from raidlab.calibration.discover.vendors import is_controller_volume, is_virtual, transport_of

_LINE = re.compile(
    r"^(?P<path>(?:/|\./)?(?:\S*/)?(?:sys/)?(?:block|class|devices|bus)/\S+?):(?P<value>.*)$"
)
_TAIL = re.compile(r"^==> (?P<path>\S+) <==$")
_BLOCK = re.compile(r"(?:^|/)block/(?P<name>[^/]+)/(?P<key>.+)$")
_NVME = re.compile(r"(?:^|/)nvme/(?P<name>nvme\d+)/(?P<key>.+)$")
_LINK = re.compile(r"(?:^|/)(?P<name>link[\d.]+)/(?:ata_link/link[\d.]+/)?sata_spd$")
_NO_DRIVE = re.compile(r"^(loop|zram|ram|sr|fd|bcache|nbd|drbd|dm-)")

Values = dict[str, str]


def claims(capture: Capture) -> bool:
    """True for values of files of /sys with their paths."""
    return any(
        path and (_BLOCK.search(path) or _NVME.search(path) or _LINK.search(path))
        for path, _ in _values(capture)
    )


def read(capture: Capture) -> Facts:
    """Drives with queues and links, and md arrays."""
    facts = Facts("sysfs")
    blocks: dict[str, Values] = defaultdict(dict)
    controllers: dict[str, Values] = defaultdict(dict)
    for path, value in _values(capture):
        if (match := _LINK.search(path)) is not None:
            rate = interface("sata", value)
            speed = None if rate == "sata" else rate
            facts.links.append(Link(name=match["name"], speed=speed))
        elif (match := _BLOCK.search(path)) is not None:
            blocks[match["name"]].setdefault(match["key"], value)
        elif (match := _NVME.search(path)) is not None:
            controllers[match["name"]].setdefault(match["key"], value)
    for name, values in blocks.items():
        if re.match(r"md\w*\d", name):
            if values.get("md/level"):
                facts.arrays.append(_array(name, values))
        elif not _NO_DRIVE.match(name):
            above = controllers.get(re.sub(r"n\d+$", "", name), {})
            facts.drives.append(_drive(name, values, above))
    seen = {re.sub(r"n\d+$", "", name) for name in blocks}
    for name, values in controllers.items():
        if name not in seen and known_text(values.get("model")):
            facts.drives.append(_drive(name, {}, values))
    return facts


def _values(capture: Capture) -> Iterator[tuple[str, str]]:
    """Paths and their values; a value of several lines keeps the first."""
    path = None
    for line in capture.lines:
        if (match := _TAIL.match(line)) is not None:
            path = match["path"]
        elif path is not None:
            if line.strip():
                yield path, line.strip()
                path = None
        elif (match := _LINE.match(line)) is not None:
            yield match["path"], match["value"].strip()


def _scheduler(text: str | None) -> str | None:
    """The word in brackets; a single word without them."""
    match = re.search(r"\[([\w-]+)\]", text or "")
    if match is not None:
        return match[1]
    words = (text or "").split()
    return words[0] if len(words) == 1 else None


def _drive(name: str, have: Values, above: Values) -> Drive:
    nvme = name.startswith("nvme")
    vendor = known_text(have.get("device/vendor"))
    if nvme and (vendor or "").startswith("0x"):
        vendor = None
    model = known_text(above.get("model") or have.get("device/model"))
    sectors, most = whole(have.get("size")), whole(have.get("queue/max_sectors_kb"))
    depth = whole(have.get("device/queue_depth"))
    found = Drive(
        name=name,
        model=model,
        vendor=None if vendor == "ATA" else vendor,
        serial=known_text(above.get("serial") or have.get("device/serial")),
        bytes=None if sectors is None else sectors * 512,
        queue_depth=depth,
        scheduler=_scheduler(have.get("queue/scheduler")),
        requests=whole(have.get("queue/nr_requests")),
        removable=True if have.get("removable") == "1" else None,
        transport=transport_of(have.get("device/transport"), name),
        zoned=zones(have.get("queue/zoned")),
        max_io=None if most is None else f"{most} KiB",
        sector=whole(have.get("queue/logical_block_size")),
        physical_sector=whole(have.get("queue/physical_block_size")),
        numa=_numa(above.get("numa_node") or above.get("device/numa_node")),
        link=_pcie(above | have, "current"),
        link_possible=_pcie(above | have, "max"),
    )
    address = known_text(above.get("address"))
    found.address = address if nvme else None
    if is_controller_volume(vendor, model):
        found.volume_of_controller = True
        return found
    if is_virtual(vendor, model, name):
        found.virtual = True
        return found
    cache = (have.get("queue/write_cache") or "").lower()
    if cache:
        without = "no volatile cache" if nvme else "off"
        found.drive_cache = "on" if cache == "write back" else without
    rotates = have.get("queue/rotational")
    if nvme:
        found.interface, found.kind = "nvme", "ssd"
    elif rotates in ("0", "1"):
        found.kind = "hdd" if rotates == "1" else "ssd"
    if found.removable and vendor != "ATA":
        found.kind = None
    if vendor == "ATA":
        found.interface = "sata"
        found.ncq = None if depth is None else depth > 1
    return found


def _numa(text: str | None) -> int | None:
    return None if text in (None, "-1") else whole(text)


def _pcie(have: Values, word: str) -> Link | None:
    for folder in ("device/", "device/device/", ""):
        speed, width = (have.get(f"{folder}{word}_link_{what}") for what in ("speed", "width"))
        lanes = whole(width)
        if speed and lanes:
            return Link(pcie_generation(speed, lanes), lanes, speed)
    return None


def _array(name: str, have: Values) -> Array:
    level = raid_level(have.get("md/level"))
    degraded = whole(have.get("md/degraded"))
    action, layout = have.get("md/sync_action", "idle"), whole(have.get("md/layout"))
    members = whole(have.get("md/raid_disks"))
    sectors = whole(have.get("size"))
    bitmap = have.get("md/bitmap/location")
    going = {"recover": "rebuilding", "resync": "resyncing", "reshape": "reshaping",
             "check": "checking", "repair": "repairing"}  # fmt: skip
    found = Array(
        name=name,
        level=level,
        members=members,
        present=None if members is None or degraded is None else members - degraded,
        stripe_unit=binary(whole(have.get("md/chunk_size"))) if level != "raid1" else None,
        metadata=have.get("md/metadata_version"),
        bytes=None if sectors is None else sectors * 512,
        bitmap=None if bitmap is None else bitmap != "none",
        bitmap_chunk=binary(size(have.get("md/bitmap/chunksize"))),
        consistency=have.get("md/consistency_policy"),
        state=going.get(action, "degraded" if degraded else "clean"),
    )
    if level == "raid10" and layout is not None:
        near, far = layout & 255, layout >> 8 & 255
        word = "offset" if layout >> 16 & 1 else "far"
        found.layout, found.copies = ("near", near) if near > 1 else (word, far)
    elif level in ("raid5", "raid6", "raid4") and layout is not None:
        found.layout = ALGORITHMS.get(layout)
    slots = {key: value for key, value in have.items() if re.match(r"md/dev-[^/]+/slot$", key)}
    placed = {int(value): key.split("/")[1][4:] for key, value in slots.items() if value.isdigit()}
    found.drives = [placed[place] for place in sorted(placed)] or None
    if placed and degraded and members is not None and len(placed) == members - degraded:
        found.lacking = [place for place in range(members) if place not in placed] or None
    return found
