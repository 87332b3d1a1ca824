"""nvme-cli: `list` (both JSON forms and the table), `id-ctrl` and `smart-log` (JSON and text)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from raidlab.calibration.discover.captures import (
    Capture,
    Pairs,
    documents,
    pairs_of,
    plain_key,
    text_of,
)
from raidlab.calibration.discover.facts import Drive, Facts
from raidlab.calibration.discover.quantities import binary, known_text, number, size, whole
from raidlab.calibration.discover.readers.md import natural
from raidlab.calibration.discover.vendors import is_virtual

_DATA_UNIT = 512_000
"""Bytes of a data unit of the SMART log: a thousand units of 512 bytes (NVMe 1.4, 5.14.1.2)."""
_LEAST_PAGE = 4096
"""Bytes of the least page of a controller, CAP.MPSMIN, on all common drives."""


def claims_list(capture: Capture) -> bool:
    """True for `nvme list`."""
    text = capture.head
    return bool(
        ('"Devices"' in text and re.search(r'"(ModelNumber|Subsystems|DevicePath)"', text))
        or re.search(r"^Node\s+.*\bModel\b.*\bNamespace\b", text, re.MULTILINE)
    )


def claims_id(capture: Capture) -> bool:
    """True for `nvme id-ctrl`."""
    text = capture.text
    if '"mdts"' in text and '"vwc"' in text:
        return True
    return bool(re.search(r"^mdts\s*:", text, re.MULTILINE))


def claims_log(capture: Capture) -> bool:
    """True for `nvme smart-log`."""
    plain = plain_key(capture.text[:4096])
    return ("criticalwarning" in plain and "dataunitswritten" in plain
            and "smartctl" not in plain)  # fmt: skip


def read_list(capture: Capture) -> Facts:
    """Drives, with the bytes of all their namespaces."""
    facts = Facts("nvme-list")
    found = documents(capture.text)
    if found is not None:
        facts.repair(capture.name, found.repairs)
        spaces = [each for value in found.values for each in _spaces(value)]
    else:
        spaces = list(_table(capture))
    drives: dict[tuple[str | None, str], Drive] = {}
    counted: set[tuple[object, ...]] = set()
    for space in spaces:
        serial = known_text(space.get("SerialNumber"))
        name = str(space.get("name") or "")
        key = (serial, "" if serial else name)
        fresh = key not in drives
        drive = drives.setdefault(key, _drive(space, name, serial))
        number = space.get("NSID") or space.get("NameSpace") or space.get("DevicePath")
        if (key, number) in counted or (space.get("NSID") is None and not number and not fresh):
            continue
        counted.add((key, number))
        own = whole(space.get("PhysicalSize")) or _of_blocks(space)
        if own is not None:
            drive.bytes = (drive.bytes or 0) + own
            drive.namespaces = (drive.namespaces or 0) + 1
    facts.drives.extend(sorted(drives.values(), key=lambda each: natural(each.name or "")))
    return facts


def _of_blocks(space: Mapping[str, object]) -> int | None:
    blocks, sector = whole(space.get("MaximumLBA")), whole(space.get("SectorSize"))
    return None if blocks is None or sector is None else blocks * sector


def _drive(space: Mapping[str, object], name: str, serial: str | None) -> Drive:
    model = known_text(space.get("ModelNumber"))
    transport = str(space.get("Transport") or "pcie").lower()
    virtual = is_virtual(None, model, name) or transport not in ("pcie", "")
    drive = Drive(
        name=name or None,
        model=model,
        serial=serial,
        address=known_text(space.get("Address")) if transport == "pcie" else None,
        sector=whole(space.get("SectorSize")),
        approximate=True if space.get("approximate") else None,
    )
    if virtual:
        drive.virtual = True
    else:
        drive.interface, drive.kind = "nvme", "ssd"
    return drive


def _spaces(value: Any) -> Iterator[Mapping[str, object]]:
    """Namespaces of both JSON forms, each with what its controller says."""
    for device in value.get("Devices", []) if isinstance(value, dict) else []:
        if "Subsystems" not in device:
            path = str(device.get("DevicePath") or "")
            yield {**device, "name": _controller_name(path)}
            continue
        for system in device["Subsystems"]:
            shared = system.get("Namespaces") or []
            for controller in system.get("Controllers", []):
                above = {**controller, "name": controller.get("Controller")}
                spaces = controller.get("Namespaces") or shared
                for space in spaces or [{}]:
                    yield {**above, **space}


def _controller_name(path: str) -> str:
    """`nvme0` of `/dev/nvme0n1`."""
    return re.sub(r"(nvme\d+)(c\d+)?n\d+.*$", r"\1", path.rpartition("/")[2])


def _table(capture: Capture) -> Iterator[Mapping[str, object]]:
    """The table, whose columns are as wide as the dashes below the header."""
    lines = capture.lines
    rule = next((at for at, line in enumerate(lines) if re.match(r"^-{3,}\s+-{3,}", line)), None)
    if not rule:
        return
    spans = [(each.start(), each.end()) for each in re.finditer(r"-+", lines[rule])]
    names = [lines[rule - 1][begin:end].strip() for begin, end in spans]
    ends = [begin for begin, _ in spans[1:]] + [10**6]
    for line in lines[rule + 1 :]:
        if not line.startswith("/dev/nvme"):
            continue
        cells = [line[begin:end].strip() for (begin, _), end in zip(spans, ends, strict=True)]
        row = dict(zip(names, cells, strict=True))
        usage = (text_of(row, "Usage") or "").split("/")[-1]
        sector = re.match(r"(\d+)\s*(Ki?B|B)?", text_of(row, "Format") or "", re.I)
        yield {
            "name": _controller_name(cells[0]),
            "DevicePath": cells[0],
            "SerialNumber": text_of(row, "SN"),
            "ModelNumber": text_of(row, "Model"),
            "NameSpace": text_of(row, "Namespace"),
            "PhysicalSize": size(usage, decimal=True),
            "SectorSize": size(sector[0]) if sector else None,
            "approximate": True,
        }


def read_id(capture: Capture) -> Facts:
    """What a controller says about itself."""
    facts = Facts("nvme-id-ctrl")
    for have, power in _identities(capture, facts):
        depth = whole(have.find("mdts"))
        cache = whole(have.find("vwc"))
        sleeps = whole(have.find("apsta"))
        total = whole(re.sub(r"^.*\btotal\b", "", have.find("tnvmcap") or ""))
        model = known_text(have.find("mn"))
        virtual = is_virtual(None, model)
        facts.drives.append(
            Drive(
                model=model,
                name=_named(capture),
                serial=known_text(have.find("sn")),
                bytes=total or None,
                interface=None if virtual else "nvme",
                kind=None if virtual else "ssd",
                virtual=True if virtual else None,
                volatile_write_cache=None if cache is None else bool(cache & 1),
                drive_cache=None if cache is None else None if cache & 1 else "no volatile cache",
                sleeps=None if sleeps is None else bool(sleeps & 1),
                max_transfer=binary(_LEAST_PAGE << depth) if depth else None,
                max_power_w=power,
            )
        )
        if not total:
            facts.warn("unknown", "id-ctrl holds no total capacity: the namespaces give the size")
    return facts


def _named(capture: Capture) -> str | None:
    """The drive that a command in the file or its name says."""
    for text in (capture.head, capture.name):
        match = re.search(r"dev[./_-]?(nvme\d+)|\b(nvme\d+)(?:n\d+)?\b", text)
        if match is not None and "NVME" not in match[0]:
            return match[1] or match[2]
    return None


def _identities(capture: Capture, facts: Facts) -> Iterator[tuple[Pairs, float | None]]:
    found = documents(capture.text) if capture.text.lstrip()[:1] in "{[" else None
    if found is not None:
        facts.repair(capture.name, found.repairs)
        for value in found.values:
            have = Pairs()
            for key, each in value.items():
                if not isinstance(each, dict | list):
                    have.put(key, str(each))
            states = value.get("psds") or [{}]
            yield have, _power(states[0])
        return
    for part in re.split(r"(?im)^NVME Identify Controller.*$", capture.text):
        have = pairs_of(part.splitlines())
        if "mdts" not in have:
            continue
        match = re.search(r"^ps\s+0\s*:\s*mp:\s*([\d.]+)\s*W", part, re.MULTILINE)
        yield have, float(match[1]) if match else None


def _power(state: Mapping[str, object]) -> float | None:
    """Watts of a power state: hundredths, or ten-thousandths with the scale bit."""
    most = state.get("max_power")
    if not isinstance(most, int | float):
        return None
    flags = state.get("flags")
    fine = bool(isinstance(flags, int) and flags & 1) or bool(state.get("max_power_scale"))
    return float(most) / (10_000 if fine else 100)


def read_log(capture: Capture) -> Facts:
    """Wear and totals of a drive's life."""
    facts = Facts("nvme-smart-log")
    found = documents(capture.text) if capture.text.lstrip()[:1] in "{[" else None
    parts = []
    if found is not None:
        facts.repair(capture.name, found.repairs)
        for value in found.values:
            have = Pairs()
            for key, each in value.items():
                have.put(key, str(each))
            parts.append(have)
    else:
        parts.append(pairs_of(capture.lines))
    for have in parts:
        drive = Drive(name=_named(capture), interface="nvme", kind="ssd")
        life(drive, have)
        facts.drives.append(drive)
    facts.warn("lifetime", "totals of a drive's life hide peaks and idle times")
    return facts


