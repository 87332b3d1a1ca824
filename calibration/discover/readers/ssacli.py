"""ssacli, hpssacli and hpacucli: `ctrl all show config`, with and without `detail`.

Sizes of volumes are powers of 1,024, those of drives powers of 1,000. Words changed over the
years: accelerator and caching, stripe and strip, array and logical drive in two spellings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from raidlab.calibration.discover.captures import Capture, Pairs, pair
from raidlab.calibration.discover.facts import Array, CacheRatio, Controller, Drive, Facts, Link
from raidlab.calibration.discover.part_numbers import stated_kind
from raidlab.calibration.discover.quantities import (
    binary,
    binary_size,
    flag,
    interface,
    known_text,
    number,
    on_off,
    pcie_link,
    raid_level,
    size,
    state,
    whole,
)
from raidlab.calibration.discover.vendors import vendor_and_model

_CONTROLLER = re.compile(r"^\s{0,2}(?P<model>[A-Z]\S.*?) in Slot (?P<slot>\d+\w*)\b", re.IGNORECASE)
_ARRAY = re.compile(r"^\s*array:? (?P<name>[A-Z]{1,2})\b(?P<rest>.*)$", re.IGNORECASE)
_VOLUME = re.compile(r"^\s*logical ?drive:? (?P<number>\d+)\s*(?:\((?P<rest>.*)\))?\s*$", re.I)
_DRIVE = re.compile(r"^\s*physicaldrive (?P<slot>\S+)\s*(?:\((?P<rest>.*)\))?\s*$", re.IGNORECASE)
_OTHER_SECTION = re.compile(
    r"^\s*(SEP \(|Expander \d+|Enclosure SEP|.*\bat Port \w+, Box \d+|Port Name:"
    r"|Physical Drives\s*$)",
    re.IGNORECASE,
)
_UNUSED = re.compile(r"^\s*(unassigned|HBA Drives)\s*$", re.IGNORECASE)


@dataclass
class _Volume:
    group: str | None
    row: str | None
    pairs: Pairs = field(default_factory=Pairs)


@dataclass
class _Drive:
    slot: str
    rows: list[str] = field(default_factory=list)
    pairs: Pairs = field(default_factory=Pairs)
    group: str | None = None
    unused: bool = False


@dataclass
class _Controller:
    model: str
    slot: str
    text: list[str] = field(default_factory=list)
    pairs: Pairs = field(default_factory=Pairs)
    arrays: dict[str, Pairs] = field(default_factory=dict)
    volumes: list[_Volume] = field(default_factory=list)
    drives: dict[str, _Drive] = field(default_factory=dict)


def claims(capture: Capture) -> bool:
    """True for what a tool of Smart Array controllers prints."""
    text = capture.text
    return bool(
        re.search(r"^\s{0,2}\S.* in Slot \d+\w*", text, re.MULTILINE)
        and re.search(r"physicaldrive|logical ?drive|Smart|Cache Board|HBA", text, re.IGNORECASE)
    ) or bool(re.search(r"^\s*physicaldrive \S+ \(port ", text, re.MULTILINE))


def tool(capture: Capture) -> str:
    """`hpacucli`, `hpssacli` or `ssacli`: by the file's name, else by the words of its time."""
    named = re.search(r"(hpacucli|hpssacli|ssacli)", capture.name, re.IGNORECASE)
    if named:
        return named[1].lower()
    old = re.search(r"Accelerator Ratio|Array Accelerator", capture.text)
    return "hpacucli" if old else "ssacli"


def read(capture: Capture) -> Facts:
    """Controllers, volumes and drives."""
    facts = Facts(tool(capture))
    for found in _controllers(capture):
        controller = _controller(found)
        facts.controllers.append(controller)
        drives = [_drive(each) for each in found.drives.values()]
        for drive in drives:
            drive.controller = controller.slot
        facts.drives.extend(drives)
        for volume in found.volumes:
            facts.arrays.append(_array(volume, found, controller, drives))
    return facts


