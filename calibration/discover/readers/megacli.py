"""MegaCli: `-LDPDInfo`, `-LDInfo`, `-PDList`, `-AdpAllInfo`, `-AdpBbuCmd`, `-CfgDsply`.

The output has no tables; a line such as `Virtual Drive: 0` begins a volume, `Enclosure Device ID`
a drive. GB and TB are powers of 1,024; the raw size in hexadecimal is exact.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from raidlab.calibration.discover.captures import Capture, Pairs, pair
from raidlab.calibration.discover.facts import Array, Controller, Drive, Facts
from raidlab.calibration.discover.quantities import (
    binary_size,
    flag,
    interface,
    known_text,
    on_off,
    raid_level,
    size,
    state,
    whole,
)
from raidlab.calibration.discover.readers import megaraid
from raidlab.calibration.discover.vendors import SAS_VENDORS, vendor_and_model

_ADAPTER = re.compile(r"^\s*Adapter\s*[:#]?\s*#?(\d+)|status for Adapter:?\s*(\d+)", re.IGNORECASE)
_VOLUME = re.compile(r"^\s*(?:CacheCade )?Virtual (?:Drive|Disk)\s*:\s*(\d+)", re.IGNORECASE)
_DRIVE = re.compile(r"^\s*Enclosure Device ID\s*:", re.IGNORECASE)
_POSITION = re.compile(r"Span: (\d+), Arm: (\d+)")
_END = re.compile(r"^\s*(Exit Code|DISK GROUPS?|Number of (Virtual|Physical) Disks)\b", re.I)


@dataclass
class _Block:
    """Lines about one adapter, volume or drive."""

    adapter: int | None
    volume: int | None = None
    pairs: Pairs = field(default_factory=Pairs)
    inquiry: str = ""


def claims(capture: Capture) -> bool:
    """True for what MegaCli prints."""
    text = capture.text
    if re.search(r"^Adapter \d+: Get BBU Status Failed", text, re.MULTILINE):
        return True
    if "Enclosure Device ID" in text and "Firmware state" in text:
        return True
    return any(
        word in text
        for word in ("Default Cache Policy", "BBU status for Adapter", "FW Package Build")
    ) and ("Adapter" in text or "Virtual D" in text)


def read(capture: Capture) -> Facts:
    """Controllers, volumes and drives."""
    facts = Facts("megacli")
    adapters, volumes, drives = _blocks(capture)
    for failure in re.findall(r"^(Adapter \d+: .*\bfailed\b.*)$", capture.text, re.M | re.I):
        facts.warn("tool-failure", f"the tool said {failure}")
    for block in adapters:
        _controller(block, facts)
    for block in volumes:
        facts.arrays.append(_array(block))
    _take_drives(drives, volumes, facts)
    return facts


def _blocks(capture: Capture) -> tuple[list[_Block], list[_Block], list[_Block]]:
    adapters: dict[int | None, _Block] = {}
    volumes: list[_Block] = []
    drives: list[_Block] = []
    adapter: int | None = None
    volume: _Block | None = None
    at: _Block | None = None
    for line in capture.lines:
        if (match := _ADAPTER.search(line)) is not None:
            adapter = int(match[1] or match[2])
            at, volume = adapters.setdefault(adapter, _Block(adapter)), None
        elif (match := _VOLUME.match(line)) is not None:
            at = volume = _Block(adapter, int(match[1]))
            volumes.append(volume)
        elif _END.match(line):
            at = None if "Exit" in line else at
        if _DRIVE.match(line):
            at = _Block(adapter, None if volume is None else len(volumes) - 1)
            drives.append(at)
        if at is None:
            at = adapters.setdefault(adapter, _Block(adapter))
        if line.lstrip().startswith("Inquiry Data:"):
            at.inquiry = re.sub(r"^\s*Inquiry Data: ?", "", line)
        elif (each := pair(line)) is not None:
            at.pairs.put(*each)
    return list(adapters.values()), volumes, drives


def _controller(block: _Block, facts: Facts) -> None:
    have = block.pairs
    model = known_text(have.find("Product Name"))
    battery = have.find("BatteryType", "Battery Type")
    if model is None and battery is None and have.find("Memory Size", "Memory") is None:
        return
    found = Controller(
        index=block.adapter,
        model=model,
        firmware=known_text(have.find("FW Version")),
        cache=binary_size(have.find("Memory Size", "Memory")),
        ports=whole(have.find("Number of Backend Port")),
        queue_depth=whole(have.find("Max Parallel Commands")),
        rebuild_rate_percent=whole(have.find("Rebuild Rate")),
        write_back_without_battery=flag(have.find("Cache When BBU Bad")),
        default_write_policy=megaraid.write_policy(have.find("Write Policy")),
        role="raid",
    )
    listed = (have.find("BBU") or "").lower()
    if battery is not None:
        found.backup = megaraid.backup_kind(battery) or "bbu"
        found.backup_model = known_text(battery)
        found.backup_state = state(have.find("Battery State"))
        if flag(have.find("Learn Cycle Active")):
            found.backup_state = "learning"
        found.replace = flag(have.find("Battery Replacement required"))
        good = found.backup_state in ("optimal", "operational") and not found.replace
        found.write_back_safe_now = None if found.backup_state is None else good
    elif listed in ("present", "yes"):
        found.backup = "bbu"
    elif listed in ("absent", "no"):
        found.backup = "none"
    facts.controllers.append(found)


def _array(block: _Block) -> Array:
    have = block.pairs
    spans = whole(have.find("Span Depth")) or whole(have.find("Number of Spans"))
    each = whole(have.find("Number Of Drives per span", "Number of Drives per span"))
    drives = whole(have.find("Number Of Drives", "Number of Drives"))
    now, wanted = have.find("Current Cache Policy"), have.find("Default Cache Policy")
    if each is not None and spans:
        members: int | None = each * spans
    else:
        members = drives if drives is None or not spans or spans == 1 else drives * spans
    found = Array(
        name=have.find("Name") or "",
        controller=block.adapter,
        level=_level(have.find("RAID Level"), spans, members),
        members=members,
        spans=spans,
        members_per_span=each,
        state=megaraid.array_state(have.find("State")),
        stripe_unit=binary_size(have.find("Strip Size", "Stripe Size")),
        bytes=size(have.find("Size")),
        write_policy=_word_policy(wanted or now),
        write_policy_now=_word_policy(now),
        drive_cache=on_off(have.find("Disk Cache Policy")),
    )
    words = (now or wanted or "").lower()
    if "bad bbu" in words:
        found.write_back_without_battery = "ok if bad bbu" in words
    found.read_ahead = _read_ahead(words)
    found.io_policy = "direct" if "direct" in words else "cached" if "cached" in words else None
    return found


def _level(text: str | None, spans: int | None, members: int | None) -> str | None:
    """The level; mirrors of more than two drives in one span are striped pairs.

    The firmware keeps such volumes as `Primary-1` with one span; their size is half of the drives'.
    """
    level = raid_level(text, spans)
    return "raid10" if level == "raid1" and (members or 0) > 2 else level


def _word_policy(text: str | None) -> str | None:
    return megaraid.write_policy((text or "").split(",")[0])


def _read_ahead(words: str) -> bool | str | None:
    if "readadaptive" in words or "adaptive" in words:
        return "adaptive"
    if "readaheadnone" in words or "noreadahead" in words:
        return False
    return True if "readahead" in words else None


def _take_drives(blocks: list[_Block], volumes: list[_Block], facts: Facts) -> None:
    """Each drive once, though it is printed under each volume of its group."""
    seen: dict[tuple[int | str | None, str], Drive] = {}
    positions: dict[int, dict[str, tuple[int, int]]] = defaultdict(dict)
    for block in blocks:
        have = block.pairs
        enclosure, slot = have.find("Enclosure Device ID"), have.find("Slot Number")
        if slot is None:
            continue
        place = f"{'' if (enclosure or 'N/A') == 'N/A' else enclosure}:{slot}"
        if (block.adapter, place) not in seen:
            seen[block.adapter, place] = _drive(block, place)
            facts.drives.append(seen[block.adapter, place])
        drive = seen[block.adapter, place]
        if block.volume is not None:
            array = facts.arrays[block.volume]
            listed = array.drives = array.drives or []
            if place not in listed and drive.state != "spare":
                listed.append(place)
            if drive.state == "failed" and place not in (array.failed or []):
                array.failed = [*(array.failed or []), place]
            if drive.state == "spare":
                array.spares = [*(array.spares or []), place]
            if (at := _POSITION.search(have.find("Drive's position") or "")) is not None:
                positions[block.volume][place] = int(at[1]), int(at[2])
    for number, array in enumerate(facts.arrays):
        if array.members is None and array.drives:
            array.members = len(array.drives)
        states = {slot: seen[array.controller, slot].state for slot in array.drives or []}
        _seat(array, positions[number], states)


def _seat(
    array: Array, positions: Mapping[str, tuple[int, int]], states: Mapping[str, str | None]
) -> None:
    """Puts an array's drives into their places, by span and arm; the others are empty."""
    members = array.members or 0
    each = array.members_per_span or members // (array.spans or 1)
    places = {slot: span * each + arm for slot, (span, arm) in positions.items() if arm < each}
    if not array.drives or set(array.drives) != set(places):
        return
    if len(set(places.values())) < len(places) or max(places.values()) >= members:
        return
    array.drives = sorted(array.drives, key=lambda slot: places[slot])
    there = {places[slot] for slot in array.drives if states[slot] not in megaraid.AWAY}
    array.lacking = [at for at in range(members) if at not in there] or None
    if array.state == "optimal":
        # Drives that are not listed are not away: the capture was cut.
        array.lacking = None
    elif len(array.drives) < members:
        array.missing = members - len(array.drives)


