"""sas2ircu and sas3ircu `DISPLAY`: chips of the MPT family with integrated RAID, no cache.

MB are MiB; the count behind them is the number of the last sector, so a drive has one more.
"""

from __future__ import annotations

import re

from raidlab.calibration.discover.captures import Capture, Pairs, pair
from raidlab.calibration.discover.facts import Array, Controller, Drive, Facts
from raidlab.calibration.discover.quantities import (
    interface,
    known_text,
    pci_address,
    raid_level,
    size,
    state,
    whole,
)

_BEGIN = re.compile(
    r"^(?P<what>Controller information|IR volume \d+|Device is an? (?P<device>.+?)|Enclosure "
    r"information|Initiator at ID.*|Physical device information|IR Volume information)\s*$",
    re.IGNORECASE,
)


def claims(capture: Capture) -> bool:
    """True for what sas2ircu or sas3ircu prints."""
    text = capture.text
    return bool(
        re.search(r"SAS\d IR Configuration Utility|SAS\dIRCU:", text)
        or ("IR Volume information" in text and "Enclosure #" in text)
        or ("Controller type" in text and "Enclosure #" in text)
    )


def tool(capture: Capture) -> str:
    """`sas2ircu` or `sas3ircu`."""
    match = re.search(r"SAS(\d) ?IR(?:CU| Configuration)", capture.text)
    named = re.search(r"(sas\dircu)", capture.name, re.IGNORECASE)
    return f"sas{match[1]}ircu" if match else named[1].lower() if named else "sas3ircu"


def read(capture: Capture) -> Facts:
    """Controllers, volumes and drives."""
    facts = Facts(tool(capture))
    index, what, pairs = None, "", Pairs()
    blocks: list[tuple[int | None, str, Pairs]] = []
    for line in capture.lines:
        number = re.search(r"initiated for controller (\d+)", line)
        if number is not None:
            index = int(number[1])
        elif (match := _BEGIN.match(line.strip())) is not None:
            what, pairs = match["what"].lower(), Pairs()
            blocks.append((index, what, pairs))
        elif (each := pair(line)) is not None:
            pairs.put(*each)
    for index, what, pairs in blocks:
        if what.startswith("controller"):
            facts.controllers.append(_controller(index, pairs))
        elif what.startswith("ir volume ") and pairs.find("RAID level"):
            facts.arrays.append(_array(index, pairs))
        elif re.match(r"device is an? .*(disk|drive|ssd|solid)", what):
            facts.drives.append(_drive(index, pairs))
    states = {each.slot: each.state for each in facts.drives}
    for array in facts.arrays:
        gone = [slot for slot in array.drives or [] if states.get(slot) == "missing"]
        array.missing = len(gone) or None
        array.failed = [s for s in array.drives or [] if states.get(s) == "failed"] or None
    return facts


def _controller(index: int | None, have: Pairs) -> Controller:
    return Controller(
        index=index,
        model=known_text(have.find("Controller type")),
        firmware=known_text(have.find("Firmware version")),
        queue_depth=whole(have.find("Concurrent commands supported")),
        role="hba",
        pci=pci_address(
            whole(have.find("Segment")) or 0,
            whole(have.find("Bus")),
            whole(have.find("Device")),
            whole(have.find("Function")),
        ),
    )


def _array(index: int | None, have: Pairs) -> Array:
    members = [value.replace(" ", "") for key, value in have.items() if key.startswith("phy")
               and re.match(r"\s*\d*:\d+", value)]  # fmt: skip
    megabytes = whole(have.find("Size (in MB)"))
    return Array(
        name=known_text(have.find("Volume Name")) or "",
        controller=index,
        level=raid_level(have.find("RAID level")),
        members=len(members) or None,
        drives=members or None,
        state=state(have.find("Status of volume")),
        bytes=None if megabytes is None else megabytes << 20,
        # The chip has no memory for writes.
        write_policy="write-through",
        write_policy_now="write-through",
    )


def _drive(index: int | None, have: Pairs) -> Drive:
    text = have.find("Size (in MB)/(in sectors)") or ""
    match = re.match(r"(\d+)\s*/\s*(\d+)", text)
    megabytes = whole(text)
    exact = (int(match[2]) + 1) * 512 if match and int(match[2]) else None
    rounded = None if not megabytes else size(f"{megabytes} MiB")
    if exact and rounded and exact * 4 < rounded:
        exact *= 8
    sort = (have.find("Drive Type") or "").upper()
    vendor = known_text(have.find("Manufacturer"))
    model = known_text(have.find("Model Number"))
    return Drive(
        slot=f"{have.find('Enclosure #') or ''}:{have.find('Slot #') or ''}",
        model=model,
        vendor=None if vendor == "ATA" else vendor,
        serial=known_text(have.find("Unit Serial No(VPD)", "Serial No")),
        bytes=exact or rounded,
        approximate=True if exact is None and rounded else None,
        interface=interface(have.find("Protocol") or sort),
        kind="ssd" if "SSD" in sort else "hdd" if "HDD" in sort else None,
        state=_state(have.find("State")),
        controller=index,
    )


def _state(text: str | None) -> str | None:
    word = state(text)
    return "spare" if word in ("hot spare",) else word
