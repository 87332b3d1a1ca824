"""smartctl: JSON and text, of SATA, SAS and NVMe drives, also behind RAID controllers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from raidlab.calibration.discover.captures import Capture, Pairs, documents, pairs_of
from raidlab.calibration.discover.facts import Drive, Facts
from raidlab.calibration.discover.quantities import (
    flag,
    interface,
    known_text,
    size,
    whole,
    zones,
)
from raidlab.calibration.discover.readers import nvme
from raidlab.calibration.discover.vendors import (
    is_controller_volume,
    is_virtual,
    transport_of,
    vendor_and_model,
)
from raidlab.devices.trees import table_of, tables_of

_BEHIND = re.compile(r"(?P<kind>megaraid|cciss|areca|3ware|aacraid|hpt|sssraid),(?P<place>[\d,/]+)")
_INFO = re.compile(r"\[(?P<kind>megaraid|cciss|areca|3ware|aacraid)_disk_(?P<place>\d+)\]")


def claims(capture: Capture) -> bool:
    """True for what smartctl prints."""
    text = capture.text
    return bool(
        '"smartctl"' in text
        or re.search(r"^smartctl (\d|version)", text, re.MULTILINE)
        or ("START OF INFORMATION SECTION" in text)
        or ('"nvme_smart_health_information_log"' in text)
    )


def read(capture: Capture) -> Facts:
    """A drive for each output."""
    facts = Facts("smartctl")
    found = documents(capture.text)
    if found is not None and any(isinstance(value, dict) and value for value in found.values):
        facts.repair(capture.name, found.repairs)
        for value in found.values:
            if isinstance(value, dict) and "device" not in value and "devices" in value:
                facts.warn(
                    "unknown",
                    "a list of --scan names devices, no drives: capture smartctl -x of each",
                )
                continue
            _take(_of_json(value), facts)
    else:
        for part in _outputs(capture.text):
            _take(_of_text(part, capture), facts)
    return facts


def _take(drive: Drive, facts: Facts) -> None:
    if drive.model is None and drive.bytes is None:
        facts.warn(
            "unknown",
            f"{drive.name or 'a drive'}: the capture holds no identity;"
            " capture with smartctl -a or -x",
        )
    if is_controller_volume(drive.vendor, drive.model) and not drive.behind:
        drive.volume_of_controller, drive.kind, drive.interface = True, None, None
    elif is_virtual(drive.vendor, drive.model):
        drive.virtual, drive.kind, drive.interface, drive.rpm = True, None, None, None
    facts.drives.append(drive)


def _name(device: str, text: str) -> tuple[str, str | None, int | None]:
    """Name, what the drive is behind, and its number there."""
    match = _BEHIND.search(text) or _INFO.search(text)
    if match is None:
        return device, None, None
    place = match["place"].lstrip("0") or "0" if match["place"].isdigit() else match["place"]
    did = int(place) if place.isdigit() else None
    return f"{device} {match['kind']},{place}", match["kind"], did


def _of_json(value: Mapping[str, object]) -> Drive:
    device = table_of(value.get("device"))
    words = table_of(value.get("smartctl")).get("argv", [])
    called = " ".join(map(str, words if isinstance(words, list) else ()))
    text = f"{called} {device.get('type', '')} {device.get('info_name', '')}"
    name, behind, did = _name(str(device.get("name") or ""), text)
    stated_vendor = known_text(value.get("scsi_vendor") or value.get("vendor"))
    full = known_text(value.get("model_name") or value.get("scsi_model_name"))
    product = known_text(value.get("scsi_product") or value.get("product"))
    scsi = device.get("protocol") == "SCSI"
    model = product or (full if not scsi else vendor_and_model(full)[1])
    health = value.get("nvme_smart_health_information_log")
    drive = Drive(
        name=name or None,
        model=model,
        transport=transport_of(f"{device.get('info_name', '')} {device.get('type', '')}"),
        vendor=None if stated_vendor == "ATA" else stated_vendor,
        family=known_text(value.get("model_family")),
        serial=known_text(value.get("serial_number")),
        bytes=_capacity(value),
        behind=behind,
        did=did,
        rpm=whole(value.get("rotation_rate")),
        sector=whole(value.get("logical_block_size")),
        physical_sector=whole(value.get("physical_block_size")),
        protection=whole(value.get("scsi_protection_type")),
        drive_cache=_switch(value.get("write_cache")),
        power_on_hours=whole(table_of(value.get("power_on_time")).get("hours")),
        temperature_c=whole(table_of(value.get("temperature")).get("current")),
        percent_used=whole(value.get("scsi_percentage_used_endurance_indicator")),
    )
    _json_interface(drive, value)
    passed = table_of(value.get("smart_status")).get("passed")
    drive.failing = "SMART health: failed" if passed is False else None
    drive.form = _form(table_of(value.get("form_factor")).get("name"))
    drive.zoned = zones(json.dumps(value.get("zoned_device") or ""))
    names = [str(each.get("name")) for each in tables_of(
        table_of(value.get("ata_smart_attributes")).get("table"))]  # fmt: skip
    drive.protected = True if _CAPACITOR.search("\n".join(names)) else None
    if isinstance(health, dict):
        have = Pairs()
        for key, each in health.items():
            have.put(key, str(each))
        nvme.life(drive, have)
    return drive


def _capacity(value: Mapping[str, object]) -> int | None:
    stated = whole(table_of(value.get("user_capacity")).get("bytes"))
    total = whole(value.get("nvme_total_capacity"))
    spaces = [
        whole(table_of(each.get("capacity", each.get("size"))).get("bytes")) or 0
        for each in tables_of(value.get("nvme_namespaces"))
    ]
    return stated or total or sum(spaces) or None


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _switch(value: object) -> str | None:
    stated = flag(value.get("enabled")) if isinstance(value, dict) else None
    return None if stated is None else "on" if stated else "off"


def _json_interface(drive: Drive, value: Mapping[str, object]) -> None:
    protocol = str(table_of(value.get("device")).get("protocol") or "")
    speed = table_of(value.get("interface_speed"))
    transport = table_of(value.get("scsi_transport_protocol")).get("name")
    if protocol == "NVMe":
        drive.interface, drive.kind = "nvme", "ssd"
        return
    if protocol == "ATA":
        drive.interface = interface("sata", _text(table_of(speed.get("max")).get("string")))
        drive.link_now = (
            interface("sata", _text(table_of(speed["current"]).get("string")))
            if "current" in speed
            else None
        )
    elif transport is not None:
        drive.interface = interface(str(transport))
        rates = re.findall(r"phy enabled; ([\d.]+ Gbps)", str(value))
        if drive.interface and rates:
            drive.link_now = interface(drive.interface, rates[0])
    if drive.rpm is not None:
        drive.kind = "hdd" if drive.rpm else "ssd"


def _outputs(text: str) -> Iterator[str]:
    """Each output of a file that holds several."""
    starts = [m.start() for m in re.finditer(r"^smartctl (?:\d|version)", text, re.MULTILINE)]
    if not starts:
        # Some captures leave out the line with the version.
        yield text
        return
    for place, (begin, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True)):
        # The command stands on the line before.
        first = 0 if place == 0 else text.rfind("\n", 0, max(begin - 1, 0))
        yield text[max(first, 0) : end]


_TEXT_NAME = re.compile(r"(/dev/[\w/.-]+)")
_FILE_NAME = re.compile(
    r"dev[._/-](?P<name>(?:sd|hd|nvme|sg|bus)[\w.]*)|(?P<bare>\b(?:sd[a-z]+|nvme\d+)\b)"
)


def _of_text(text: str, capture: Capture) -> Drive:
    have = pairs_of(text.splitlines())
    old = re.search(r"^Device:\s+(\S+)\s+(\S+)\s+Version:", text, re.MULTILINE)
    command = next(
        (line for line in text.splitlines() if "smartctl" in line and "/dev/" in line), ""
    )
    named = _TEXT_NAME.search(command)
    filed = _FILE_NAME.search(capture.name)
    device = named[1] if named else ""
    if not device and filed:
        device = "/dev/" + (filed["name"] or filed["bare"] or "").removesuffix(".txt")
    name, behind, did = _name(device, f"{command} {capture.name} {text[:400]}")
    vendor = known_text(have.find("Vendor")) or (old[1] if old else None)
    rotation = have.find("Rotation Rate") or ""
    model = have.find("Device Model", "Product", "Model Number") or (old[2] if old else None)
    drive = Drive(
        name=name or None,
        model=known_text(model),
        transport=transport_of(f"{command} {' '.join(re.findall(r'.*USB bridge.*', text))}"),
        vendor=None if vendor == "ATA" else vendor,
        family=known_text(have.find("Model Family")),
        serial=known_text(have.find("Serial Number", "Serial number")),
        bytes=_stated_bytes(have),
        behind=behind,
        did=did,
        rpm=0 if "solid state" in rotation.lower() else whole(rotation),
        power_on_hours=_hours(text),
        protection=whole((re.search(r"Formatted with type (\d) protection", text) or [0, None])[1]),
    )
    cache = have.find("Write cache is", "Writeback Cache is")
    drive.drive_cache = None if flag(cache) is None else "on" if flag(cache) else "off"
    _sectors(drive, have)
    _text_interface(drive, have, text)
    health = have.find("SMART overall-health self-assessment test result", "SMART Health Status")
    if health is not None and re.match(r"passed|ok\b", health, re.IGNORECASE) is None:
        drive.failing = f"SMART health: {health}"
    drive.form = _form(have.find("Form Factor"))
    drive.zoned = zones(have.find("Zoned Device", "Zone Model", "Zoned block device model"))
    attributes = "\n".join(re.findall(r"^\s*\d+ ([A-Z][\w-]+)\s", text, re.MULTILINE))
    drive.protected = True if _CAPACITOR.search(attributes) else None
    return drive


_CAPACITOR = re.compile(r"^(Power_?Loss_(Cap|Prot)|PLP|.*Capacitor|Power_Fail_Health)", re.I | re.M)
"""Attributes of SSDs that test their capacitor (drivedb.h of smartmontools)."""


def _form(text: object) -> str | None:
    """A form factor in lower case, such as `m.2` or `2.5 inches`."""
    return (known_text(text) or "").lower() or None


def _stated_bytes(have: Pairs) -> int | None:
    text = have.find("User Capacity", "Total NVM Capacity") or have.like(r"^namespace1size")
    match = re.match(r"([\d.,'’\s  ]+?)\s*(bytes|\[|$)", text or "")
    if match is None:
        return size(text, decimal=True)
    return whole(re.sub(r"\D", "", match[1])) or None


def _hours(text: str) -> int | None:
    match = re.search(r"(?:Power On Hours|number of hours powered up|Power_On_Hours.*?-)\s*[:=]?\s*"
                      r"([\d.,]+)", text, re.IGNORECASE)  # fmt: skip
    return (
        whole(re.sub(r"[.,].*$", "", match[1]) if "." in match[1] else match[1]) if match else None
    )


def _sectors(drive: Drive, have: Pairs) -> None:
    text = have.find("Sector Sizes", "Sector Size") or ""
    logical = re.search(r"(\d+) bytes logical", text)
    physical = re.search(r"(\d+) bytes (?:logical/)?physical", text)
    drive.sector = (
        int(logical[1])
        if logical
        else whole(have.find("Logical block size", "Namespace 1 Formatted LBA Size"))
    )
    drive.physical_sector = (
        int(physical[1]) if physical else whole(have.find("Physical block size"))
    )


def _text_interface(drive: Drive, have: Pairs, text: str) -> None:
    if have.find("NVMe Version", "Model Number", "Total NVM Capacity"):
        drive.interface, drive.kind = "nvme", "ssd"
        nvme.life(drive, have)
        return
    sata, sas = have.find("SATA Version is"), have.find("Transport protocol")
    if sata is not None:
        drive.interface = interface("sata", re.sub(r"\(.*", "", sata))
        now = re.search(r"\(current:\s*([^)]*)\)", sata)
        drive.link_now = interface("sata", now[1]) if now else None
    elif have.find("ATA Version is") or have.find("Device Model"):
        drive.interface = "sata"
    elif sas is not None:
        drive.interface = interface(sas)
        rate = re.search(r"negotiated logical link rate:\s*phy enabled[;,]\s*(.*)", text)
        if rate and drive.interface:
            drive.link_now = interface(drive.interface, rate[1])
    if drive.rpm is not None:
        drive.kind = "hdd" if drive.rpm else "ssd"
    used = have.find("Percentage used endurance indicator")
    drive.percent_used = whole(used)