def _drive(block: _Block, place: str) -> Drive:
    have = block.pairs
    vendor, model, serial = inquiry(block.inquiry, have.find("Device Firmware Level") or "")
    foreign = (have.find("Foreign State") or "").lower() == "foreign"
    spare = have.find("Hotspare Information") is not None
    firmware = have.find("Firmware state") or ""
    stated = "spare" if "hotspare" in firmware.lower() else _firmware_state(firmware)
    family = have.find("PD Type") or ""
    return Drive(
        slot=place,
        did=whole(have.find("Device Id")),
        model=model,
        vendor=vendor,
        serial=serial,
        bytes=megaraid.exact_bytes(have.find("Raw Size")) or None,
        interface=interface(family, have.find("Device Speed")),
        link_now=interface(family, have.find("Link Speed")) if have.find("Link Speed") else None,
        kind=megaraid.medium(have.find("Media Type")),
        state="foreign" if foreign else stated or ("spare" if spare else None),
        failing=megaraid.failing(have),
        controller=block.adapter,
        sector=size(have.find("Sector Size")) or None,
    )


def _firmware_state(text: str) -> str | None:
    word = text.lower()
    if word.startswith("unconfigured(good)"):
        return "unassigned"
    return (
        "unconfigured bad" if word.startswith("unconfigured(bad)") else megaraid.drive_state(text)
    )


