"""`hdparm -I`: what an ATA drive says of itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from raidlab.calibration.discover.captures import Capture, pairs_of
from raidlab.calibration.discover.facts import Drive, Facts
from raidlab.calibration.discover.quantities import whole
from raidlab.calibration.discover.vendors import is_virtual

_GENERATIONS = (("SATA Rev 3", "sata-6g"), ("SATA Rev 2", "sata-3g"), ("SATA 1.0", "sata-1.5g"))
"""The newest revision of SATA that a drive names, and its rate."""


def claims(capture: Capture) -> bool:
    """True for `hdparm -I`."""
    return bool(re.search(r"^ATA device, with ", capture.text, re.MULTILINE))


def read(capture: Capture) -> Facts:
    """One drive for each device."""
    facts = Facts("hdparm")
    for device, lines in _devices(capture):
        facts.drives.append(_drive(device, lines))
    return facts


def _devices(capture: Capture) -> Iterator[tuple[str | None, list[str]]]:
    device, lines = None, list[str]()
    for line in capture.lines:
        if (match := re.match(r"^/dev/(\S+):\s*$", line)) is not None:
            if lines:
                yield device, lines
            device, lines = match[1], []
        elif line.strip():
            lines.append(line)
    if lines:
        yield device, lines


def _drive(device: str | None, lines: list[str]) -> Drive:
    have = pairs_of(lines)
    text = "\n".join(lines)
    model = have.find("Model Number")
    drive = Drive(name=device, model=model, serial=have.find("Serial Number"))
    drive.bytes = _bytes(text)
    drive.approximate = True if drive.bytes and not re.search(r"LBA48.*sectors", text) else None
    if is_virtual(None, model, device):
        drive.virtual = True
        return drive
    transport = have.find("Transport") or ""
    drive.interface = next((rate for name, rate in _GENERATIONS if name in transport), "sata")
    rate = (have.find("Nominal Media Rotation Rate") or "").lower()
    drive.rpm = 0 if "solid" in rate else whole(rate)
    drive.kind = None if drive.rpm is None else "hdd" if drive.rpm else "ssd"
    depth = whole(have.find("Queue depth"))
    drive.ncq = None if depth is None else depth > 1
    cache = re.search(r"^\s*(\*?)\s*Write cache\s*$", text, re.MULTILINE)
    drive.drive_cache = None if cache is None else "on" if cache[1] else "off"
    drive.form = (have.find("Form Factor") or "").lower() or None
    drive.sleeps = True if re.search(r"^\s*\*?\s*Device Sleep", text, re.MULTILINE) else None
    sectors = re.search(r"Sector size:\s*(\d+)/(\d+) bytes", text)
    if sectors is not None:
        drive.sector, drive.physical_sector = int(sectors[1]), int(sectors[2])
    else:
        drive.sector = whole(have.find("Logical Sector size", "Logical/Physical Sector size"))
        drive.physical_sector = whole(have.find("Physical Sector size"))
    return drive


def _bytes(text: str) -> int | None:
    """Sectors that the drive counts are exact; its megabytes are rounded."""
    sectors = re.search(r"LBA48\s+user addressable sectors:\s*(\d+)", text)
    if sectors is not None:
        logical = re.search(r"Logical(?:/Physical)? Sector size:\s*(\d+)", text)
        return int(sectors[1]) * (int(logical[1]) if logical else 512)
    decimal = re.search(r"M = 1000\*1000:\s*(\d+) MBytes", text)
    return int(decimal[1]) * 10**6 if decimal else None
