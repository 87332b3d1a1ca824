"""arcconf `getconfig` for Adaptec and SmartRAID controllers, of several generations.

MB are MiB. The part that saves the cache has had three names: ZMM, Cache Backup Unit, Green Backup.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from raidlab.calibration.discover.captures import Capture, Pairs, pair
from raidlab.calibration.discover.facts import Array, Controller, Drive, Facts, Link
from raidlab.calibration.discover.quantities import (
    binary_size,
    flag,
    interface,
    known_text,
    on_off,
    pci_address,
    pcie_generation,
    pcie_link,
    raid_level,
    size,
    state,
    whole,
)
from raidlab.calibration.discover.vendors import joined_model

_LISTED = "Drive(s) (Channel,Device)"
"""How the oldest versions list the drives of a volume."""
_SECTION = re.compile(
    r"^\s*(controller|logical (?:device|drive)|physical device|array|connector|maxcache"
    r"|enclosure)s? information\s*$",
    re.IGNORECASE,
)
_BACKUP = re.compile(
    r"(zmm|cache backup unit|green backup|battery|supercap|capacitor|flash backup)", re.IGNORECASE
)
_VOLUME = re.compile(r"^\s*logical (?:device|drive) number\s*:?\s*(\d+)", re.IGNORECASE)
_DEVICE = re.compile(r"^\s*(?:Device #(\d+)|Channel #\d+:?)\s*$", re.IGNORECASE)
_SEGMENT = re.compile(
    r"^\s*(?:Group \d+,? )?(?:Segment|Device) \d+\s*:\s*"
    r"(?P<state>Present|Missing|Inconsistent|Failed|Rebuilding|Offline)\b\s*(?P<rest>.*)$",
    re.IGNORECASE,
)


@dataclass
class _Part:
    pairs: Pairs = field(default_factory=Pairs)
    lines: list[str] = field(default_factory=list)

    def add(self, line: str) -> None:
        self.lines.append(line)
        if (each := pair(line)) is not None:
            self.pairs.put(*each)


@dataclass
class _Unit:
    """One controller's output."""

    controller: _Part = field(default_factory=_Part)
    backup: dict[str, _Part] = field(default_factory=dict)
    volumes: list[_Part] = field(default_factory=list)
    devices: list[_Part] = field(default_factory=list)


def claims(capture: Capture) -> bool:
    """True for what arcconf prints."""
    text = capture.text
    return bool(
        re.search(r"^\s*Controllers found:", text, re.MULTILINE)
        or re.search(r"^\s*(Logical|Physical) Device(s)? information\s*$", text, re.M | re.I)
    ) and bool(re.search(r"Controller (Model|Status)|Reported Channel|Logical D", text, re.I))


def read(capture: Capture) -> Facts:
    """Controllers, volumes and drives."""
    facts = Facts("arcconf")
    counts = [int(each) for each in re.findall(r"Controllers found:\s*(\d+)", capture.text)]
    units = _units(capture)
    named = re.search(r"getconfig[_ -]*(\d+)", capture.name, re.IGNORECASE)
    for place, unit in enumerate(units, 1):
        if max(counts, default=1) == 1 or len(units) > 1:
            index: int | None = place
        else:
            index = int(named[1]) if named else None
        _take(unit, index, facts)
    return facts


def _units(capture: Capture) -> list[_Unit]:
    units: list[_Unit] = []
    section, at = "", _Part()
    for line in capture.lines:
        if re.fullmatch(r"\s*-{5,}\s*", line):
            continue
        if (match := _SECTION.match(line)) is not None:
            section = match[1].lower()
            if section == "controller":
                units.append(_Unit())
                at = units[-1].controller
            elif not units:
                units.append(_Unit())
            else:
                at = _Part()
            continue
        if not units:
            continue
        unit = units[-1]
        heading = ":" not in line and line.strip() != ""
        if section == "controller" and heading and "information" in line.lower():
            at = unit.controller
            if _BACKUP.search(line):
                at = unit.backup.setdefault(line.strip().lower(), _Part())
        elif section.startswith("logical") and _VOLUME.match(line):
            at = _Part()
            unit.volumes.append(at)
        elif section == "physical device" and (match := _DEVICE.match(line)) is not None:
            at = _Part()
            if match[1] is not None:
                unit.devices.append(at)
        at.add(line)
    return units


