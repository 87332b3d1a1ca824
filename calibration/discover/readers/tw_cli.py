"""tw_cli `/cN show`, `/cN show all`, `info cN`: 3ware controllers, units and ports.

Sizes are powers of 1,024; of old controllers the count of blocks of 512 B is exact. Columns go by
their names, which changed with the controllers: `Port` and `VPort`, `%Cmpl` and `%RCmpl`.
Source: 3ware SAS/SATA RAID Software CLI Guide, Version 10.2 (LSI, 2010).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from raidlab.calibration.discover.captures import Capture, Pairs, table, text_of
from raidlab.calibration.discover.facts import Array, Controller, Drive, Facts, Link
from raidlab.calibration.discover.members import name_members
from raidlab.calibration.discover.quantities import (
    binary_size,
    interface,
    number,
    raid_level,
    size,
    state,
    whole,
)
from raidlab.calibration.discover.vendors import vendor_and_model

_HEADER = re.compile(
    r"^\s*(Unit\s+UnitType\s+Status|V?Port\s+Status\s+Unit|Ctl\s+Model|Name\s+OnlineState)\b"
)
_SET = re.compile(r"^/c(\d+) (.+?) = (.*)$", re.MULTILINE)
_GENERATIONS = {2.5: 1, 5.0: 2, 8.0: 3}
"""Of PCI Express, by gigabits a second and lane."""
_GONE = {"not-present", "drive-removed", "drive-power-on-reset"}

Cells = Mapping[str, str]


def claims(capture: Capture) -> bool:
    """True for what tw_cli prints."""
    return any(map(_HEADER.match, capture.lines)) or _SET.search(capture.text) is not None


def read(capture: Capture) -> Facts:
    """Controllers, units and drives."""
    facts = Facts("tw_cli")
    named = re.search(r"(?:^|[\W_])c(\d+)(?=[\W_]|$)", capture.name)
    index = int(named[1]) if named else 0
    settings: dict[int, Pairs] = {}
    for match in _SET.finditer(capture.text):
        index = int(match[1])
        settings.setdefault(index, Pairs()).put(match[2], match[3])
    facts.controllers = [_controller(at, have) for at, have in settings.items()]
    spares: set[str] = set()
    for row in _rows(capture):
        if (unit := row.get("UnitType")) is not None:
            name = row["Unit"]
            if unit == "SPARE":
                spares.add(name)
            elif re.fullmatch(r"u\d+", name):
                facts.arrays.append(_array(index, row))
        elif "Ctl" in row:
            facts.controllers.append(Controller(
                index=whole(row["Ctl"][1:]), model=row.get("Model"), role="raid",
                backup=None if row.get("BBU") in (None, "-") else "bbu",
                backup_state=state(row.get("BBU")),
            ))  # fmt: skip
        elif "OnlineState" in row:
            for card in facts.controllers:
                card.backup, card.backup_state = "bbu", state(row.get("Status"))
        elif (drive := _drive(index, row)) is not None:
            facts.drives.append(drive)
    name_members(facts)
    for drive in facts.drives:
        drive.state = "spare" if drive.group in spares else drive.state
    return facts


def _rows(capture: Capture) -> Iterator[dict[str, str]]:
    """Rows of every table, by the names of its columns."""
    lines = [line for line in capture.lines if line.strip()]
    for at, line in enumerate(lines):
        if _HEADER.match(line) is None:
            continue
        rows = []
        for row in lines[at + 1 :]:
            if re.match(r"\s*-+\s*$", row):
                continue
            if re.match(r"\s*([ucp]\d|bbu\b)", row) is None:
                break
            rows.append(row)
        if rows:
            yield from table(line, rows)


def _controller(index: int, have: Pairs) -> Controller:
    lanes, speed = whole(have.find("Controller Bus Width")), have.find("Controller Bus Speed")
    link = None
    if lanes and speed and "PCIe" in (have.find("Controller Bus Type") or ""):
        link = Link(gen=_GENERATIONS.get(number(speed) or 0.0), width=lanes, speed=speed)
    return Controller(
        index=index,
        model=have.find("Model"),
        role="raid",
        firmware=have.find("Firmware Version"),
        cache=binary_size(have.find("Available Memory")),
        ports=whole(have.find("Number of Ports", "Controller Phys")),
        link=link,
    )


def _array(index: int, row: Cells) -> Array:
    gigabytes, cache = number(row.get("Size(GB)") or ""), row.get("Cache", "")
    writes = None
    if cache and cache != "-":
        back = cache == "ON" or "W" in cache
        writes = "write-back" if back else "write-through"
    done = number(row.get("%RCmpl") or row.get("%Cmpl") or "")
    word = state(row.get("Status"))
    return Array(
        name=row["Unit"],
        group=row["Unit"],
        controller=index,
        level=raid_level(row["UnitType"]) or "jbod",
        state="optimal" if word in ("ok", "verifying") else word,
        stripe_unit=binary_size((row.get("Stripe") or "").replace(" ", "").strip("-")),
        bytes=None if gigabytes is None else round(gigabytes * (1 << 30)),
        rebuild_percent=done if word == "rebuilding" else None,
        write_policy=writes,
        write_policy_now=writes,
    )


def _drive(index: int, row: Cells) -> Drive | None:
    word = state(row.get("Status"))
    slot = row.get("VPort") or row.get("Port")
    if word is None or word in _GONE:
        return None
    word = "ok" if word == "verifying" else word
    blocks, unit = whole(text_of(row, "Blocks")), text_of(row, "Unit")
    vendor, model = vendor_and_model(text_of(row, "Model"))
    return Drive(
        slot=slot,
        controller=index,
        model=model,
        vendor=vendor,
        serial=text_of(row, "Serial"),
        bytes=blocks * 512 if blocks else size(text_of(row, "Size")),
        approximate=None if blocks else True,
        kind="ssd" if "SSD" in (row.get("Type") or "") else None,
        interface=interface(text_of(row, "Type")),
        failing=word if "smart" in word else None,
        group=unit,
        state=("online" if unit else "unassigned") if word == "ok" else word,
    )