def life(drive: Drive, have: Pairs) -> None:
    """Totals of the SMART log; means over the drive's life hide peaks."""
    read, written = (whole(have.find(f"data_units_{word}")) for word in ("read", "written"))
    reads = whole(have.find("host_read_commands", "host_reads"))
    writes = whole(have.find("host_write_commands", "host_writes"))
    critical = have.find("critical_warning") or "0"
    marks = whole(critical)
    drive.failing = f"critical_warning: {critical}" if marks else drive.failing
    drive.percent_used = whole(have.find("percent_used", "percentage_used"))
    drive.power_on_hours = whole(have.find("power_on_hours"))
    degrees = number(have.find("temperature", "composite_temperature") or "")
    if degrees is not None:
        # Some versions print kelvin; no drive works at 150 degrees Celsius.
        drive.temperature_c = round(degrees - 273) if degrees > 150 else round(degrees)
    if read is not None and reads:
        drive.read_bytes_total = read * _DATA_UNIT
        drive.mean_read_size = round(read * _DATA_UNIT / reads, 1)
    if written is not None and writes:
        drive.written_bytes_total = written * _DATA_UNIT
        drive.mean_write_size = round(written * _DATA_UNIT / writes, 1)
        if drive.power_on_hours:
            seconds = drive.power_on_hours * 3600
            drive.write_bytes_per_s_life = round(written * _DATA_UNIT / seconds)
    if reads is not None and writes is not None and reads + writes:
        drive.read_share = round(reads / (reads + writes), 4)
