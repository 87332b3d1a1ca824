"""`hwinfo --disk`, also within other classes: disks with their device files.

SCSI cuts a SATA drive's model at 16 characters, and of NVMe `Model` names the chip; names in
/dev/disk/by-id have the whole model with `_` for blanks, and the serial number behind it.
"""

from __future__ import annotations

import re

from raidlab.calibration.discover.captures import Capture, Pairs, pairs_of
from raidlab.calibration.discover.facts import Drive, Facts
from raidlab.calibration.discover.quantities import whole
from raidlab.calibration.discover.vendors import (
    is_controller_volume,
    is_virtual,
    joined_model,
    transport_of,
    vendor_and_model,
)

_HEAD = re.compile(r"^\s*\d+: [\w()-]+(?: \S+)? ?\S*: [0-9a-f]{4,5} .*$", re.MULTILINE)
_DISK = re.compile(r"^\s*Hardware Class: disk\s*$", re.MULTILINE)
_BY_ID = re.compile(r"/dev/disk/by-id/(ata|nvme)-([^\s,]+)")
_NO_DRIVE = re.compile(r"^(dm-|md|loop|zram|ram|fd|sr|mtd|bcache)")


def claims(capture: Capture) -> bool:
    """True for what hwinfo prints of disks."""
    return "Hardware Class: " in capture.text and "Unique ID: " in capture.text


def read(capture: Capture) -> Facts:
    """Disks; other classes are passed over."""
    facts = Facts("hwinfo")
    for part in _HEAD.split(capture.text)[1:]:
        if _DISK.search(part):
            drive = _drive(pairs_of(part.splitlines()))
            facts.drives += [] if drive is None else [drive]
    if not _DISK.search(capture.text):
        facts.warn("no-disks", "hwinfo without disks: capture `hwinfo --disk`")
    return facts


def _text(have: Pairs, key: str) -> str | None:
    """A value, of `pci 0x144d "Samsung"` what stands in quotes."""
    text = have.find(key) or ""
    match = re.search(r'"([^"]*)"', text)
    return (match[1] if match else text).strip() or None


def _drive(have: Pairs) -> Drive | None:
    name = (have.find("Device File") or "").split(" ")[0].removeprefix("/dev/")
    if not name or _NO_DRIVE.match(name):
        return None
    exact = re.search(r"\((\d+) bytes\)", have.find("Capacity") or "")
    sectors = re.match(r"(\d+) sectors a (\d+) bytes", have.find("Size") or "")
    drive = Drive(name=name, serial=_text(have, "Serial ID"))
    if exact:
        drive.bytes = int(exact[1])
    elif sectors:
        drive.bytes = int(sectors[1]) * int(sectors[2])
    drive.sector = whole(sectors[2]) if sectors else None
    bus = f"{have.find('Driver') or ''} {have.find('Attached to') or ''}"
    drive.transport = transport_of(bus.replace('"', " "), name)
    vendor, device = _text(have, "Vendor"), _text(have, "Device")
    _, model = vendor_and_model(_text(have, "Model"))
    if is_virtual(vendor, model, name):
        drive.virtual, drive.model = True, model
    elif is_controller_volume(vendor, device or model):
        drive.volume_of_controller, drive.model = True, model
    else:
        _identify(drive, have, vendor, model)
    return drive


def _identify(drive: Drive, have: Pairs, vendor: str | None, model: str | None) -> None:
    nvme = (drive.name or "").startswith("nvme")
    by_id = _BY_ID.search(have.find("Device Files") or "")
    if by_id is not None:
        whole_model, _, serial = by_id[2].rpartition("_")
        drive.model, drive.serial = whole_model.replace("_", " ").strip(), drive.serial or serial
        drive.interface = "sata" if by_id[1] == "ata" else "nvme"
    elif not nvme:
        drive.vendor, drive.model = joined_model(vendor, model)
    if nvme:
        drive.interface, drive.kind, drive.chip = "nvme", "ssd", model