def inquiry(text: str, firmware: str) -> tuple[str | None, str | None, str | None]:
    """Vendor, model and serial number of inquiry data.

    SAS: vendor (8 characters), product (16), revision (4), serial number. SATA: serial number
    (20), model (40), firmware (8). Blanks may be lost, so the fields' ends decide where they can.
    """
    known = text[:8].strip()
    if known.upper() == "ATA" and len(text.rstrip()) >= 12:
        # Older firmware translates a SATA drive's data into the form of a SAS drive.
        return None, text[8:24].strip() or None, text[28:].strip() or None
    if known.upper() in SAS_VENDORS and len(text.rstrip()) >= 12:
        model = text[8:24].split("  ")[0].strip()
        if firmware and len(model) > len(firmware):
            model = model.removesuffix(firmware)
        return known, model or None, text[28:].strip() or None
    parts = [part for part in re.split(r"\s{2,}", text.strip()) if part and part != firmware]
    words = text.split()
    if len(parts) >= 2:
        serial, rest = parts[0], parts[1]
    elif len(words) >= 2:
        serial, rest = words[0], " ".join(words[1:])
    else:
        return None, known_text(text), None
    if len(text) >= 28 and " " not in text[:20].strip() and text[20:21].strip():
        serial, rest = text[:20].strip(), re.split(r"\s{2,}", text[20:60].strip())[0]
    model = rest.removesuffix(firmware).strip() if firmware else rest
    vendor, _ = vendor_and_model(model)
    return vendor, model or None, serial
