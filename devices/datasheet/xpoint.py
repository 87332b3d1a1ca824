"""A drive of 3D XPoint from its sheet, by closed forms.

    medium = the larger of the stated stream and of random I/Os times 4 KiB
    core = cores / random I/Os a second
    latency = host + core + 4 KiB / medium + wait + a frame (reads) or 4 KiB (writes) / link

docs/explanation/xpoint.md has a worked example.
"""

from __future__ import annotations

from dataclasses import dataclass

from raidlab.devices.datasheet.draft import Draft, Origin, quantity
from raidlab.devices.datasheet.flash import HOST_US
from raidlab.devices.datasheet.power import put_idle, watts
from raidlab.devices.datasheet.priors import BLOCK
from raidlab.devices.datasheet.sheet import Read, Sheet
from raidlab.devices.links import Interface

CORES = 1
_USUAL_US = {"read": 10.0, "write": 10.0}
"""Latencies where no sheet states them: P4800X, below 10 us."""
_USUAL_RATE = 2.4e9


@dataclass(frozen=True)
class Direction:
    """Reads, or writes."""

    name: str
    medium: float
    """Bytes a second."""
    core_us: float
    wait_us: float
    stated: bool
    """True if the sheet states the latency."""


def direction_of(sheet: Sheet, name: str) -> Direction:
    """What reads or writes take."""
    stream = getattr(sheet, f"sequential_{name}")
    random = getattr(sheet, f"random_{name}")
    other = sheet.sequential_read or sheet.sequential_write
    medium = max(stream or 0.0, (random or 0.0) * BLOCK) or other or _USUAL_RATE
    core = 1e6 * CORES / random if random else 0.5e6 * BLOCK / medium
    latency = getattr(sheet, f"{name}_latency")
    link = Interface.parse(sheet.interface)
    # Data of a read flow on while they leave the medium; those of a write come first.
    last = link.frame_bytes if name == "read" else BLOCK
    rest = HOST_US + core + 1e6 * BLOCK / medium + 1e6 * last / float(link.practical)
    wanted = _USUAL_US[name] if latency is None else latency / 1e3
    return Direction(name, medium, core, max(0.0, wanted - rest), latency is not None)


def device(read: Read) -> Draft:
    """The device file, every number with its origin."""
    draft = Draft()
    sheet = read.sheet
    draft.head(read)
    draft.put("kind", "xpoint")
    if sheet.sequential_read is not None:
        payload = sheet.sequential_read / float(Interface.parse(sheet.interface).theoretical)
        note = "sequential_read over the link's rate after its line code, or what is usual"
        draft.put("link_payload", round(min(1.0, max(0.9, payload)), 5), Origin("derived", note))
    if sheet.dwpd is not None:
        draft.put("drive_writes_per_day", sheet.dwpd, Origin("data-sheet"))
    draft.put("cores", CORES, Origin("assumed", "hardware that takes commands one by one"))
    for name in ("read", "write"):
        found = direction_of(sheet, name)
        core = Origin("derived", f"cores over random_{name}")
        if getattr(sheet, f"random_{name}") is None:
            core = Origin("assumed", "half the time of 4 KiB on the medium")
        draft.put(f"{name}.command", quantity(found.core_us, "us"), core)
        rate = Origin("derived", f"sequential_{name}, or random_{name} times 4 KiB if that is more")
        draft.put(f"{name}.rate", quantity(found.medium / 1e6, "MB/s"), rate)
        wait = Origin("derived", f"{name}_latency, less host, core, medium and link")
        if not found.stated:
            wait = Origin("assumed", "10 us in all, as of the P4800X")
        draft.put(f"{name}.latency", quantity(found.wait_us, "us"), wait)
    _power(draft, sheet)
    return draft


def _power(draft: Draft, sheet: Sheet) -> None:
    idle, active = watts(sheet)
    put_idle(draft, sheet)
    note = "active_power at the medium's rate, less idle"
    for name in ("read", "write"):
        cost = 1e9 * (active - idle) / direction_of(sheet, name).medium
        draft.put(f"power.{name}", round(cost, 4), Origin("derived", note))