def _controllers(capture: Capture) -> list[_Controller]:
    found: list[_Controller] = []
    group: str | None = None
    unused = False
    pairs: Pairs | None = None
    for line in capture.lines:
        if (match := _CONTROLLER.match(line)) is not None and not _DRIVE.match(line):
            found.append(_Controller(match["model"].strip(), match["slot"]))
            group, unused, pairs = None, False, found[-1].pairs
            continue
        if not found:
            if _DRIVE.match(line) is None:
                continue
            found.append(_Controller("", ""))
        at = found[-1]
        at.text.append(line)
        if (match := _ARRAY.match(line)) is not None:
            group, unused = match["name"].upper(), False
            pairs = at.arrays.setdefault(group, Pairs())
        elif _UNUSED.match(line):
            group, unused, pairs = None, True, None
        elif (match := _VOLUME.match(line)) is not None:
            at.volumes.append(_Volume(group, match["rest"]))
            pairs = at.volumes[-1].pairs
        elif (match := _DRIVE.match(line)) is not None:
            drive = at.drives.setdefault(match["slot"], _Drive(match["slot"]))
            drive.group, drive.unused = drive.group or group, drive.unused or unused
            if match["rest"]:
                # A row inside a volume, such as a mirror group: the volume's lines go on.
                drive.rows.append(match["rest"])
            else:
                pairs = drive.pairs
        elif _OTHER_SECTION.match(line):
            pairs = None
        elif pairs is not None and (each := pair(line)) is not None:
            pairs.put(*each)
    return found


def _controller(found: _Controller) -> Controller:
    have = found.pairs
    slot: int | str | None = int(found.slot) if found.slot.isdigit() else found.slot or None
    controller = Controller(
        slot=slot,
        model=known_text(re.sub(r"\s*\(.*?mode\)", "", found.model, flags=re.IGNORECASE)),
        driver=known_text(have.find("Driver Name")),
        firmware=known_text(have.find("Firmware Version")),
        cache=_module(have.find("Total Cache Size", "Cache Size")),
        cache_free=_gib(have.find("Total Cache Memory Available")),
        cache_ratio=_ratio(have.find("Cache Ratio", "Accelerator Ratio")),
        write_back_without_battery=flag(have.find("No-Battery Write Cache")),
        drive_cache=on_off(
            have.find(
                "Configured Drive Write Cache Policy",
                "Drive Write Cache",
                "Physical Drive Write Cache State",
            )
        ),
        state=state(have.find("Controller Status")),
        rebuild_priority=state(have.find("Rebuild Priority")),
        queue_depth=whole(have.find("Queue Depth")),
        pci=(have.find("PCI Address (Domain:Bus:Device.Function)") or "").lower() or None,
    )
    _backup(controller, have)
    controller.link = _link(have)
    mode = (have.find("Controller Mode") or "").lower()
    hba = re.search(r"\bhba\b", found.model, re.IGNORECASE) or mode == "hba"
    controller.role = "hba" if hba else "raid"
    return controller