def _take(unit: _Unit, index: int | None, facts: Facts) -> None:
    controller = _controller(unit, index)
    if controller.model or controller.cache or controller.state:
        facts.controllers.append(controller)
    places: dict[str, str] = {}
    for device in unit.devices:
        words = " ".join(device.lines[:4]).lower()
        if "enclosure" in words and "device is a" in words.replace("an ", "a "):
            continue
        drive = _drive(device)
        if drive is not None:
            drive.controller = index
            facts.drives.append(drive)
            if drive.slot is not None:
                for mark in _marks(device, drive):
                    # Serial numbers that were made unreadable name no drive.
                    places[mark] = "" if mark in places else drive.slot
    places = {mark: slot for mark, slot in places.items() if slot}
    for volume in unit.volumes:
        array = _array(volume, index)
        array.drives = _members(volume, places) or None
        own = {d.drive_cache for d in facts.drives if d.slot in (array.drives or [])}
        array.drive_cache = own.pop() if len(own) == 1 else None
        facts.arrays.append(array)


_PLACE = re.compile(
    r"(connector|channel|enclosure)[: ]\s*(\d+),\s*(device|slot)[: ]\s*(\d+)", re.IGNORECASE
)


def _marks(device: _Part, drive: Drive) -> list[str]:
    """What a segment may call a drive: its serial number, or where it sits."""
    found = [drive.serial] if drive.serial else []
    location = device.pairs.find("Reported Location") or ""
    found += [" ".join(each).lower() for each in _PLACE.findall(location)]
    if drive.slot is not None and re.fullmatch(r"\d+,\d+", drive.slot):
        channel, number = drive.slot.split(",")
        found.append(f"channel {channel} device {number}")
    return found


def _members(volume: _Part, places: Mapping[str, str]) -> list[str]:
    """Slots of the drives behind a volume's segments, in their order."""
    found = []
    for line in volume.lines:
        match = _SEGMENT.match(line)
        if match is None or "spare" in line.lower():
            continue
        serial = match["rest"].rpartition(")")[2].strip()
        marks = [serial, *(" ".join(each).lower() for each in _PLACE.findall(match["rest"]))]
        slot = next((places[mark] for mark in marks if mark in places), None)
        if slot is not None:
            found.append(slot)
    listed = volume.pairs.find(_LISTED)
    return found or re.findall(r"\d+,\d+", listed or "")


def _controller(unit: _Unit, index: int | None) -> Controller:
    have = unit.controller.pairs
    # Some versions misspell it as "Hot bus link width".
    width = whole(have.like(r"(bus|pcie)linkwidth$"))
    speed = have.find("Host bus speed", "PCIe Link Speed", "Link Speed")
    mode = (have.find("Controller Mode") or "").lower()
    found = Controller(
        index=index,
        model=known_text(have.find("Controller Model")),
        firmware=known_text(have.find("Firmware")),
        cache=binary_size(
            have.find("Installed memory", "Total Cache Size", "Cache Size", "Cache memory")
        ),
        state=state(have.find("Controller Status")),
        queue_depth=whole(have.find("Queue Depth", "Maximum outstanding commands")),
        pci=_pci(have.find("PCI Address (Domain:Bus:Device:Function)", "PCI Address")),
        driver=known_text(have.find("Driver Name")),
        write_back_without_battery=flag(have.find("No-Battery Write Cache")),
        rebuild_priority=state(have.find("Rebuild Priority")),
        role="hba" if mode.startswith("hba") else "raid",
    )
    negotiated = have.find("Negotiated PCIe Data Rate", "PCIe Rate")
    if (both := pcie_link(negotiated)) is not None:
        found.link = Link(*both, negotiated)
    elif speed or width:
        found.link = Link(pcie_generation(speed, width), width, speed)
    _backup(unit, found)
    return found


def _pci(text: str | None) -> str | None:
    parts = re.findall(r"[0-9a-fA-F]+", text or "")
    return pci_address(*(int(each, 16) for each in parts)) if len(parts) == 4 else None


def _backup(unit: _Unit, controller: Controller) -> None:
    have = unit.controller.pairs
    for title, part in unit.backup.items():
        stated = part.pairs.find(
            "Overall Backup Unit Status", "Backup Power Status", "Status", "Supercap Status",
            "Battery Status",
        )  # fmt: skip
        kind = "battery" if "battery" in title else "supercap flash"
        word = re.sub(r"^zmm\s+", "", state(stated) or "") or None
        absent = word is not None and re.search(r"not (present|installed|available)|absent", word)
        if word is None or controller.backup not in (None, "none"):
            continue
        controller.backup = "none" if absent else kind
        controller.backup_state = None if absent else word
        controller.backup_model = known_text(part.pairs.find("Backup Unit Type"))
    source = (have.find("Cache Backup Power Source", "Backup Power Source") or "").lower()
    if controller.backup is None and source:
        known = {"batter": "battery", "capacitor": "supercap flash", "supercap": "supercap flash",
                 "none": "none", "not": "none"}  # fmt: skip
        controller.backup = next((v for k, v in known.items() if k in source), None)


def _policy(text: str | None) -> str | None:
    """`write-back` or `write-through` of a setting or a state of the write cache."""
    word = (text or "").lower()
    if not word:
        return None
    if "write-through" in word or word.startswith(("off", "disabled")):
        return "write-through"
    if "write-back" in word or word.startswith(("on", "enabled")):
        return "write-back"
    return None


