"""`lsscsi`, with `-s`, `-g` or `-t`, and `/proc/scsi/scsi`: SCSI devices by vendor and model."""

from __future__ import annotations

import re

from raidlab.calibration.discover.captures import Capture
from raidlab.calibration.discover.facts import Drive, Facts
from raidlab.calibration.discover.quantities import size
from raidlab.calibration.discover.vendors import (
    is_controller_volume,
    is_virtual,
    joined_model,
    transport_of,
)

_ROW = re.compile(
    r"^\[(?P<address>[\w:]+)\]\s+(?P<type>[a-z]+)\s+(?P<vendor>.{8}) (?P<model>.{16,40}?)"
    r" +(?P<revision>\S{1,8})\s+(?P<device>/dev/\S+|-)(?P<rest>.*)$",
    re.MULTILINE,
)
_PROC = re.compile(
    r"^Host: scsi(?P<host>\d+) Channel: (?P<channel>\d+) Id: (?P<id>\d+) Lun: (?P<lun>\d+)\s*\n"
    r"\s*Vendor: (?P<vendor>.{8}) Model: (?P<model>.{16}) Rev: .*\n\s*Type:\s*(?P<type>\S+)",
    re.MULTILINE,
)
_NVME = re.compile(
    r"^\[N:[\d:]+\]\s+disk\s+(?P<model>\S.*?)(?:__\d+)?\s+(?P<device>/dev/nvme\S+)(?P<rest>.*)$",
    re.MULTILINE,
)
"""lsscsi joins controller and namespace by `__`."""
_SIZE = re.compile(r"\b\d+(?:\.\d+)?[MGT]B\b")


def claims(capture: Capture) -> bool:
    """True for lsscsi's list, or the kernel's."""
    return any(form.search(capture.text) for form in (_PROC, _ROW, _NVME))


def read(capture: Capture) -> Facts:
    """Disks of the list; CD drives, tapes and enclosures are none."""
    facts = Facts("lsscsi")
    for match in _PROC.finditer(capture.text):
        if match["type"] == "Direct-Access":
            _put(facts, None, match["vendor"].strip(), match["model"].strip(), None)
    for match in _ROW.finditer(capture.text):
        if match["type"] == "disk":
            name = match["device"].removeprefix("/dev/")
            named = None if name == "-" else name
            _put(facts, named, match["vendor"].strip(), match["model"].strip(), _bytes(match))
            facts.drives[-1].transport = transport_of(match["rest"])
    for match in _NVME.finditer(capture.text):
        _put(facts, match["device"].removeprefix("/dev/"), "NVMe", match["model"], _bytes(match))
    return facts


def _bytes(match: re.Match[str]) -> int | None:
    rounded = _SIZE.search(match["rest"])
    return size(rounded[0], decimal=True) if rounded else None


def _put(facts: Facts, name: str | None, vendor: str, model: str, bytes_: int | None) -> None:
    own, whole = joined_model(vendor, model)
    drive = Drive(name=name, vendor=own, model=whole, bytes=bytes_)
    drive.approximate = True if bytes_ else None
    if is_virtual(vendor, model, name):
        drive.virtual = True
    elif is_controller_volume(vendor, model):
        drive.volume_of_controller = True
    elif vendor == "NVMe" or (name or "").startswith("nvme"):
        drive.vendor, drive.interface, drive.kind = None, "nvme", "ssd"
    else:
        drive.interface = "sata" if own is None else None
    facts.drives.append(drive)