def _module(text: str | None) -> str | None:
    """The size of a memory module; with one digit of a GiB it is the power of two that it cuts.

    `0.2` is 256 MiB: no other power of two begins so.
    """
    found = re.fullmatch(r"(\d)\.(\d)", text or "")
    if found is None:
        return _gib(text)
    tenths = int(found[1]) * 10 + int(found[2])
    sizes = [each for each in (1 << n for n in range(4, 15)) if each * 10 // 1024 == tenths]
    return binary(sizes[0] << 20) if len(sizes) == 1 else _gib(text)


def _gib(text: str | None) -> str | None:
    """A size of the cache; without a unit it is in GiB."""
    if text is not None and re.fullmatch(r"[\d.,]+", text):
        value = number(text)
        return None if value is None else binary(round(value * (1 << 30)))
    return binary_size(text)


def _ratio(text: str | None) -> CacheRatio | None:
    match = re.search(r"(\d+)\s*% Read\s*/\s*(\d+)\s*% Write", text or "", re.IGNORECASE)
    return None if match is None else CacheRatio(int(match[1]), int(match[2]))


def _backup(controller: Controller, have: Pairs) -> None:
    source = (have.find("Cache Backup Power Source") or "").lower()
    controller.backup_count = whole(have.find("Battery/Capacitor Count", "Battery Count"))
    for word, kind in (
        ("batter", "battery"),
        ("capacitor", "capacitor"),
        ("none", "none"),
        ("super", "capacitor"),
        ("energy", "energy pack"),
    ):
        if word in source:
            controller.backup = kind
            break
    else:
        if controller.backup_count == 0:
            controller.backup = "none"
        elif have.find("Battery Count") is not None:
            controller.backup = "battery"
    stated = state(have.find("Battery/Capacitor Status", "Battery Status", "Battery Pack Status"))
    controller.backup_state = stated
    if stated is not None:
        whole_text = have.find("Battery/Capacitor Status", "Battery Status") or ""
        controller.replace = "replace" in whole_text.lower() or None


def _link(have: Pairs) -> Link | None:
    text = have.find("Negotiated PCIe Data Rate", "PCIe Rate")
    found = pcie_link(text)
    return None if found is None else Link(*found, text)


def _array(
    volume: _Volume, found: _Controller, controller: Controller, drives: list[Drive]
) -> Array:
    have = volume.pairs
    row = [each.strip() for each in (volume.row or "").split(",")]
    level = have.find("Fault Tolerance") or (row[1] if len(row) > 1 else None)
    own = [each for each in drives if volume.group is not None and each.group == volume.group]
    members = [each for each in own if each.state != "spare"]
    array = Array(
        name=known_text(have.find("Logical Drive Label", "Label")),
        os_name=known_text(have.find("Disk Name", "OS Disk Name")),
        group=volume.group,
        controller=controller.slot,
        level=raid_level(level),
        members=len(members) or None,
        spans=whole(have.find("Parity Groups", "Number of Parity Groups")),
        state=state(have.find("Status") or (row[2] if len(row) > 2 else None)),
        stripe_unit=binary_size(have.find("Strip Size", "Stripe Size")),
        full_stripe=binary_size(have.find("Full Stripe Size")),
        bytes=size(have.find("Size") or (row[0] if row[0] else None)),
        drive_cache=controller.drive_cache,
    )
    array.drives = [each.slot or "" for each in members] or None
    array.spares = [each.slot or "" for each in own if each.state == "spare"] or None
    array.failed = [each.slot or "" for each in own if each.state == "failed"] or None
    array.write_policy, array.write_policy_now = _policies(have, found.pairs, controller)
    return array


def _policies(have: Pairs, stated: Pairs, controller: Controller) -> tuple[str | None, str | None]:
    """What is set for a volume, and what runs: a write is cached only if the cache is safe."""
    caching = flag(have.find("Caching", "Array Accelerator"))
    method = (have.find("LD Acceleration Method") or "").lower()
    if caching is None and method:
        caching = "controller cache" in method
    if "smart path" in method or "io bypass" in method:
        caching = False
    ratio, through = controller.cache_ratio, "write-through"
    if caching is False or (ratio is not None and ratio.write == 0):
        return through, through
    if caching is None:
        return None, None
    cache = state(stated.find("Cache Status"))
    if controller.backup == "none" and not controller.write_back_without_battery:
        return "write-back", through
    if (cache is not None and cache != "ok") or (
        controller.backup_state not in (None, "ok", "recharging ok")
        and not controller.write_back_without_battery
    ):
        return "write-back", through
    known = cache is not None or controller.backup is not None
    return "write-back", "write-back" if known else None


def _drive(found: _Drive) -> Drive:
    have = found.pairs
    parts = [each.strip() for each in ", ".join(found.rows[:1]).split(",")]
    row = parts[1:] if len(parts) > 1 else []
    words = " ".join(parts[1:2])
    sized = next((each for each in row if re.match(r"[\d.,]+ ?[KMGT]B$", each, re.I)), None)
    kind_text = have.find("Interface Type") or words
    status = state(have.find("Status")) or next(
        (each.lower() for each in row[2:] if each.lower() != "spare"), None
    )
    role = (have.find("Drive Type") or "").lower()
    vendor, model = vendor_and_model(have.find("Model"))
    logical = re.match(r"(\d+)\s*/\s*(\d+)", have.find("Logical/Physical Block Size") or "")
    most = have.find("PHY Maximum Link Rate")
    now = have.find("PHY Transfer Rate")
    family = interface(kind_text)
    drive = Drive(
        slot=found.slot,
        model=model,
        vendor=None if (vendor or "").upper() in ("ATA", "NVME") else vendor,
        serial=known_text(have.find("Serial Number")),
        bytes=size(have.find("Size") or sized, decimal=True) or None,
        interface=interface(family, most) if family != "nvme" else "nvme",
        rpm=whole(have.find("Rotational Speed")),
        group=found.group,
        state=_state(status, role, found, row),
        failing=status if "predictive" in (status or "") else None,
    )
    if family in ("sas", "sata") and now:
        drive.link_now = interface(family, now)
    if logical is not None:
        drive.sector, drive.physical_sector = int(logical[1]), int(logical[2])
    text = f"{kind_text} {words}".lower()
    if "solid state" in text or "ssd" in text or family == "nvme":
        drive.kind, drive.rpm = "ssd", 0
    elif not drive.rpm and stated_kind(model or "") == "ssd":
        # Firmware older than SSDs calls each SATA drive a disk, and gives no speed.
        drive.kind, drive.rpm = "ssd", 0
    elif "hdd" in text or drive.rpm:
        drive.kind = "hdd"
    return drive


def _state(status: str | None, role: str, found: _Drive, row: list[str]) -> str | None:
    spare = "spare" in role or any("spare" in each.lower() for each in row[2:])
    if status in (None, "ok") and spare:
        return "spare"
    unused = "unassigned" in role or (found.unused and not role)
    return "unassigned" if unused and status in (None, "ok") else status
