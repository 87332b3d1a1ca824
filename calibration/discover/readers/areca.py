"""Areca's `cli64 disk info`, `vsf info`, `rsf info`, `sys info`, `hw info`.

GB are powers of 1,000. A volume lies on a RAID set, which holds disks; a disk's usage names its
set, so sets tie what `vsf info` and `disk info` print.
Source: Areca CLI User Manual, Version 1.86; outputs of versions 1.7 to 1.14.
"""

from __future__ import annotations

import re

from raidlab.calibration.discover.captures import Capture, pairs_of
from raidlab.calibration.discover.facts import Array, Controller, Drive, Facts
from raidlab.calibration.discover.members import name_members
from raidlab.calibration.discover.quantities import binary_size, known_text, raid_level, size
from raidlab.calibration.discover.vendors import vendor_and_model

_DISKS = re.compile(r"^\s*(?:#\s+)?(?:Enc# Slot#|Ch#?)\s+ModelName\s", re.MULTILINE)
_VOLUMES = re.compile(r"^\s*# Name\s+Raid(?: Name|#)\s+Level\s+Capacity\s", re.MULTILINE)
_SETS = re.compile(r"^\s*(?:#|Num)\s+Name\s+Disks TotalCap\s", re.MULTILINE)
_SYSTEM = re.compile(r"^\s*Controller Name\s*:\s*ARC", re.MULTILINE)

_CAPACITY = r"(?P<capacity>\d+(?:\.\d+)?[MGT]B)"
_DISK = re.compile(
    r"^\s*(?:\d+\s+)?(?P<slot>\d+\s+(?:Slot ?#?\s*\d+|EXTP \d+|\d+)|\d+)\s+"
    r"(?P<model>\S.*?)\s+" + _CAPACITY + r"\s+(?P<usage>\S.*?)\s*$",
    re.IGNORECASE,
)
_OLD_DISK = re.compile(
    r"^\s*(?P<slot>\d+)\s+(?P<model>\S+(?: \S+)*?)\s+(?P<serial>\S+)\s+\S+\s+" + _CAPACITY
    + r"\s+(?P<usage>\S.*?)\s*$"
)  # fmt: skip
_VOLUME = re.compile(
    r"^\s*\d+ (?P<name>\S.*?)\s+(?P<set>\S(?:.*?\S)?)\s+(?P<level>Raid\d\S*|JBOD|PassThrough)\s+"
    + _CAPACITY + r"\s+(?P<place>\d+/\d+/\d+)\s+(?P<state>\S.*?)\s*$",
    re.IGNORECASE,
)  # fmt: skip
_SET = re.compile(r"^\s*(?P<number>\d+)\s+(?P<name>\S.*?)\s+(?P<disks>\d+)\s+" + _CAPACITY)
_LEVELS = {"raid0+1": "raid10", "passthrough": "jbod", "raid3": "raid3"}
"""What Areca calls otherwise: its RAID 0+1 stripes over mirrors."""
_FREE = {"hotspare": "spare", "free": "unassigned", "pass through": "jbod", "failed": "failed"}


def claims(capture: Capture) -> bool:
    """True for what Areca's command line prints."""
    return any(form.search(capture.text) for form in (_DISKS, _VOLUMES, _SETS, _SYSTEM))


def read(capture: Capture) -> Facts:
    """The controller, volumes and disks."""
    facts = Facts("areca")
    if _SYSTEM.search(capture.text):
        facts.controllers.append(_controller(capture))
    heads = {"disk": _DISKS, "volume": _VOLUMES, "set": _SETS}
    what, old, sets = "", False, dict[str, tuple[str, int]]()
    for line in capture.lines:
        named = next((name for name, form in heads.items() if form.match(line)), None)
        if named is not None:
            what, old = named, "Serial#" in line
        elif what == "disk" and (disk := (_OLD_DISK if old else _DISK).match(line)):
            if disk["model"] != "N.A.":
                facts.drives.append(_drive(disk))
        elif what == "volume" and (volume := _VOLUME.match(line)):
            facts.arrays.append(_array(volume))
        elif what == "set" and (found := _SET.match(line)):
            sets[found["number"]] = found["name"], int(found["disks"])
    for array in facts.arrays:
        name, disks = sets.get(array.group or "", (array.group, None))
        array.group = name
        array.members = disks or next((d for n, d in sets.values() if n == name), None)
    name_members(facts)
    if sets and not facts.arrays:
        facts.warn("level", "`rsf info` says no level: capture `cli64 vsf info` and `disk info`")
    return facts


def _controller(capture: Capture) -> Controller:
    have = pairs_of(capture.lines)
    return Controller(
        index=0,
        model=known_text(have.find("Controller Name")),
        role="raid",
        firmware=known_text(have.find("Firmware Version")),
        cache=binary_size((have.find("System Memory") or "").partition("/")[0]),
    )


def _drive(match: re.Match[str]) -> Drive:
    vendor, model = vendor_and_model(match["model"])
    usage = match["usage"]
    word = re.sub(r"\s*\[.*", "", usage).lower().replace("hot spare", "hotspare")
    member = re.match(r"RaidSet\s+Member\((\d+)\)", usage)
    grouped = None if word in _FREE else member[1] if member else usage
    return Drive(
        slot=":".join(re.findall(r"\d+", match["slot"])),
        controller=0,
        vendor=vendor,
        model=model,
        serial=match.groupdict().get("serial"),
        bytes=size(match["capacity"], decimal=True),
        approximate=True,
        group=grouped,
        state=_FREE.get(word, "online"),
    )


def _array(match: re.Match[str]) -> Array:
    level = match["level"].lower()
    word = match["state"].lower()
    return Array(
        name=match["name"],
        controller=0,
        group=match["set"],
        level=_LEVELS.get(level) or raid_level(level),
        bytes=size(match["capacity"], decimal=True),
        state="optimal" if word == "normal" else word,
    )
