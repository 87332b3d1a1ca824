"""Power of a drive from its sheet: watts idle and at work become energies of operations.

    P_active = P_idle + S_read (e_byte + e_read / set)        streams of reads
    P_active = P_idle + S_write (e_byte + e_program / set)    streams of writes

with the bytes of a page set, and e_read = P_array t_read. docs/explanation/power.md has a worked
example.
"""

from __future__ import annotations

from dataclasses import dataclass

from raidlab.devices.datasheet import priors
from raidlab.devices.datasheet.draft import Draft, Origin, quantity
from raidlab.devices.datasheet.flash import Flash, steady_write
from raidlab.devices.datasheet.nand import PAGE
from raidlab.devices.datasheet.priors import Watts
from raidlab.devices.datasheet.sheet import Sheet
from raidlab.devices.power import PowerState
from raidlab.devices.trees import Tree
from raidlab.devices.usual_power import usual_of_disk, usual_of_flash

_LEAST_AT_WORK = 1.05
"""Power at work over that of the idle drive, at least, where only this is stated."""


@dataclass(frozen=True)
class Energies:
    """Microjoules of a die's operations; nanojoules of a byte that passes channel and link."""

    read_uj: float
    program_uj: float
    program_slc_uj: float | None
    """Into an SLC cache; None without one."""
    erase_uj: float
    byte_nj: float


def watts(sheet: Sheet) -> tuple[float, float]:
    """Idle and at work: as stated, else usual of the class, in proportion to what is stated."""
    usual = _usual(sheet)
    active = sheet.active_power or usual.active
    if sheet.active_power is None and sheet.idle_power is not None:
        active = max(active, _LEAST_AT_WORK * sheet.idle_power)
    idle = sheet.idle_power
    if idle is None:
        idle = min(usual.idle, active * usual.idle / usual.active)
        # Between the states that serve commands and those that do not.
        for state in sheet.power_states:
            idle = min(idle, state.most / 2) if state.operational else max(idle, state.most)
    return min(idle, active), active


def _usual(sheet: Sheet) -> Watts:
    if sheet.kind == "hdd":
        return usual_of_disk(sheet.rpm or 7200.0)
    return usual_of_flash(sheet.interface, client=sheet.burst)


def energies(flash: Flash) -> Energies:
    """The energies with which streams draw the power at work."""
    idle, active = watts(flash.sheet)
    work, page_set = active - idle, flash.planes * PAGE
    read = priors.ARRAY_W.best * flash.read_us
    erase = priors.ARRAY_W.best * 1000 * flash.cell.erase_ms.best
    writes = steady_write(flash.sheet) or flash.program_rate
    reads = flash.sheet.sequential_read
    # Without a stream of reads, half of what a byte costs while it is written.
    byte = 1e9 * work / reads - 1e3 * read / page_set if reads else 0.5e9 * work / writes
    if flash.program_mb_s is not None and not flash.sheet.has_slc_cache:
        # Few programs bound the stream: each draws what chips state, and bytes cost the rest.
        usual = 1e-6 * priors.ARRAY_W.best * flash.program_us * writes / page_set
        byte = min(byte, 1e9 * (work - usual) / writes)
    byte = max(0.0, byte)
    program = 1e6 * page_set * (work / writes - 1e-9 * byte)
    # In steady state all dies program, and what they move was read: no more than at work either.
    moved = 1.0 - 1.0 / flash.write_amplification
    most = 1e6 * work * page_set / flash.program_rate
    most -= erase / flash.cell.pages_per_block + moved * read
    most -= 1e-3 * (1.0 - moved) * page_set * byte
    array = priors.ARRAY_W.clamp(min(program, most) / flash.program_us)
    return Energies(read, array * flash.program_us, _slc_uj(flash, work, byte), erase, byte)


def _slc_uj(flash: Flash, work: float, byte: float) -> float | None:
    """Of a program into the SLC cache: what the stated burst leaves beside its bytes."""
    burst, time = flash.sheet.sequential_write, flash.slc_program_us
    if not flash.sheet.has_slc_cache:
        return None
    page_set = flash.planes * PAGE
    rate = float(burst) if burst else 1e6 * flash.dies * page_set / time
    left = 1e6 * page_set * (work / rate - 1e-9 * byte)
    return priors.ARRAY_W.clamp(left / time) * time


def put_flash_power(draft: Draft, flash: Flash) -> None:
    """`[power]` of an SSD."""
    found = energies(flash)
    put_idle(draft, flash.sheet)
    array = Origin(
        "assumed", f"{priors.ARRAY_W.best:g} W while a die works: {priors.ARRAY_W.source}"
    )
    rest = Origin("derived", "active_power at the stated streams, less idle and the dies' part")
    if flash.sheet.active_power is None:
        rest = Origin("assumed", f"usual power at work: {_usual(flash.sheet).source}")
    draft.put("power.read", quantity(found.read_uj, "uJ"), array)
    draft.put("power.program", quantity(found.program_uj, "uJ"), rest)
    if found.program_slc_uj is not None:
        draft.put("power.program_slc", quantity(found.program_slc_uj, "uJ"), rest)
    draft.put("power.erase", quantity(found.erase_uj, "uJ"), array)
    draft.put("power.byte", round(found.byte_nj, 4), rest)
    if flash.sheet.power_states:
        states = [_state(state) for state in flash.sheet.power_states]
        draft.put("power.states", states, Origin("data-sheet"))


def _state(state: PowerState) -> Tree:
    """A state as files hold it."""
    times = {"entry": state.entry, "exit": state.exit, "after": state.after}
    return {
        "most": quantity(state.most, "W"),
        "operational": state.operational,
        **{key: f"{time} ns" for key, time in times.items() if time},
    }


def put_idle(draft: Draft, sheet: Sheet) -> None:
    """What a drive draws without activity."""
    _put_watts(draft, sheet, ("idle",))


def put_disk_power(draft: Draft, sheet: Sheet) -> None:
    """`[power]` of a disk."""
    _put_watts(draft, sheet, ("idle", "active"))


def _put_watts(draft: Draft, sheet: Sheet, keys: tuple[str, ...]) -> None:
    usual = _usual(sheet)
    for key, value in zip(("idle", "active"), watts(sheet), strict=True):
        stated = getattr(sheet, f"{key}_power") is not None
        origin = Origin("data-sheet") if stated else Origin("assumed", f"usual: {usual.source}")
        if key in keys:
            draft.put(f"power.{key}", quantity(value, "W"), origin)