def _array(part: _Part, index: int | None) -> Array:
    have = part.pairs
    segments = [match for line in part.lines if (match := _SEGMENT.match(line))]
    setting = have.find("Write-cache setting", "Write cache setting")
    # Older versions call what runs the mode, and some of them have nothing but the mode.
    mode = have.find("Write-cache mode", "Write cache mode")
    now = have.find("Write-cache status", "Write cache status") or mode
    setting = setting or mode
    caching = flag(have.find("Caching"))
    groups = {line.strip().split(",")[0] for line in part.lines if re.match(r"\s*Group \d+,", line)}
    missing = [each for each in segments if each["state"].lower() in ("missing", "failed")]
    rest = [each for each in segments if "spare" not in each[0].lower()]
    away = ("missing", "failed", "offline", "rebuilding", "inconsistent")
    lacking = [place for place, each in enumerate(rest) if each["state"].lower() in away]
    count = whole(have.find("Number of segments"))
    found = Array(
        name=known_text(have.find("Logical Device name", "Logical Drive name")),
        os_name=_disk_name(have.find("Disk Name")),
        controller=index,
        level=raid_level(have.find("RAID level")),
        members=len(rest) or count,
        missing=len(missing) or None,
        lacking=lacking or None,
        spans=len(groups) if len(groups) > 1 else None,
        state=state(have.find("Status of Logical Device", "Status of logical drive")),
        stripe_unit=binary_size(have.find("Stripe-unit size", "Strip Size")),
        full_stripe=binary_size(have.find("Full Stripe Size")),
        bytes=size(have.find("Size")),
        write_policy=_policy(setting),
        write_policy_now=_policy(now or (setting if "when" not in (setting or "") else None)),
        read_cache=flag(have.find("Read-cache status", "Read-cache setting", "Read-cache mode")),
    )
    if caching is not None and found.write_policy is None:
        found.write_policy = "write-back" if caching else "write-through"
        # Nothing is cached that is not set; what is set may wait for its backup.
        found.write_policy_now = None if caching else "write-through"
    if "when protected" in (setting or "").lower():
        found.write_back_without_battery = False
    return found


def _disk_name(text: str | None) -> str | None:
    match = re.match(r"(/dev/\S+|\S+)", text or "")
    return known_text(match[1]) if match else None


def _drive(part: _Part) -> Drive | None:
    have = part.pairs
    place = re.match(r"(\d+,\d+)", have.find("Reported Channel,Device(T:L)",
                                            "Reported Channel,Device") or "")  # fmt: skip
    rate = have.find("Transfer Speed", "Negotiated Transfer Speed")
    if place is None and have.find("Model") is None:
        return None
    solid = flag(have.find("SSD"))
    text = " ".join(each for each in (rate, have.find("Interface Type"), have.find("Drive Type"),
                                      " ".join(part.lines[:4])) if each)  # fmt: skip
    rpm = whole(have.find("Rotational Speed"))
    kind = {True: "ssd", False: "hdd"}.get(solid) if solid is not None else None
    if kind is None:
        words = text.lower()
        kind = "ssd" if "ssd" in words or "solid state" in words else "hdd" if rpm else None
    family = rate if rate and "unknown" not in rate.lower() else have.find("Interface Type")
    most = have.find("Maximum Link Rate", "Maximum Physical Link Rate", "Programmed Max Speed")
    vendor = known_text(have.find("Vendor"))
    vendor = None if (vendor or "").startswith("*") else vendor
    vendor, model = joined_model(vendor, known_text(have.find("Model")))
    stated = _state(have.find("State"))
    alerts = whole(have.find("S.M.A.R.T. warnings"))
    alert = flag(have.find("S.M.A.R.T.")) or bool(alerts)
    return Drive(
        slot=place[1] if place else None,
        model=model,
        vendor=vendor,
        serial=known_text(have.find("Serial number")),
        bytes=size(have.find("Total Size", "Size")) or None,
        interface=interface(family, most or rate),
        link_now=interface(family, rate) if family and rate else None,
        kind=kind,
        rpm=0 if kind == "ssd" else rpm,
        state=stated,
        failing="a S.M.A.R.T. warning" if alert else None,
        drive_cache=on_off(have.find("Write Cache")),
        ncq=flag(have.find("NCQ status")),
        sector=_block_size(have.find("Block Size", "Logical/Physical Block Size")),
    )


def _block_size(text: str | None) -> int | None:
    """Bytes of `512 Bytes`, `4K Bytes`, `4 KB` or, logical first, `512/4096`."""
    return size((text or "").partition("/")[0]) or None


def _state(text: str | None) -> str | None:
    word = state(text)
    if word is not None and ("spare" in word):
        return "spare"
    return word
